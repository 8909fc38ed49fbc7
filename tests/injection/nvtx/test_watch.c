/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/watch.h"

#include "injection/nvtx/texts.h"
#include "support/check.h"

static struct gt_nvtx_watch watch;

static void push(const char *name, uint32_t domain, uint32_t level)
{
	const struct gt_nvtx_text text = gt_nvtx_narrow(name);

	gt_nvtx_watch_push(&watch, (struct gt_nvtx_watched_text){&text, 0},
	                   (struct gt_nvtx_level){domain, level});
}

static void pop(uint32_t domain, uint32_t level)
{
	gt_nvtx_watch_pop(&watch, (struct gt_nvtx_level){domain, level});
}

static void make(void)
{
	watch = (struct gt_nvtx_watch){.size = 0};
	cr_assert(gt_nvtx_watch_init(&watch, "step"));
}

TestSuite(watch, .init = make);

Test(watch, is_open_from_the_push_to_its_own_pop)
{
	push("steps", 1, 0);
	cr_expect(not(gt_nvtx_watch_is_open(&watch)));
	push("step", 1, 1);
	cr_expect(gt_nvtx_watch_is_open(&watch));
	push("inside", 1, 2);
	push("step", 1, 3);
	pop(1, 3);
	pop(1, 2);
	pop(2, 1);
	cr_expect(gt_nvtx_watch_is_open(&watch));
	pop(1, 1);
	cr_expect(not(gt_nvtx_watch_is_open(&watch)));
	pop(1, 0);
	cr_expect(not(gt_nvtx_watch_is_open(&watch)));
}

Test(watch, knows_started_ranges_by_their_ids)
{
	const struct gt_nvtx_text text = gt_nvtx_wide(L"step");
	const struct gt_nvtx_text other = gt_nvtx_wide(L"stop");

	gt_nvtx_watch_start(&watch, (struct gt_nvtx_watched_text){&text, 0}, 7);
	gt_nvtx_watch_start(&watch, (struct gt_nvtx_watched_text){&text, 0}, 9);
	gt_nvtx_watch_start(&watch, (struct gt_nvtx_watched_text){&other, 0}, 11);
	gt_nvtx_watch_end(&watch, 7);
	gt_nvtx_watch_end(&watch, 11);
	cr_expect(gt_nvtx_watch_is_open(&watch));
	gt_nvtx_watch_end(&watch, 9);
	cr_expect(not(gt_nvtx_watch_is_open(&watch)));
}

static uint32_t ended;

static void note_end(void *context, uint32_t occurrence)
{
	*(uint32_t *)context = occurrence;
}

Test(watch, counts_occurrences_and_tells_their_ends)
{
	const struct gt_nvtx_text text = gt_nvtx_narrow("step");

	ended = 0;
	gt_nvtx_watch_tell(&watch, NULL, note_end, &ended);
	cr_expect(eq(u32, gt_nvtx_watch_occurrence(&watch), 0));
	push("step", 1, 0);
	gt_nvtx_watch_start(&watch, (struct gt_nvtx_watched_text){&text, 0}, 7);
	cr_expect(eq(u32, gt_nvtx_watch_occurrence(&watch), 1));
	pop(1, 0);
	cr_expect(eq(u32, ended, 0), "one of them is still open");
	cr_expect(eq(u32, gt_nvtx_watch_occurrence(&watch), 1));
	gt_nvtx_watch_end(&watch, 7);
	cr_expect(eq(u32, ended, 1));
	push("step", 1, 0);
	cr_expect(eq(u32, gt_nvtx_watch_occurrence(&watch), 2));
	pop(1, 0);
	cr_expect(eq(u32, ended, 2));
}

Test(watch, knows_registered_strings_by_their_numbers)
{
	const struct gt_nvtx_text text = gt_nvtx_narrow("step");
	const struct gt_nvtx_text other = gt_nvtx_narrow("other");
	const struct gt_nvtx_text none = {0};

	gt_nvtx_watch_register(&watch, &text, 5);
	gt_nvtx_watch_register(&watch, &other, 6);
	gt_nvtx_watch_push(&watch, (struct gt_nvtx_watched_text){&none, 6},
	                   (struct gt_nvtx_level){0, 0});
	cr_expect(not(gt_nvtx_watch_is_open(&watch)));
	gt_nvtx_watch_push(&watch, (struct gt_nvtx_watched_text){&none, 5},
	                   (struct gt_nvtx_level){0, 1});
	cr_expect(gt_nvtx_watch_is_open(&watch));
}

Test(watch, wants_a_name_that_it_can_hold)
{
	char name[GT_WATCH_NAME_BYTES + 1];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	cr_expect(not(gt_nvtx_watch_init(&watch, "")));
	cr_expect(not(gt_nvtx_watch_init(&watch, name)));
	name[sizeof(name) - 2] = '\0';
	cr_expect(gt_nvtx_watch_init(&watch, name));
}
