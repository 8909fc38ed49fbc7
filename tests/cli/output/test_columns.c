/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/columns.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

enum { TEXTS = 4 };

/* Cuts copies of the texts, which the caller frees. */
static void cut(char **copies, const char *const *texts, size_t count, size_t columns)
{
	for (size_t i = 0; i < count; i++)
		copies[i] = gt_printable(texts[i]);
	gt_cut_texts(copies, count, columns);
}

static void release(char **copies, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(copies[i]);
}

Test(columns, write_what_a_terminal_should_not_see_as_numbers)
{
	char *text = gt_printable("a\033[2J\n\377b");

	expect_text(text, "a\\x1b[2J\\x0a\\xffb");
	cr_expect(eq(sz, gt_columns_of(text), strlen(text)));
	free(text);
}

Test(columns, leave_alone_what_fits)
{
	static const char *const texts[] = {"short", "exactly sixteen!"};
	char *copies[2];

	cut(copies, texts, 2, 16);
	expect_text(copies[0], "short");
	expect_text(copies[1], "exactly sixteen!");
	release(copies, 2);
}

Test(columns, keep_both_ends_of_what_is_cut)
{
	static const char *const texts[] = {"beginning and middle and ending"};
	char *copies[1];

	cut(copies, texts, 1, 17);
	expect_text(copies[0], "beginni... ending");
	release(copies, 1);
}

Test(columns, show_where_texts_differ)
{
	static const char *const texts[TEXTS] = {
		"library::kernel<type_a, option_one, number, array<char, 4> >(int, int)",
		"library::kernel<type_b, option_one, number, array<char, 4> >(int, int)",
		"library::kernel<type_a, option_two, number, array<char, 4> >(int, int)",
		"library::kernel<type_a, option_two, number, array<char, 4> >(int, int)",
	};
	char *copies[TEXTS];

	cut(copies, texts, TEXTS, 30);
	for (size_t i = 0; i < TEXTS; i++)
		cr_expect(le(sz, gt_columns_of(copies[i]), 30));
	expect_text(copies[2], copies[3]);
	cr_expect(ne(str, copies[0], copies[1]));
	cr_expect(ne(str, copies[0], copies[2]));
	cr_expect(ne(str, copies[1], copies[2]));
	cr_expect(ne(ptr, strstr(copies[0], "one"), NULL), "%s", copies[0]);
	cr_expect(ne(ptr, strstr(copies[2], "two"), NULL), "%s", copies[2]);
	release(copies, TEXTS);
}

Test(columns, number_what_cannot_be_told_apart_otherwise)
{
	enum { COUNT = 300, COLUMNS = 10 };
	char *copies[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		char text[128];

		snprintf(text, sizeof(text), "%040d%zu%zu%zu%040d", 0, i % 7, i % 11, i % 13, 0);
		copies[i] = gt_printable(text);
	}
	gt_cut_texts(copies, COUNT, COLUMNS);
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect(le(sz, gt_columns_of(copies[i]), COLUMNS));
		for (size_t j = 0; j < i; j++)
			cr_expect(ne(str, copies[i], copies[j]));
	}
	release(copies, COUNT);
}

Test(columns, count_wide_characters_twice_and_cut_none_in_half)
{
	static const char *const texts[] = {
		"\u6838\u6838\u6838\u6838\u6838\u6838\u6838\u6838\u6838"};
	char *copies[1];

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return;
	cr_expect(eq(sz, gt_columns_of(texts[0]), 18));
	cut(copies, texts, 1, 12);
	expect_text(copies[0], "\u6838\u6838...\u6838\u6838");
	release(copies, 1);
}

static char *wrapped(const char *text, size_t width, size_t indent)
{
	char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	gt_print_wrapped(text, width, indent, out);
	fclose(out);
	return printed;
}

Test(columns, wrap_at_blanks)
{
	char *text = wrapped("one two  three four", 9, 0);

	expect_text(text, "one two\nthree\nfour");
	free(text);
	text = wrapped("one two three", 9, 4);
	expect_text(text, "one\n    two\n    three");
	free(text);
	text = wrapped("one two three", 0, 4);
	expect_text(text, "one two three");
	free(text);
}

Test(columns, break_a_word_that_is_wider_than_the_page)
{
	char *text = wrapped("a abcdefghij b", 4, 0);

	expect_text(text, "a\nabcd\nefgh\nij b");
	free(text);
}

/* Options are to be copied into a command line. */
Test(columns, keep_an_option_whole_where_the_page_has_room)
{
	char *text = wrapped("run --name=a,b,c or not", 12, 6);

	expect_text(text, "run\n--name=a,b,c\n      or not");
	free(text);
	text = wrapped("run (--name=a,b) now", 14, 6);
	expect_text(text, "run\n  (--name=a,b)\n      now");
	free(text);
	text = wrapped("to --a=bc --d", 12, 6);
	expect_text(text, "to\n      --a=bc\n      --d");
	free(text);
}

Test(columns, break_an_option_that_is_wider_than_the_page)
{
	char *text = wrapped("run --name=abcdefgh", 12, 6);

	expect_text(text, "run\n      --name\n      =abcde\n      fgh");
	free(text);
}

Test(columns, break_what_is_no_option)
{
	char *text = wrapped("--- a--bcdefgh", 10, 6);

	expect_text(text, "---\n      a--b\n      cdef\n      gh");
	free(text);
}
