/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pending/tables.h"

#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/pending/operation.h"
#include "analysis/pending/pending.h"
#include "analysis/result.h"
#include "model/names.h"
#include "model/naming/job_rank.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/work/sync.h"

static const struct gt_heading work_headings[] = {
	{"age_ns", GT_UNIT_NS, "Since the call that launched it was entered", GT_WORTH_KEY},
	{"rank", GT_UNIT_COUNT, "Of its process in the job"},
	{"pid", GT_UNIT_COUNT, "Its process", GT_WORTH_KEY},
	{"stream", GT_UNIT_TEXT, "That it was given to", GT_WORTH_KEY},
	{"place", GT_UNIT_COUNT, "In the stream, of what has not ended"},
	{"state", GT_UNIT_TEXT, "Why it has not ended", GT_WORTH_KEY},
	{"operation", GT_UNIT_TEXT,
         "Kernel, copy or fill; of a launch of a graph its first node that has not ended",
         GT_WORTH_NAME},
	{"size_bytes", GT_UNIT_BYTES, "Bytes of a copy or fill", GT_WORTH_LITTLE},
	{"ended_nodes", GT_UNIT_COUNT, "Nodes of the launch of a graph that have ended",
         GT_WORTH_DATA},
	{"nodes", GT_UNIT_COUNT, "Nodes that a launch of this graph has had at most",
         GT_WORTH_DATA},
	{"collective", GT_UNIT_COUNT, "1: of a collective, as NCCL's", GT_WORTH_DATA},
	{"call", GT_UNIT_TEXT, "That launched it"},
	{"thread", GT_UNIT_TEXT, "That called", GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "NVTX range that was open at the launch", GT_WORTH_LESSER_NAME},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LEAST},
	{"launch_time_ns", GT_UNIT_TIME, "When the call was entered", GT_WORTH_DATA},
	{"correlation", GT_UNIT_COUNT, "CUPTI's correlation id", GT_WORTH_DATA},
};

static const struct gt_heading wait_headings[] = {
	{"age_ns", GT_UNIT_NS, "Since the stream was told to wait", GT_WORTH_KEY},
	{"pid", GT_UNIT_COUNT, "Process", GT_WORTH_KEY},
	{"stream", GT_UNIT_TEXT, "That waits", GT_WORTH_KEY},
	{"kind", GT_UNIT_TEXT, "Way in which it waits"},
	{"state", GT_UNIT_TEXT, "Whether it is known to wait"},
	{"event", GT_UNIT_COUNT, "Number of the event in its process"},
	{"recorded_on", GT_UNIT_TEXT, "Stream that the event was recorded on, or the value written",
         GT_WORTH_KEY},
	{"recorded_pid", GT_UNIT_COUNT, "Process of that stream", GT_WORTH_LITTLE},
	{"behind", GT_UNIT_TEXT, "Last work before the record that has not ended", GT_WORTH_NAME},
	{"held_by", GT_UNIT_TEXT, "First work that it all waits for", GT_WORTH_LESSER_NAME},
	{"held_by_stream", GT_UNIT_TEXT, "Stream of that work", GT_WORTH_LITTLE},
};

static const struct gt_heading thread_headings[] = {
	{"inside_ns", GT_UNIT_NS, "Since the call was entered", GT_WORTH_KEY},
	{"rank", GT_UNIT_COUNT, "Of its process in the job"},
	{"pid", GT_UNIT_COUNT, "Process", GT_WORTH_KEY},
	{"thread", GT_UNIT_TEXT, "Inside a call that has not returned", GT_WORTH_KEY},
	{"call", GT_UNIT_TEXT, "The call", GT_WORTH_NAME},
	{"waits", GT_UNIT_TEXT, "The wait that the call is", GT_WORTH_LITTLE},
	{"stream", GT_UNIT_TEXT, "That the wait is about"},
	{"event", GT_UNIT_COUNT, "That the wait is about", GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "NVTX range that was open at the call", GT_WORTH_LESSER_NAME},
};

static const struct gt_heading stream_headings[] = {
	{"pid", GT_UNIT_COUNT, "Process", GT_WORTH_KEY},
	{"stream", GT_UNIT_TEXT, "Stream that something was given to", GT_WORTH_KEY},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE},
	{"pending", GT_UNIT_COUNT, "Work that has not ended", GT_WORTH_KEY},
	{"last_ended", GT_UNIT_TEXT, "Work that ended last on it", GT_WORTH_NAME},
	{"ended_ago_ns", GT_UNIT_NS, "Since that ended", GT_WORTH_KEY},
};

static const struct gt_heading process_headings[] = {
	{"rank", GT_UNIT_COUNT, "In its job", GT_WORTH_KEY},
	{"pid", GT_UNIT_COUNT, "Process id", GT_WORTH_KEY},
	{"name", GT_UNIT_TEXT, "Program", GT_WORTH_NAME},
	{"host", GT_UNIT_TEXT, "Machine", GT_WORTH_LITTLE},
	{"state", GT_UNIT_TEXT, "How its recording ended, if it did", GT_WORTH_KEY},
	{"pending", GT_UNIT_COUNT, "Work that has not ended", GT_WORTH_KEY},
	{"silent_ns", GT_UNIT_NS, "Since the last thing known of it, while it writes"},
};

/* Tables of one recording. */
struct writer {
	struct gt_result *result;
	const struct gt_pending *pending;
	const struct gt_trace *trace;
	struct gt_ranges ranges;
};

static bool is_running(const struct gt_trace *trace, gt_id process)
{
	return trace->processes.rows[process].ended == GT_END_RUNNING;
}

static void add_pid(struct writer *writer, gt_id process)
{
	const bool known = process < writer->trace->processes.count;

	gt_result_add_count_if(writer->result, known && writer->trace->processes.rows[process].pid,
	                       known ? writer->trace->processes.rows[process].pid : 0);
}

static void add_rank(struct writer *writer, gt_id process)
{
	const struct gt_job_rank rank =
		gt_job_rank_of(writer->trace, &writer->trace->processes.rows[process]);

	gt_result_add_count_if(writer->result, rank.rank >= 0, rank.rank);
}

static void add_stream(struct writer *writer, gt_id stream)
{
	if (stream < writer->trace->streams.count)
		gt_add_stream(writer->result, writer->trace, stream);
	else
		gt_result_add_unknown(writer->result);
}

static void add_device_of(struct writer *writer, gt_id stream)
{
	const gt_id device = gt_stream_device(writer->trace, stream);

	if (device < writer->trace->devices.count)
		gt_add_device_number(writer->result, writer->trace, device);
	else
		gt_result_add_unknown(writer->result);
}

/* Time from one moment to the last that is known of the process. */
static void add_age(struct writer *writer, gt_id process, gt_time since_ns)
{
	const gt_time until_ns = gt_pending_until(writer->pending, process);

	gt_result_add_count_if(writer->result, since_ns > 0 && until_ns >= since_ns,
	                       until_ns - since_ns);
}

static void add_step(struct writer *writer, struct gt_step step)
{
	char room[GT_PENDING_NAME_BYTES];

	gt_result_add_copy(writer->result, gt_pending_step_name(writer->trace, step, room));
}

static void add_operation(struct writer *writer, const struct gt_pending_work *work)
{
	char room[GT_PENDING_NAME_BYTES];

	gt_result_add_copy(writer->result, gt_pending_work_name(writer->trace, work, room));
}

static void add_size(struct writer *writer, struct gt_step step)
{
	const struct gt_trace *trace = writer->trace;

	if (step.table == GT_TABLE_copies)
		gt_result_add_count(writer->result,
		                    (int64_t)trace->copies.rows[step.row].size_bytes);
	else if (step.table == GT_TABLE_fills)
		gt_result_add_count(writer->result,
		                    (int64_t)trace->fills.rows[step.row].size_bytes);
	else
		gt_result_add_unknown(writer->result);
}

static const char *state_of(const struct writer *writer, const struct gt_pending_work *work)
{
	if (is_running(writer->trace, work->process))
		return gt_pending_state_name(work->state);
	if (work->state == GT_PENDING_FIRST)
		return "never ended";
	return work->state == GT_PENDING_UNTOLD ? "no record" : gt_pending_state_name(work->state);
}

/* Its function, thread and range. */
static void add_call(struct writer *writer, gt_id api_call)
{
	const struct gt_trace *trace = writer->trace;

	if (api_call >= trace->api_calls.count) {
		gt_result_add_unknowns(writer->result, 3);
		return;
	}
	gt_add_string(writer->result, trace, trace->api_calls.rows[api_call].function);
	gt_add_thread(writer->result, trace, trace->api_calls.rows[api_call].thread);
	gt_add_range(writer->result, &writer->ranges, gt_owner_of_call(trace, api_call).range);
}

static void add_work(struct writer *writer, const struct gt_pending_work *work)
{
	struct gt_result *result = writer->result;
	const bool is_graph = work->step.table == GT_TABLE_graph_launches && work->nodes > 0;

	add_age(writer, work->process, work->given_ns);
	add_rank(writer, work->process);
	add_pid(writer, work->process);
	add_stream(writer, work->stream);
	gt_result_add_count(result, work->place);
	gt_result_add_text(result, state_of(writer, work));
	add_operation(writer, work);
	add_size(writer, work->step);
	gt_result_add_count_if(result, is_graph, (int64_t)work->ended);
	gt_result_add_count_if(result, is_graph, (int64_t)work->nodes);
	gt_result_add_count(result, work->collective);
	add_call(writer, work->api_call);
	add_device_of(writer, work->stream);
	gt_result_add_count_if(result, work->given_ns > 0,
	                       work->given_ns - writer->trace->start_ns);
	gt_result_add_count(result, work->correlation);
}

static int by_place(const void *a, const void *b)
{
	const struct gt_pending_work *left = *(const struct gt_pending_work *const *)a;
	const struct gt_pending_work *right = *(const struct gt_pending_work *const *)b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->stream != right->stream)
		return left->stream < right->stream ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

/* Those of collectives, or all others. */
static void add_works(struct writer *writer, bool collective)
{
	const struct gt_pending *pending = writer->pending;
	const struct gt_pending_work **order =
		gt_allocate((pending->works.count + 1) * sizeof(struct gt_pending_work *));
	size_t count = 0;

	gt_array_each(const struct gt_pending_work, work, &pending->works)
		if (work->collective == collective)
			order[count++] = work;
	if (count > 0)
		qsort(order, count, sizeof(*order), by_place);
	for (size_t i = 0; i < count; i++)
		add_work(writer, order[i]);
	gt_array_free(order);
}

static void add_collectives(struct writer *writer)
{
	add_works(writer, true);
}

static void add_others(struct writer *writer)
{
	add_works(writer, false);
}

/* The operation of a row of works, and its stream; not known where there is none. */
static void add_behind(struct writer *writer, size_t row)
{
	if (row < writer->pending->works.count)
		add_operation(writer, &writer->pending->works.rows[row]);
	else
		gt_result_add_unknown(writer->result);
}

static void add_event(struct writer *writer, gt_id event)
{
	const bool known = event < writer->trace->events.count;

	gt_result_add_count_if(writer->result, known && writer->trace->events.rows[event].number,
	                       known ? writer->trace->events.rows[event].number : 0);
}

static void add_wait(struct writer *writer, const struct gt_pending_wait *wait)
{
	const struct gt_trace *trace = writer->trace;
	const struct gt_pending *pending = writer->pending;
	const struct gt_sync *sync = &trace->syncs.rows[wait->sync];
	const gt_id process = gt_trace_stream_process(trace, wait->stream);
	const gt_id recorded_on = sync->record < trace->syncs.count
	                                  ? trace->syncs.rows[sync->record].stream
	                                  : GT_NONE;

	add_age(writer, process, sync->start_ns);
	add_pid(writer, process);
	add_stream(writer, wait->stream);
	gt_result_add_text(writer->result, gt_sync_kind_name(sync->kind));
	gt_result_add_text(writer->result, wait->certain ? "waits" : "may wait");
	add_event(writer, sync->event);
	add_stream(writer, recorded_on);
	add_pid(writer, gt_trace_stream_process(trace, recorded_on));
	add_behind(writer, wait->behind);
	add_behind(writer, wait->held_by);
	add_stream(writer, wait->held_by < pending->works.count
	                           ? pending->works.rows[wait->held_by].stream
	                           : GT_NONE);
}

static void add_waits(struct writer *writer)
{
	gt_array_each(const struct gt_pending_wait, wait, &writer->pending->waits)
		if (gt_trace_stream_process(writer->trace, wait->stream) <
		    writer->trace->processes.count)
			add_wait(writer, wait);
}

static void add_thread(struct writer *writer, const struct gt_pending_thread *inside)
{
	const struct gt_trace *trace = writer->trace;
	const gt_id process = trace->threads.rows[inside->thread].process;
	const struct gt_sync *sync =
		inside->sync < trace->syncs.count ? &trace->syncs.rows[inside->sync] : NULL;

	add_age(writer, process, inside->since_ns);
	add_rank(writer, process);
	add_pid(writer, process);
	gt_add_thread(writer->result, trace, inside->thread);
	if (inside->api_call < trace->api_calls.count)
		gt_add_string(writer->result, trace,
		              trace->api_calls.rows[inside->api_call].function);
	else
		gt_result_add_unknown(writer->result);
	if (sync)
		gt_result_add_text(writer->result, gt_sync_kind_name(sync->kind));
	else
		gt_result_add_unknown(writer->result);
	add_stream(writer, sync ? gt_sync_stream(trace, sync) : GT_NONE);
	add_event(writer, sync ? sync->event : GT_NONE);
	gt_add_range(writer->result, &writer->ranges,
	             inside->api_call < trace->api_calls.count
	                     ? gt_owner_of_call(trace, inside->api_call).range
	                     : GT_NONE);
}

static void add_threads(struct writer *writer)
{
	gt_array_each(const struct gt_pending_thread, inside, &writer->pending->threads)
		if (writer->trace->threads.rows[inside->thread].process <
		    writer->trace->processes.count)
			add_thread(writer, inside);
}

static void add_streams(struct writer *writer)
{
	const struct gt_pending *pending = writer->pending;

	for (gt_id stream = 0; stream < writer->trace->streams.count; stream++) {
		const struct gt_pending_stream *row = &pending->streams[stream];
		const gt_id process = gt_trace_stream_process(writer->trace, stream);

		if (process >= writer->trace->processes.count ||
		    (row->pending == 0 && row->last.table == GT_TABLE_NONE))
			continue;
		add_pid(writer, process);
		add_stream(writer, stream);
		add_device_of(writer, stream);
		gt_result_add_count(writer->result, row->pending);
		add_step(writer, row->last);
		add_age(writer, process, row->last_end_ns);
	}
}

static void add_processes(struct writer *writer)
{
	const struct gt_trace *trace = writer->trace;
	int64_t *works = gt_allocate_zeroed(trace->processes.count, sizeof(*works));

	gt_array_each(const struct gt_pending_work, work, &writer->pending->works)
		works[work->process]++;
	for (gt_id i = 0; i < trace->processes.count; i++) {
		const struct gt_process *process = &trace->processes.rows[i];
		const gt_time silent_ns = writer->pending->now_ns - process->end_ns;

		add_rank(writer, i);
		add_pid(writer, i);
		gt_add_string(writer->result, trace, process->name);
		gt_add_string(writer->result, trace, process->host);
		gt_result_add_text(writer->result, gt_end_name(process->ended));
		gt_result_add_count(writer->result, works[i]);
		gt_result_add_count_if(writer->result, is_running(trace, i) && process->end_ns > 0,
		                       silent_ns > 0 ? silent_ns : 0);
	}
	gt_array_free(works);
}

/* One table, of all recordings one behind the other. */
struct table {
	const char *title;
	const struct gt_heading *headings;
	size_t heading_count;
	void (*add)(struct writer *writer);
	void (*add_more)(struct writer *writer); /* behind those of all; NULL: nothing */
};

static const struct table tables[] = {
	{"work", work_headings, GT_COUNT_OF(work_headings), add_collectives, add_others},
	{"stream_waits", wait_headings, GT_COUNT_OF(wait_headings), add_waits, NULL},
	{"threads", thread_headings, GT_COUNT_OF(thread_headings), add_threads, NULL},
	{"streams", stream_headings, GT_COUNT_OF(stream_headings), add_streams, NULL},
	{"processes", process_headings, GT_COUNT_OF(process_headings), add_processes, NULL},
};

void gt_pending_add_tables(struct gt_result *result, const struct gt_pending *pendings,
                           size_t count)
{
	struct writer *writers = gt_allocate((count + 1) * sizeof(*writers));

	for (size_t i = 0; i < count; i++) {
		writers[i] = (struct writer){result, &pendings[i], pendings[i].trace, {0}};
		gt_ranges_init(&writers[i].ranges, pendings[i].trace);
	}
	for (size_t t = 0; t < GT_COUNT_OF(tables); t++) {
		gt_result_begin(result, tables[t].title, tables[t].headings,
		                tables[t].heading_count);
		for (size_t i = 0; i < count; i++)
			tables[t].add(&writers[i]);
		for (size_t i = 0; i < count && tables[t].add_more; i++)
			tables[t].add_more(&writers[i]);
	}
	for (size_t i = 0; i < count; i++)
		gt_ranges_release(&writers[i].ranges);
	gt_array_free(writers);
}
