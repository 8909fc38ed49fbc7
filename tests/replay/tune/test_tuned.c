/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tune/tuned.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

static struct gt_tuned_result result_of(const char *variant, double ns)
{
	struct gt_tuned_result result = {.ns = ns, .recorded_ns = 100};

	snprintf(result.variant, sizeof(result.variant), "%s", variant);
	snprintf(result.date, sizeof(result.date), "2026-01-01T00:00:00Z");
	return result;
}

static void add(struct gt_tuned_list *list, const char *function, const char *device,
                const char *variant, double ns)
{
	const struct gt_tuned_result result = result_of(variant, ns);

	gt_tuned_add(list, function, "1024x1x1 threads", device, &result);
}

static const struct gt_tuned *find(const struct gt_tuned_list *list, const char *function)
{
	return gt_tuned_find(list, function, "1024x1x1 threads", "H200");
}

Test(tuned, keeps_the_best_and_the_last_ten)
{
	struct gt_tuned_list list = {0};
	const struct gt_tuned *found;

	add(&list, "saxpy", "H200", "block=64", 50);
	for (int i = 0; i < 15; i++)
		add(&list, "saxpy", "H200", "block=128", 60 + i);
	found = find(&list, "saxpy");
	cr_assert(found != NULL);
	expect_text(found->best.variant, "block=64");
	cr_expect(eq(dbl, found->best.ns, 50));
	cr_expect(eq(sz, found->last.count, GT_TUNED_KEPT));
	cr_expect(eq(dbl, found->last.rows[0].ns, 65), "oldest first");
	cr_expect(eq(dbl, found->last.rows[9].ns, 74));
	gt_tuned_release(&list);
}

Test(tuned, tells_functions_sizes_and_devices_apart)
{
	struct gt_tuned_list list = {0};
	const struct gt_tuned_result result = result_of("block=32", 1);

	add(&list, "saxpy", "H200", "block=64", 50);
	add(&list, "saxpy", "L40S", "block=128", 40);
	add(&list, "dot", "H200", "block=256", 30);
	gt_tuned_add(&list, "saxpy", "2048x1x1 threads", "H200", &result);
	cr_expect(eq(sz, list.list.count, 4));
	expect_text(find(&list, "saxpy")->best.variant, "block=64");
	cr_expect(find(&list, "gemm") == NULL);
	gt_tuned_release(&list);
}

Test(tuned, forgets_what_was_not_added_to_for_the_longest)
{
	struct gt_tuned_list list = {0};
	char name[16];

	for (int i = 0; i < GT_TUNED_MOST; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		add(&list, name, "H200", "block=64", 50);
	}
	add(&list, "f0", "H200", "block=64", 50);
	add(&list, "one more", "H200", "block=64", 50);
	cr_expect(eq(sz, list.list.count, GT_TUNED_MOST));
	cr_expect(find(&list, "f0") != NULL);
	cr_expect(find(&list, "f1") == NULL);
	cr_expect(find(&list, "f2") != NULL);
	gt_tuned_release(&list);
}

Test(tuned, is_read_as_it_was_written)
{
	struct gt_tuned_list list = {0};
	struct gt_tuned_list read;
	const struct gt_tuned *found;
	char *text;

	add(&list, "_Z5saxpyPf", "H200", "block=64 shared=0", 50.5);
	add(&list, "_Z5saxpyPf", "H200", "block=128", 60);
	text = gt_tuned_text(&list);
	cr_assert(eq(int, gt_tuned_parse(&read, text, strlen(text), "tuned.json", NULL), 0));
	found = find(&read, "_Z5saxpyPf");
	cr_assert(found != NULL);
	expect_text(found->best.variant, "block=64 shared=0");
	expect_text(found->best.date, "2026-01-01T00:00:00Z");
	cr_expect(eq(dbl, found->best.ns, 50.5));
	cr_expect(eq(dbl, found->best.recorded_ns, 100));
	cr_expect(eq(sz, found->last.count, 2));
	free(text);
	gt_tuned_release(&list);
	gt_tuned_release(&read);
}

Test(tuned, is_none_of_what_is_no_such_file)
{
	static const char *const texts[][2] = {
		{"{", "x is damaged at line 1: string or '}' expected near end of file"},
		{"{}", "x is not what gputrace replay --tune keeps"},
		{"[]", "x is not what gputrace replay --tune keeps"},
		{"{\"version\": 2, \"tuned\": []}", "x was written by a newer gputrace"},
	};

	for (size_t i = 0; i < GT_COUNT_OF(texts); i++) {
		struct gt_tuned_list list;
		struct gt_error err = {0};

		cr_expect(eq(int,
		             gt_tuned_parse(&list, texts[i][0], strlen(texts[i][0]), "x", &err),
		             -EBADMSG));
		expect_text(err.text, texts[i][1]);
		cr_expect(eq(sz, list.list.count, 0));
	}
}

Test(tuned, passes_over_rows_that_make_no_sense)
{
	static const char text[] =
		"{\"version\": 1, \"tuned\": [7, {\"function\": \"f\"},"
		" {\"function\": \"g\", \"best\": {\"variant\": \"block=1\", \"ns\": -5}},"
		" {\"function\": \"h\", \"size\": \"s\", \"device\": \"d\","
		"  \"best\": {\"variant\": \"block=1\", \"ns\": 5}, \"last\": [1, {}]}]}";
	struct gt_tuned_list list;

	cr_assert(eq(int, gt_tuned_parse(&list, text, sizeof(text) - 1, "x", NULL), 0));
	cr_assert(eq(sz, list.list.count, 1));
	cr_expect(eq(sz, list.list.rows[0].last.count, 0));
	cr_expect(isnan(list.list.rows[0].best.recorded_ns));
	gt_tuned_release(&list);
}

Test(tuned, names_a_size_by_the_threads_along_each_axis)
{
	const uint32_t grid[3] = {4, 2, 1};
	const uint32_t block[3] = {256, 4, 1};
	char text[GT_TUNED_SIZE];

	gt_tuned_size(grid, block, text);
	expect_text(text, "1024x8x1 threads");
}
