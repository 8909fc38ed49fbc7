/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tune/variant.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "format/recording.h"
#include "model/bundle/bundle.h"
#include "support/check.h"

/* A launch of 1000 blocks of 128 threads on an H200, and what comes of a variant of it. */
struct scene {
	struct gt_variant variant;
	struct gt_bundle_function function;
	struct gt_variant_code code;
	struct gt_bundle_step step;
	struct gt_variant_limits limits;
	struct gt_variant_launch launch;
	struct gt_error err;
};

static char name[] = "saxpy";

static struct scene scene(void)
{
	return (struct scene){
		.variant = gt_variant_recorded(),
		.function = {.name = name,
	                     .max_threads = 1024,
	                     .shared_bytes = 1024,
	                     .carveout = -1},
		.step = {.grid = {1000, 1, 1}, .block = {128, 1, 1}, .shared_bytes = 4096},
		.limits = {.cc_major = 9,
	                   .threads = 1024,
	                   .block = {1024, 1024, 64},
	                   .grid = {2147483647, 65535, 65535},
	                   .shared_bytes = 232448,
	                   .cluster = 8},
	};
}

static int launch(struct scene *scene)
{
	const struct gt_variant_subject subject = {&scene->function, &scene->code, &scene->step,
	                                           &scene->limits};

	return gt_variant_launch(&scene->variant, &subject, &scene->launch, &scene->err);
}

static void expect_refused(struct scene *scene, int code, const char *sentence)
{
	scene->launch.more_threads = 77;
	cr_expect(eq(int, launch(scene), -code));
	expect_text(scene->err.text, sentence);
	cr_expect(eq(u64, scene->launch.more_threads, 77), "what is refused is left alone");
}

static void set(uint32_t axes[3], uint32_t x, uint32_t y, uint32_t z)
{
	axes[0] = x;
	axes[1] = y;
	axes[2] = z;
}

Test(variant, that_changes_nothing_is_the_launch_as_recorded)
{
	struct scene one = scene();

	set(one.step.cluster, 2, 1, 1);
	one.step.cooperative = true;
	one.limits.resident = 1;
	one.function.max_threads = 64;
	cr_assert(eq(int, launch(&one), 0), "%s", one.err.text);
	cr_expect(eq(u32, one.launch.grid[0], 1000));
	cr_expect(eq(u32, one.launch.block[0], 128));
	cr_expect(eq(u32, one.launch.cluster[0], 2));
	cr_expect(eq(u32, one.launch.shared_bytes, 4096));
	cr_expect(eq(int, one.launch.carveout, GT_CARVEOUT_DEFAULT));
	cr_expect(eq(u32, one.launch.max_registers, 0));
	cr_expect(not(gt_variant_changes(&one.variant)));
}

Test(variant, of_another_block_has_as_many_threads_rounded_up)
{
	struct scene one = scene();

	set(one.variant.block, 384, 1, 1);
	cr_assert(eq(int, launch(&one), 0), "%s", one.err.text);
	cr_expect(eq(u32, one.launch.grid[0], 334));
	cr_expect(eq(u32, one.launch.block[0], 384));
	cr_expect(eq(u64, one.launch.more_threads, 334 * 384 - 128000));
}

Test(variant, of_another_block_keeps_threads_along_each_axis)
{
	struct scene one = scene();

	set(one.step.grid, 10, 20, 3);
	set(one.step.block, 16, 16, 1);
	set(one.variant.block, 32, 4, 1);
	cr_assert(eq(int, launch(&one), 0), "%s", one.err.text);
	cr_expect(eq(u32, one.launch.grid[0], 5));
	cr_expect(eq(u32, one.launch.grid[1], 80));
	cr_expect(eq(u32, one.launch.grid[2], 3));
	cr_expect(eq(u64, one.launch.more_threads, 0));
}

Test(variant, is_refused_where_the_function_has_fewer_threads)
{
	struct scene one = scene();

	one.function.max_threads = 256;
	set(one.variant.block, 512, 1, 1);
	expect_refused(&one, EINVAL,
	               "blocks of saxpy have 256 threads at most, by its launch bounds or "
	               "registers, and not 512");
}

Test(variant, is_refused_where_the_function_was_compiled_for_one_block)
{
	struct scene one = scene();

	set(one.code.block, 128, 1, 1);
	set(one.variant.block, 64, 1, 1);
	expect_refused(&one, EINVAL, "saxpy was compiled for blocks of 128 threads and no others");
	set(one.variant.block, 128, 1, 1);
	cr_expect(eq(int, launch(&one), 0), "it is the recorded one");
}

Test(variant, of_a_kernel_of_tritons_is_another_module)
{
	struct scene one = scene();

	one.code.python = true;
	set(one.variant.block, 64, 1, 1);
	expect_refused(&one, EINVAL,
	               "saxpy is taken for a kernel of Triton's, whose code is made for one size "
	               "of blocks: compile it with another num_warps and give that to --module");
}

Test(variant, is_refused_where_the_gpu_has_no_such_block)
{
	struct scene one = scene();

	one.function.max_threads = 0;
	set(one.variant.block, 2048, 1, 1);
	expect_refused(&one, ENOTSUP, "blocks of this GPU have 1024 threads at most, and not 2048");
	set(one.variant.block, 1, 1, 128);
	expect_refused(&one, ENOTSUP,
	               "blocks of this GPU have 64 threads at most along z, and not 128");
	set(one.step.grid, 1, 60000, 1);
	set(one.step.block, 4, 4, 1);
	set(one.variant.block, 16, 1, 1);
	expect_refused(&one, ENOTSUP,
	               "240000 threads along y are 240000 blocks of 1, which is more than a grid "
	               "has");
}

Test(variant, of_a_cluster_has_to_divide_the_grid)
{
	struct scene one = scene();

	set(one.variant.cluster, 4, 1, 1);
	cr_assert(eq(int, launch(&one), 0), "%s", one.err.text);
	cr_expect(eq(u32, one.launch.cluster[0], 4));
	set(one.variant.cluster, 3, 1, 1);
	expect_refused(&one, EINVAL,
	               "clusters of 3 do not divide the grid, which would be 1000 long along x");
}

Test(variant, of_a_block_is_refused_where_the_recorded_cluster_no_longer_divides)
{
	struct scene one = scene();

	set(one.step.cluster, 8, 1, 1);
	set(one.variant.block, 256, 1, 1);
	expect_refused(&one, EINVAL,
	               "clusters of 8 do not divide the grid, which would be 500 long along x");
}

Test(variant, of_a_cluster_is_refused_where_it_cannot_be)
{
	struct scene one = scene();

	set(one.variant.cluster, 4, 4, 1);
	expect_refused(&one, ENOTSUP,
	               "clusters of saxpy have 1 to 8 blocks on this GPU, and not 16");
	set(one.function.cluster, 2, 1, 1);
	set(one.variant.cluster, 4, 1, 1);
	expect_refused(&one, EINVAL, "saxpy was compiled for clusters of 2 blocks and no others");
	one.limits.cc_major = 8;
	expect_refused(&one, ENOTSUP, "this GPU has no clusters: they need compute capability 9.0");
}

Test(variant, of_shared_memory_is_refused_above_what_a_block_can_have)
{
	struct scene one = scene();

	one.variant.shared_bytes = 232448 - 1024;
	cr_assert(eq(int, launch(&one), 0), "%s", one.err.text);
	cr_expect(eq(u32, one.launch.shared_bytes, 231424));
	one.variant.shared_bytes++;
	expect_refused(&one, ENOTSUP,
	               "a block of this GPU has 232448 bytes of shared memory at most, of which "
	               "saxpy takes 1024 for itself, and not 231425 more");
	one.variant.shared_bytes = 0;
	cr_assert(eq(int, launch(&one), 0));
	cr_expect(eq(u32, one.launch.shared_bytes, 0));
}

Test(variant, of_a_carve_out_takes_percent_and_the_drivers_choice)
{
	struct scene one = scene();

	one.function.carveout = 50;
	one.variant.carveout = GT_CARVEOUT_DEFAULT;
	cr_assert(eq(int, launch(&one), 0));
	cr_expect(eq(int, one.launch.carveout, GT_CARVEOUT_DEFAULT));
	one.variant.carveout = 100;
	cr_assert(eq(int, launch(&one), 0));
	cr_expect(eq(int, one.launch.carveout, 100));
	one.variant.carveout = 101;
	expect_refused(&one, EINVAL,
	               "a carve-out is 0 to 100 percent of shared memory, and not 101");
}

Test(variant, of_registers_needs_ptx)
{
	struct scene one = scene();

	one.variant.max_registers = 32;
	expect_refused(&one, EINVAL,
	               "the bundle has machine code of saxpy and no PTX, so that its registers are "
	               "settled: give PTX to --module");
	one.code.ptx = true;
	cr_assert(eq(int, launch(&one), 0));
	cr_expect(eq(u32, one.launch.max_registers, 32));
	one.variant.max_registers = 300;
	expect_refused(&one, EINVAL, "a thread has 16 to 255 registers, and not 300");
}

Test(variant, of_a_cooperative_launch_has_to_be_on_the_gpu_at_one_time)
{
	struct scene one = scene();

	one.step.cooperative = true;
	one.limits.resident = 1056;
	set(one.variant.block, 64, 1, 1);
	expect_refused(&one, ENOTSUP,
	               "the launch is cooperative, and of its 2000 blocks only 1056 are on this "
	               "GPU at one time");
	set(one.variant.block, 256, 1, 1);
	cr_expect(eq(int, launch(&one), 0), "%s", one.err.text);
	one.step.cooperative = false;
	set(one.variant.block, 64, 1, 1);
	cr_expect(eq(int, launch(&one), 0), "%s", one.err.text);
}

Test(variant, is_not_refused_for_what_the_driver_does_not_say)
{
	struct scene one = scene();

	one.limits = (struct gt_variant_limits){0};
	set(one.variant.block, 1024, 1, 1);
	set(one.variant.cluster, 5, 1, 1);
	one.variant.shared_bytes = 100000;
	cr_expect(eq(int, launch(&one), 0), "%s", one.err.text);
}

Test(variant, is_described_by_what_is_changed)
{
	struct gt_variant variant = gt_variant_recorded();
	char text[GT_VARIANT_TEXT];

	gt_variant_describe(&variant, text);
	expect_text(text, "as recorded");
	set(variant.block, 16, 8, 1);
	set(variant.cluster, 2, 1, 1);
	variant.shared_bytes = 0;
	variant.carveout = GT_CARVEOUT_DEFAULT;
	variant.max_registers = 64;
	variant.module = "build/new.cubin";
	gt_variant_describe(&variant, text);
	expect_text(text, "block=16x8 cluster=2 shared=0 carveout=default max-registers=64 "
	                  "module=new.cubin");
	cr_expect(gt_variant_changes(&variant));
}
