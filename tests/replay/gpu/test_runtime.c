/* SPDX-License-Identifier: Apache-2.0 */
#include "include/gputrace/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/check.h"

/* On the fake driver, whose kernel replay_scale multiplies and whose copies are made. */

enum { COUNT = 1024, BYTES = COUNT * sizeof(float) };

struct bench {
	struct gputrace_gpu *gpu;
	struct gputrace_buffer *host;
	struct gputrace_buffer *device;
	void *kernel;
	struct gputrace_error error;
};

#define MUST(call) cr_assert(eq(int, (call), 0), "%s", bench.error.text)

static struct bench open_bench(void)
{
	struct bench bench = {0};
	void *module = NULL;

	MUST(gputrace_gpu_open(&bench.gpu, 0, &bench.error));
	MUST(gputrace_buffer_new(bench.gpu, GPUTRACE_BUFFER_PINNED, BYTES, &bench.host,
	                         &bench.error));
	MUST(gputrace_buffer_new(bench.gpu, GPUTRACE_BUFFER_DEVICE, BYTES, &bench.device,
	                         &bench.error));
	MUST(gputrace_module_load(bench.gpu, "fake kernels", &module, &bench.error));
	MUST(gputrace_module_kernel(bench.gpu, module, "replay_scale", &bench.kernel,
	                            &bench.error));
	for (int i = 0; i < COUNT; i++)
		((float *)gputrace_buffer_host(bench.host))[i] = (float)i;
	return bench;
}

static int scale(struct bench *bench, uint32_t stream, float by)
{
	uint64_t values = gputrace_buffer_address(bench->device);
	int count = COUNT;
	void *parameters[] = {&values, &by, &count};
	const struct gputrace_use use = {bench->device, 1};
	const struct gputrace_launch launch = {
		.kernel = bench->kernel,
		.grid = {COUNT / 256, 1, 1},
		.block = {256, 1, 1},
		.parameters = parameters,
		.uses = &use,
		.use_count = 1,
	};

	return gputrace_launch(bench->gpu, stream, &launch, &bench->error);
}

static float value(const struct bench *bench, int number)
{
	return ((const float *)gputrace_buffer_host(bench->host))[number];
}

/* Time between two events; the fake's work of one stream waits for another's as real work does. */
static double elapsed(struct bench *bench, void *from, void *until)
{
	double ns = 0;

	cr_assert(eq(int, gputrace_event_elapsed(bench->gpu, from, until, &ns, &bench->error), 0));
	gputrace_event_give(bench->gpu, from);
	gputrace_event_give(bench->gpu, until);
	return ns;
}

Test(runtime, copies_launches_and_copies_back)
{
	struct bench bench = open_bench();

	MUST(gputrace_copy(bench.gpu, 0, bench.device, bench.host, BYTES, &bench.error));
	MUST(scale(&bench, 0, 3));
	MUST(gputrace_copy(bench.gpu, 0, bench.host, bench.device, BYTES, &bench.error));
	MUST(gputrace_buffer_wait(bench.host, &bench.error));
	cr_expect(eq(flt, value(&bench, 5), 15));
	cr_expect(eq(ptr, gputrace_buffer_host(bench.device), NULL));
	gputrace_gpu_close(bench.gpu);
}

Test(runtime, lets_streams_wait_for_those_that_use_the_same_buffer)
{
	struct bench bench = open_bench();
	uint32_t other = 0;
	void *from = NULL;
	void *until = NULL;

	MUST(gputrace_stream_add(bench.gpu, 0, &other, &bench.error));
	MUST(gputrace_copy(bench.gpu, 0, bench.device, bench.host, BYTES, &bench.error));
	MUST(gputrace_stream_wait(bench.gpu, 0, &bench.error));
	MUST(gputrace_event_record(bench.gpu, 0, &from, &bench.error));
	for (int i = 0; i < 50; i++) /* of 10 us each */
		MUST(scale(&bench, 0, 1));
	MUST(scale(&bench, other, 2));
	MUST(gputrace_event_record(bench.gpu, other, &until, &bench.error));
	cr_expect(ge(dbl, elapsed(&bench, from, until), 51 * 10000));
	gputrace_gpu_close(bench.gpu);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Also of what nobody has read since. */
Test(runtime, waits_for_what_was_written_last)
{
	enum { LAUNCHES = 5000 };
	struct bench bench = open_bench();
	double begin_ns;

	MUST(gputrace_stream_wait(bench.gpu, 0, &bench.error));
	begin_ns = now();
	for (int i = 0; i < LAUNCHES; i++) /* of 10 us each */
		MUST(scale(&bench, 0, 1));
	MUST(gputrace_buffer_wait(bench.device, &bench.error));
	cr_expect(ge(dbl, now() - begin_ns, LAUNCHES * 10000.0));
	gputrace_gpu_close(bench.gpu);
}

Test(runtime, lets_readers_of_one_buffer_run_beside_each_other)
{
	struct bench bench = open_bench();
	struct gputrace_buffer *second = NULL;
	uint32_t other = 0;
	void *from = NULL;
	void *until = NULL;

	MUST(gputrace_stream_add(bench.gpu, 0, &other, &bench.error));
	MUST(gputrace_buffer_new(bench.gpu, GPUTRACE_BUFFER_DEVICE, BYTES, &second, &bench.error));
	MUST(gputrace_copy(bench.gpu, other, second, bench.host, BYTES, &bench.error));
	MUST(gputrace_stream_wait(bench.gpu, other, &bench.error));
	MUST(gputrace_event_record(bench.gpu, other, &from, &bench.error));
	for (int i = 0; i < 500; i++) /* of a microsecond or more */
		MUST(gputrace_copy(bench.gpu, 0, bench.device, bench.host, BYTES, &bench.error));
	MUST(gputrace_copy(bench.gpu, other, second, bench.host, BYTES, &bench.error));
	MUST(gputrace_event_record(bench.gpu, other, &until, &bench.error));
	/* That one copy was put there some time after from, and did not wait for the others. */
	MUST(gputrace_stream_wait(bench.gpu, other, &bench.error));
	gputrace_event_give(bench.gpu, from);
	MUST(gputrace_event_record(bench.gpu, 0, &from, &bench.error));
	cr_expect(gt(dbl, elapsed(&bench, until, from), 0));
	gputrace_gpu_close(bench.gpu);
}

Test(runtime, runs_work_that_was_put_together_as_often_as_wanted)
{
	struct bench bench = open_bench();
	struct gputrace_commands *commands = NULL;
	uint32_t other = 0;

	MUST(gputrace_stream_add(bench.gpu, 0, &other, &bench.error));
	MUST(gputrace_copy(bench.gpu, 0, bench.device, bench.host, BYTES, &bench.error));
	MUST(gputrace_commands_begin(bench.gpu, 0, &bench.error));
	MUST(scale(&bench, 0, 2));
	MUST(scale(&bench, other, 5)); /* becomes part of it, after the first */
	MUST(gputrace_commands_end(bench.gpu, &commands, &bench.error));
	for (int i = 0; i < 3; i++)
		MUST(gputrace_commands_run(commands, i % 2 ? other : 0, &bench.error));
	MUST(gputrace_copy(bench.gpu, 0, bench.host, bench.device, BYTES, &bench.error));
	MUST(gputrace_buffer_wait(bench.host, &bench.error));
	cr_expect(eq(flt, value(&bench, 7), 7000));
	gputrace_commands_free(commands);
	gputrace_gpu_close(bench.gpu);
}

Test(runtime, tells_how_its_pools_are_filled)
{
	struct bench bench = open_bench();
	struct gputrace_pool_stats before;
	struct gputrace_pool_stats after;
	struct gputrace_buffer *buffer = NULL;

	gputrace_gpu_stats(bench.gpu, GPUTRACE_BUFFER_DEVICE, &before);
	MUST(gputrace_buffer_new(bench.gpu, GPUTRACE_BUFFER_DEVICE, 1000, &buffer, &bench.error));
	gputrace_gpu_stats(bench.gpu, GPUTRACE_BUFFER_DEVICE, &after);
	cr_expect(eq(u64, after.num_allocs, before.num_allocs + 1));
	cr_expect(eq(u64, after.bytes_in_use, before.bytes_in_use + 1024));
	cr_expect(eq(u64, after.bytes_requested, before.bytes_requested + 1000));
	cr_expect(eq(u64, after.num_segments, 1));
	MUST(gputrace_buffer_free(buffer, &bench.error));
	gputrace_gpu_stats(bench.gpu, GPUTRACE_BUFFER_DEVICE, &after);
	cr_expect(eq(u64, after.bytes_in_use, before.bytes_in_use));
	cr_expect(eq(u64, after.peak_bytes_in_use, before.bytes_in_use + 1024));
	cr_expect(eq(u64, after.largest_free_block, before.largest_free_block));
	cr_expect(eq(u64, after.bytes_reserved, after.bytes_in_use + after.cached));
	gputrace_gpu_close(bench.gpu);
}

Test(runtime, says_what_went_wrong)
{
	struct bench bench = open_bench();
	struct gputrace_commands *commands = NULL;
	struct gputrace_buffer *buffer = NULL;

	cr_expect(eq(int, gputrace_stream_wait(bench.gpu, 3, &bench.error), -EINVAL));
	cr_expect(eq(str, bench.error.text, "there is no stream 3"));
	cr_expect(eq(int, bench.error.code, EINVAL));
	cr_expect(eq(int, gputrace_copy(bench.gpu, 0, bench.device, bench.host, BYTES + 1, NULL),
	             -EINVAL));
	cr_expect(eq(int, gputrace_commands_end(bench.gpu, &commands, NULL), -EINVAL));
	cr_expect(eq(int,
	             gputrace_buffer_new(bench.gpu, GPUTRACE_BUFFER_DEVICE, UINT64_C(1) << 50,
	                                 &buffer, &bench.error),
	             -ENOMEM));
	cr_expect(strstr(bench.error.text, "CUDA_ERROR_OUT_OF_MEMORY") != NULL);
	gputrace_gpu_close(bench.gpu);
}

Test(runtime, says_that_there_is_no_gpu)
{
	struct gputrace_gpu *gpu = NULL;
	struct gputrace_error error;

	(void)setenv("FAKE_CUPTI", "devices=0", 1);
	cr_expect(eq(int, gputrace_gpu_open(&gpu, 0, &error), -ENODEV));
	cr_expect(strstr(error.text, "no GPU") != NULL, "%s", error.text);
}
