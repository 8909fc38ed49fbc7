/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that a recording holds many of: twice as many must not take four times as long. Each kind of
 * recording is made small and eight times as large; the large one may take as often eight times as
 * n log n and a busy machine ask for, which quadratic work exceeds by far, unless both are too
 * quick to tell.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/file/series.h"
#include "format/ranges.h"
#include "hostile/everything.h"
#include "include/gputrace/device_layout.h"
#include "model/kinds/memory.h"
#include "model/work/sync.h"
#include "support/recording.h"

enum { GROWTH = 8, MOST_GROWTH = 28 };

static const double quick_s = 0.25;

/* Rows made at once and written in few chunks: many chunks of a row are not what is measured. */
#define ADD_MANY(recording, name, count, ...)                                                      \
	do {                                                                                       \
		struct gt_record_##name *rows = calloc((count), sizeof(*rows));                    \
                                                                                                   \
		for (uint32_t i = 0; i < (count); i++)                                             \
			rows[i] = (struct gt_record_##name){__VA_ARGS__};                          \
		recording_add_records((recording), GT_RECORD_##name, rows, (count));               \
		free(rows);                                                                        \
	} while (0)

#define WORK_TIMES(i)                                                                              \
	.start_ns = 2000 + 100ull * (i), .end_ns = 2050 + 100ull * (i), .correlation = (i) + 1

static void add_calls(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, api_call, count, .start_ns = 1500 + 100ull * i,
	         .end_ns = 1550 + 100ull * i, .correlation = i + 1, .function = STRING_LAUNCH,
	         .thread = 100);
}

static void add_streams(struct recording *recording, uint32_t count)
{
	add_calls(recording, count);
	ADD_MANY(recording, kernel, count, WORK_TIMES(i), .shape = SHAPE, .context = CONTEXT,
	         .stream = i);
}

static void add_contexts(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, kernel, count, WORK_TIMES(i), .shape = SHAPE, .context = i,
	         .stream = STREAM);
}

static void add_devices(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, kernel, count, WORK_TIMES(i), .shape = SHAPE, .context = i,
	         .stream = STREAM, .device = i);
}

static void add_threads(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, api_call, count, .start_ns = 1500 + 100ull * i,
	         .end_ns = 1550 + 100ull * i, .correlation = i, .function = STRING_LAUNCH,
	         .thread = i);
}

static void add_names(struct recording *recording, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		char text[64];

		snprintf(text, sizeof(text), "_Z%zukernel_of_many_%08uv", (size_t)23, i);
		recording_add_string(recording, STRING_NEXT + i, text);
	}
	ADD_MANY(recording, shape, count, .id = i + 2, .name = STRING_NEXT + i, .grid_x = 4,
	         .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1);
	ADD_MANY(recording, kernel, count, WORK_TIMES(i), .shape = i + 2, .context = CONTEXT,
	         .stream = STREAM);
	ADD_MANY(recording, api_call, count, .start_ns = 1500 + 100ull * i,
	         .end_ns = 1550 + 100ull * i, .correlation = i + 1, .function = STRING_NEXT + i,
	         .thread = 100);
}

static void add_shapes(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, shape, count, .id = i + 2, .name = STRING_KERNEL, .grid_x = i,
	         .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1);
	ADD_MANY(recording, kernel, count, WORK_TIMES(i), .shape = i + 2, .context = CONTEXT,
	         .stream = STREAM);
}

/* Numbers that differ in their highest bits alone, and such whose products do. */
static void add_alike_numbers(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, handle, count, .time_ns = 1000 + i, .handle = (uint64_t)i << 48,
	         .context = CONTEXT, .stream = STREAM);
	ADD_MANY(recording, sync_call, count, .start_ns = 1510 + 100ull * i,
	         .end_ns = 1520 + 100ull * i, .context = CONTEXT, .kind = GT_SYNC_EVENT_RECORD,
	         .thread = 100, .stream = 0, .event = (uint64_t)(i + 1) << 48,
	         .correlation = i + 1);
	ADD_MANY(recording, graph_node, count, .number = (uint64_t)(i + 1) << 48);
}

/* All calls have one correlation id, as damaged ones may. */
static void add_twins(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, kernel, count, .start_ns = 2000, .end_ns = 3000 + i, .correlation = 1,
	         .shape = SHAPE, .context = CONTEXT, .stream = STREAM);
	ADD_MANY(recording, api_call, count, .start_ns = 3000000000 + 100ull * i,
	         .end_ns = 3000000050 + 100ull * i, .correlation = 1, .function = STRING_LAUNCH,
	         .thread = 100);
}

static void add_overlapping(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, kernel, count, .start_ns = 2000 + 100ull * i, .end_ns = 10000000000 - i,
	         .shape = SHAPE, .context = CONTEXT, .stream = STREAM);
	ADD_MANY(recording, copy, count, .start_ns = 2000 + 100ull * i, .end_ns = 10000000000 - i,
	         .size_bytes = 1, .context = CONTEXT, .stream = STREAM, .kind = 1);
	ADD_MANY(recording, overhead, count, .start_ns = 2000 + 100ull * i,
	         .end_ns = 10000000000 - i);
}

static void add_syncs(struct recording *recording, uint32_t count, uint32_t kind, uint64_t events)
{
	ADD_MANY(recording, sync_call, count, .start_ns = 1510 + 100ull * i,
	         .end_ns = 1520 + 100ull * i, .context = CONTEXT, .kind = kind, .thread = 100,
	         .stream = 0, .event = events ? 1 + i % events : UINT64_MAX, .correlation = i + 1);
}

/* Many streams, and many waits for all of them. */
static void add_waits(struct recording *recording, uint32_t count)
{
	add_streams(recording, count);
	add_syncs(recording, count, GT_SYNC_CONTEXT_SYNCHRONIZE, 0);
}

/* A handle of an event that is made, used and destroyed again and again. */
static void add_events(struct recording *recording, uint32_t count)
{
	static const uint32_t kinds[] = {
		GT_SYNC_EVENT_CREATE,      GT_SYNC_EVENT_RECORD,  GT_SYNC_STREAM_WAIT_EVENT,
		GT_SYNC_EVENT_SYNCHRONIZE, GT_SYNC_EVENT_DESTROY,
	};

	ADD_MANY(recording, sync_call, count, .start_ns = 1510 + 100ull * i,
	         .end_ns = 1520 + 100ull * i, .context = CONTEXT, .kind = kinds[i % 5],
	         .thread = 100, .stream = 0, .event = 1, .correlation = i + 1);
	ADD_MANY(recording, query, count, .start_ns = 1510 + 100ull * i,
	         .end_ns = 1520 + 100ull * i, .context = CONTEXT, .thread = 100, .event = 1,
	         .stream = UINT64_MAX, .kind = GT_SYNC_EVENT_QUERY, .count = 3);
}

static void add_distinct_events(struct recording *recording, uint32_t count)
{
	add_calls(recording, count);
	add_syncs(recording, count, GT_SYNC_EVENT_RECORD, UINT32_MAX);
	add_syncs(recording, count, GT_SYNC_EVENT_SYNCHRONIZE, UINT32_MAX);
}

static void add_handles(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, handle, count, .time_ns = 1000 + i, .handle = 4096 + i % 7,
	         .context = CONTEXT, .stream = i);
	ADD_MANY(recording, sync_call, count, .start_ns = 1510 + 100ull * i,
	         .end_ns = 1520 + 100ull * i, .context = CONTEXT,
	         .kind = GT_SYNC_STREAM_SYNCHRONIZE, .thread = 100, .stream = 4096 + i % 7,
	         .event = UINT64_MAX);
}

/* Mappings side by side, each call to unmap of more than there are; an address again and again. */
static void add_memory(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, memory_call, count, .start_ns = 1510 + 100ull * i,
	         .end_ns = 1520 + 100ull * i, .kind = GT_MEMORY_CALL_MAP, .thread = 100,
	         .address = 4096ull * (i % 64 + 1), .size_bytes = 4096, .handle = 1 + i % 7);
	ADD_MANY(recording, memory_call, count, .start_ns = 1530 + 100ull * i,
	         .end_ns = 1540 + 100ull * i, .kind = GT_MEMORY_CALL_UNMAP, .thread = 100,
	         .address = 4096ull * (i % 64 + 1), .size_bytes = UINT64_MAX);
	ADD_MANY(recording, memory_call, count, .start_ns = 1550 + 100ull * i,
	         .end_ns = 1560 + 100ull * i, .kind = GT_MEMORY_CALL_ALLOCATE, .thread = 100,
	         .address = 1 + i % 3, .context = CONTEXT);
}

/* Fills of pieces of memory that overlap, on more streams than have a clock, with events between
 * them. */
static void add_uses(struct recording *recording, uint32_t count)
{
	add_calls(recording, count);
	ADD_MANY(recording, handle, 600, .time_ns = 1000 + i, .handle = 4096 + i,
	         .context = CONTEXT, .stream = i + 100);
	ADD_MANY(recording, fill, count, WORK_TIMES(i), .size_bytes = 4096, .context = CONTEXT,
	         .stream = i % 600 + 100, .memory_kind = 3);
	ADD_MANY(recording, access, count, .start_ns = 1500 + 100ull * i,
	         .end_ns = 1500 + 100ull * i, .correlation = i + 1, .thread = 100,
	         .context = CONTEXT, .stream = 4096 + i % 600, .kind = 3,
	         .address = 4096 + 64ull * (i * 7919 % count), .size_bytes = 4096, .rows = 1);
	ADD_MANY(recording, sync_call, count, .start_ns = 1510 + 100ull * i,
	         .end_ns = 1520 + 100ull * i, .context = CONTEXT, .thread = 100,
	         .kind = i % 2 ? GT_SYNC_STREAM_WAIT_EVENT : GT_SYNC_EVENT_RECORD,
	         .stream = 4096 + i % 600, .event = 1 + i % 1000);
	ADD_MANY(recording, sync_call, count, .start_ns = 1530 + 100ull * i,
	         .end_ns = 1540 + 100ull * i, .context = CONTEXT, .thread = 100,
	         .kind = GT_SYNC_CONTEXT_SYNCHRONIZE, .stream = UINT64_MAX, .event = UINT64_MAX);
}

static void add_ledger(struct recording *recording, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		char text[32];

		snprintf(text, sizeof(text), "class_%u", i);
		recording_add_string(recording, STRING_NEXT + i, text);
	}
	ADD_MANY(recording, ledger, count, .name = STRING_NEXT + i, .value = i);
}

/* Samples the latest first, as no writer leaves them. */
static void add_samples(struct recording *recording, uint32_t count)
{
	enum { CHUNK = 1024 };
	uint8_t bytes[GT_SERIES_BOUND(1, CHUNK)];
	uint64_t times_ns[CHUNK];
	double values[CHUNK];
	struct gt_samples samples = {
		.columns = 1, .count = CHUNK, .times_ns = times_ns, .values = values};

	recording_add(recording, counter, .name = STRING_NEXT, .device = 1);
	for (uint32_t i = 0; i < count; i++) {
		times_ns[i % CHUNK] = 1000000000 - 1000ull * i;
		values[i % CHUNK] = i;
		if (i % CHUNK == CHUNK - 1)
			(void)gt_writer_payload(&recording->capture.writer, GT_RECORD_SERIES, bytes,
			                        gt_series_encode(&samples, bytes), CHUNK);
	}
}

static void add_counters(struct recording *recording, uint32_t count)
{
	uint8_t bytes[GT_SERIES_BOUND(1, 1)];
	uint64_t time_ns = 2000;
	double value = 1;
	struct gt_samples samples = {
		.columns = 1, .count = 1, .times_ns = &time_ns, .values = &value};

	for (uint32_t i = 0; i < count; i++) {
		samples.series = (uint16_t)i;
		(void)gt_writer_payload(&recording->capture.writer, GT_RECORD_SERIES, bytes,
		                        gt_series_encode(&samples, bytes), 1);
	}
	ADD_MANY(recording, counter, count, .series = i, .name = STRING_NEXT + i, .device = 1 + i);
}

/* Processor time: a busy machine makes nothing slow. */
static double now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct crowd {
	const char *name;
	void (*add)(struct recording *recording, uint32_t count);
	uint32_t count; /* of the small one */
	bool files;     /* so many captures and not so many of something in one */
};

static void add_nothing(struct recording *recording, uint32_t count)
{
	(void)recording;
	(void)count;
}

/* Pushes that nobody pops, at no known level, in domains of their own. */
static void add_open_ranges(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, range_begin, count, .time_ns = 2000 + i, .order = i + 1, .level = i,
	         .domain = i % 2 ? i : 0, .category = i, .thread = 100);
	add_calls(recording, count);
}

/* Starts that another thread ends, the oldest first, and ends of what had not begun. */
static void add_started_ranges(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, range_begin, count, .time_ns = 2000 + i, .order = i + 1, .id = i + 1,
	         .kind = GT_RANGE_STEP_ID, .level = GT_LEVEL_UNKNOWN, .thread = 100);
	ADD_MANY(recording, range_end, 2 * count, .time_ns = 2000 + count + i, .order = i + 1,
	         .id = i + 1, .kind = GT_RANGE_STEP_ID, .level = GT_LEVEL_UNKNOWN, .thread = 101);
}

/* Payloads that all claim to be of one event, of a schema with as many entries. */
static void add_payloads(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, range_begin, count, .time_ns = 2000, .order = 1,
	         .kind = GT_RANGE_STEP_MARK, .thread = 100);
	ADD_MANY(recording, range_data, count, .time_ns = 2000, .order = 1, .which = i,
	         .schema = 1000, .place = i % 2 ? i : GT_PLACE_PAYLOAD, .thread = 100);
	ADD_MANY(recording, payload_schema, count, .id = 1000 + i, .entries = count);
	ADD_MANY(recording, payload_entry, count, .schema = 1000, .type = 75, .place = i);
}

/* Calibration: readings that agree, and from the middle on each that contradicts the last. */
static void add_calibrations(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, kernel, count, WORK_TIMES(i), .shape = SHAPE, .context = CONTEXT,
	         .stream = STREAM);
	ADD_MANY(recording, own_call, count, .correlation = i + 1);
	ADD_MANY(recording, device_time, count,
	         .first_ns = 9020 + 100ull * i + i % 7 + i * i / count,
	         .last_ns = 9030 + 100ull * i + i * i / count, .correlation = i + 1,
	         .context = CONTEXT, .step_ns = 1);
}

/* Chunks that all are of launches of their own, which run at the same time as all kernels. */
static void add_device_launches(struct recording *recording, uint32_t count)
{
	ADD_MANY(recording, kernel, count, .start_ns = 2000 + i, .end_ns = 10000000000 - i,
	         .shape = SHAPE, .context = CONTEXT, .stream = STREAM, .correlation = 7 + i,
	         .grid_id = i % 3);
	recording_add(recording, kernel, .start_ns = 2000, .end_ns = 2100, .correlation = 5,
	              .context = CONTEXT, .stream = STREAM, .shape = SHAPE);
	recording_add(recording, device_time, .first_ns = 9010, .last_ns = 9090, .correlation = 5,
	              .context = CONTEXT, .step_ns = 32);
	ADD_MANY(recording, device_chunk, count, .ticket = i, .globaltimer = 100000 + i,
	         .clock = 9 + i, .grid_id = i, .context = CONTEXT, .blocks = 4, .threads = 256);
	ADD_MANY(recording, device_event, count, .ticket = i, .context = CONTEXT, .clock = 20 + i,
	         .tag = GPUTRACE_DEVICE_TAG(i, GPUTRACE_DEVICE_BEGIN));
}

/* One thread that begins and never ends, and ends what it never began. */
static void add_device_ranges(struct recording *recording, uint32_t count)
{
	recording_add(recording, kernel, .start_ns = 2000, .end_ns = 2100, .correlation = 5,
	              .context = CONTEXT, .stream = STREAM, .shape = SHAPE);
	recording_add(recording, device_time, .first_ns = 9010, .last_ns = 9090, .correlation = 5,
	              .context = CONTEXT, .step_ns = 32);
	ADD_MANY(recording, device_chunk, count / 20, .ticket = i,
	         .globaltimer = 100000 + 1000ull * i, .clock = 2000ull * i, .context = CONTEXT,
	         .blocks = 4, .threads = 256, .part = i);
	ADD_MANY(recording, device_event, count, .ticket = i / 20, .context = CONTEXT,
	         .sequence = i % 20, .clock = 100 * i,
	         .tag = GPUTRACE_DEVICE_TAG(i,
	                                    i % 2 ? GPUTRACE_DEVICE_BEGIN : GPUTRACE_DEVICE_END));
}

static const struct crowd crowds[] = {
	{"streams", add_streams, 5000, false},
	{"contexts", add_contexts, 5000, false},
	{"devices", add_devices, 1000, false},
	{"threads", add_threads, 5000, false},
	{"names", add_names, 12000, false},
	{"shapes", add_shapes, 12000, false},
	{"numbers alike", add_alike_numbers, 8000, false},
	{"calls of one id", add_twins, 5000, false},
	{"overlaps", add_overlapping, 3000, false},
	{"waits for many streams", add_waits, 2500, false},
	{"lives of an event", add_events, 5000, false},
	{"events", add_distinct_events, 5000, false},
	{"handles", add_handles, 5000, false},
	{"memory", add_memory, 5000, false},
	{"uses of memory", add_uses, 4000, false},
	{"ledger classes", add_ledger, 5000, false},
	{"samples out of order", add_samples, 4096, false},
	{"counters", add_counters, 4000, false},
	{"open ranges", add_open_ranges, 5000, false},
	{"started ranges", add_started_ranges, 5000, false},
	{"payloads", add_payloads, 2000, false},
	{"calibrations", add_calibrations, 5000, false},
	{"launches that write", add_device_launches, 2500, false},
	{"ranges of a kernel", add_device_ranges, 5000, false},
	{"captures", add_nothing, 250, true},
};

static double time_of(const struct crowd *crowd, uint32_t count)
{
	struct recording recording;
	double begin_s;
	double taken_s;

	recording_init(&recording);
	for (uint32_t i = 0; i < (crowd->files ? count : 1); i++) {
		char name[32];

		snprintf(name, sizeof(name), "node-1-%u", i);
		recording_begin(&recording, name);
		recording_add_basics(&recording, 1);
		crowd->add(&recording, count);
		recording_end(&recording, true);
	}
	begin_s = now_s();
	(void)read_everything(recording.path);
	taken_s = now_s() - begin_s;
	recording_release(&recording);
	return taken_s;
}

/* Without arguments all of them, else those that are named. */
static bool is_wanted(const struct crowd *crowd, int argc, char **argv)
{
	bool wanted = argc < 2;

	for (int i = 1; i < argc; i++)
		wanted |= strcmp(argv[i], crowd->name) == 0;
	return wanted;
}

int main(int argc, char **argv)
{
	int failures = 0;

	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		const struct crowd *crowd = &crowds[i];

		if (!is_wanted(crowd, argc, argv))
			continue;

		const double small_s = time_of(crowd, crowd->count);
		const double large_s = time_of(crowd, GROWTH * crowd->count);
		const bool slow = large_s > quick_s && large_s > MOST_GROWTH * small_s;

		failures += slow;
		printf("%-24s %8u: %6.3f s %8u: %6.3f s%s\n", crowd->name, crowd->count, small_s,
		       GROWTH * crowd->count, large_s, slow ? "  TOO SLOW" : "");
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
