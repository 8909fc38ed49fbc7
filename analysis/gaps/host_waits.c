/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gaps/host_waits.h"

#include <string.h>

#include "analysis/gaps/idle.h"
#include "analysis/gaps/wait_facts.h"
#include "analysis/time/covered.h"
#include "analysis/time/host_calls.h"
#include "model/index.h"
#include "model/names.h"
#include "model/path/stream_order.h"
#include "model/whole.h"
#include "model/work/sync.h"
#include "model/work/timed.h"

enum { MOST_ROWS = 64 }; /* of syncs that are looked at after a wait */

/* All that is looked up for each wait. */
struct finder {
	struct gt_wait_facts facts;
	struct gt_covered_device *devices;
	bool **charged;          /* by device and stretch: the gap behind it has been charged */
	struct gt_index *waited; /* what a thread has waited for */
	struct gt_index *subjects;
	gt_array(gt_time) latest_ns; /* by subject: when the latest wait for it returned */
	uint64_t small_bytes;
};

/* ---- one wait ---- */

static gt_id device_of_edge(const struct gt_trace *trace, const struct gt_edge *edge)
{
	switch (edge->from_table) {
	case GT_TABLE_kernels:
		return trace->kernels.rows[edge->from_row].device;
	case GT_TABLE_copies:
		return trace->copies.rows[edge->from_row].device;
	case GT_TABLE_fills:
		return trace->fills.rows[edge->from_row].device;
	default:
		return trace->graph_traces.rows[edge->from_row].device;
	}
}

static gt_id stream_of_edge(const struct gt_trace *trace, const struct gt_edge *edge)
{
	switch (edge->from_table) {
	case GT_TABLE_kernels:
		return trace->kernels.rows[edge->from_row].stream;
	case GT_TABLE_copies:
		return trace->copies.rows[edge->from_row].stream;
	case GT_TABLE_fills:
		return trace->fills.rows[edge->from_row].stream;
	default:
		return trace->graph_traces.rows[edge->from_row].stream;
	}
}

static gt_id device_of(const struct finder *finder, const struct gt_sync *sync,
                       const struct gt_edge *edge)
{
	const struct gt_trace *trace = finder->facts.trace;
	const gt_id device = edge ? device_of_edge(trace, edge) : GT_NONE;

	if (device < trace->devices.count)
		return device;
	return sync->context < trace->contexts.count ? trace->contexts.rows[sync->context].device
	                                             : GT_NONE;
}

static bool is_plain(gt_count kind)
{
	return kind == GT_SYNC_STREAM_SYNCHRONIZE || kind == GT_SYNC_CONTEXT_SYNCHRONIZE ||
	       kind == GT_SYNC_EVENT_SYNCHRONIZE;
}

/* Whether a stream had been given anything before a moment. */
static bool was_given(const struct finder *finder, gt_id stream, gt_time before_ns)
{
	return stream >= finder->facts.trace->streams.count ||
	       gt_stream_order_from(&finder->facts.order, stream, before_ns) > 0;
}

/* Whether what a wait is about had been given anything before; true where that is not known. */
static bool was_given_any(const struct finder *finder, const struct gt_sync *sync)
{
	const struct gt_trace *trace = finder->facts.trace;

	switch (sync->kind) {
	case GT_SYNC_STREAM_SYNCHRONIZE:
		return was_given(finder, sync->stream, sync->start_ns);
	case GT_SYNC_EVENT_SYNCHRONIZE:
		return sync->record >= trace->syncs.count ||
		       was_given(finder, trace->syncs.rows[sync->record].stream,
		                 trace->syncs.rows[sync->record].start_ns);
	case GT_SYNC_CONTEXT_SYNCHRONIZE:
		return sync->context >= trace->contexts.count ||
		       finder->facts.given_ns[sync->context] < sync->start_ns;
	default:
		return true;
	}
}

/*
 * A long wait although all recorded work was done is for something else: a function of the host, a
 * value, another process.
 */
static enum gt_wait_outcome outcome_of(const struct finder *finder, const struct gt_host_wait *wait)
{
	const struct gt_sync *sync = &finder->facts.trace->syncs.rows[wait->sync];
	const struct gt_edge *edge = gt_wait_edge(&finder->facts, wait->sync);
	const bool at_once = wait->blocked_ns < GT_GAP_SHORT_NS;

	if (sync->result != 0)
		return GT_WAIT_UNKNOWN;
	if (edge && gt_wait_step_end(finder->facts.trace, edge->from_table, edge->from_row) >
	                    sync->start_ns)
		return GT_WAIT_BLOCKED;
	if (edge)
		return at_once ? GT_WAIT_DONE : GT_WAIT_UNKNOWN;
	if (at_once && !was_given_any(finder, sync))
		return GT_WAIT_NOTHING;
	return GT_WAIT_UNKNOWN;
}

/* Nobody knows what a GPU would have done until then. */
static bool is_unmeasured_until(const struct gt_covered_device *device, gt_time time_ns)
{
	return gt_covered_within(&device->unmeasured, (struct gt_interval){time_ns - 1, time_ns}) >
	       0;
}

/*
 * Whether the GPU ran dry in the wait, and nobody had asked for more when the host came back. A gap
 * is charged once, to the first wait that made it: a wait of another thread around it may have
 * begun earlier and be charged with a later gap. Unmeasured time ends a gap, and begins none.
 */
static void charge_gap(struct finder *finder, struct gt_host_wait *wait)
{
	const struct gt_sync *sync = &finder->facts.trace->syncs.rows[wait->sync];
	const struct gt_covered *all = &finder->devices[wait->device].all;
	const size_t begun = gt_covered_begun(all, sync->end_ns);
	const struct gt_covered_stretch *last;
	const struct gt_covered_stretch *next;

	if (begun == 0 || begun >= all->stretches.count || finder->charged[wait->device][begun])
		return;
	last = &all->stretches.rows[begun - 1];
	next = &all->stretches.rows[begun];
	if (last->end_ns > sync->end_ns + finder->facts.bound_ns ||
	    last->end_ns <= sync->start_ns || next->asked_ns < sync->end_ns ||
	    is_unmeasured_until(&finder->devices[wait->device], last->end_ns))
		return;
	finder->charged[wait->device][begun] = true;
	wait->emptied = true;
	wait->gap_ns = next->start_ns - last->end_ns;
}

static void see_gpu(struct finder *finder, struct gt_host_wait *wait)
{
	const struct gt_sync *sync = &finder->facts.trace->syncs.rows[wait->sync];
	const struct gt_interval inside = {sync->start_ns, sync->end_ns};
	const struct gt_covered_device *device;
	int64_t unmeasured_ns;
	int64_t kernels_ns;
	int64_t all_ns;

	if (wait->device >= finder->facts.trace->devices.count)
		return;
	device = &finder->devices[wait->device];
	unmeasured_ns = (int64_t)gt_covered_within(&device->unmeasured, inside);
	kernels_ns = (int64_t)gt_covered_within(&device->kernels, inside);
	all_ns = (int64_t)gt_covered_within(&device->all, inside);
	wait->busy_ns = kernels_ns - unmeasured_ns;
	wait->copying_ns = all_ns - kernels_ns;
	wait->idle_ns = wait->blocked_ns - all_ns;
	charge_gap(finder, wait);
}

/* ---- what could be left out ---- */

/* Work that a thread waited for. */
struct awaited {
	gt_id thread;
	gt_count table;
	gt_id row;
};

/* Whether the thread had waited for the same thing before. */
static bool has_waited_for(struct finder *finder, gt_id thread, const struct gt_edge *edge)
{
	const struct awaited awaited = {thread, edge->from_table, edge->from_row};
	const size_t known = gt_index_count(finder->waited);

	return gt_index_add(finder->waited, &awaited) < known;
}

/* Subject of waits of one thread: waits for different streams are told apart. */
struct subject {
	gt_id thread;
	gt_count kind;
	gt_id context;
	gt_id stream;
};

/* When the thread's wait for the same thing before this one returned; 0: it is the first. */
static gt_time latest_wait(struct finder *finder, const struct gt_sync *sync)
{
	const struct subject subject = {
		.thread = sync->thread,
		.kind = sync->kind,
		.context = sync->context,
		.stream = gt_sync_stream(finder->facts.trace, sync),
	};
	const size_t number = gt_index_add(finder->subjects, &subject);
	gt_time latest_ns;

	if (number == finder->latest_ns.count)
		*gt_array_push(&finder->latest_ns) = 0;
	latest_ns = finder->latest_ns.rows[number];
	finder->latest_ns.rows[number] = sync->end_ns;
	return latest_ns;
}

static bool is_bookkeeping(const struct gt_trace *trace, const struct gt_api_call *call)
{
	const char *function = gt_trace_text(trace, call->function);

	return call->kind == GT_API_OTHER ||
	       (call->kind == GT_API_EVENT &&
	        (strstr(function, "EventRecord") || strstr(function, "EventCreate")));
}

/* The next call of the thread that is about work; GT_NONE: there is none, or it is not known. */
static gt_id next_call(const struct finder *finder, const struct gt_sync *sync)
{
	const struct gt_trace *trace = finder->facts.trace;
	const struct gt_interval rest = {sync->end_ns, sync->end_ns};
	size_t at;

	if (sync->thread >= trace->threads.count)
		return GT_NONE;
	at = gt_thread_calls_reaching(&finder->facts.calls, rest, sync->thread).end;
	for (; at < finder->facts.calls.first[sync->thread + 1]; at++)
		if (!is_bookkeeping(trace, &trace->api_calls.rows[finder->facts.calls.rows[at]]))
			return finder->facts.calls.rows[at];
	return GT_NONE;
}

/*
 * Whether the thread read the time between two events before it went on: the wait was for that. Of
 * what other threads did meanwhile no more than some rows are looked at.
 */
static bool was_to_measure(const struct gt_trace *trace, gt_id row, gt_time until_ns)
{
	const gt_id thread = trace->syncs.rows[row].thread;

	for (size_t i = row + 1; i < trace->syncs.count && i <= row + (size_t)MOST_ROWS; i++) {
		const struct gt_sync *sync = &trace->syncs.rows[i];

		if (sync->start_ns >= until_ns)
			return false;
		if (sync->thread == thread && sync->kind == GT_SYNC_EVENT_ELAPSED_TIME)
			return true;
	}
	return false;
}

/* The copy to the host that was waited for, where it is a small one of the thread's own. */
static const struct gt_copy *small_read(const struct finder *finder, const struct gt_sync *sync,
                                        const struct gt_edge *edge)
{
	const struct gt_trace *trace = finder->facts.trace;
	const struct gt_copy *copy;

	if (edge->from_table != GT_TABLE_copies)
		return NULL;
	copy = &trace->copies.rows[edge->from_row];
	if ((copy->kind != GT_COPY_DEVICE_TO_HOST && copy->kind != GT_COPY_ARRAY_TO_HOST) ||
	    copy->size_bytes > finder->small_bytes || copy->api_call >= trace->api_calls.count ||
	    trace->api_calls.rows[copy->api_call].thread != sync->thread)
		return NULL;
	return copy;
}

/* The copy from pageable memory that was waited for, where the thread had asked for it. */
static const struct gt_copy *pageable_copy(const struct finder *finder, const struct gt_sync *sync,
                                           const struct gt_edge *edge)
{
	const struct gt_trace *trace = finder->facts.trace;
	const struct gt_copy *copy;

	if (edge->from_table != GT_TABLE_copies)
		return NULL;
	copy = &trace->copies.rows[edge->from_row];
	return copy->src_kind == GT_MEMORY_PAGEABLE && gt_wait_is_of_devices(copy->dst_kind) &&
	                       copy->api_call < trace->api_calls.count &&
	                       trace->api_calls.rows[copy->api_call].thread == sync->thread
	               ? copy
	               : NULL;
}

/*
 * More work came next, and no copy between host and device was under way that the wait could have
 * been for: for its result, or to use the host's side of it again.
 */
static enum gt_wait_reason followed_by(struct finder *finder, struct gt_host_wait *wait,
                                       const struct gt_edge *edge, gt_time latest_ns)
{
	const struct gt_trace *trace = finder->facts.trace;
	const struct gt_sync *sync = &trace->syncs.rows[wait->sync];
	const gt_id next = next_call(finder, sync);
	const gt_id stream =
		next < trace->api_calls.count ? finder->facts.stream_of_call[next] : GT_NONE;

	if (stream >= trace->streams.count || finder->facts.has_managed ||
	    was_to_measure(trace, wait->sync, trace->api_calls.rows[next].start_ns) ||
	    gt_wait_copied_between(&finder->facts, trace->streams.rows[stream].context, latest_ns,
	                           sync->end_ns))
		return GT_WAIT_NEEDED;
	wait->next_call = next;
	wait->host_ns = trace->api_calls.rows[next].start_ns - sync->end_ns;
	return stream_of_edge(trace, edge) == stream ? GT_WAIT_SAME_STREAM : GT_WAIT_OTHER_STREAM;
}

static enum gt_wait_reason reason_of(struct finder *finder, struct gt_host_wait *wait)
{
	const struct gt_sync *sync = &finder->facts.trace->syncs.rows[wait->sync];
	const struct gt_edge *edge = gt_wait_edge(&finder->facts, wait->sync);
	const gt_time latest_ns = is_plain(sync->kind) ? latest_wait(finder, sync) : 0;
	const bool again = edge && has_waited_for(finder, sync->thread, edge);
	const struct gt_copy *read = edge ? small_read(finder, sync, edge) : NULL;
	const struct gt_copy *pageable = edge ? pageable_copy(finder, sync, edge) : NULL;

	if (sync->result != 0)
		return GT_WAIT_NEEDED;
	if (wait->outcome == GT_WAIT_NOTHING ||
	    (again && wait->outcome == GT_WAIT_DONE && is_plain(sync->kind)))
		return GT_WAIT_IDLE;
	if (wait->outcome != GT_WAIT_BLOCKED)
		return GT_WAIT_NEEDED;
	if (read) {
		wait->bytes = (int64_t)read->size_bytes;
		return GT_WAIT_SMALL_READ;
	}
	if (pageable) {
		wait->bytes = (int64_t)pageable->size_bytes;
		return GT_WAIT_PAGEABLE;
	}
	return is_plain(sync->kind) ? followed_by(finder, wait, edge, latest_ns) : GT_WAIT_NEEDED;
}

static void add_wait(struct finder *finder, struct gt_host_waits *waits, gt_id row)
{
	const struct gt_trace *trace = finder->facts.trace;
	const struct gt_sync *sync = &trace->syncs.rows[row];
	struct gt_host_wait *wait = gt_array_push(&waits->list);

	*wait = (struct gt_host_wait){
		.sync = row,
		.device = device_of(finder, sync, gt_wait_edge(&finder->facts, row)),
		.function = sync->api_call < trace->api_calls.count
	                            ? trace->api_calls.rows[sync->api_call].function
	                            : 0,
		.owner = gt_owner_of_call(trace, sync->api_call),
		.blocked_ns = sync->end_ns - sync->start_ns,
		.next_call = GT_NONE,
	};
	see_gpu(finder, wait);
	wait->outcome = outcome_of(finder, wait);
	wait->reason = reason_of(finder, wait);
}

static void finder_init(struct finder *finder, const struct gt_trace *trace, uint64_t small_bytes)
{
	*finder = (struct finder){
		.devices = gt_covered_devices(trace),
		.charged = gt_allocate(trace->devices.count * sizeof(*finder->charged)),
		.waited = gt_index_new(sizeof(struct awaited)),
		.subjects = gt_index_new(sizeof(struct subject)),
		.small_bytes = small_bytes,
	};
	for (size_t i = 0; i < trace->devices.count; i++) {
		const size_t size =
			finder->devices[i].all.stretches.count * sizeof(*finder->charged[i]);

		finder->charged[i] = gt_allocate_zeroed(size + 1, 1);
	}
	gt_wait_facts_init(&finder->facts, trace);
}

static void finder_release(struct finder *finder)
{
	const struct gt_trace *trace = finder->facts.trace;

	for (size_t i = 0; i < trace->devices.count; i++)
		gt_array_free(finder->charged[i]);
	gt_covered_devices_release(finder->devices, trace);
	gt_array_free(finder->charged);
	gt_index_free(finder->waited);
	gt_index_free(finder->subjects);
	gt_array_release(&finder->latest_ns);
	gt_wait_facts_release(&finder->facts);
}

void gt_host_waits_init(struct gt_host_waits *waits, const struct gt_view *view,
                        uint64_t small_bytes)
{
	const struct gt_trace *trace = gt_whole_of(view->trace);
	size_t shown = 0;
	struct finder finder;

	finder_init(&finder, trace, small_bytes);
	*waits = (struct gt_host_waits){
		.trace = trace,
		.has_calls = gt_trace_has_calls(trace),
		.has_managed = finder.facts.has_managed,
	};
	for (gt_id row = 0; row < trace->syncs.count; row++) {
		const struct gt_sync *sync = &trace->syncs.rows[row];

		if (gt_sync_waits_host(sync->kind) &&
		    gt_timed(GT_TIMES_ANY, sync->flags, sync->start_ns, sync->end_ns))
			add_wait(&finder, waits, row);
	}
	gt_array_each(const struct gt_host_wait, wait, &waits->list)
		if (gt_whole_shown(view->trace, GT_TABLE_syncs, wait->sync) != GT_NONE)
			waits->list.rows[shown++] = *wait;
	waits->list.count = shown;
	finder_release(&finder);
}

void gt_host_waits_release(struct gt_host_waits *waits)
{
	gt_array_release(&waits->list);
}
