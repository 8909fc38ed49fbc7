/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_room.h"

#include <string.h>

#include "support/check.h"

static char text[3 * GT_TEXT_SHORT];

Test(text_room, takes_short_texts_whole_without_room)
{
	struct gt_text_room room = {0};

	cr_expect(eq(sz, gt_text_room_take(&room, ""), 0));
	memset(text, 'a', GT_TEXT_SHORT);
	cr_expect(eq(sz, gt_text_room_take(&room, text), GT_TEXT_SHORT));
	cr_expect(eq(u64, room.cut, 0));
}

Test(text_room, takes_long_texts_whole_as_long_as_there_is_room)
{
	struct gt_text_room room = {.left = 2 * GT_TEXT_SHORT + 1};

	memset(text, 'a', 2 * GT_TEXT_SHORT);
	cr_expect(eq(sz, gt_text_room_take(&room, text), 2 * GT_TEXT_SHORT));
	cr_expect(eq(u64, room.left, 1));
	cr_expect(eq(sz, gt_text_room_take(&room, text), GT_TEXT_SHORT));
	cr_expect(eq(u64, room.cut, 1));
	room.left = 2 * GT_TEXT_SHORT;
	cr_expect(eq(sz, gt_text_room_take(&room, text), 2 * GT_TEXT_SHORT));
	cr_expect(eq(u64, room.left, 0));
}

Test(text_room, cuts_between_characters)
{
	struct gt_text_room room = {0};

	memset(text, 'a', GT_TEXT_SHORT + 10);
	memcpy(text + GT_TEXT_SHORT - 2, "\xe2\x82\xac", 3);
	cr_expect(eq(sz, gt_text_room_take(&room, text), GT_TEXT_SHORT - 2));
	memset(text, 0x80, GT_TEXT_SHORT + 10);
	cr_expect(eq(sz, gt_text_room_take(&room, text), GT_TEXT_SHORT - 3));
}

Test(text_room, says_that_a_text_goes_on)
{
	char buffer[GT_TEXT_SHORT + sizeof(GT_TEXT_CUT)];
	struct gt_text_room room = {0};
	const char *fit;

	expect_text(gt_text_room_fit(&room, "short", buffer), "short");
	memset(text, 'a', GT_TEXT_SHORT + 10);
	text[GT_TEXT_SHORT + 10] = '\0';
	fit = gt_text_room_fit(&room, text, buffer);
	cr_expect(eq(sz, strlen(fit), GT_TEXT_SHORT + 3));
	expect_text(fit + GT_TEXT_SHORT - 1, "a...");
}
