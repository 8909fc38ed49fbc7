/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"
#include "replay/verify/roles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "replay/gpu/cuda.h"
#include "replay/tune/variant.h"
#include "support/bundle.h"
#include "support/check.h"

/* Made-up bundles on the fake driver, whose known kernels (tests/fakes/cuda/kernels.c) do
 * something. */

enum { SIZE = BUNDLE_ELEMENTS * sizeof(float) };

static const struct gt_element_choice floats = {GT_BUNDLE_NONE, GT_ELEMENT_f32};

struct made {
	struct test_bundle on_disk;
	struct gt_bundle bundle;
	struct gt_cuda cuda;
	struct gt_replay_options options;
	struct gt_replay_result result;
	struct gt_error err;
};

static void begin(struct made *made)
{
	*made = (struct made){0};
	/* Before each run with a cold cache twice its size is written: on the host's memory. */
	(void)setenv("FAKE_CUPTI", "l2_bytes=1048576", 0);
	cr_assert(eq(int, gt_cuda_open(&made->cuda, &made->err), 0), "%s", made->err.text);
	test_bundle_begin(&made->on_disk);
	made->options = (struct gt_replay_options){
		.variant = gt_variant_recorded(),
		.within = 0.5,
		.most_ns = 300000000,
		.warm_ups = 1,
		.least_runs = 3,
		.most_runs = 16,
		.verify = true,
		.elements = &floats,
		.element_count = 1,
	};
}

static void set_image(struct made *made)
{
	test_bundle_set_fakes(&made->on_disk);
}

static int replay(struct made *made)
{
	test_bundle_end(&made->on_disk);
	cr_assert(eq(int, gt_bundle_open(&made->bundle, made->on_disk.folder, &made->err), 0), "%s",
	          made->err.text);
	return gt_replay_run(&made->bundle, &made->cuda, &made->options, &made->result, &made->err);
}

static int run_again(struct made *made)
{
	return gt_replay_run(&made->bundle, &made->cuda, &made->options, &made->result, &made->err);
}

static void end(struct made *made)
{
	gt_replay_result_release(&made->result);
	gt_bundle_close(&made->bundle);
	test_bundle_release(&made->on_disk);
}

/* One launch of a known kernel of (float *values, int n) on y, after which it has these values. */
static void add_kernel(struct made *made, const char *name, const float after[BUNDLE_ELEMENTS])
{
	struct gt_bundle_memory *y;

	test_bundle_add_launch(&made->on_disk);
	set_image(made);
	test_bundle_set_kernel(&made->on_disk, name);
	y = &made->on_disk.bundle.memory.rows[BUNDLE_Y];
	y->after = test_bundle_blob(&made->on_disk, after, SIZE);
}

static const struct gt_replay_buffer *buffer_of(const struct made *made, uint32_t memory)
{
	gt_array_each(const struct gt_replay_buffer, buffer, &made->result.buffers)
		if (buffer->memory == memory)
			return buffer;
	cr_fatal("nothing is said of memory %u", memory);
	return NULL;
}

Test(replay, gives_what_the_program_got)
{
	struct made made;

	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(made.result.at_addresses);
	cr_expect(eq(u32, made.result.layouts, 1));
	cr_expect(eq(sz, made.result.buffers.count, 1));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->comparison.elements, BUNDLE_ELEMENTS));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->comparison.differing, 0));
	/* It reads what it changes. */
	cr_expect(not(buffer_of(&made, BUNDLE_Y)->written_known));
	cr_expect(eq(dbl, made.result.job_ns, 5000));
	cr_expect(eq(dbl, made.result.bytes, 2 * SIZE));
	end(&made);
}

/* The last type given for a memory counts, whether it is for it alone or for all. */
Test(replay, reads_memory_as_the_last_type_that_was_given_for_it)
{
	const struct gt_element_choice choices[] = {
		{GT_BUNDLE_NONE, GT_ELEMENT_f32},
		{BUNDLE_Y, GT_ELEMENT_u32},
		{BUNDLE_X, GT_ELEMENT_i8},
		{GT_BUNDLE_NONE, GT_ELEMENT_f16},
	};
	static const enum gt_element expected[] = {GT_ELEMENT_f32, GT_ELEMENT_u32, GT_ELEMENT_u32,
	                                           GT_ELEMENT_f16};
	struct made made;

	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	made.options.elements = choices;
	for (size_t i = 0; i < GT_COUNT_OF(expected); i++) {
		made.options.element_count = i + 1;
		cr_assert(eq(int, i ? run_again(&made) : replay(&made), 0), "%s", made.err.text);
		cr_expect(eq(int, buffer_of(&made, BUNDLE_Y)->comparison.element, expected[i]));
		cr_expect(eq(int, buffer_of(&made, BUNDLE_Y)->source, GT_ELEMENT_GIVEN));
		gt_replay_result_release(&made.result);
	}
	end(&made);
}

Test(replay, gives_what_the_program_got_through_textures_and_surfaces)
{
	const struct gt_replay_buffer *out;
	struct made made;

	begin(&made);
	made.options.element_count = 0;
	made.options.zone_bytes = 4096;
	test_bundle_add_textures(&made.on_disk);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(made.result.at_addresses);
	cr_expect(eq(str, made.result.handles, ""), "each handle is the program's");
	cr_assert(eq(sz, made.result.buffers.count, 1));
	out = buffer_of(&made, BUNDLE_OUT);
	cr_expect(eq(int, (int)out->comparison.element, (int)GT_ELEMENT_f32));
	cr_expect(eq(int, (int)out->source, (int)GT_ELEMENT_OF_ARRAY));
	cr_expect(eq(u64, out->comparison.elements, BUNDLE_ELEMENTS));
	cr_expect(eq(u64, out->comparison.differing, 0));
	cr_expect(out->array);
	cr_expect(eq(u64, out->zone_bytes, 0));
	cr_expect(out->written_known);
	cr_expect(eq(u64, out->unwritten + out->untouched, 0));
	cr_expect(eq(u32, made.result.roles[GT_ROLE_input], 1), "the weights");
	cr_expect(eq(dbl, made.result.bytes, 2 * SIZE + 64));
	end(&made);
}

Test(replay, tells_what_differs_in_arrays)
{
	const struct gt_replay_buffer *out;
	struct made made;
	float after[BUNDLE_ELEMENTS] = {0};

	begin(&made);
	test_bundle_add_textures(&made.on_disk);
	made.on_disk.bundle.memory.rows[BUNDLE_OUT].after =
		test_bundle_blob(&made.on_disk, after, SIZE);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(not(made.result.verified));
	out = buffer_of(&made, BUNDLE_OUT);
	cr_expect(eq(u64, out->comparison.mismatches, BUNDLE_ELEMENTS - 1), "all but the first");
	cr_expect(eq(u64, out->varying, 0));
	end(&made);
}

/* The written array is read before: it has the recorded contents again in each run. */
Test(replay, resets_arrays_before_each_run)
{
	struct made made;
	float before[BUNDLE_ELEMENTS];
	float after[BUNDLE_ELEMENTS];

	begin(&made);
	test_bundle_add_textures(&made.on_disk);
	made.on_disk.bundle.objects.rows[0].memory = BUNDLE_OUT;
	for (int i = 0; i < BUNDLE_ELEMENTS; i++) {
		before[i] = (float)(i + 1);
		after[i] = before[i] * (float)(1 + i % BUNDLE_SIDE % 4);
	}
	made.on_disk.bundle.memory.rows[BUNDLE_OUT].before =
		test_bundle_blob(&made.on_disk, before, SIZE);
	made.on_disk.bundle.memory.rows[BUNDLE_OUT].after =
		test_bundle_blob(&made.on_disk, after, SIZE);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(not(buffer_of(&made, BUNDLE_OUT)->written_known), "it reads what it changes");
	end(&made);
}

/* Levels of a mipmapped array, one of which a surface is of. */
Test(replay, has_mipmapped_arrays_with_their_levels)
{
	enum { SMALL = BUNDLE_SIDE / 2, ALL = BUNDLE_ELEMENTS + SMALL * SMALL };
	const struct {
		uint64_t handles[3];
		uint32_t sides[2];
	} block = {{2, 1, 3}, {SMALL, SMALL}};
	struct gt_bundle_memory *mipmap;
	struct gt_bundle *bundle;
	struct made made;
	float before[ALL];
	float after[ALL];

	begin(&made);
	test_bundle_add_textures(&made.on_disk);
	bundle = &made.on_disk.bundle;
	for (int i = 0; i < ALL; i++)
		before[i] = after[i] = (float)(i + 1);
	for (int y = 0; y < SMALL; y++)
		for (int x = 0; x < SMALL; x++)
			after[BUNDLE_ELEMENTS + SMALL * y + x] =
				before[BUNDLE_SIDE * y + x] * (float)(1 + x % 4);
	bundle->memory.count--;
	mipmap = &bundle->memory.rows[BUNDLE_PICTURE];
	mipmap->array.levels = 2;
	mipmap->array.flags = GT_ARRAY_SURFACES;
	mipmap->size = sizeof(before);
	mipmap->before = test_bundle_blob(&made.on_disk, before, sizeof(before));
	mipmap->after = test_bundle_blob(&made.on_disk, after, sizeof(after));
	mipmap->same = false;
	bundle->objects.rows[0].resource = GT_BUNDLE_RESOURCE_mipmap;
	bundle->objects.rows[0].sampler.flags = 2; /* CU_TRSF_NORMALIZED_COORDINATES */
	bundle->objects.rows[2].memory = BUNDLE_PICTURE;
	bundle->objects.rows[2].level = 1;
	bundle->steps.rows[0].parameters = test_bundle_blob(&made.on_disk, &block, sizeof(block));
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_PICTURE)->comparison.elements, ALL));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_PICTURE)->untouched, 0));
	cr_expect(isnan(made.result.bytes), "how much of the levels is used is not known");
	end(&made);
}

Test(replay, moves_memory_of_textures_and_fills_arrays_with_other_inputs)
{
	const struct gt_replay_buffer *out;
	struct made made;

	begin(&made);
	test_bundle_add_textures(&made.on_disk);
	made.options.relocate = true;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(not(made.result.at_addresses));
	gt_replay_result_release(&made.result);
	made.options.inputs = GT_INPUTS_random;
	cr_assert(eq(int, run_again(&made), 0), "%s", made.err.text);
	out = buffer_of(&made, BUNDLE_OUT);
	cr_expect(not(out->wanted_known));
	cr_expect(gt(dbl, out->comparison.got_values.mean, 0), "the picture in another order");
	gt_replay_result_release(&made.result);
	made.options.inputs = GT_INPUTS_zero;
	cr_assert(eq(int, run_again(&made), 0), "%s", made.err.text);
	cr_expect(eq(dbl, buffer_of(&made, BUNDLE_OUT)->comparison.got_values.most, 0));
	end(&made);
}

/* The fake driver gives out the lowest number that is free. */
Test(replay, has_the_handles_of_the_program_or_says_that_they_are_others)
{
	struct {
		uint64_t handles[3];
		uint32_t sides[2];
	} block = {{1000, 7, 12}, {BUNDLE_SIDE, BUNDLE_SIDE}};
	struct made made;

	begin(&made);
	test_bundle_add_textures(&made.on_disk);
	for (size_t i = 0; i < 3; i++)
		made.on_disk.bundle.objects.rows[i].value = block.handles[i];
	made.on_disk.bundle.steps.rows[0].parameters =
		test_bundle_blob(&made.on_disk, &block, sizeof(block));
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(str, made.result.handles, ""));
	end(&made);
	begin(&made);
	block.handles[1] = 0x7000000000000;
	test_bundle_add_textures(&made.on_disk);
	for (size_t i = 0; i < 3; i++)
		made.on_disk.bundle.objects.rows[i].value = block.handles[i];
	made.on_disk.bundle.steps.rows[0].parameters =
		test_bundle_blob(&made.on_disk, &block, sizeof(block));
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(str, made.result.handles,
	             "1 of 3 handles of textures and surfaces are other numbers here, the first at "
	             "byte 8 of the parameters of step 0: a number that only looks like one was "
	             "changed as well"));
	end(&made);
}

/* A number that none gets takes up all that there are: the next one has room all the same. */
Test(replay, has_handles_though_none_gets_the_number_of_the_program)
{
	const struct {
		uint64_t handles[3];
		uint32_t sides[2];
	} block = {{0x7000000000000, 0x7000000000001, 0x7000000000002}, {BUNDLE_SIDE, BUNDLE_SIDE}};
	struct made made;

	begin(&made);
	test_bundle_add_textures(&made.on_disk);
	for (size_t i = 0; i < 3; i++)
		made.on_disk.bundle.objects.rows[i].value = block.handles[i];
	made.on_disk.bundle.steps.rows[0].parameters =
		test_bundle_blob(&made.on_disk, &block, sizeof(block));
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	end(&made);
}

/* replay_table reads through handles that only memory has. */
static void add_table(struct made *made, uint64_t handle)
{
	static const struct gt_bundle_parameter parameters[] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
	const struct {
		uint64_t table;
		uint64_t values;
		uint32_t counts[2];
	} block = {BUNDLE_Z_ADDRESS, BUNDLE_Z_ADDRESS + 0x1000, {1, BUNDLE_SIDE}};
	const float zeros[BUNDLE_SIDE] = {0};
	struct test_bundle *disk = &made->on_disk;
	struct gt_bundle_function *function;

	test_bundle_add_textures(disk);
	disk->bundle.memory.count = 1; /* the weights */
	disk->bundle.objects.rows[0] = disk->bundle.objects.rows[1];
	disk->bundle.objects.rows[0].value = handle;
	disk->bundle.objects.count = 1;
	disk->bundle.handles.count = 1;
	disk->bundle.handles.rows[0] = (struct gt_bundle_handle){.memory = 1};
	*gt_array_push(&disk->bundle.memory) = (struct gt_bundle_memory){
		.address = BUNDLE_Z_ADDRESS,
		.size = sizeof(handle),
		.module = GT_BUNDLE_NONE,
		.before = test_bundle_blob(disk, &handle, sizeof(handle)),
		.same = true,
	};
	*gt_array_push(&disk->bundle.memory) = (struct gt_bundle_memory){
		.address = BUNDLE_Z_ADDRESS + 0x1000,
		.size = sizeof(zeros),
		.module = GT_BUNDLE_NONE,
		.before = test_bundle_blob(disk, zeros, sizeof(zeros)),
		.after = disk->bundle.memory.rows[0].before,
	};
	function = &disk->bundle.functions.rows[0];
	function->name = "replay_table";
	function->parameters.count = 4;
	memcpy(function->parameters.rows, parameters, sizeof(parameters));
	disk->bundle.steps.rows[0].parameters = test_bundle_blob(disk, &block, sizeof(block));
	for (uint32_t i = 0; i < 2; i++)
		*gt_array_push(&disk->bundle.pointers) =
			(struct gt_bundle_pointer){.memory = GT_BUNDLE_NONE,
		                                   .offset = i * sizeof(uint64_t),
		                                   .target = i + 1,
		                                   .declared = true};
}

Test(replay, has_handles_in_memory_as_they_are_here)
{
	struct made made;

	begin(&made);
	add_table(&made, 0x7000000000000);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(str, made.result.handles,
	             "1 of 1 handles of textures and surfaces are other numbers here, the first at "
	             "byte 0 of memory 1: a number that only looks like one was changed as well"));
	cr_expect(eq(u32, made.result.roles[GT_ROLE_input], 1), "the weights, and not the table");
	cr_expect(isnan(made.result.bytes), "what the table leads to is not known");
	gt_replay_result_release(&made.result);
	made.options.inputs = GT_INPUTS_zero;
	cr_assert(eq(int, run_again(&made), 0), "%s", made.err.text);
	cr_expect(eq(dbl, buffer_of(&made, 2)->comparison.got_values.most, 0));
	end(&made);
}

/* A copy from the host brings the handle. */
Test(replay, has_handles_that_copies_bring_as_they_are_here)
{
	const uint64_t none = 0;
	struct gt_bundle *bundle;
	struct gt_bundle_step launch;
	struct made made;

	begin(&made);
	add_table(&made, 0x7000000000000);
	bundle = &made.on_disk.bundle;
	launch = bundle->steps.rows[0];
	bundle->steps.rows[0] = (struct gt_bundle_step){
		.kind = GT_BUNDLE_STEP_copy,
		.to = bundle->memory.rows[1].address,
		.bytes = sizeof(none),
		.rows = 1,
		.slices = 1,
		.event = GT_BUNDLE_NONE,
		.parameters = bundle->memory.rows[1].before,
	};
	*gt_array_push(&bundle->steps) = launch;
	gt_array_each(struct gt_bundle_pointer, pointer, &bundle->pointers)
		pointer->step = 1;
	bundle->memory.rows[1].same = false;
	bundle->memory.rows[1].after = bundle->memory.rows[1].before;
	bundle->memory.rows[1].before = test_bundle_blob(&made.on_disk, &none, sizeof(none));
	bundle->handles.rows[0] = (struct gt_bundle_handle){.memory = GT_BUNDLE_NONE};
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified, "the table has the handle of here afterwards");
	end(&made);
}

/* The last copy tells what is there afterwards. */
Test(replay, has_the_handle_that_the_last_of_several_copies_brings)
{
	const uint64_t handles[] = {0x7000000000000, 0x7000000000001};
	const uint64_t none = 0;
	struct gt_bundle_object object;
	struct gt_bundle_step launch;
	struct gt_bundle_memory *table;
	struct gt_bundle *bundle;
	struct gt_blob blobs[2];
	struct made made;

	begin(&made);
	add_table(&made, handles[0]);
	bundle = &made.on_disk.bundle;
	table = &bundle->memory.rows[1];
	object = bundle->objects.rows[0];
	object.value = handles[1];
	*gt_array_push(&bundle->objects) = object;
	launch = bundle->steps.rows[0];
	bundle->steps.count = bundle->handles.count = 0;
	for (uint32_t i = 0; i < 2; i++) {
		blobs[i] = test_bundle_blob(&made.on_disk, &handles[i], sizeof(handles[i]));
		*gt_array_push(&bundle->steps) = (struct gt_bundle_step){
			.kind = GT_BUNDLE_STEP_copy,
			.to = table->address,
			.bytes = sizeof(handles[i]),
			.rows = 1,
			.slices = 1,
			.event = GT_BUNDLE_NONE,
			.parameters = blobs[i],
		};
		*gt_array_push(&bundle->handles) =
			(struct gt_bundle_handle){.memory = GT_BUNDLE_NONE, .step = i, .object = i};
	}
	*gt_array_push(&bundle->steps) = launch;
	gt_array_each(struct gt_bundle_pointer, pointer, &bundle->pointers)
		pointer->step = 2;
	table->same = false;
	table->before = test_bundle_blob(&made.on_disk, &none, sizeof(none));
	table->after = blobs[1];
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified, "the table has the second handle of here afterwards");
	end(&made);
}

/* Drivers may count textures and surfaces apart: a number is then that of one of each. */
Test(replay, takes_a_number_that_is_two_handles_for_the_first)
{
	struct gt_bundle_handle second;
	struct gt_bundle_object surface;
	struct gt_bundle *bundle;
	struct made made;

	begin(&made);
	test_bundle_add_textures(&made.on_disk);
	bundle = &made.on_disk.bundle;
	surface = bundle->objects.rows[2];
	surface.value = bundle->objects.rows[0].value;
	*gt_array_push(&bundle->objects) = surface;
	second = bundle->handles.rows[0];
	second.object = 3;
	*gt_array_push(&bundle->handles) = second;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(str, made.result.fault, ""));
	end(&made);
}

Test(replay, refuses_parameters_without_their_handles)
{
	struct made made;

	begin(&made);
	test_bundle_add_textures(&made.on_disk);
	made.on_disk.bundle.objects.rows[1].value = 77;
	cr_expect(eq(int, replay(&made), -EBADMSG));
	cr_expect(eq(str, made.err.text,
	             "there is no handle of object 1 at byte 8 of the parameters of step 0"));
	end(&made);
}

Test(replay, times_by_cupti_and_by_events)
{
	struct made made;

	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	made.options.verify = false;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(str, (char *)made.result.times.clock, "CUPTI"), "%s",
	          made.result.times.no_cupti);
	/* The fake's kernels take 10 us, and 5 us from the launch on an idle stream. */
	cr_expect(eq(dbl, made.result.times.median, 10000));
	cr_expect(eq(dbl, made.result.times.error, 0));
	cr_expect(made.result.times.stable);
	cr_expect(ge(dbl, made.result.times.events_median, 10000));
	cr_expect(ge(sz, made.result.times.ns.count, 3));
	cr_expect(isnan(made.result.times.sm_mhz));
	end(&made);
}

Test(replay, says_why_cupti_did_not_time)
{
	struct made made;

	begin(&made);
	(void)setenv("GPUTRACE_CUPTI", "/no/libcupti.so", 1);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(str, (char *)made.result.times.clock, "events"));
	cr_expect(strstr(made.result.times.no_cupti, "/no/libcupti.so") != NULL);
	cr_expect(ge(dbl, made.result.times.median, 10000));
	end(&made);
}

static bool every_second(void *context)
{
	return ++*(int *)context % 2 == 0;
}

/* That of the run which every_second was asked about. */
static double clock_of_every_second(void *context)
{
	return *(int *)context % 2 == 0 ? 500 : 1500;
}

Test(replay, throws_out_runs_with_throttled_clocks)
{
	struct made made;
	int asked = 0;

	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	made.options.throttled = every_second;
	made.options.sm_mhz = clock_of_every_second;
	made.options.context = &asked;
	made.options.within = 0;
	made.options.least_runs = made.options.most_runs = 8;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(u32, made.result.times.thrown_out, 4));
	cr_expect(eq(sz, made.result.times.ns.count, 4));
	cr_expect(eq(dbl, made.result.times.sm_mhz, 1500), "they are in no median");
	end(&made);
}

Test(replay, runs_with_every_state_of_the_cache_and_with_other_inputs)
{
	for (int l2 = GT_L2_cold; l2 <= GT_L2_as_is; l2++) {
		struct made made;

		begin(&made);
		test_bundle_add_launch(&made.on_disk);
		set_image(&made);
		made.options.l2 = (enum gt_l2_state)l2;
		cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
		cr_expect(made.result.verified);
		end(&made);
	}
	for (int inputs = GT_INPUTS_zero; inputs <= GT_INPUTS_random; inputs++) {
		struct made made;

		begin(&made);
		test_bundle_add_launch(&made.on_disk);
		set_image(&made);
		made.options.inputs = (enum gt_inputs)inputs;
		cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
		cr_expect(not(buffer_of(&made, BUNDLE_Y)->wanted_known));
		/* 2 * x + y of zeroes; of x in any order, with y 1. */
		cr_expect(eq(dbl, buffer_of(&made, BUNDLE_Y)->comparison.got_values.most,
		             inputs == GT_INPUTS_zero ? 0 : 511));
		end(&made);
	}
}

/* ---- the same work ---- */

static void add_state(struct made *made, const char *kernel, bool resets)
{
	test_bundle_add_launch(&made->on_disk);
	set_image(made);
	test_bundle_set_state(&made->on_disk, kernel, resets);
	made->options.element_count = 0;
}

/* The second run of one that finds the counter as the first one left it takes 500 ns. */
Test(work, is_that_of_the_first_run_in_each_state_of_the_cache)
{
	static const struct {
		const char *kernel;
		bool resets;
	} kernels[] = {
		{"replay_tiles", false}, {"replay_reset_tiles", true}, {"replay_look_back", false}};

	(void)setenv("FAKE_CUPTI", "l2_bytes=1048576", 1);
	for (size_t i = 0; i < GT_COUNT_OF(kernels); i++)
		for (int l2 = GT_L2_cold; l2 <= GT_L2_as_is; l2++) {
			struct made made;

			begin(&made);
			add_state(&made, kernels[i].kernel, kernels[i].resets);
			made.options.l2 = (enum gt_l2_state)l2;
			cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
			cr_expect(eq(dbl, made.result.times.median, 10000), "%s, state %d",
			          kernels[i].kernel, l2);
			cr_expect(eq(dbl, made.result.times.most, made.result.times.least));
			cr_expect(eq(u32, made.result.times.other_mode, 0));
			cr_expect(made.result.verified, "%s, state %d", kernels[i].kernel, l2);
			cr_expect(eq(str, made.result.times.doubt, ""));
			end(&made);
		}
}

/* The share of the cache that may be restored is 64 bytes: the counter, and not what is written. */
Test(work, restores_a_counter_and_leaves_what_is_only_written)
{
	struct made made;

	(void)setenv("FAKE_CUPTI", "l2_bytes=4096", 1);
	begin(&made);
	add_state(&made, "replay_tiles", false);
	made.options.l2 = GT_L2_warm;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(dbl, made.result.times.median, 10000));
	cr_expect(eq(u64, made.result.times.restored_bytes, 32), "a sector");
	cr_expect(eq(u64, made.result.times.left_bytes, SIZE));
	cr_expect(made.result.verified);
	cr_expect(buffer_of(&made, BUNDLE_Y)->written_known, "though the counter is read");
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->unwritten, 0));
	end(&made);
}

/* Both lie in one memory: the end of what changes is the counter. */
Test(work, finds_a_counter_behind_an_output)
{
	enum { ALL = 1 << 16, VALUES = ALL - 32 };
	static uint8_t before[ALL];
	static uint8_t after[ALL];
	const struct {
		uint64_t state;
		uint64_t values;
		int32_t n;
		int32_t padding;
	} block = {BUNDLE_Y_ADDRESS + VALUES, BUNDLE_Y_ADDRESS, VALUES / 4, 0};
	const uint32_t left = (VALUES / 4 + 31) / 32 + 2;
	struct gt_bundle_memory *memory;
	struct made made;

	(void)setenv("FAKE_CUPTI", "l2_bytes=4096", 1);
	for (size_t i = 0; i < VALUES / 4; i++)
		((float *)after)[i] = 0.5F + (float)i;
	memcpy(after + VALUES, &left, sizeof(left));
	begin(&made);
	add_state(&made, "replay_tiles", false);
	memory = &made.on_disk.bundle.memory.rows[BUNDLE_Y];
	memory->size = ALL;
	memory->before = test_bundle_blob(&made.on_disk, before, ALL);
	memory->after = test_bundle_blob(&made.on_disk, after, ALL);
	made.on_disk.bundle.memory.rows[BUNDLE_X].same = true;
	made.on_disk.bundle.memory.rows[BUNDLE_X].after =
		made.on_disk.bundle.memory.rows[BUNDLE_X].before;
	made.on_disk.bundle.steps.rows[0].parameters =
		test_bundle_blob(&made.on_disk, &block, sizeof(block));
	made.on_disk.bundle.pointers.rows[0].target = BUNDLE_Y;
	made.options.l2 = GT_L2_warm;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(dbl, made.result.times.median, 10000));
	cr_expect(made.result.verified);
	cr_expect(eq(u64, made.result.times.restored_bytes + made.result.times.left_bytes, ALL));
	cr_expect(le(u64, made.result.times.restored_bytes, 8192));
	end(&made);
}

/* y = 2 * x + y: as much changes each time, in the same time. */
Test(work, leaves_values_that_change_as_much_again)
{
	struct made made;

	(void)setenv("FAKE_CUPTI", "l2_bytes=4096", 1);
	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	made.options.l2 = GT_L2_warm;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(u64, made.result.times.left_bytes, SIZE));
	cr_expect(eq(str, made.result.times.doubt, ""));
	cr_expect(made.result.verified);
	end(&made);
}

/* Flags are no small part here, and what finds them set does not wait: the time says so. */
Test(work, restores_what_makes_it_faster)
{
	struct made made;

	(void)setenv("FAKE_CUPTI", "l2_bytes=64", 1);
	begin(&made);
	add_state(&made, "replay_look_back", false);
	made.options.l2 = GT_L2_warm;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(dbl, made.result.times.median, 10000));
	cr_expect(eq(u64, made.result.times.left_bytes, 0));
	end(&made);
}

Test(work, is_done_in_all_forms_of_a_sequence)
{
	for (int form = GT_SEQUENCE_recorded; form <= GT_SEQUENCE_nodes; form++) {
		struct made made;

		(void)setenv("FAKE_CUPTI", "l2_bytes=4096", 1);
		begin(&made);
		test_bundle_add_sequence(&made.on_disk);
		set_image(&made);
		made.options.form = (enum gt_sequence_form)form;
		made.options.l2 = GT_L2_warm;
		cr_assert(eq(int, replay(&made), 0), "form %d: %s", form, made.err.text);
		cr_expect(ge(dbl, made.result.times.median, 20000), "form %d", form);
		cr_expect(eq(str, made.result.times.doubt, ""));
		cr_expect(made.result.verified, "form %d", form);
		end(&made);
	}
}

Test(work, is_not_known_where_a_second_run_writes_less)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = 2.5F;
	begin(&made);
	add_kernel(&made, "replay_tired", after);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(str, made.result.times.doubt,
	             "a second run from the same memory wrote less than the first one: 512 of 1024 "
	             "bytes of memory 1 are as before it"));
	cr_expect(not(made.result.verified));
	end(&made);
}

/* Where what is written differs as well a sector may be as before by chance, but not half of them. */
Test(work, is_not_known_where_runs_differ_and_the_second_writes_much_less)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = 1000;
	begin(&made);
	add_kernel(&made, "replay_waning", after);
	made.options.verify = false;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(str, made.result.times.doubt,
	             "a second run from the same memory wrote less than the first one: 512 of 1024 "
	             "bytes of memory 1 are as before it"));
	end(&made);
}

/* It counts its runs in the process: each state of the cache has one of its own. */
static void expect_weary(enum gt_l2_state l2)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = 2.5F;
	begin(&made);
	add_kernel(&made, "replay_weary", after);
	made.options.l2 = l2;
	made.options.verify = false;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(str, made.result.times.doubt,
	             "the last timed run wrote less than the first one: 512 of 1024 bytes of "
	             "memory 1 are as before it"));
	end(&made);
}

Test(work, is_not_known_where_the_last_timed_run_wrote_less)
{
	expect_weary(GT_L2_cold);
}

Test(work, is_not_known_where_the_last_timed_run_wrote_less_with_warm_caches)
{
	expect_weary(GT_L2_warm);
}

/* Memory that is not restored holds earlier output: another run over other bytes tells. */
Test(work, is_not_known_where_a_run_behind_the_timed_ones_writes_less)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = 2.5F;
	(void)setenv("FAKE_CUPTI", "l2_bytes=4096", 1);
	begin(&made);
	add_kernel(&made, "replay_spent", after);
	made.options.l2 = GT_L2_warm;
	made.options.most_ns = 0;
	made.options.verify = false;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(u64, made.result.times.left_bytes, SIZE));
	cr_expect(eq(str, made.result.times.doubt,
	             "behind the last timed run another one did not write what the first one did"));
	end(&made);
}

Test(work, of_another_mode_does_not_count)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = 2.5F;
	(void)setenv("FAKE_CUPTI", "l2_bytes=4096", 1);
	begin(&made);
	add_kernel(&made, "replay_moody", after);
	made.options.within = 0;
	made.options.least_runs = made.options.most_runs = 20;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(u32, made.result.times.other_mode, 4));
	cr_expect(eq(sz, made.result.times.ns.count, 16));
	cr_expect(eq(dbl, made.result.times.least, 10000));
	cr_expect(
		eq(str, made.result.times.doubt, "4 of 20 runs took less than half of the median"));
	end(&made);
}

/* All three states of the cache are the same to the fake GPU. */
Test(work, is_timed_in_other_states_of_the_cache_where_that_is_asked)
{
	struct made made;

	(void)setenv("FAKE_CUPTI", "l2_bytes=4096", 1);
	begin(&made);
	add_state(&made, "replay_tiles", false);
	made.options.compare_states = true;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	for (int l2 = GT_L2_cold; l2 <= GT_L2_as_is; l2++)
		cr_expect(eq(dbl, made.result.times.by_state[l2], 10000), "state %d", l2);
	cr_expect(made.result.verified);
	gt_replay_result_release(&made.result);
	made.options.compare_states = false;
	cr_assert(eq(int, run_again(&made), 0), "%s", made.err.text);
	cr_expect(eq(dbl, made.result.times.by_state[GT_L2_cold], 10000));
	cr_expect(isnan(made.result.times.by_state[GT_L2_warm]));
	end(&made);
}

/* Room for one copy of y or x, and what is never taken. */
static CUresult tell_memory(size_t *free_bytes, size_t *total)
{
	*total = (size_t)1 << 30;
	*free_bytes = ((size_t)256 << 20) + SIZE;
	return CUDA_SUCCESS;
}

/* Memory that changes has a copy all the time. */
Test(work, is_timed_as_it_is_where_there_is_room_for_copies_of_the_rest)
{
	struct made made;

	begin(&made);
	made.cuda.memory_info = tell_memory;
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	made.options.compare_states = true;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(dbl, made.result.times.by_state[GT_L2_as_is], 10000));
	end(&made);
}

static size_t told_free_bytes;

static CUresult tell_free(size_t *free_bytes, size_t *total)
{
	*total = (size_t)1 << 30;
	*free_bytes = told_free_bytes;
	return CUDA_SUCCESS;
}

/* However large a GPU is, others may have most of it. */
Test(replay, needs_memory_that_is_free)
{
	struct made made;

	begin(&made);
	made.cuda.memory_info = tell_free;
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	told_free_bytes = 1 << 20;
	cr_expect(eq(int, replay(&made), -ENOMEM), "%s", made.err.text);
	expect_text(made.err.text,
	            "the launches need 2 MiB of the GPU's memory, of which 1 MiB are free");
	told_free_bytes = 64 << 20;
	cr_expect(eq(int, run_again(&made), 0), "%s", made.err.text);
	end(&made);
}

Test(replay, finds_what_is_written_outside)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = 1.5F;
	begin(&made);
	add_kernel(&made, "replay_spill", after);
	made.on_disk.bundle.steps.rows[0].grid[0] = 3;
	made.options.zone_bytes = 256;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(not(made.result.verified));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->outside, 4));
	cr_expect(eq(i64, buffer_of(&made, BUNDLE_Y)->first_outside, SIZE));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->comparison.mismatches, 0));
	end(&made);
}

Test(replay, finds_what_is_never_written)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = i % 2 == 0 ? 2.5F : 1.0F;
	begin(&made);
	add_kernel(&made, "replay_half", after);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(buffer_of(&made, BUNDLE_Y)->written_known);
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->untouched, SIZE / 2));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->first_untouched, 4));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->unwritten, 0));
	end(&made);
}

/* The program had something there that the kernel does not write here. */
Test(replay, finds_what_was_written_in_the_program_alone)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = 2.5F;
	begin(&made);
	add_kernel(&made, "replay_half", after);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(not(made.result.verified));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->comparison.mismatches, BUNDLE_ELEMENTS / 2));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->comparison.first[0].offset, 4));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->unwritten, SIZE / 2));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->first_unwritten, 4));
	end(&made);
}

Test(replay, finds_a_kernel_that_writes_something_else_each_time)
{
	const float after[BUNDLE_ELEMENTS] = {0};
	struct made made;

	begin(&made);
	add_kernel(&made, "replay_vary", after);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(buffer_of(&made, BUNDLE_Y)->varies);
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->varying, BUNDLE_ELEMENTS));
	cr_expect(not(buffer_of(&made, BUNDLE_Y)->written_known));
	end(&made);
}

/* The third run gives what the first one did: that proves nothing of what the second did not. */
Test(replay, says_nothing_of_what_is_written_where_it_varies)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = i % 2 == 0 ? 7.0F : 1.0F;
	begin(&made);
	add_kernel(&made, "replay_alternate", after);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(buffer_of(&made, BUNDLE_Y)->varies);
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->varying, BUNDLE_ELEMENTS / 2));
	cr_expect(not(buffer_of(&made, BUNDLE_Y)->written_known));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->untouched, 0));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->unwritten, 0));
	end(&made);
}

/* The program's launch wrote what was there already. */
Test(replay, finds_that_also_in_memory_that_did_not_change_in_the_program)
{
	const float after[BUNDLE_ELEMENTS] = {0};
	struct made made;

	begin(&made);
	add_kernel(&made, "replay_vary", after);
	made.on_disk.bundle.memory.rows[BUNDLE_Y].same = true;
	made.on_disk.bundle.memory.rows[BUNDLE_Y].after =
		made.on_disk.bundle.memory.rows[BUNDLE_Y].before;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(not(made.result.verified));
	cr_expect(buffer_of(&made, BUNDLE_Y)->varies);
	end(&made);
}

Test(replay, tells_of_a_fault_of_the_kernel)
{
	const float after[BUNDLE_ELEMENTS] = {0};
	struct made made;

	begin(&made);
	add_kernel(&made, "replay_fault", after);
	cr_expect(eq(int, replay(&made), -EIO));
	cr_expect(strstr(made.result.fault, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL, "%s",
	          made.result.fault);
	cr_expect(eq(sz, made.result.buffers.count, 0));
	end(&made);
}

Test(replay, says_that_a_fault_stays_in_the_process)
{
	float after[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = 2.5F;
	begin(&made);
	add_kernel(&made, "replay_brittle", after);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(not(made.result.spoiled));
	gt_replay_result_release(&made.result);
	memcpy(made.options.variant.block, (const uint32_t[]){2048, 1, 1}, 3 * sizeof(uint32_t));
	cr_expect(lt(int, run_again(&made), 0));
	cr_expect(not(made.result.spoiled), "a launch that is refused breaks nothing");
	memcpy(made.options.variant.block, (const uint32_t[]){1024, 1, 1}, 3 * sizeof(uint32_t));
	cr_expect(eq(int, run_again(&made), -EIO));
	cr_expect(made.result.spoiled);
	made.options.variant = gt_variant_recorded();
	cr_expect(lt(int, run_again(&made), 0), "nothing works any more");
	end(&made);
}

Test(replay, gives_up_what_does_not_end)
{
	const float after[BUNDLE_ELEMENTS] = {0};
	struct made made;

	(void)setenv("FAKE_CUPTI", "kernel_ns=30000000000,l2_bytes=1048576", 1);
	begin(&made);
	add_kernel(&made, "replay_half", after);
	made.options.most_run_ns = 50000000;
	cr_expect(eq(int, replay(&made), -ETIMEDOUT));
	cr_expect(made.result.spoiled);
	cr_expect(eq(str, made.result.fault, "the GPU's work has not ended in 0.1 s"));
	end(&made);
}

Test(replay, runs_a_sequence_in_every_form)
{
	for (int form = GT_SEQUENCE_recorded; form <= GT_SEQUENCE_nodes; form++) {
		struct made made;

		begin(&made);
		test_bundle_add_sequence(&made.on_disk);
		set_image(&made);
		made.options.form = (enum gt_sequence_form)form;
		cr_assert(eq(int, replay(&made), 0), "form %d: %s", form, made.err.text);
		cr_expect(made.result.verified, "form %d", form);
		cr_expect(eq(u64, buffer_of(&made, BUNDLE_Z)->comparison.differing, 0));
		cr_expect(eq(str, (char *)made.result.times.clock, "CUPTI"), "form %d: %s", form,
		          made.result.times.no_cupti);
		/* Two kernels of 10 us, a copy and a fill. */
		cr_expect(ge(dbl, made.result.times.median, 20000));
		cr_expect(isnan(made.result.bytes));
		cr_expect(eq(u32, made.result.first_bad_step, GT_BUNDLE_NONE));
		cr_expect(made.result.at_addresses);
		end(&made);
	}
}

static struct {
	struct gt_cuda cuda;
	int priorities[8];
	size_t count;
} streams;

static CUresult create_stream(CUstream *stream, unsigned flags, int priority)
{
	if (streams.count < 8)
		streams.priorities[streams.count++] = priority;
	return streams.cuda.stream_create_prior(stream, flags, priority);
}

Test(replay, gives_streams_other_priorities)
{
	static const struct gt_stream_priority given[] = {{13, GT_PRIORITY_LAST}, {99, 3}};

	for (int form = GT_SEQUENCE_recorded; form <= GT_SEQUENCE_nodes; form++) {
		struct made made;

		if (form == GT_SEQUENCE_one_stream)
			continue;
		begin(&made);
		test_bundle_add_sequence(&made.on_disk);
		set_image(&made);
		streams.cuda = made.cuda;
		streams.count = 0;
		made.cuda.stream_create_prior = create_stream;
		made.options.form = (enum gt_sequence_form)form;
		made.options.priorities = given;
		made.options.priority_count = 2;
		cr_assert(eq(int, replay(&made), 0), "form %d: %s", form, made.err.text);
		cr_assert(eq(sz, streams.count, 2));
		cr_expect(eq(int, streams.priorities[0], 0), "as recorded");
		cr_expect(eq(int, streams.priorities[1],
		             form == GT_SEQUENCE_priorities ? GT_PRIORITY_LAST : -5));
		end(&made);
	}
}

/* ---- launches of graphs ---- */

static struct {
	struct gt_cuda cuda;
	CUstream streams[3]; /* in the order in which they were made */
	size_t stream_count;
	CUstream stream; /* of a graph */
	size_t graphs;
	size_t kernels;
} launched;

static CUresult make_stream(CUstream *stream, unsigned flags, int priority)
{
	const CUresult code = launched.cuda.stream_create_prior(stream, flags, priority);

	if (launched.stream_count < 3)
		launched.streams[launched.stream_count++] = *stream;
	return code;
}

static CUresult launch_graph(CUgraphExec exec, CUstream stream)
{
	launched.graphs++;
	launched.stream = stream;
	return launched.cuda.graph_launch(exec, stream);
}

static CUresult launch_kernel(const CUlaunchConfig *config, CUfunction function, void **parameters,
                              void **extra)
{
	launched.kernels++;
	return launched.cuda.launch_with(config, function, parameters, extra);
}

static void count_launches(struct made *made)
{
	launched.cuda = made->cuda;
	launched.graphs = launched.kernels = launched.stream_count = 0;
	made->cuda.stream_create_prior = make_stream;
	made->cuda.graph_launch = launch_graph;
	made->cuda.launch_with = launch_kernel;
}

Test(graphs, are_launched_as_such_where_the_programs_structure_is_kept)
{
	for (int form = GT_SEQUENCE_recorded; form <= GT_SEQUENCE_nodes; form++) {
		const bool whole = form == GT_SEQUENCE_graph;
		const bool kept = form == GT_SEQUENCE_recorded ||
		                  form == GT_SEQUENCE_back_to_back ||
		                  form == GT_SEQUENCE_priorities;
		struct made made;

		begin(&made);
		test_bundle_add_graph(&made.on_disk);
		set_image(&made);
		count_launches(&made);
		made.options.form = (enum gt_sequence_form)form;
		cr_assert(eq(int, replay(&made), 0), "form %d: %s", form, made.err.text);
		cr_expect(made.result.verified, "form %d", form);
		cr_expect(eq(u64, buffer_of(&made, BUNDLE_Z)->comparison.differing, 0));
		cr_expect(eq(str, (char *)made.result.times.clock, "CUPTI"), "form %d: %s", form,
		          made.result.times.no_cupti);
		cr_expect(ge(dbl, made.result.times.median, 20000));
		if (kept || whole)
			cr_expect(eq(sz, launched.kernels, 2), "form %d: captured once", form);
		else
			cr_expect(ge(sz, launched.kernels, 10), "form %d: in each run", form);
		if (kept || whole)
			cr_expect(ge(sz, launched.graphs, 5), "form %d", form);
		else
			cr_expect(eq(sz, launched.graphs, 0), "form %d", form);
		end(&made);
	}
}

/* Their streams are none of the program's, whatever is said of them. */
Test(graphs, are_run_where_nothing_may_wait_for_the_first_run)
{
	struct made made;

	begin(&made);
	test_bundle_add_graph(&made.on_disk);
	set_image(&made);
	made.on_disk.bundle.streams.rows[1].nonblocking = false;
	made.options.most_run_ns = 1000000000;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	end(&made);
}

/* Nothing orders its first node and its last one with the stream of the launch. */
Test(graphs, begin_and_end_as_one_in_all_of_their_streams)
{
	struct gt_bundle_step *rows;
	struct made made;

	begin(&made);
	test_bundle_add_graph(&made.on_disk);
	set_image(&made);
	count_launches(&made);
	rows = made.on_disk.bundle.steps.rows;
	rows[2].kind = GT_BUNDLE_STEP_record;
	rows[2].stream = 0;
	rows[9].kind = GT_BUNDLE_STEP_record;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(sz, launched.kernels, 2));
	/* Each run has all of the work: what was not captured would have run once. */
	cr_expect(eq(str, (char *)made.result.times.clock, "CUPTI"), "%s",
	          made.result.times.no_cupti);
	end(&made);
}

/* The same graph was launched in stream 13 the last time. */
Test(graphs, wait_in_their_stream_for_the_one_of_the_launch_before)
{
	struct gt_bundle_step *rows;
	struct made made;

	begin(&made);
	test_bundle_add_graph(&made.on_disk);
	set_image(&made);
	count_launches(&made);
	*gt_array_push(&made.on_disk.bundle.streams) =
		(struct gt_bundle_stream){.number = 17, .nonblocking = true};
	rows = made.on_disk.bundle.steps.rows;
	/* The fill is the program's, in a stream that the graph has nothing to do with. */
	rows[3].stream = 2;
	rows[1] = rows[3];
	rows[1].graph = 0;
	rows[2].kind = GT_BUNDLE_STEP_record;
	rows[2].stream = 2;
	rows[2].graph = 0;
	rows[3] = (struct gt_bundle_step){.kind = GT_BUNDLE_STEP_wait,
	                                  .stream = 0,
	                                  .start_ns = -1,
	                                  .end_ns = -1,
	                                  .call_ns = -1,
	                                  .rows = 1,
	                                  .event = 0};
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(sz, launched.kernels, 2), "captured once");
	cr_expect(ge(sz, launched.graphs, 5));
	cr_assert(eq(sz, launched.stream_count, 3));
	cr_expect(eq(ptr, (void *)launched.stream, (void *)launched.streams[0]));
	end(&made);
}

/* Calls of what is recorded and waited for are not known; of the graph's kernels they are. */
Test(graphs, are_launched_when_the_program_launched_them)
{
	struct made made;

	begin(&made);
	test_bundle_add_graph(&made.on_disk);
	set_image(&made);
	for (size_t i = 0; i < made.on_disk.bundle.steps.count; i++)
		made.on_disk.bundle.steps.rows[i].call_ns = i == 0 ? 0 : -1;
	made.on_disk.bundle.steps.rows[BUNDLE_GRAPH_SAXPY].call_ns = 3000000;
	made.on_disk.bundle.steps.rows[BUNDLE_GRAPH_SCALE].call_ns = 90000000000;
	made.options.verify = false;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(ge(dbl, made.result.times.median, 3000000));
	cr_expect(lt(dbl, made.result.times.median, 90000000));
	end(&made);
}

/* Others may wait for an event that a graph records. */
Test(graphs, whose_events_are_waited_for_outside_are_run_node_by_node)
{
	struct made made;

	begin(&made);
	test_bundle_add_graph(&made.on_disk);
	set_image(&made);
	count_launches(&made);
	made.on_disk.bundle.steps.rows[10].event = 2;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(sz, launched.graphs, 0));
	cr_expect(ge(sz, launched.kernels, 10));
	end(&made);
}

Test(graphs, are_apart_where_the_first_infinity_is_looked_for)
{
	const float factor = INFINITY;
	struct made made;

	begin(&made);
	test_bundle_add_graph(&made.on_disk);
	set_image(&made);
	made.on_disk.bundle.memory.rows[BUNDLE_FACTOR].before =
		test_bundle_blob(&made.on_disk, &factor, sizeof(factor));
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(not(made.result.verified));
	cr_expect(eq(u32, made.result.first_bad_step, BUNDLE_GRAPH_SCALE));
	end(&made);
}

/* Two of them, the second of one kernel, which reads what the first one wrote. */
Test(graphs, may_follow_each_other)
{
	struct made made;

	begin(&made);
	test_bundle_add_graph(&made.on_disk);
	set_image(&made);
	count_launches(&made);
	for (size_t i = 0; i < 10; i++)
		made.on_disk.bundle.steps.rows[i].graph = 1 + (i >= 5);
	made.on_disk.bundle.steps.rows[10].stream = GT_BUNDLE_NONE;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(eq(sz, launched.kernels, 2));
	cr_expect(ge(sz, launched.graphs, 10));
	end(&made);
}

Test(replay, names_the_step_that_wrote_the_first_infinity)
{
	const float factor = INFINITY;
	struct made made;

	begin(&made);
	test_bundle_add_sequence(&made.on_disk);
	set_image(&made);
	made.on_disk.bundle.memory.rows[BUNDLE_FACTOR].before =
		test_bundle_blob(&made.on_disk, &factor, sizeof(factor));
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(not(made.result.verified));
	cr_expect(eq(u32, made.result.first_bad_step, 5));
	end(&made);
}

Test(replay, works_at_other_addresses_where_pointers_are_known)
{
	struct made made;

	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	made.options.relocate = true;
	made.options.zone_bytes = 4096;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	cr_expect(not(made.result.at_addresses));
	cr_expect(eq(str, made.result.guessed, ""));
	end(&made);
}

Test(replay, compares_addresses_in_memory_that_moved_as_addresses)
{
	struct made made;
	struct gt_bundle_memory *table;

	begin(&made);
	test_bundle_add_sequence(&made.on_disk);
	set_image(&made);
	table = &made.on_disk.bundle.memory.rows[BUNDLE_TABLE];
	table->same = false;
	table->after = table->before;
	made.options.relocate = true;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_TABLE)->comparison.differing, 0));
	cr_expect(made.result.verified);
	cr_expect(ne(str, made.result.guessed, ""));
	end(&made);
}

Test(replay, says_that_addresses_are_taken)
{
	struct made made;
	void *other = mmap((void *)BUNDLE_X_ADDRESS, 4096, PROT_NONE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	cr_assert(ne(ptr, other, MAP_FAILED));
	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	cr_expect(eq(int, replay(&made), -EADDRINUSE));
	cr_expect(ne(str, made.err.text, ""));
	end(&made);
	(void)munmap(other, 4096);
}

Test(replay, tries_another_layout_when_what_is_beside_is_taken)
{
	struct made made;
	void *other = mmap((void *)(BUNDLE_X_ADDRESS + (30 << 20)), 4096, PROT_NONE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	cr_assert(ne(ptr, other, MAP_FAILED));
	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(gt(u32, made.result.layouts, 1));
	cr_expect(made.result.verified);
	end(&made);
	(void)munmap(other, 4096);
}

Test(replay, refuses_another_architecture_and_broken_machine_code)
{
	static const char ptx[] = "//\n.version 8.7\n.target sm_100\n";
	static const char cubin[] = "\177ELF and nothing more";
	struct made made;

	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	made.on_disk.bundle.modules.rows[0].image =
		test_bundle_blob(&made.on_disk, ptx, sizeof(ptx) - 1);
	cr_expect(eq(int, replay(&made), -ENOTSUP));
	cr_expect(strstr(made.err.text, "sm_100") && strstr(made.err.text, "sm_90"), "%s",
	          made.err.text);
	end(&made);
	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	made.on_disk.bundle.modules.rows[0].image =
		test_bundle_blob(&made.on_disk, cubin, sizeof(cubin) - 1);
	cr_expect(eq(int, replay(&made), -EBADMSG));
	end(&made);
}

Test(replay, says_that_there_is_too_little_memory)
{
	struct made made;

	(void)setenv("FAKE_CUPTI", "most_bytes=4096", 1);
	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	cr_expect(eq(int, replay(&made), -ENOMEM));
	cr_expect(strstr(made.err.text, "memory") != NULL, "%s", made.err.text);
	end(&made);
}

Test(replay, changes_the_shape_of_the_launch)
{
	struct made made;

	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	memcpy(made.options.variant.block, (const uint32_t[]){64, 1, 1}, 3 * sizeof(uint32_t));
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	end(&made);
}

/* ---- memory that holds the same afterwards ---- */

static void set_same(struct made *made, uint32_t memory, const float values[BUNDLE_ELEMENTS])
{
	struct gt_bundle_memory *row = &made->on_disk.bundle.memory.rows[memory];

	row->before = row->after = test_bundle_blob(&made->on_disk, values, SIZE);
	row->same = true;
}

/* Every second element is set to the value that was there before. */
static void add_half_again(struct made *made, const char *kernel)
{
	float values[BUNDLE_ELEMENTS];

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		values[i] = i % 2 == 0 ? 2.5F : 1.0F;
	add_kernel(made, kernel, values);
	set_same(made, BUNDLE_Y, values);
}

Test(roles, tell_what_is_written_with_what_was_there)
{
	struct made made;

	begin(&made);
	add_half_again(&made, "replay_half");
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_assert(eq(sz, made.result.buffers.count, 1));
	cr_expect(eq(int, buffer_of(&made, BUNDLE_Y)->role, GT_ROLE_output));
	cr_expect(buffer_of(&made, BUNDLE_Y)->wanted_known);
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->written, SIZE / 2));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->comparison.mismatches, 0));
	cr_expect(made.result.verified);
	cr_expect(eq(u32, made.result.roles[GT_ROLE_output], 1));
	cr_expect(eq(u32, made.result.roles[GT_ROLE_none], 1), "x is left alone");
	cr_expect(not(made.result.spoiled));
	end(&made);
}

/* Elements that a variant does not write hold the right values all the same. */
Test(roles, show_what_a_variant_does_not_write)
{
	struct gt_roles roles = {0};
	struct made made;

	begin(&made);
	add_half_again(&made, "replay_lazy");
	made.options.roles = &roles;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.verified);
	gt_replay_result_release(&made.result);
	gt_roles_begin_variant(&roles);
	memcpy(made.options.variant.block, (const uint32_t[]){64, 1, 1}, 3 * sizeof(uint32_t));
	cr_assert(eq(int, run_again(&made), 0), "%s", made.err.text);
	cr_expect(not(made.result.verified));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->unwritten, SIZE / 2));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->first_unwritten, 0));
	gt_roles_release(&roles);
	end(&made);
}

/* 1 / 1 is 1 */
Test(roles, tell_what_is_written_and_read)
{
	float values[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		values[i] = 1;
	begin(&made);
	add_kernel(&made, "replay_reciprocal", values);
	set_same(&made, BUNDLE_Y, values);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(u32, made.result.roles[GT_ROLE_both], 1));
	cr_expect(eq(int, buffer_of(&made, BUNDLE_Y)->role, GT_ROLE_both));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->written, 0), "not counted");
	cr_expect(eq(u32, made.result.proven, 0), "it would hold that were it left alone");
	cr_expect(not(made.result.verified));
	cr_expect(not(made.result.wrong));
	end(&made);
}

/* y += 0 * x */
Test(roles, do_not_tell_what_is_written_as_it_was_found)
{
	static const struct {
		int32_t n;
		float a;
		uint64_t x;
		uint64_t y;
	} block = {BUNDLE_ELEMENTS, 0, BUNDLE_X_ADDRESS, BUNDLE_Y_ADDRESS};
	float values[BUNDLE_ELEMENTS];
	struct made made;

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		values[i] = 3;
	begin(&made);
	test_bundle_add_launch(&made.on_disk);
	set_image(&made);
	set_same(&made, BUNDLE_Y, values);
	made.on_disk.bundle.steps.rows[0].parameters =
		test_bundle_blob(&made.on_disk, &block, sizeof(block));
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(u32, made.result.roles[GT_ROLE_none], 2));
	cr_expect(eq(sz, made.result.buffers.count, 0));
	end(&made);
}

static void add_pick(struct made *made, int32_t count, int32_t end)
{
	static const struct gt_bundle_parameter parameters[] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
	const struct {
		uint64_t indices;
		uint64_t values;
		int32_t count;
		int32_t end;
	} block = {BUNDLE_X_ADDRESS, BUNDLE_Y_ADDRESS, count, end};
	struct gt_bundle *bundle = &made->on_disk.bundle;
	uint32_t indices[BUNDLE_ELEMENTS];
	float values[BUNDLE_ELEMENTS];

	for (int i = 0; i < BUNDLE_ELEMENTS; i++) {
		indices[i] = (uint32_t)(i % 255);
		values[i] = 2.0F * (float)(i % 255);
	}
	test_bundle_add_launch(&made->on_disk);
	set_image(made);
	bundle->functions.rows[0].name = "replay_pick";
	memcpy(bundle->functions.rows[0].parameters.rows, parameters, sizeof(parameters));
	bundle->steps.rows[0].parameters = test_bundle_blob(&made->on_disk, &block, sizeof(block));
	bundle->pointers.rows[0].offset = 0;
	bundle->pointers.rows[1].offset = 8;
	bundle->memory.rows[BUNDLE_X].before = bundle->memory.rows[BUNDLE_X].after =
		test_bundle_blob(&made->on_disk, indices, sizeof(indices));
	set_same(made, BUNDLE_Y, values);
	made->options.element_count = 0;
}

Test(roles, tell_inputs_from_outputs)
{
	struct made made;

	begin(&made);
	add_pick(&made, BUNDLE_ELEMENTS, 256);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(eq(int, buffer_of(&made, BUNDLE_Y)->role, GT_ROLE_output));
	cr_expect(eq(u64, buffer_of(&made, BUNDLE_Y)->written, SIZE));
	cr_expect(eq(u32, made.result.roles[GT_ROLE_input], 1), "indices that are near to those");
	cr_expect(made.result.verified);
	end(&made);
}

/* 254 becomes 255, which there is not: another process knows then what not to ask. */
Test(roles, are_found_elsewhere_where_a_run_faults)
{
	struct gt_roles roles = {0};
	struct made made;

	begin(&made);
	add_pick(&made, BUNDLE_ELEMENTS, 255);
	made.options.roles = &roles;
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	cr_expect(made.result.spoiled);
	cr_expect(ge(dbl, made.result.times.median, 10000), "what was measured is still known");
	cr_expect(eq(u32, made.result.roles[GT_ROLE_unknown], 2));
	cr_expect(strstr(made.result.no_roles, "ILLEGAL_ADDRESS") != NULL, "%s",
	          made.result.no_roles);
	cr_expect(roles.unfinished);
	cr_expect(eq(u32, roles.runs, 1));
	cr_expect(ne(u32, roles.list.rows[BUNDLE_X].set, roles.list.rows[BUNDLE_Y].set));
	gt_roles_release(&roles);
	end(&made);
}

Test(roles, are_asked_of_no_pointers_and_no_variables)
{
	struct made made;

	begin(&made);
	test_bundle_add_sequence(&made.on_disk);
	set_image(&made);
	cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
	for (unsigned i = 0; i < GT_ROLE_COUNT; i++)
		cr_expect(eq(u32, made.result.roles[i], i == GT_ROLE_output), "x alone: role %u",
		          i);
	cr_expect(eq(int, buffer_of(&made, BUNDLE_X)->role, GT_ROLE_output), "the copy writes it");
	cr_expect(made.result.verified);
	end(&made);
}

Test(roles, are_not_asked_without_verifying_or_with_other_inputs)
{
	for (int i = 0; i < 2; i++) {
		struct made made;

		begin(&made);
		add_half_again(&made, "replay_half");
		made.options.verify = i == 0;
		made.options.inputs = i == 0 ? GT_INPUTS_zero : GT_INPUTS_recorded;
		cr_assert(eq(int, replay(&made), 0), "%s", made.err.text);
		for (unsigned role = 0; role < GT_ROLE_COUNT; role++)
			cr_expect(eq(u32, made.result.roles[role], 0));
		end(&made);
	}
}
