/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/excerpt.h"

#include <string.h>

#include "base/error.h"
#include "support/bundle.h"
#include "support/check.h"

static struct test_bundle made;
static struct gt_bundle bundle;
static struct gt_excerpt excerpt;

static void prepare(void)
{
	struct gt_error err = {0};

	test_bundle_begin(&made);
	test_bundle_add_graph(&made);
	made.bundle.origin.job_ns = 50000;
	made.bundle.origin.job_launches = 9;
	test_bundle_end(&made);
	cr_assert(eq(int, gt_bundle_open(&bundle, made.folder, &err), 0), "%s", err.text);
	bundle.origin.job_ns = 50000;
	bundle.origin.job_launches = 9;
}

static void drop(void)
{
	gt_excerpt_release(&excerpt);
	gt_bundle_close(&bundle);
	test_bundle_release(&made);
}

TestSuite(excerpt, .init = prepare, .fini = drop);

static uint8_t *copy_of(const void *bytes, size_t size)
{
	return memcpy(gt_allocate(size), bytes, size);
}

Test(excerpt, is_a_bundle_of_one_step)
{
	const struct gt_bundle *one = &excerpt.bundle;

	gt_excerpt_init(&excerpt, &bundle, BUNDLE_GRAPH_SCALE);
	cr_assert(eq(sz, one->steps.count, 1));
	cr_expect(eq(u32, one->steps.rows[0].function, 1));
	cr_expect(eq(u32, one->steps.rows[0].graph, 0));
	cr_expect(eq(u32, one->focus, GT_BUNDLE_NONE));
	cr_assert(eq(sz, one->streams.count, 1));
	cr_expect(eq(u32, one->steps.rows[0].stream, 0));
	cr_expect(eq(u32, one->streams.rows[0].number, 13));
	cr_expect(eq(sz, one->memory.count, bundle.memory.count));
	/* Two in the table, and its own parameter. */
	cr_assert(eq(sz, one->pointers.count, 3));
	cr_expect(eq(u32, one->pointers.rows[2].step, 0));
	cr_expect(eq(u32, one->pointers.rows[2].target, BUNDLE_TABLE));
	cr_expect(eq(u64, one->origin.job_ns, 5000));
	cr_expect(eq(u32, one->origin.job_launches, 9));
	cr_expect(eq(i64, one->origin.local_bytes, -1));
}

Test(excerpt, has_no_time_in_the_program_where_the_step_has_none)
{
	bundle.steps.rows[BUNDLE_GRAPH_SCALE].start_ns = -1;
	gt_excerpt_init(&excerpt, &bundle, BUNDLE_GRAPH_SCALE);
	cr_expect(eq(u64, excerpt.bundle.origin.job_ns, 0));
	cr_expect(eq(u32, excerpt.bundle.origin.job_launches, 0));
}

Test(excerpt, holds_what_memory_was_before_the_step_and_after_it)
{
	const struct gt_bundle_memory *rows;
	float values[BUNDLE_ELEMENTS] = {7, 8};
	float got[BUNDLE_ELEMENTS];
	struct gt_error err = {0};

	gt_excerpt_init(&excerpt, &bundle, BUNDLE_GRAPH_SCALE);
	rows = excerpt.bundle.memory.rows;
	gt_excerpt_hold(&excerpt, BUNDLE_X, NULL, NULL);
	gt_excerpt_hold(&excerpt, BUNDLE_Y, copy_of(values, sizeof(values)), NULL);
	gt_excerpt_hold(&excerpt, BUNDLE_Z, NULL, copy_of(values, sizeof(values)));
	gt_excerpt_settle(&excerpt);
	cr_expect(rows[BUNDLE_X].same);
	cr_expect(rows[BUNDLE_Y].same);
	cr_expect(not(rows[BUNDLE_Z].same));
	expect_text(rows[BUNDLE_X].before.hash, bundle.memory.rows[BUNDLE_X].before.hash);
	cr_assert(eq(int, gt_bundle_read(&excerpt.bundle, &rows[BUNDLE_X].before, got, &err), 0),
	          "%s", err.text);
	cr_expect(eq(flt, got[5], 5));
	cr_assert(eq(int, gt_bundle_read(&excerpt.bundle, &rows[BUNDLE_Y].before, got, &err), 0));
	cr_expect(eq(flt, got[1], 8));
	cr_assert(eq(int, gt_bundle_read(&excerpt.bundle, &rows[BUNDLE_Z].after, got, &err), 0));
	cr_expect(eq(flt, got[0], 7));
	cr_expect(gt_blob_is_hash(rows[BUNDLE_Z].after.hash));
	/* Once more: what was held is no more. */
	gt_excerpt_hold(&excerpt, BUNDLE_Y, NULL, NULL);
	expect_text(rows[BUNDLE_Y].before.hash, bundle.memory.rows[BUNDLE_Y].before.hash);
}

Test(excerpt, follows_addresses_that_steps_before_it_changed)
{
	const uint64_t swapped[] = {BUNDLE_Z_ADDRESS + 8, 17};
	const uint64_t ends[] = {BUNDLE_Y_ADDRESS + 1024, BUNDLE_Z_ADDRESS};

	gt_excerpt_init(&excerpt, &bundle, BUNDLE_GRAPH_SCALE);
	gt_excerpt_hold(&excerpt, BUNDLE_TABLE, copy_of(swapped, sizeof(swapped)), NULL);
	gt_excerpt_settle(&excerpt);
	cr_assert(eq(sz, excerpt.bundle.pointers.count, 2), "17 is no address");
	cr_expect(eq(u32, excerpt.bundle.pointers.rows[0].target, BUNDLE_Z));
	cr_expect(eq(u32, excerpt.bundle.pointers.rows[1].target, BUNDLE_TABLE));
	gt_excerpt_hold(&excerpt, BUNDLE_TABLE, copy_of(ends, sizeof(ends)), NULL);
	gt_excerpt_settle(&excerpt);
	cr_assert(eq(sz, excerpt.bundle.pointers.count, 3));
	cr_expect(eq(u32, excerpt.bundle.pointers.rows[0].target, BUNDLE_Y), "its end");
}

static const struct gt_bundle_handle *handle_at(uint32_t memory, uint64_t offset)
{
	gt_array_each(const struct gt_bundle_handle, handle, &excerpt.bundle.handles)
		if (handle->memory == memory && handle->offset == offset)
			return handle;
	return NULL;
}

/* Two were there before the first step, the copy brings two to the begin and the end of X. */
static void add_handles(void)
{
	const struct gt_bundle_handle handles[] = {
		{.memory = BUNDLE_Y, .step = GT_BUNDLE_NONE, .offset = 8, .object = 0},
		{.memory = BUNDLE_Y, .step = GT_BUNDLE_NONE, .offset = 16, .object = 1},
		{.memory = GT_BUNDLE_NONE, .step = 0, .offset = 0, .object = 1},
		{.memory = GT_BUNDLE_NONE, .step = 0, .offset = 1016, .object = 0},
	};

	for (size_t i = 0; i < GT_COUNT_OF(handles); i++)
		*gt_array_push(&bundle.handles) = handles[i];
	for (uint64_t i = 0; i < 2; i++)
		*gt_array_push(&bundle.objects) = (struct gt_bundle_object){.value = 5 + i};
}

Test(excerpt, has_handles_where_steps_before_it_left_or_brought_them)
{
	uint64_t in_x[BUNDLE_ELEMENTS / 2] = {6};
	const uint64_t in_y[BUNDLE_ELEMENTS / 2] = {0, 5, 7};

	in_x[127] = 9;
	add_handles();
	gt_excerpt_init(&excerpt, &bundle, BUNDLE_GRAPH_SCALE);
	gt_excerpt_hold(&excerpt, BUNDLE_X, copy_of(in_x, sizeof(in_x)), NULL);
	gt_excerpt_hold(&excerpt, BUNDLE_Y, copy_of(in_y, sizeof(in_y)), NULL);
	gt_excerpt_settle(&excerpt);
	cr_assert(eq(sz, excerpt.bundle.handles.count, 2));
	cr_assert(ne(ptr, (void *)(uintptr_t)handle_at(BUNDLE_Y, 8), NULL));
	cr_expect(eq(ptr, (void *)(uintptr_t)handle_at(BUNDLE_Y, 16), NULL), "there is 7 now");
	cr_assert(ne(ptr, (void *)(uintptr_t)handle_at(BUNDLE_X, 0), NULL), "of the copy");
	cr_expect(eq(u32, handle_at(BUNDLE_X, 0)->object, 1));
	cr_expect(excerpt.bundle.memory.rows[BUNDLE_X].handles);
	/* Memory as it was before the first step has its own handles alone. */
	gt_excerpt_hold(&excerpt, BUNDLE_X, NULL, NULL);
	gt_excerpt_hold(&excerpt, BUNDLE_Y, NULL, NULL);
	gt_excerpt_settle(&excerpt);
	cr_expect(eq(sz, excerpt.bundle.handles.count, 2));
	cr_expect(eq(ptr, (void *)(uintptr_t)handle_at(BUNDLE_X, 0), NULL));
}
