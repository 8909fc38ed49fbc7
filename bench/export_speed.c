/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_speed [LAUNCHES [FILE]]: how fast a launch loop is written as a Perfetto trace, and how
 * large. Prints one line for the compressed form and one for the plain one: launches, events (a
 * kernel and its API call are two), seconds of processor time, events a second, bytes an event.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/sink/file.h"
#include "exporters/exporter.h"
#include "model/view/view.h"
#include "tests/exporters/sample.h"

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Noise as timings have it: the same in every run (xorshift). */
static uint64_t noise(uint64_t *state, uint64_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % limit;
}

/* Two kernels in turn, with times as an H200 gives them: about 4 us a launch. */
static void make_loop(struct gt_trace *trace, size_t launches)
{
	const gt_id process = sample_process(trace, "loop", 4242);
	const gt_id thread = sample_thread(trace, process, 4242);
	const gt_id context = sample_context(trace, process, sample_device(trace, 0, 0));
	const gt_id stream = sample_stream(trace, context, 7);
	const gt_id shapes[] = {sample_shape(trace, "_Z4stepPf", "step(float*)", 132),
	                        sample_shape(trace, "_Z6reducePf", "reduce(float*)", 1)};
	gt_time now_ns = SAMPLE_START;
	uint64_t state = 88172645463325252;

	for (size_t i = 0; i < launches; i++) {
		const gt_time call_ns = 2100 + (gt_time)noise(&state, 600);
		const gt_time start_ns = now_ns + call_ns + 900 + (gt_time)noise(&state, 400);
		const gt_id call =
			sample_call(trace, thread, "cudaLaunchKernel", now_ns, now_ns + call_ns);

		/* CUPTI's kernel times come in steps of 32 ns. */
		sample_kernel(trace, stream, shapes[i % 2], call, start_ns / 32 * 32,
		              start_ns / 32 * 32 + 1600 + 32 * (gt_time)noise(&state, 12));
		now_ns += call_ns + 1000 + (gt_time)noise(&state, 500);
	}
	sample_finish(trace, now_ns + 10000);
}

static int measure(const struct gt_trace *trace, const char *path, bool uncompressed)
{
	const struct gt_export_options options = {
		.compression = uncompressed ? GT_COMPRESSION_NONE : GT_COMPRESSION_DEFAULT};
	const struct gt_view view = gt_view_of(trace);
	struct gt_target target = {.path = path};
	struct gt_export_counts counts;
	struct gt_error err = {0};
	FILE *out = fopen(path, "wb");
	double seconds;
	double events;
	int result;

	if (!out) {
		fprintf(stderr, "export_speed: %s: %s\n", path, gt_errno_text(errno));
		return -1;
	}
	target.sink = gt_file_sink(out);
	seconds = -processor_seconds();
	result = gt_exporter_find("perfetto")->write(&view, &options, &target, &counts, &err);
	fclose(out);
	seconds += processor_seconds();
	if (result < 0) {
		fprintf(stderr, "export_speed: %s: %s\n", path, err.text);
		return result;
	}
	events = (double)(counts.gpu_slices + counts.api_slices);
	printf("%s: %zu launches, %.0f events, %.3f s, %.2f M events/s, %.2f bytes an event\n",
	       uncompressed ? "plain" : "compressed", trace->kernels.count, events, seconds,
	       events / seconds / 1e6, (double)counts.bytes / events);
	return 0;
}

int main(int argc, char **argv)
{
	const size_t launches = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
	const char *path = argc > 2 ? argv[2] : "/dev/null";
	struct gt_trace trace;
	int result;

	gt_trace_init(&trace);
	make_loop(&trace, launches);
	result = measure(&trace, path, true);
	if (result == 0)
		result = measure(&trace, path, false);
	gt_trace_release(&trace);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
