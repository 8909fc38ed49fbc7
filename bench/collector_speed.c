/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collector_speed [LAUNCHES [REPORT...]]: how fast a recording of a launch loop is collected and
 * reported, and in how much memory. Writes a capture of so many kernels and as many API calls (10 M
 * by default) with the real writer, then reads it. Prints a line for the collector and one for each
 * report: seconds of processor time, events (a kernel and its call are two) a second - for a report
 * those of collector and report together - and the most memory that was resident so far.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/bytes.h"
#include "base/error.h"
#include "collector/collector.h"
#include "format/file/chunk.h"
#include "format/file/meta.h"
#include "format/file/writer.h"
#include "format/recording.h"
#include "format/records.h"
#include "model/trace.h"
#include "model/view/view.h"

/* Records that a traced process writes at a time: full chunks, and one buffer of a thread. */
enum { KERNELS = GT_CHUNK_MAX_RECORDS, CALLS = 1638, THREADS = 2, STREAMS = 4, SHAPES = 8 };

#define BOOT_NS 1000000000000u /* CUPTI's clock and the host's differ by so much here */

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double resident_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* Noise as timings have it: the same in every run (xorshift). */
static uint64_t noise(uint64_t *state, uint64_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % limit;
}

/* ---- the capture ---- */

struct maker {
	int fd;
	struct gt_writer writer;
	uint64_t random;
	uint64_t now_ns; /* MONOTONIC, which is BOOTTIME here */
	uint64_t stream_free_ns[STREAMS];
	uint32_t correlation;
	size_t kernel_count;
	size_t call_counts[THREADS];
	struct gt_record_kernel kernels[KERNELS];
	struct gt_record_api_call calls[THREADS][CALLS];
};

static int append(void *context, const void *data, size_t size)
{
	return gt_write_all(*(const int *)context, data, size);
}

static void write_strings(struct maker *maker)
{
	uint8_t bytes[1024];
	uint8_t *at = bytes;

	for (uint32_t id = 1; id <= SHAPES + 1; id++) {
		char text[32] = "cudaLaunchKernel_v7000";

		if (id <= SHAPES)
			snprintf(text, sizeof(text), "_Z6kernelILi%uEEvPfi", id);
		at = gt_put_varint(gt_put_varint(at, id), strlen(text));
		memcpy(at, text, strlen(text));
		at += strlen(text);
	}
	gt_writer_payload(&maker->writer, GT_RECORD_STRINGS, bytes, (size_t)(at - bytes),
	                  SHAPES + 1);
}

static void write_head(struct maker *maker)
{
	const struct gt_origin none = {0};
	const struct gt_record_device device = {.sm_count = 132, .warp_size = 32};
	struct gt_record_shape shapes[SHAPES] = {{0}};
	unsigned char bytes[256];
	struct gt_meta meta = {.bytes = bytes, .capacity = sizeof(bytes)};

	gt_writer_file_header(&maker->writer);
	gt_meta_add(&meta, GT_META_API, "outer");
	gt_meta_add_number(&meta, GT_META_PID, 4242);
	gt_meta_write(&maker->writer, &meta);
	write_strings(maker);
	for (uint32_t i = 0; i < SHAPES; i++)
		shapes[i] = (struct gt_record_shape){
			.id = i + 1, .name = i + 1, .grid_x = 132, .block_x = 256};
	gt_writer_records(&maker->writer, GT_RECORD_device, &device, 1, none);
	gt_writer_records(&maker->writer, GT_RECORD_shape, shapes, SHAPES, none);
}

static void write_kernels(struct maker *maker)
{
	gt_writer_records(&maker->writer, GT_RECORD_kernel, maker->kernels, maker->kernel_count,
	                  (struct gt_origin){0});
	maker->kernel_count = 0;
}

static void write_calls(struct maker *maker, size_t thread)
{
	gt_writer_records(&maker->writer, GT_RECORD_api_call, maker->calls[thread],
	                  maker->call_counts[thread], (struct gt_origin){0});
	maker->call_counts[thread] = 0;
}

static void write_clock(struct maker *maker)
{
	const struct gt_record_clock clock = {
		.host_ns = maker->now_ns,
		.boottime_ns = maker->now_ns,
		.realtime_ns = maker->now_ns,
		.cupti_ns = maker->now_ns + BOOT_NS + maker->now_ns / 1000000, /* drifts by 1 ppm */
		.bound_ns = 200,
	};

	gt_writer_records(&maker->writer, GT_RECORD_clock, &clock, 1, (struct gt_origin){0});
}

/* One call of a thread and its kernel; every third id goes to a call that is not recorded. */
static void add_launch(struct maker *maker, size_t i)
{
	const size_t thread = noise(&maker->random, THREADS);
	const size_t stream = noise(&maker->random, STREAMS);
	const uint64_t call_ns = 2100 + noise(&maker->random, 600);
	const uint64_t took_ns = 1600 + 32 * noise(&maker->random, 300);
	uint64_t start = maker->now_ns + call_ns + 900;

	if (start < maker->stream_free_ns[stream])
		start = maker->stream_free_ns[stream];
	start += BOOT_NS;
	maker->correlation += i % 3 ? 1 : 2;
	maker->calls[thread][maker->call_counts[thread]++] = (struct gt_record_api_call){
		.start_ns = maker->now_ns,
		.end_ns = maker->now_ns + call_ns,
		.correlation = maker->correlation,
		.function = SHAPES + 1,
		.thread = 4242 + (uint32_t)thread,
	};
	maker->kernels[maker->kernel_count++] = (struct gt_record_kernel){
		.start_ns = start,
		.end_ns = start + took_ns,
		.correlation = maker->correlation,
		.shape = 1 + (uint32_t)noise(&maker->random, SHAPES),
		.context = 1,
		.stream = 7 + (uint32_t)stream,
		.grid_id = (uint32_t)i + 1,
	};
	maker->stream_free_ns[stream] = start - BOOT_NS + took_ns;
	maker->now_ns += 1200 + noise(&maker->random, 3000);
}

static void write_loop(struct maker *maker, size_t launches)
{
	write_clock(maker);
	for (size_t i = 0; i < launches; i++) {
		add_launch(maker, i);
		if (maker->kernel_count == KERNELS)
			write_kernels(maker);
		for (size_t thread = 0; thread < THREADS; thread++)
			if (maker->call_counts[thread] == CALLS)
				write_calls(maker, thread);
		if (i % 100000 == 99999)
			write_clock(maker);
	}
	write_kernels(maker);
	for (size_t thread = 0; thread < THREADS; thread++)
		write_calls(maker, thread);
	write_clock(maker);
	gt_meta_write_one(&maker->writer, GT_META_END, GT_META_END_CLEAN);
}

/* Returns 0, or -1 when the capture could not be written. */
static int make_capture(int fd, size_t launches)
{
	struct maker *maker = calloc(1, sizeof(*maker));
	void *memory = aligned_alloc(64, (gt_writer_memory() + 63) & ~(size_t)63);
	int result = -1;

	if (maker && memory) {
		maker->fd = fd;
		maker->random = 88172645463325252;
		maker->now_ns = 1000000000;
		gt_writer_init(&maker->writer, (struct gt_sink){append, &maker->fd}, memory,
		               gt_writer_memory());
		write_head(maker);
		write_loop(maker, launches);
		result = maker->writer.failed ? -1 : 0;
		printf("capture: %zu launches, %.2f bytes a launch\n", launches,
		       (double)maker->writer.bytes / (double)launches);
	}
	free(memory);
	free(maker);
	return result;
}

/* ---- reading it ---- */

static void measure_report(const struct gt_trace *trace, const struct gt_report *report,
                           double events, double collected)
{
	const struct gt_view view = gt_view_of(trace);
	const double begin = processor_seconds();
	struct gt_result result;
	double seconds;

	gt_result_init(&result);
	(void)gt_report_run(report, &view, NULL, &result, NULL);
	seconds = processor_seconds() - begin;
	gt_result_release(&result);
	printf("%-10s %7.3f s, %5.2f M events/s with the collector, %5.0f MiB\n", report->name,
	       seconds, events / (collected + seconds), resident_mib());
}

static bool wanted(const char *name, int count, char **names)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return count == 0;
}

static int measure(const char *path, size_t launches, int count, char **names)
{
	const double events = 2e-6 * (double)launches; /* millions */
	const double begin = processor_seconds();
	struct gt_error err = {0};
	struct gt_trace trace;
	double collected;
	int result;

	gt_trace_init(&trace);
	result = gt_collect(path, &trace, &err);
	collected = processor_seconds() - begin;
	if (result < 0) {
		fprintf(stderr, "collector_speed: %s\n", err.text);
	} else if (trace.kernels.count != launches || trace.api_calls.count != launches) {
		fprintf(stderr, "collector_speed: the trace does not hold what was written\n");
		result = -EBADMSG;
	} else {
		printf("%-10s %7.3f s, %5.2f M events/s, %5.0f MiB\n", "collector", collected,
		       events / collected, resident_mib());
		for (size_t i = 0; i < gt_report_count; i++)
			if (wanted(gt_reports[i]->name, count, names))
				measure_report(&trace, gt_reports[i], events, collected);
	}
	gt_trace_release(&trace);
	return result;
}

int main(int argc, char **argv)
{
	const size_t launches = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	char path[] = "/tmp/collector_speed-XXXXXX" GT_CAPTURE_SUFFIX;
	const int fd = mkostemps(path, (int)strlen(GT_CAPTURE_SUFFIX), O_CLOEXEC);
	int result = -1;

	if (fd < 0 || launches == 0) {
		fprintf(stderr, "collector_speed: %s: %s\n", path, gt_errno_text(errno));
		return EXIT_FAILURE;
	}
	result = make_capture(fd, launches);
	if (result < 0)
		fprintf(stderr, "collector_speed: cannot write %s\n", path);
	else
		result = measure(path, launches, argc > 2 ? argc - 2 : 0, argv + 2);
	close(fd);
	unlink(path);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
