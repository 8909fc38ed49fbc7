/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gputrace's runtime by itself: no toolkit, no other header. Two streams scale two halves of what
 * the host filled in, beside each other, and a third one puts them together; the same is then put
 * together once and run by one call. Arguments: elements of a half, rounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "include/gputrace/runtime.h"

enum { THREADS = 256, HALVES = 2 };

static const char ptx[] =
	"// values[i] *= by\n"
	".version 7.0\n"
	".target sm_75\n"
	".address_size 64\n"
	".visible .entry runtime_scale(.param .u64 values, .param .f32 by, .param .u32 count)\n"
	"{\n"
	"	.reg .pred %p<2>;\n"
	"	.reg .f32 %f<3>;\n"
	"	.reg .b32 %r<6>;\n"
	"	.reg .b64 %d<4>;\n"
	"	ld.param.u64 %d1, [values];\n"
	"	ld.param.f32 %f1, [by];\n"
	"	ld.param.u32 %r1, [count];\n"
	"	mov.u32 %r2, %ctaid.x;\n"
	"	mov.u32 %r3, %ntid.x;\n"
	"	mov.u32 %r4, %tid.x;\n"
	"	mad.lo.u32 %r5, %r2, %r3, %r4;\n"
	"	setp.ge.u32 %p1, %r5, %r1;\n"
	"	@%p1 ret;\n"
	"	cvta.to.global.u64 %d2, %d1;\n"
	"	mul.wide.u32 %d3, %r5, 4;\n"
	"	add.s64 %d3, %d2, %d3;\n"
	"	ld.global.f32 %f2, [%d3];\n"
	"	mul.f32 %f2, %f2, %f1;\n"
	"	st.global.f32 [%d3], %f2;\n"
	"	ret;\n"
	"}\n";

struct work {
	struct gputrace_gpu *gpu;
	struct gputrace_buffer *host[HALVES];
	struct gputrace_buffer *device[HALVES];
	uint32_t streams[HALVES];
	void *kernel;
	uint32_t count;
};

static struct gputrace_error error;

static void must(int result)
{
	if (result == 0)
		return;
	fprintf(stderr, "%s\n", error.text);
	exit(1);
}

static void prepare(struct work *work)
{
	const uint64_t bytes = work->count * sizeof(float);
	void *module = NULL;

	must(gputrace_gpu_open(&work->gpu, 0, &error));
	must(gputrace_module_load(work->gpu, ptx, &module, &error));
	must(gputrace_module_kernel(work->gpu, module, "runtime_scale", &work->kernel, &error));
	for (int i = 0; i < HALVES; i++) {
		must(gputrace_stream_add(work->gpu, 0, &work->streams[i], &error));
		must(gputrace_buffer_new(work->gpu, GPUTRACE_BUFFER_PINNED, bytes, &work->host[i],
		                         &error));
		must(gputrace_buffer_new(work->gpu, GPUTRACE_BUFFER_DEVICE, bytes, &work->device[i],
		                         &error));
		for (uint32_t k = 0; k < work->count; k++)
			((float *)gputrace_buffer_host(work->host[i]))[k] = (float)(k % 1000);
	}
}

static void scale(struct work *work, int half, float by)
{
	uint64_t values = gputrace_buffer_address(work->device[half]);
	void *parameters[] = {&values, &by, &work->count};
	const struct gputrace_use use = {work->device[half], 1};
	const struct gputrace_launch launch = {
		.kernel = work->kernel,
		.grid = {(work->count + THREADS - 1) / THREADS, 1, 1},
		.block = {THREADS, 1, 1},
		.parameters = parameters,
		.uses = &use,
		.use_count = 1,
	};

	must(gputrace_launch(work->gpu, work->streams[half], &launch, &error));
}

/* In, twice on one stream and then on the other one, and out: no stream is told to wait. */
static void round_trip(struct work *work)
{
	const uint64_t bytes = work->count * sizeof(float);

	for (int i = 0; i < HALVES; i++) {
		must(gputrace_copy(work->gpu, work->streams[i], work->device[i], work->host[i],
		                   bytes, &error));
		scale(work, i, 4);
		scale(work, i, 0.5F);
		must(gputrace_copy(work->gpu, work->streams[HALVES - 1 - i], work->host[i],
		                   work->device[i], bytes, &error));
	}
}

/* By how many rounds the values were doubled. */
static uint64_t count_wrong(struct work *work, double factor)
{
	uint64_t wrong = 0;

	for (int i = 0; i < HALVES; i++) {
		const float *values = gputrace_buffer_host(work->host[i]);

		must(gputrace_buffer_wait(work->host[i], &error));
		for (uint32_t k = 0; k < work->count; k++)
			wrong += values[k] != (float)((k % 1000) * factor);
	}
	return wrong;
}

static double time_of(struct work *work, struct gputrace_commands *commands, uint64_t rounds)
{
	void *from = NULL;
	void *until = NULL;
	double ns = 0;

	must(gputrace_event_record(work->gpu, work->streams[0], &from, &error));
	for (uint64_t i = 0; i < rounds; i++) {
		if (commands)
			must(gputrace_commands_run(commands, work->streams[0], &error));
		else
			round_trip(work);
	}
	must(gputrace_event_record(work->gpu, work->streams[0], &until, &error));
	must(gputrace_event_elapsed(work->gpu, from, until, &ns, &error));
	gputrace_event_give(work->gpu, from);
	gputrace_event_give(work->gpu, until);
	return ns / (double)rounds;
}

static void print_pool(const struct work *work, enum gputrace_buffer_place place, const char *name)
{
	struct gputrace_pool_stats stats;

	gputrace_gpu_stats(work->gpu, place, &stats);
	printf("%s_blocks=%llu\n%s_bytes=%llu\n%s_segments=%llu\n", name,
	       (unsigned long long)stats.num_allocs, name, (unsigned long long)stats.bytes_in_use,
	       name, (unsigned long long)stats.num_segments);
}

static uint64_t number(int argc, char **argv, int index, uint64_t otherwise)
{
	const uint64_t value = index < argc ? strtoull(argv[index], NULL, 10) : otherwise;

	return value ? value : otherwise;
}

int main(int argc, char **argv)
{
	struct work work = {.count = (uint32_t)number(argc, argv, 1, 1 << 20)};
	const uint64_t rounds = number(argc, argv, 2, 5);
	struct gputrace_commands *commands = NULL;
	double doubled = 1;
	uint64_t wrong;

	prepare(&work);
	printf("apart_ns=%.0f\n", time_of(&work, NULL, rounds));
	must(gputrace_commands_begin(work.gpu, work.streams[0], &error));
	round_trip(&work);
	must(gputrace_commands_end(work.gpu, &commands, &error));
	printf("together_ns=%.0f\n", time_of(&work, commands, rounds));
	for (uint64_t i = 0; i < 2 * rounds; i++)
		doubled *= 2;
	wrong = count_wrong(&work, doubled);
	printf("rounds=%llu\nwrong=%llu\n", (unsigned long long)rounds, (unsigned long long)wrong);
	print_pool(&work, GPUTRACE_BUFFER_DEVICE, "device");
	print_pool(&work, GPUTRACE_BUFFER_PINNED, "pinned");
	gputrace_gpu_close(work.gpu);
	return wrong ? 1 : 0;
}
