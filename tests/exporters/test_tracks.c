/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Covers PART(calls), Covers PART(errors), Covers PART(graphs), Covers PART(waits),
 * Covers PART(overheads), Covers PART(ranges), Covers PART(modules), Covers PART(critical_path),
 * Covers PART(idle), Covers PART(steps), Covers PART(advice), Covers PART(pauses): slices on tracks
 * of the host.
 */
#include "support/check.h"

#include <math.h>

#include "exporters/read.h"
#include "exporters/sample.h"

/* A slice of the host, put together from its begin and its end. */
struct slice {
	char track[64];
	char category[32];
	char name[64];
	gt_time start_ns; /* after the start of the sample */
	gt_time end_ns;   /* -1: none */
	struct bytes begin;
	uint64_t sequence;
};

struct slices {
	struct slice rows[64];
	unsigned count;
};

static void copy_text(char *to, size_t size, struct bytes text)
{
	snprintf(to, size, "%.*s", (int)(text.end - text.at), text.at ? (const char *)text.at : "");
}

enum { BEGIN = 1, END = 2, VALUE = 4 }; /* any other type is a mark */

/* A text that the sequence interned, by table and number. */
static struct bytes find_text(const struct file *file, uint64_t sequence, uint32_t table,
                              uint64_t iid)
{
	struct bytes rest = all(file);
	struct bytes packet;
	struct field field;

	while (next_packet(&rest, &packet))
		for (unsigned i = 0; number_in(packet, SEQUENCE_ID) == sequence &&
		                     find_nth(message_in(packet, INTERNED_DATA), table, i, &field);
		     i++)
			if (number_in(field.bytes, 1) == iid)
				return message_in(field.bytes, 2);
	cr_assert(false, "text %llu of table %u is not said", (unsigned long long)iid, table);
	return (struct bytes){0};
}

/* The name of the track that the sequence is on: a thread's is "thread TID". */
static void name_track(const struct file *file, uint64_t uuid, char *name, size_t size)
{
	for (unsigned i = 0; i < count_packets(file, TRACK_DESCRIPTOR); i++) {
		const struct bytes track =
			message_in(find_packet(file, TRACK_DESCRIPTOR, i), TRACK_DESCRIPTOR);

		if (number_in(track, 1) != uuid)
			continue;
		if (count_in(track, 4))
			snprintf(name, size, "thread %u",
			         (unsigned)number_in(message_in(track, 4), 2));
		else
			copy_text(name, size, message_in(track, 2));
		return;
	}
	cr_assert(false, "slices on a track that is not described");
}

static void begin_slice(struct slices *slices, const struct file *file, struct bytes packet,
                        uint64_t uuid, gt_time time_ns)
{
	struct slice *slice = &slices->rows[slices->count++];

	cr_assert(slices->count < 64);
	*slice = (struct slice){.start_ns = time_ns,
	                        .end_ns = -1,
	                        .begin = message_in(packet, TRACK_EVENT),
	                        .sequence = number_in(packet, SEQUENCE_ID)};
	name_track(file, uuid, slice->track, sizeof(slice->track));
	copy_text(slice->name, sizeof(slice->name),
	          find_text(file, slice->sequence, 2, number_in(slice->begin, 10)));
	copy_text(slice->category, sizeof(slice->category),
	          find_text(file, slice->sequence, 1, number_in(slice->begin, 3)));
}

static void end_slice(struct slices *slices, uint64_t sequence, gt_time time_ns)
{
	for (unsigned i = slices->count; i-- > 0;) {
		struct slice *slice = &slices->rows[i];

		if (slice->sequence == sequence && slice->end_ns < 0) {
			slice->end_ns = time_ns;
			return;
		}
	}
	cr_assert(false, "an end without a begin");
}

/* All slices in the order of the file. */
static struct slices read_all_slices(const struct file *file)
{
	struct slices slices = {.count = 0};
	struct bytes rest = all(file);
	struct bytes packet;
	uint64_t uuids[64] = {0};
	gt_time times_ns[64] = {0};

	while (next_packet(&rest, &packet)) {
		const uint64_t sequence = number_in(packet, SEQUENCE_ID);
		const struct bytes defaults = message_in(packet, 59);

		if (count_in(defaults, 11))
			uuids[sequence] = number_in(message_in(defaults, 11), 11);
		if (count_in(packet, TRACK_EVENT) == 0)
			continue;
		times_ns[sequence] += (gt_time)number_in(packet, TIMESTAMP);
		if (number_in(message_in(packet, TRACK_EVENT), 9) == VALUE)
			continue;
		if (number_in(message_in(packet, TRACK_EVENT), 9) != END)
			begin_slice(&slices, file, packet, uuids[sequence], times_ns[sequence]);
		if (number_in(message_in(packet, TRACK_EVENT), 9) != BEGIN)
			end_slice(&slices, sequence, times_ns[sequence]);
	}
	return slices;
}

/* But for those of the critical path and of advice, which are of what the others show. */
static struct slices read_slices(const struct file *file)
{
	struct slices slices = read_all_slices(file);
	unsigned kept = 0;

	for (unsigned i = 0; i < slices.count; i++)
		if (strcmp(slices.rows[i].category, "path") != 0 &&
		    strcmp(slices.rows[i].category, "advice") != 0)
			slices.rows[kept++] = slices.rows[i];
	slices.count = kept;
	return slices;
}

static const struct slice *find_slice(const struct slices *slices, const char *name)
{
	for (unsigned i = 0; i < slices->count; i++)
		if (strcmp(slices->rows[i].name, name) == 0)
			return &slices->rows[i];
	cr_assert(false, "there is no slice %s", name);
	return NULL;
}

/* The annotation of that name; false when there is none. */
static bool find_annotation(const struct file *file, const struct slice *slice, const char *name,
                            struct field *annotation)
{
	for (unsigned i = 0; find_nth(slice->begin, 4, i, annotation); i++) {
		char text[64];

		copy_text(text, sizeof(text),
		          find_text(file, slice->sequence, 3, number_in(annotation->bytes, 1)));
		if (strcmp(text, name) == 0)
			return true;
	}
	return false;
}

static void expect_number(const struct file *file, const struct slice *slice, const char *name,
                          int64_t expected)
{
	struct field annotation;

	cr_assert(find_annotation(file, slice, name, &annotation), "no annotation %s", name);
	cr_expect(number_in(annotation.bytes, 4) == (uint64_t)expected, "%s", name);
}

static void expect_annotation_text(const struct file *file, const struct slice *slice,
                                   const char *name, const char *expected)
{
	struct field annotation;
	char text[64];

	cr_assert(find_annotation(file, slice, name, &annotation), "no annotation %s", name);
	copy_text(text, sizeof(text),
	          find_text(file, slice->sequence, 29, number_in(annotation.bytes, 17)));
	cr_expect(strcmp(text, expected) == 0, "%s: %s", name, text);
}

static void expect_no_annotation(const struct file *file, const struct slice *slice,
                                 const char *name)
{
	struct field annotation;

	cr_expect(find_annotation(file, slice, name, &annotation) == false, "%s", name);
}

/*
 * Two streams of one thread: a kernel and a record on the first, a wait for it and a kernel on
 * the second, and the host waits for that.
 */
enum { WAIT_ROW = 1, HOST_ROW = 2 };

static gt_id add_sync(struct gt_trace *trace, uint32_t kind, gt_id stream, gt_id call)
{
	const struct gt_api_call *made = &trace->api_calls.rows[call];

	*gt_array_push(&trace->syncs) = (struct gt_sync){.start_ns = made->start_ns,
	                                                 .end_ns = made->end_ns,
	                                                 .thread = made->thread,
	                                                 .context = 0,
	                                                 .stream = stream,
	                                                 .event = GT_NONE,
	                                                 .record = GT_NONE,
	                                                 .api_call = call,
	                                                 .kind = kind};
	return (gt_id)trace->syncs.count - 1;
}

static void add_edge(struct gt_trace *trace, gt_id from_kernel, uint32_t table, gt_id row,
                     gt_id sync)
{
	*gt_array_push(&trace->edges) = (struct gt_edge){
		.from_table = GT_TABLE_kernels,
		.from_row = from_kernel,
		.to_table = table,
		.to_row = row,
		.sync = sync,
		.kind = table == GT_TABLE_syncs ? GT_EDGE_HOST : GT_EDGE_EVENT,
	};
}

static gt_id add_call(struct gt_trace *trace, const char *function, gt_time start_ns,
                      gt_time end_ns)
{
	return sample_call(trace, 0, function, SAMPLE_START + start_ns, SAMPLE_START + end_ns);
}

static void make_waits(struct gt_trace *trace)
{
	gt_id process;
	gt_id context;
	gt_id record;
	gt_id wait;
	gt_id host;

	gt_trace_init(trace);
	process = sample_process(trace, "app", 50);
	sample_thread(trace, process, 51);
	context = sample_context(trace, process, sample_device(trace, 0, 0));
	sample_stream(trace, context, 13);
	sample_stream(trace, context, 14);
	sample_shape(trace, "_Z4stepv", "step()", 4);
	*gt_array_push(&trace->events) = (struct gt_event){.process = process,
	                                                   .number = 6,
	                                                   .records = 3,
	                                                   .name = sample_text(trace, "copied")};

	sample_kernel(trace, 0, 0, add_call(trace, "cudaLaunchKernel", 100, 200),
	              SAMPLE_START + 250, SAMPLE_START + 900);
	record = add_sync(trace, 16, 0, add_call(trace, "cudaEventRecord", 210, 240));
	wait = add_sync(trace, 2, 1, add_call(trace, "cudaStreamWaitEvent", 250, 280));
	trace->syncs.rows[record].event = trace->syncs.rows[wait].event = 0;
	trace->syncs.rows[record].generation = trace->syncs.rows[wait].generation = 3;
	trace->syncs.rows[wait].record = record;
	sample_kernel(trace, 1, 0, add_call(trace, "cudaLaunchKernel", 300, 400),
	              SAMPLE_START + 950, SAMPLE_START + 1800);
	host = add_sync(trace, 3, 1, add_call(trace, "cudaStreamSynchronize", 500, 1900));
	add_edge(trace, 0, GT_TABLE_kernels, 1, wait);
	add_edge(trace, 1, GT_TABLE_syncs, host, host);
	sample_finish(trace, SAMPLE_START + 5000);
}

static struct bytes kernel_event(const struct file *file, unsigned n)
{
	return message_in(find_packet(file, RENDER_STAGE, n), RENDER_STAGE);
}

Test(graphs, are_slices_of_their_process_with_what_their_launches_ran)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	const struct slice *slice;
	gt_id thread;
	gt_id stream;

	gt_trace_init(&trace);
	thread = sample_thread(&trace, sample_process(&trace, "app", 50), 51);
	stream = sample_stream(&trace, sample_context(&trace, 0, sample_device(&trace, 0, 0)), 7);
	sample_shape(&trace, "_Z4stepv", "step()", 4);
	*gt_array_push(&trace.graphs) = (struct gt_graph){.number = 3};
	*gt_array_push(&trace.graph_execs) = (struct gt_graph_exec){.graph = 0, .number = 12};
	for (int i = 0; i < 2; i++)
		*gt_array_push(&trace.graph_nodes) =
			(struct gt_graph_node){.exec = 0, .origin = GT_NONE, .graph = GT_NONE};
	for (gt_time at = SAMPLE_START; at < SAMPLE_START + 2000; at += 1000) {
		const gt_id call = sample_call(&trace, thread, "cuGraphLaunch", at + 10, at + 20);

		*gt_array_push(&trace.graph_launches) = (struct gt_graph_launch){
			.start_ns = at + 10, .thread = thread, .api_call = call, .exec = 0};
		if (at > SAMPLE_START)
			continue; /* it ran nothing that is known */
		sample_kernel(&trace, stream, 0, call, at + 100, at + 150);
		sample_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, call, at + 200, at + 290);
	}
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_expect(slices.count == 3, "two calls and a graph");
	slice = find_slice(&slices, "graph 3 (2 nodes)");
	cr_expect(strcmp(slice->category, "graph") == 0);
	cr_expect(slice->start_ns == 100 && slice->end_ns == 290);
	expect_number(&file, slice, "graph_exec", 12);
	expect_number(&file, slice, "nodes", 2);
	expect_number(&file, slice, "kernels", 1);
	expect_number(&file, slice, "kernels_copies_fills", 2);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(critical_path, is_a_track_of_its_process)
{
	static const struct {
		gt_time start_ns;
		gt_time end_ns;
		const char *name;
		const char *kind; /* NULL: it is the name */
	} expected[] = {
		{100, 250, "launch latency", NULL},
		{250, 900, "step()", "kernels"},
		{900, 950, "between work on the GPU", NULL},
		{950, 1800, "step()", "kernels"},
		{1800, 1900, "cudaStreamSynchronize", "return from a wait"},
	};
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	unsigned found = 0;

	make_waits(&trace);
	file = export(&trace, true);
	slices = read_all_slices(&file);
	for (unsigned i = 0; i < slices.count; i++) {
		const struct slice *slice = &slices.rows[i];

		if (strcmp(slice->category, "path") != 0)
			continue;
		cr_assert(found < 5);
		cr_expect(strcmp(slice->track, "Critical path") == 0);
		cr_expect(slice->start_ns == expected[found].start_ns);
		cr_expect(slice->end_ns == expected[found].end_ns);
		cr_expect(strcmp(slice->name, expected[found].name) == 0);
		if (expected[found].kind)
			expect_annotation_text(&file, slice, "kind", expected[found].kind);
		else
			expect_no_annotation(&file, slice, "kind");
		expect_no_annotation(&file, slice, "basis");
		found++;
	}
	cr_expect(found == 5);
	free(file.bytes);
	gt_trace_release(&trace);
}

/* One thread begins, another goes on and launches. */
static void make_threads(struct gt_trace *trace)
{
	gt_id process;

	gt_trace_init(trace);
	process = sample_process(trace, "app", 50);
	sample_thread(trace, process, 51);
	sample_thread(trace, process, 52);
	sample_stream(trace, sample_context(trace, process, sample_device(trace, 0, 0)), 13);
	sample_shape(trace, "_Z4stepv", "step()", 4);
	(void)add_call(trace, "cudaMalloc", 100, 200);
	trace->api_calls.rows[add_call(trace, "cudaMalloc", 300, 400)].thread = 1;
	trace->api_calls.rows[add_call(trace, "cudaLaunchKernel", 450, 480)].thread = 1;
	sample_kernel(trace, 0, 0, 2, SAMPLE_START + 600, SAMPLE_START + 5000);
	sample_finish(trace, SAMPLE_START + 5000);
}

/* The path goes through both threads: each call is a slice for itself. */
Test(critical_path, keeps_what_two_threads_did_apart)
{
	static const struct {
		const char *name;
		gt_time start_ns;
	} expected[] = {{"cudaMalloc", 100},
	                {"host", 200},
	                {"cudaMalloc", 300},
	                {"host", 400},
	                {"launch latency", 450}};
	struct gt_trace trace;
	struct slices slices;
	struct file file;
	unsigned found = 0;

	make_threads(&trace);
	file = export(&trace, true);
	slices = read_all_slices(&file);
	for (unsigned i = 0; i < slices.count && found < GT_COUNT_OF(expected); i++) {
		const struct slice *slice = &slices.rows[i];

		if (strcmp(slice->category, "path") != 0)
			continue;
		expect_text(slice->name, expected[found].name);
		cr_expect(eq(i64, slice->start_ns, expected[found].start_ns));
		found++;
	}
	cr_expect(eq(uint, found, GT_COUNT_OF(expected)));
	free(file.bytes);
	gt_trace_release(&trace);
}

/* The slices of a category, in order. */
static void expect_slices(const struct slices *slices, const char *category, const char *track,
                          const struct slice *expected, unsigned count)
{
	unsigned found = 0;

	for (unsigned i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->rows[i];

		if (strcmp(slice->category, category) != 0)
			continue;
		cr_assert(lt(uint, found, count), "%s at %lld", slice->name,
		          (long long)slice->start_ns);
		expect_text(slice->track, track);
		expect_text(slice->name, expected[found].name);
		cr_expect(eq(i64, slice->start_ns, expected[found].start_ns));
		cr_expect(eq(i64, slice->end_ns, expected[found].end_ns));
		found++;
	}
	cr_expect(eq(uint, found, count));
}

/* A gap for which a call stands, one too short to be shown, and one with hardly a call. */
Test(idle, has_the_cause_of_each_gap)
{
	static const struct slice expected[] = {
		{.name = "cudaMalloc", .start_ns = 2000, .end_ns = 102000},
		{.name = "mostly no CUDA call", .start_ns = 113000, .end_ns = 200000},
	};
	static const gt_time starts[] = {1000, 102000, 112000, 200000};
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_threads(&trace);
	trace.kernels.count = trace.api_calls.count = 0;
	for (size_t i = 0; i < GT_COUNT_OF(starts); i++) {
		if (i == 1)
			(void)add_call(&trace, "cudaMalloc", 3000, 100000);
		sample_kernel(&trace, 0, 0,
		              add_call(&trace, "cudaLaunchKernel", starts[i] - 500,
		                       starts[i] - 400),
		              SAMPLE_START + starts[i], SAMPLE_START + starts[i] + 1000);
	}
	sample_finish(&trace, SAMPLE_START + 300000);
	file = export(&trace, true);
	slices = read_all_slices(&file);
	expect_slices(&slices, "idle", "GPU 0 idle", expected, GT_COUNT_OF(expected));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(steps, are_numbered_on_a_track_of_their_own)
{
	struct slice expected[5] = {0};
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_threads(&trace);
	trace.kernels.count = trace.api_calls.count = 0;
	for (gt_time i = 0; i < 5; i++) {
		const gt_id step =
			sample_range(&trace, 0, GT_NONE, "train", SAMPLE_START + 1000 * (i + 1),
		                     SAMPLE_START + 1000 * (i + 1) + 500 + i);
		const gt_id call = add_call(&trace, "cudaLaunchKernel", 1000 * (i + 1) + 100,
		                            1000 * (i + 1) + 110);

		trace.api_calls.rows[call].range = step;
		sample_kernel(&trace, 0, 0, call, SAMPLE_START + 1000 * (i + 1) + 200,
		              SAMPLE_START + 1000 * (i + 1) + 300);
		snprintf(expected[i].name, sizeof(expected[i].name), "step %d", (int)i + 1);
		expected[i].start_ns = 1000 * (i + 1);
		expected[i].end_ns = 1000 * (i + 1) + 500 + i;
	}
	sample_finish(&trace, SAMPLE_START + 10000);
	file = export(&trace, true);
	slices = read_all_slices(&file);
	expect_slices(&slices, "step", "Steps", expected, 5);
	free(file.bytes);
	gt_trace_release(&trace);
}

/* Over the time in which the GPU was in use, the launches of a kernel, the call that failed. */
Test(advice, stands_over_the_stretch_that_it_is_about)
{
	static const struct slice expected[] = {
		{.name = "Nothing ran on GPU 0 for 81.8% of the time it was in use, 100.0",
	         .start_ns = 2000000,
	         .end_ns = 13000000},
		{.name = "step() has 8 blocks for the 132 multiprocessors of GPU 0, and h",
	         .start_ns = 2000000,
	         .end_ns = 13000000},
		{.name = "1 CUDA call failed, the first was cudaMalloc",
	         .start_ns = 3000000,
	         .end_ns = 3500000},
	};
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_threads(&trace);
	trace.kernels.count = trace.api_calls.count = 0;
	for (gt_time i = 2000000; i < 13000000; i += 10000000)
		sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + i, SAMPLE_START + i + 1000000);
	trace.api_calls.rows[add_call(&trace, "cudaMalloc", 3000000, 3500000)].result = 2;
	sample_finish(&trace, SAMPLE_START + 14000000);
	file = export(&trace, true);
	slices = read_all_slices(&file);
	expect_slices(&slices, "advice", "Advice", expected, GT_COUNT_OF(expected));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, lead_from_the_work_of_one_stream_to_that_of_another)
{
	struct gt_trace trace;
	struct file file;
	struct field field;

	make_waits(&trace);
	file = export(&trace, true);
	cr_expect(count_in(kernel_event(&file, 0), 18) == 0);
	cr_assert(count_in(kernel_event(&file, 1), 18) == 1);
	cr_assert(find(kernel_event(&file, 1), 18, &field));
	cr_expect(field.type == 0 && field.value == number_in(kernel_event(&file, 0), 1));
	cr_expect(file.counts.arrows == 4, "two launches and two waits");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, lead_from_a_kernel_to_the_call_that_waited_for_it)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	struct bytes arrows;

	make_waits(&trace);
	file = export(&trace, true);
	slices = read_slices(&file);
	arrows = message_in(find_slice(&slices, "cudaStreamSynchronize")->begin, 3000);
	cr_expect(count_in(arrows, 1) == 0, "it launched nothing");
	cr_assert(count_in(arrows, 2) == 1);
	cr_expect(number_in(arrows, 2) == number_in(kernel_event(&file, 1), 1));
	arrows = message_in(find_slice(&slices, "cudaLaunchKernel")->begin, 3000);
	cr_expect(count_in(arrows, 1) == 1 && count_in(arrows, 2) == 0);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, say_beside_their_call_what_they_waited_for)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	const struct slice *wait;
	const struct slice *host;

	make_waits(&trace);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_expect(slices.count == 5, "the calls and nothing else");
	wait = find_slice(&slices, "cudaStreamWaitEvent");
	expect_annotation_text(&file, wait, "sync", "stream wait event");
	expect_number(&file, wait, "stream", 14);
	expect_number(&file, wait, "event", 6);
	expect_annotation_text(&file, wait, "event_name", "copied");
	expect_number(&file, wait, "record", 3);
	expect_number(&file, wait, "record_stream", 13);
	expect_no_annotation(&file, wait, "address");
	host = find_slice(&slices, "cudaStreamSynchronize");
	expect_annotation_text(&file, host, "sync", "stream synchronize");
	expect_number(&file, host, "stream", 14);
	expect_no_annotation(&file, host, "event");
	expect_no_annotation(&file, find_slice(&slices, "cudaLaunchKernel"), "sync");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, say_which_value_in_memory_they_waited_for)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	struct field annotation;

	make_waits(&trace);
	trace.syncs.rows[HOST_ROW].address = 0xfffff00012345678;
	trace.syncs.rows[HOST_ROW].value = 42;
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_assert(find_annotation(&file, find_slice(&slices, "cudaStreamSynchronize"), "address",
	                          &annotation));
	cr_expect(number_in(annotation.bytes, 7) == 0xfffff00012345678);
	expect_number(&file, find_slice(&slices, "cudaStreamSynchronize"), "value", 42);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, are_slices_below_their_thread_where_calls_were_not_recorded)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	const struct slice *wait;

	make_waits(&trace);
	trace.api_calls.count = 0;
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_expect(slices.count == 3);
	wait = find_slice(&slices, "stream wait event");
	cr_expect(strcmp(wait->track, "CUDA waits") == 0 && strcmp(wait->category, "sync") == 0);
	cr_expect(wait->start_ns == 250 && wait->end_ns == 280);
	expect_number(&file, wait, "record", 3);
	wait = find_slice(&slices, "stream synchronize");
	cr_expect(wait->end_ns == 1900);
	cr_expect(count_in(message_in(wait->begin, 3000), 2) == 1, "from what it waited for");
	cr_expect(file.counts.arrows == 2, "and from one stream to the other");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, that_never_ended_stay_open)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;

	make_waits(&trace);
	trace.api_calls.count = 0;
	trace.syncs.rows[HOST_ROW].flags = GT_UNFINISHED;
	trace.syncs.rows[HOST_ROW].end_ns = 0;
	file = export(&trace, true);
	slices = read_slices(&file);
	/* To the end of time, which is where viewers end what nothing ends. */
	cr_expect(find_slice(&slices, "stream synchronize")->end_ns == -1);
	cr_expect(find_slice(&slices, "stream wait event")->end_ns == 280);
	free(file.bytes);
	gt_trace_release(&trace);
}

/* As in recordings of before, where CUPTI timed waits and did not say on which thread. */
Test(waits, keep_a_track_of_the_process_where_the_thread_is_not_known)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	const struct slice *wait;

	make_waits(&trace);
	trace.syncs.rows[HOST_ROW].thread = GT_NONE;
	trace.syncs.rows[HOST_ROW].api_call = GT_NONE;
	trace.syncs.rows[HOST_ROW].start_ns += 20;
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_expect(slices.count == 6);
	wait = find_slice(&slices, "stream synchronize");
	cr_expect(strcmp(wait->track, "CUDA synchronization") == 0);
	cr_expect(wait->start_ns == 520 && wait->end_ns == 1900);
	cr_expect(count_in(message_in(wait->begin, 3000), 2) == 1, "from what it waited for");
	expect_number(&file, wait, "stream", 14);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, are_shown_by_themselves_where_calls_are_left_out)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE,
	                                          .without_calls = true};
	struct gt_trace trace;
	struct gt_view view;
	struct file file;
	struct slices slices;

	make_waits(&trace);
	view = gt_view_of(&trace);
	file = export_as(&view, "perfetto", &options);
	slices = read_slices(&file);
	cr_expect(slices.count == 3);
	cr_expect(strcmp(find_slice(&slices, "stream synchronize")->track, "CUDA waits") == 0);
	cr_expect(file.counts.arrows == 2, "to the wait, and from one stream to the other");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, are_not_shown_again_where_a_call_shows_them)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;

	make_waits(&trace);
	trace.syncs.rows[HOST_ROW].thread = GT_NONE;
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_expect(slices.count == 5, "the calls");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(waits, survive_edges_that_point_nowhere)
{
	struct gt_trace trace;
	struct file file;

	make_waits(&trace);
	trace.edges.rows[0].from_row = 999;
	trace.edges.rows[1].to_row = 999;
	add_edge(&trace, 0, 77, 0, 0);
	add_edge(&trace, 0, GT_TABLE_copies, 0, 0);
	trace.edges.rows[3].from_table = GT_TABLE_NONE;
	trace.syncs.rows[WAIT_ROW].event = 999;
	trace.syncs.rows[WAIT_ROW].record = 999;
	trace.syncs.rows[WAIT_ROW].stream = 999;
	trace.syncs.rows[HOST_ROW].api_call = 999;
	file = export(&trace, true);
	cr_expect(file.counts.arrows == 2, "the launches");
	cr_expect(file.counts.api_slices == 5);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(calls, say_the_number_and_the_name_of_what_went_wrong)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;

	gt_trace_init(&trace);
	sample_thread(&trace, sample_process(&trace, "app", 5), 5);
	add_call(&trace, "cudaMalloc", 100, 200);
	sample_last_call(&trace)->result = 2;
	add_call(&trace, "cuLaunchKernel", 300, 400);
	sample_last_call(&trace)->result = 719;
	sample_last_call(&trace)->flags = GT_DRIVER_API;
	add_call(&trace, "cudaFree", 500, 600);
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	expect_number(&file, &slices.rows[0], "code", 2);
	expect_annotation_text(&file, &slices.rows[0], "result", "cudaErrorMemoryAllocation");
	expect_number(&file, &slices.rows[1], "code", 719);
	expect_annotation_text(&file, &slices.rows[1], "result", "CUDA_ERROR_LAUNCH_FAILED");
	cr_expect(strcmp(slices.rows[1].name, "failed: cuLaunchKernel") == 0);
	expect_annotation_text(&file, &slices.rows[1], "function", "cuLaunchKernel");
	expect_no_annotation(&file, &slices.rows[2], "code");
	cr_expect(strcmp(slices.rows[2].track, "thread 5") == 0);
	cr_expect(strcmp(slices.rows[2].category, "api") == 0);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(calls, say_that_they_were_held_up_to_be_profiled)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;

	gt_trace_init(&trace);
	sample_thread(&trace, sample_process(&trace, "app", 5), 5);
	add_call(&trace, "cuLaunchKernel", 100, 200);
	sample_last_call(&trace)->flags = GT_DRIVER_API | GT_PROFILED;
	add_call(&trace, "cuLaunchKernel", 300, 400);
	sample_last_call(&trace)->flags = GT_DRIVER_API;
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	expect_number(&file, &slices.rows[0], "profiled", 1);
	cr_expect(strcmp(slices.rows[0].name, "profiled: cuLaunchKernel") == 0);
	expect_no_annotation(&file, &slices.rows[1], "profiled");
	cr_expect(strcmp(slices.rows[1].name, "cuLaunchKernel") == 0);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(calls, that_failed_are_marks_on_a_track_of_their_own)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	const struct slice *mark;

	gt_trace_init(&trace);
	sample_thread(&trace, sample_process(&trace, "app", 5), 5);
	add_call(&trace, "cudaMalloc", 100, 200);
	sample_last_call(&trace)->result = 2;
	add_call(&trace, "cudaEventQuery", 300, 400);
	sample_last_call(&trace)->result = 600;
	add_call(&trace, "cudaMemcpy", 500, 0);
	sample_last_call(&trace)->result = 1;
	sample_last_call(&trace)->flags = GT_UNFINISHED;
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_expect(slices.count == 4, "three calls and one mark");
	mark = find_slice(&slices, "cudaErrorMemoryAllocation in cudaMalloc");
	cr_expect(strcmp(mark->track, "CUDA errors") == 0 && strcmp(mark->category, "error") == 0);
	cr_expect(number_in(mark->begin, 9) == 3, "an instant");
	cr_expect(mark->start_ns == 100);
	expect_number(&file, mark, "code", 2);
	cr_expect(file.counts.api_slices == 3);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(calls, have_not_failed_when_the_GPU_is_not_ready_yet)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;

	gt_trace_init(&trace);
	sample_thread(&trace, sample_process(&trace, "app", 5), 5);
	add_call(&trace, "cudaEventQuery", 100, 200);
	sample_last_call(&trace)->result = 600;
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_expect(strcmp(slices.rows[0].name, "cudaEventQuery") == 0);
	expect_number(&file, &slices.rows[0], "code", 600);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(overheads, that_overlap_get_tracks_of_one_name)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;
	const struct slice *overheads = slices.rows + 1; /* the call comes first */

	gt_trace_init(&trace);
	sample_process(&trace, "app", 5);
	for (gt_time i = 0; i < 3; i++)
		sample_overhead(&trace, 0, 1 << 16, SAMPLE_START + 100 * i,
		                SAMPLE_START + 100 * i + 150);
	sample_thread(&trace, 0, 77);
	for (unsigned i = 1; i < 3; i++)
		trace.overheads.rows[i].tid = 1982484480; /* half a pthread_t */
	trace.overheads.rows[2].api_call =
		sample_call(&trace, 0, "cudaMalloc", SAMPLE_START + 1000, SAMPLE_START + 1100);
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_assert(slices.count == 4);
	for (unsigned i = 0; i < 3; i++) {
		cr_expect(strcmp(overheads[i].track, "CUPTI overhead") == 0);
		cr_expect(strcmp(overheads[i].name, "buffer flush") == 0);
		cr_expect(overheads[i].start_ns == 100 * i);
		cr_expect(overheads[i].end_ns == 100 * i + 150);
	}
	cr_expect(overheads[0].sequence != overheads[1].sequence);
	cr_expect(overheads[0].sequence == overheads[2].sequence, "the first is free again");
	expect_number(&file, &overheads[2], "thread", 77);
	expect_no_annotation(&file, &overheads[1], "thread");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(modules, are_slices_as_long_as_loading_took_or_marks)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;

	gt_trace_init(&trace);
	sample_thread(&trace, sample_process(&trace, "app", 5), 5);
	sample_module(&trace, 0xabc, SAMPLE_START + 900, 100);
	sample_module(&trace, 0xabd, SAMPLE_START + 500, 300); /* rows are in no order */
	sample_module(&trace, 0, SAMPLE_START + 600, (double)NAN);
	sample_module(&trace, 0xabf, SAMPLE_START + 5000, 10); /* after what is looked at */
	sample_module(&trace, 0xabf, SAMPLE_START + 700, 10)->thread = GT_NONE;
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_assert(slices.count == 3);
	cr_expect(strcmp(slices.rows[0].track, "CUDA modules") == 0);
	cr_expect(strcmp(slices.rows[0].name, "load module") == 0);
	cr_expect(slices.rows[0].start_ns == 200);
	cr_expect(slices.rows[0].end_ns == 500);
	expect_annotation_text(&file, &slices.rows[0], "module", "0000000000000abd");
	expect_annotation_text(&file, &slices.rows[0], "arch", "sm_90");
	expect_number(&file, &slices.rows[0], "functions", 4);
	cr_expect(slices.rows[1].start_ns == 600);
	expect_no_annotation(&file, &slices.rows[1], "module");
	cr_expect(slices.rows[2].start_ns == 800);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(pauses, are_slices_of_their_process)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;

	gt_trace_init(&trace);
	sample_process(&trace, "app", 5);
	*gt_array_push(&trace.pauses) =
		(struct gt_pause){.start_ns = SAMPLE_START + 100, .end_ns = SAMPLE_START + 400};
	*gt_array_push(&trace.pauses) =
		(struct gt_pause){.start_ns = SAMPLE_START + 600, .process = GT_NONE};
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_assert(slices.count == 1, "whose pause it is must be known");
	cr_expect(strcmp(slices.rows[0].track, "Not recorded") == 0);
	cr_expect(strcmp(slices.rows[0].name, "recording paused") == 0);
	cr_expect(slices.rows[0].start_ns == 100);
	cr_expect(slices.rows[0].end_ns == 400);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(modules, have_what_was_compiled_for_them_on_lanes_of_the_process)
{
	struct gt_trace trace;
	struct file file;
	struct slices slices;

	gt_trace_init(&trace);
	sample_process(&trace, "app", 5);
	for (gt_time i = 0; i < 2; i++)
		*gt_array_push(&trace.jits) = (struct gt_jit){.start_ns = SAMPLE_START + 10 * i,
		                                              .end_ns = SAMPLE_START + 100,
		                                              .operation = 3,
		                                              .entry = 1};
	*gt_array_push(&trace.jits) = (struct gt_jit){.flags = GT_UNFINISHED};
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_assert(slices.count == 2);
	cr_expect(strcmp(slices.rows[0].track, "CUDA compilation") == 0);
	cr_expect(strcmp(slices.rows[1].name, "compile") == 0);
	cr_expect(slices.rows[0].sequence != slices.rows[1].sequence);
	expect_annotation_text(&file, &slices.rows[1], "what", "PTX to cubin");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(telemetry, shows_why_the_clocks_were_low_and_for_how_long)
{
	/* Power cap from 200 to 500, too hot from 300 to the end; nothing is known at 400. */
	static const double masks[] = {0, 0x4, 0x24, NAN, 0x20};
	struct gt_trace trace;
	struct gt_series *series;
	struct file file;
	struct slices slices;
	const struct slice *cap;
	const struct slice *heat;

	gt_trace_init(&trace);
	sample_process(&trace, "app", 5);
	sample_device(&trace, 3, 0);
	series = sample_series(&trace, 1, 5, 100);
	for (size_t i = 0; i < 5; i++)
		series->columns[0][i] = masks[i];
	sample_counter(&trace, "throttle_reasons", GT_COUNTER_MASK, 0, 0);
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	slices = read_slices(&file);
	cr_assert(slices.count == 2);
	cap = find_slice(&slices, "sw_power_cap");
	heat = find_slice(&slices, "sw_thermal_slowdown");
	cr_expect(strcmp(cap->track, "Throttle reasons, GPU #3") == 0);
	cr_expect(strcmp(cap->category, "throttle") == 0);
	cr_expect(cap->start_ns == 200 && cap->end_ns == 500);
	cr_expect(heat->start_ns == 300 && heat->end_ns == 2000);
	cr_expect(count_packets(&file, COUNTER_EVENT) == 0, "bits are no line");
	free(file.bytes);
	gt_trace_release(&trace);
}

/* A thread with two ranges in one another, and a call in the inner one that ends with it. */
static void make_ranges(struct gt_trace *trace)
{
	gt_id step;

	gt_trace_init(trace);
	sample_thread(trace, sample_process(trace, "app", 50), 51);
	sample_thread(trace, 0, 52);
	step = sample_range(trace, 0, GT_NONE, "step", SAMPLE_START + 100, SAMPLE_START + 900);
	(void)sample_range(trace, 0, step, "forward", SAMPLE_START + 200, SAMPLE_START + 500);
	add_call(trace, "cudaMalloc", 150, 190);
	add_call(trace, "cudaLaunchKernel", 300, 500);
	add_call(trace, "cudaFree", 600, 700);
	sample_finish(trace, SAMPLE_START + 5000);
}

static void expect_slice(const struct slices *slices, const char *name, const char *track,
                         gt_time start_ns, gt_time end_ns)
{
	const struct slice *slice = find_slice(slices, name);

	cr_expect(strcmp(slice->track, track) == 0, "%s on %s", name, slice->track);
	cr_expect(slice->start_ns == start_ns && slice->end_ns == end_ns, "%s %lld to %lld", name,
	          (long long)slice->start_ns, (long long)slice->end_ns);
}

Test(ranges, are_on_their_thread_with_the_calls_in_them)
{
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_ranges(&trace);
	file = export(&trace, true);
	slices = read_slices(&file);
	expect_slice(&slices, "step", "thread 51", 100, 900);
	expect_slice(&slices, "cudaMalloc", "thread 51", 150, 190);
	expect_slice(&slices, "forward", "thread 51", 200, 500);
	expect_slice(&slices, "cudaLaunchKernel", "thread 51", 300, 500);
	expect_slice(&slices, "cudaFree", "thread 51", 600, 700);
	cr_expect(strcmp(find_slice(&slices, "step")->category, "nvtx") == 0);
	cr_expect(strcmp(find_slice(&slices, "cudaFree")->category, "api") == 0);
	cr_expect(eq(u64, file.counts.range_slices, 2));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(ranges, that_a_call_reaches_out_of_cut_it_and_are_not_ended_by_it)
{
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_ranges(&trace);
	trace.api_calls.rows[1].end_ns = SAMPLE_START + 550;
	trace.api_calls.rows[0].end_ns = SAMPLE_START + 190;
	file = export(&trace, true);
	slices = read_slices(&file);
	expect_slice(&slices, "cudaLaunchKernel", "thread 51", 300, 500);
	expect_slice(&slices, "step", "thread 51", 100, 900);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(ranges, that_overlap_or_are_started_have_further_tracks)
{
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_ranges(&trace);
	(void)sample_range(&trace, 0, 0, "late", SAMPLE_START + 800, SAMPLE_START + 1000);
	(void)sample_range(&trace, 1, GT_NONE, "async 1", SAMPLE_START + 1100, SAMPLE_START + 1300);
	(void)sample_range(&trace, 1, 3, "async 2", SAMPLE_START + 1200, SAMPLE_START + 1400);
	(void)sample_range(&trace, 1, 4, "async 3", SAMPLE_START + 1250, SAMPLE_START + 1350);
	for (size_t i = 3; i < 6; i++)
		trace.ranges.rows[i].kind = GT_RANGE_STARTED;
	file = export(&trace, true);
	slices = read_slices(&file);
	expect_slice(&slices, "late", "NVTX ranges", 800, 1000);
	expect_slice(&slices, "async 1", "NVTX ranges", 1100, 1300);
	expect_slice(&slices, "async 2", "NVTX ranges", 1200, 1400);
	expect_slice(&slices, "async 3", "NVTX ranges", 1250, 1350);
	cr_expect(ne(u64, find_slice(&slices, "async 1")->sequence,
	             find_slice(&slices, "async 2")->sequence));
	cr_expect(eq(u64, find_slice(&slices, "async 3")->sequence,
	             find_slice(&slices, "async 2")->sequence),
	          "what lies in one another shares a track");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(ranges, without_an_end_stay_open_with_calls_in_them)
{
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_ranges(&trace);
	trace.ranges.rows[0].flags = GT_UNFINISHED;
	trace.ranges.rows[0].end_ns = 0;
	file = export(&trace, true);
	slices = read_slices(&file);
	expect_slice(&slices, "step", "thread 51", 100, -1);
	expect_slice(&slices, "forward", "thread 51", 200, 500);
	expect_slice(&slices, "cudaFree", "thread 51", 600, 700);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(ranges, are_there_without_calls)
{
	const struct gt_export_options options = {.without_calls = true,
	                                          .compression = GT_COMPRESSION_NONE};
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_ranges(&trace);

	const struct gt_view view = gt_view_of(&trace);

	file = export_as(&view, "perfetto", &options);
	slices = read_slices(&file);
	cr_assert(slices.count == 2);
	expect_slice(&slices, "forward", "thread 51", 200, 500);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(ranges, say_what_came_with_them)
{
	struct gt_trace trace;
	struct slices slices;
	struct file file;

	make_ranges(&trace);
	*gt_array_push(&trace.domains) =
		(struct gt_domain){.process = 0, .name = sample_text(&trace, "NCCL")};
	trace.ranges.rows[0].domain = 0;
	trace.ranges.rows[0].category = sample_text(&trace, "loop");
	trace.ranges.rows[0].payload_type = 5;
	trace.ranges.rows[0].payload = 0xfffffffd;
	trace.ranges.rows[0].color = 0xff00ff10;
	trace.ranges.rows[0].data = sample_text(&trace, "{\"n\":1}");
	file = export(&trace, true);
	slices = read_slices(&file);
	expect_annotation_text(&file, find_slice(&slices, "step"), "domain", "NCCL");
	expect_annotation_text(&file, find_slice(&slices, "step"), "category", "loop");
	expect_number(&file, find_slice(&slices, "step"), "payload", -3);
	expect_annotation_text(&file, find_slice(&slices, "step"), "color", "#00ff10");
	expect_annotation_text(&file, find_slice(&slices, "step"), "data", "{\"n\":1}");
	expect_no_annotation(&file, find_slice(&slices, "forward"), "payload");
	free(file.bytes);
	gt_trace_release(&trace);
}

/* Covers PART(counters). */
Test(counters, of_programs_are_lines_below_their_process)
{
	static const double values[] = {2.5, NAN, 4};
	struct gt_trace trace;
	struct gt_series *series;
	struct bytes rest;
	struct bytes packet;
	struct file file;
	double seen[2] = {0};
	unsigned count = 0;
	uint64_t uuid = 0;

	make_ranges(&trace);
	series = sample_series(&trace, 1, 3, 100);
	memcpy(series->columns[0], values, sizeof(values));
	sample_counter(&trace, "queue length", GT_COUNTER_GAUGE, GT_NONE, 0);
	trace.counters.rows[0].process = 0;
	file = export(&trace, true);
	for (unsigned i = 0; i < count_packets(&file, TRACK_DESCRIPTOR); i++) {
		const struct bytes track =
			message_in(find_packet(&file, TRACK_DESCRIPTOR, i), TRACK_DESCRIPTOR);

		if (text_is(track, 2, "queue length"))
			uuid = number_in(track, 1);
	}
	cr_assert(uuid != 0, "its track is described");
	rest = all(&file);
	while (next_packet(&rest, &packet)) {
		const struct bytes event = message_in(packet, TRACK_EVENT);
		struct field value;

		if (number_in(event, 9) != 4)
			continue;
		cr_assert(count < 2);
		if (find(event, 30, &value)) /* whole numbers */
			seen[count++] = (double)value.value;
		else if (find(event, 44, &value))
			memcpy(&seen[count++], &value.value, sizeof(double));
	}
	cr_expect(count == 2 && seen[0] == 2.5 && seen[1] == 4.0);
	cr_expect(eq(u64, file.counts.skipped, 0));
	free(file.bytes);
	gt_trace_release(&trace);
}

/* ---- memory ---- */

/* The mark of memory whose call has that name; there is one. */
static const struct slice *find_mark(const struct file *file, const struct slices *slices,
                                     const char *function)
{
	const struct slice *found = NULL;
	struct field annotation;
	char text[64];

	for (unsigned i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->rows[i];

		if (strstr(slice->track, "memory") == NULL ||
		    !find_annotation(file, slice, "function", &annotation))
			continue;
		copy_text(text, sizeof(text),
		          find_text(file, slice->sequence, 29, number_in(annotation.bytes, 17)));
		if (strcmp(text, function) != 0)
			continue;
		cr_assert(eq(ptr, (void *)found, NULL), "%s has two", function);
		found = slice;
	}
	cr_assert(ne(ptr, (void *)found, NULL), "%s has none", function);
	return found;
}

Test(memory, names_the_call_that_made_it_and_the_one_that_ended_it)
{
	struct gt_trace trace;
	struct slices slices;
	struct file file;
	gt_id process;

	gt_trace_init(&trace);
	process = sample_process(&trace, "app", 42);
	sample_thread(&trace, process, 51);
	sample_thread(&trace, process, 52);
	sample_context(&trace, process, sample_device(&trace, 0, 0));
	sample_allocation(&trace, GT_MEMORY_CALL_ALLOCATE, 4096, SAMPLE_START + 100,
	                  SAMPLE_START + 900);
	sample_memory_call(&trace, "cudaFree", GT_MEMORY_CALL_FREE, 0, SAMPLE_START + 800)->thread =
		1;
	trace.allocations.rows[0].ended_by = 1;
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
	slices = read_all_slices(&file);
	/* It is there when the call has returned. */
	cr_expect(eq(i64, find_mark(&file, &slices, "cudaMalloc")->start_ns, 200));
	expect_number(&file, find_mark(&file, &slices, "cudaMalloc"), "thread", 51);
	cr_expect(eq(i64, find_mark(&file, &slices, "cudaFree")->start_ns, 900));
	expect_number(&file, find_mark(&file, &slices, "cudaFree"), "thread", 52);
	free(file.bytes);
	gt_trace_release(&trace);
}
