/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/verify/rehearsal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/bundle/excerpt.h"
#include "replay/gpu/cuda.h"
#include "replay/replay.h"
#include "replay/tune/variant.h"
#include "support/bundle.h"
#include "support/check.h"

/* One step of made-up bundles, on the fake driver. */

enum { SIZE = BUNDLE_ELEMENTS * sizeof(float) };

static const struct gt_element_choice floats = {GT_BUNDLE_NONE, GT_ELEMENT_f32};

static struct test_bundle made;
static struct gt_bundle bundle;
static struct gt_excerpt excerpt;
static struct gt_cuda cuda;
static struct gt_rehearsal rehearsal;
static struct gt_replay_options options;
static struct gt_replay_result result;
static struct gt_error problem;

static void prepare(void)
{
	cr_assert(eq(int, gt_cuda_open(&cuda, &problem), 0), "%s", problem.text);
	test_bundle_begin(&made);
	test_bundle_add_graph(&made);
	test_bundle_set_fakes(&made);
	options = (struct gt_replay_options){
		.variant = gt_variant_recorded(),
		.within = 0.5,
		.most_ns = 100000000,
		.warm_ups = 1,
		.least_runs = 3,
		.most_runs = 16,
		.verify = true,
		.elements = &floats,
		.element_count = 1,
	};
}

static void drop(void)
{
	gt_replay_result_release(&result);
	gt_excerpt_release(&excerpt);
	gt_bundle_close(&bundle);
	test_bundle_release(&made);
}

/* The fakes read what they are to do once. */
static void prepare_endless(void)
{
	(void)setenv("FAKE_CUPTI", "kernel_ns=30000000000", 1);
	prepare();
}

TestSuite(rehearsal, .init = prepare, .fini = drop);
TestSuite(endless, .init = prepare_endless, .fini = drop);

static int rehearse(uint32_t step)
{
	test_bundle_end(&made);
	cr_assert(eq(int, gt_bundle_open(&bundle, made.folder, &problem), 0), "%s", problem.text);
	gt_excerpt_init(&excerpt, &bundle, step);
	return gt_rehearse(&excerpt, &cuda, &options, &rehearsal, &problem);
}

static int replay(void)
{
	gt_replay_result_release(&result);
	return gt_replay_run(&excerpt.bundle, &cuda, &options, &result, &problem);
}

static float value_of(const struct gt_blob *blob, size_t index)
{
	float values[BUNDLE_ELEMENTS];

	cr_assert(eq(int, gt_bundle_read(&excerpt.bundle, blob, values, &problem), 0), "%s",
	          problem.text);
	return values[index];
}

static const struct gt_replay_buffer *buffer_of(uint32_t memory)
{
	gt_array_each(const struct gt_replay_buffer, buffer, &result.buffers)
		if (buffer->memory == memory)
			return buffer;
	return NULL;
}

Test(rehearsal, keeps_what_the_step_found_and_what_it_left)
{
	const struct gt_bundle_memory *rows;

	cr_assert(eq(int, rehearse(BUNDLE_GRAPH_SCALE), 0), "%s", problem.text);
	rows = excerpt.bundle.memory.rows;
	cr_expect(rows[BUNDLE_X].same);
	cr_expect(rows[BUNDLE_Y].same);
	cr_expect(rows[BUNDLE_TABLE].same);
	cr_expect(not(rows[BUNDLE_Z].same));
	cr_expect(eq(ptr, (void *)rows[BUNDLE_X].before.held, NULL), "as the bundle has it");
	cr_expect(eq(flt, value_of(&rows[BUNDLE_Y].before, 5), 11), "2 * x + 1 of saxpy");
	cr_expect(eq(flt, value_of(&rows[BUNDLE_Z].after, 5), 33));
	cr_expect(rehearsal.compared);
	cr_expect(eq(u32, rehearsal.buffers, 2));
	cr_expect(eq(u32, rehearsal.differing, 0));
	cr_expect(eq(u64, rehearsal.mismatches, 0));
	cr_expect(eq(u32, rehearsal.first, UINT32_MAX));
}

Test(rehearsal, lets_the_step_be_run_as_a_launch_is)
{
	cr_assert(eq(int, rehearse(BUNDLE_GRAPH_SCALE), 0), "%s", problem.text);
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_expect(result.verified);
	cr_expect(eq(dbl, result.times.median, 10000), "it alone");
	cr_expect(eq(dbl, result.job_ns, 5000));
	cr_expect(isnan(result.bytes), "it reads a table of addresses");
	cr_assert(ne(ptr, (void *)buffer_of(BUNDLE_Z), NULL));
	cr_expect(eq(u64, buffer_of(BUNDLE_Z)->comparison.differing, 0));
	cr_expect(eq(ptr, (void *)buffer_of(BUNDLE_Y), NULL));
	memcpy(options.variant.block, (const uint32_t[]){64, 1, 1}, 3 * sizeof(uint32_t));
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_expect(result.verified);
}

/* The variant is the step's alone: the steps before and after it run as they were recorded. */
Test(rehearsal, tries_nothing_before_the_step)
{
	memcpy(options.variant.block, (const uint32_t[]){2048, 1, 1}, 3 * sizeof(uint32_t));
	cr_assert(eq(int, rehearse(BUNDLE_GRAPH_SCALE), 0), "%s", problem.text);
	cr_expect(rehearsal.compared);
	cr_expect(eq(u32, rehearsal.differing, 0));
	cr_expect(lt(int, replay(), 0), "no GPU has such blocks");
	cr_expect(ne(ptr, strstr(problem.text, "2048"), NULL), "%s", problem.text);
	options.variant = gt_variant_recorded();
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_expect(result.verified);
}

Test(rehearsal, restores_what_the_step_found_before_each_run)
{
	cr_assert(eq(int, rehearse(BUNDLE_GRAPH_SAXPY), 0), "%s", problem.text);
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_expect(result.verified, "y = 2 * x + y, of the same y each time");
	cr_assert(ne(ptr, (void *)buffer_of(BUNDLE_Y), NULL));
	cr_expect(eq(dbl, buffer_of(BUNDLE_Y)->comparison.got_values.most, 511));
	cr_expect(eq(dbl, result.bytes, 2 * SIZE), "x and y, and not what others reach");
	options.inputs = GT_INPUTS_zero;
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_expect(eq(dbl, buffer_of(BUNDLE_Y)->comparison.got_values.most, 0));
}

Test(rehearsal, of_a_copy_and_a_fill_works_too)
{
	cr_assert(eq(int, rehearse(3), 0), "%s", problem.text);
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_expect(isnan(result.bytes));
	gt_excerpt_release(&excerpt);
	gt_excerpt_init(&excerpt, &bundle, 0);
	cr_assert(eq(int, gt_rehearse(&excerpt, &cuda, &options, &rehearsal, &problem), 0));
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_assert(ne(ptr, (void *)buffer_of(BUNDLE_X), NULL));
	cr_expect(eq(int, buffer_of(BUNDLE_X)->role, GT_ROLE_output));
}

/* The program had something else afterwards. */
Test(rehearsal, finds_that_the_sequence_does_not_do_what_the_program_did)
{
	const float after[BUNDLE_ELEMENTS] = {1};

	made.bundle.memory.rows[BUNDLE_Y].after = test_bundle_blob(&made, after, sizeof(after));
	cr_assert(eq(int, rehearse(BUNDLE_GRAPH_SCALE), 0), "%s", problem.text);
	cr_expect(rehearsal.compared);
	cr_expect(eq(u32, rehearsal.differing, 1));
	cr_expect(eq(u64, rehearsal.mismatches, BUNDLE_ELEMENTS - 1));
	cr_expect(eq(u32, rehearsal.first, BUNDLE_Y));
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_expect(result.verified, "the step itself does what it did then");
}

Test(rehearsal, compares_nothing_where_outputs_are_not_to_be)
{
	const float after[BUNDLE_ELEMENTS] = {1};

	made.bundle.memory.rows[BUNDLE_Y].after = test_bundle_blob(&made, after, sizeof(after));
	options.verify = false;
	cr_assert(eq(int, rehearse(BUNDLE_GRAPH_SCALE), 0), "%s", problem.text);
	cr_expect(not(rehearsal.compared));
	cr_expect(eq(u64, rehearsal.mismatches, 0));
	cr_expect(eq(flt, value_of(&excerpt.bundle.memory.rows[BUNDLE_Z].after, 5), 33));
}

/* The copy becomes one of addresses: the table is the other way round for scale. */
static void swap_table(void)
{
	const uint64_t swapped[] = {BUNDLE_Z_ADDRESS, BUNDLE_Y_ADDRESS};
	struct gt_bundle_step *step = &made.bundle.steps.rows[0];

	step->to = BUNDLE_TABLE_ADDRESS;
	step->bytes = sizeof(swapped);
	step->parameters = test_bundle_blob(&made, swapped, sizeof(swapped));
	for (uint32_t i = 0; i < 2; i++)
		*gt_array_push(&made.bundle.pointers) =
			(struct gt_bundle_pointer){.memory = GT_BUNDLE_NONE,
		                                   .step = 0,
		                                   .offset = i * sizeof(swapped[0]),
		                                   .target = i ? BUNDLE_Y : BUNDLE_Z,
		                                   .declared = true};
	made.bundle.memory.rows[BUNDLE_TABLE].same = false;
	made.bundle.memory.rows[BUNDLE_TABLE].after = step->parameters;
}

Test(rehearsal, follows_addresses_that_were_changed_to_where_memory_is)
{
	swap_table();
	options.relocate = true;
	cr_assert(eq(int, rehearse(BUNDLE_GRAPH_SCALE), 0), "%s", problem.text);
	cr_assert(eq(int, replay(), 0), "%s", problem.text);
	cr_expect(result.verified);
	cr_expect(not(result.at_addresses));
	cr_assert(ne(ptr, (void *)buffer_of(BUNDLE_Y), NULL), "it writes y, of z");
	cr_expect(eq(dbl, buffer_of(BUNDLE_Y)->comparison.got_values.most, 0));
	cr_expect(eq(ptr, (void *)buffer_of(BUNDLE_Z), NULL));
}

Test(endless, rehearsals_are_given_up)
{
	options.most_run_ns = 50000000;
	cr_expect(eq(int, rehearse(BUNDLE_GRAPH_SCALE), -ETIMEDOUT));
	expect_text(problem.text, "the GPU's work has not ended in 0.1 s");
}

Test(rehearsal, fails_where_a_step_fails)
{
	made.bundle.functions.rows[0].name = "replay_fault";
	cr_expect(eq(int, rehearse(BUNDLE_GRAPH_SCALE), -EIO));
	cr_expect(strstr(problem.text, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL, "%s", problem.text);
}
