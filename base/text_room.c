/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_room.h"

#include <string.h>

size_t gt_text_room_take(struct gt_text_room *room, const char *text)
{
	size_t size = strnlen(text, GT_TEXT_SHORT + 1);

	if (size <= GT_TEXT_SHORT)
		return size;
	size += strnlen(text + size, room->left < SIZE_MAX - size ? room->left : 0);
	if (size <= room->left && text[size] == '\0') {
		room->left -= size;
		return size;
	}
	room->cut++;
	size = GT_TEXT_SHORT;
	/* Not in the middle of a character. */
	for (int i = 0; i < 3 && ((unsigned char)text[size] & 0xc0) == 0x80; i++)
		size--;
	return size;
}

const char *gt_text_room_fit(struct gt_text_room *room, const char *text,
                             char buffer[GT_TEXT_SHORT + sizeof(GT_TEXT_CUT)])
{
	const size_t size = gt_text_room_take(room, text);

	if (text[size] == '\0')
		return text;
	memcpy(buffer, text, size);
	memcpy(buffer + size, GT_TEXT_CUT, sizeof(GT_TEXT_CUT));
	return buffer;
}
