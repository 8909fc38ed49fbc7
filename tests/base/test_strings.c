/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <stdio.h>
#include <string.h>

#include "support/check.h"

Test(strings, begin_with_the_empty_one)
{
	struct gt_strings *strings = gt_strings_new();

	cr_expect(eq(sz, gt_strings_count(strings), 1));
	cr_expect(eq(u32, gt_strings_add(strings, ""), 0));
	expect_text(gt_strings_get(strings, 0), "");
	gt_strings_free(strings);
}

Test(strings, give_equal_texts_one_id)
{
	struct gt_strings *strings = gt_strings_new();
	char copy[] = "saxpy";
	const uint32_t id = gt_strings_add(strings, "saxpy");

	cr_expect(eq(u32, gt_strings_add(strings, copy), id));
	copy[0] = 'd';
	cr_expect(ne(u32, gt_strings_add(strings, copy), id));
	expect_text(gt_strings_get(strings, id), "saxpy");
	cr_expect(eq(sz, gt_strings_count(strings), 3));
	gt_strings_free(strings);
}

Test(strings, read_an_unknown_id_as_empty)
{
	struct gt_strings *strings = gt_strings_new();

	expect_text(gt_strings_get(strings, 1), "");
	expect_text(gt_strings_get(strings, UINT32_MAX), "");
	gt_strings_free(strings);
}

Test(strings, take_bytes_up_to_a_zero)
{
	struct gt_strings *strings = gt_strings_new();
	const uint32_t id = gt_strings_add_bytes(strings, "abcdef", 3);

	expect_text(gt_strings_get(strings, id), "abc");
	cr_expect(eq(u32, gt_strings_add(strings, "abc"), id));
	cr_expect(eq(u32, gt_strings_add_bytes(strings, "abc\0def", 7), id));
	cr_expect(eq(u32, gt_strings_add_bytes(strings, "", 0), 0));
	gt_strings_free(strings);
}

Test(strings, keep_texts_where_they_are_while_the_set_grows)
{
	struct gt_strings *strings = gt_strings_new();
	const uint32_t id = gt_strings_add(strings, "first");
	const char *const first = gt_strings_get(strings, id);
	char text[32];

	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		cr_assert(eq(u32, gt_strings_add(strings, text), id + 1 + (uint32_t)i));
	}
	cr_expect(eq(ptr, (void *)gt_strings_get(strings, id), (void *)first));
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		expect_text(gt_strings_get(strings, id + 1 + (uint32_t)i), text);
	}
	gt_strings_free(strings);
	gt_strings_free(NULL);
}
