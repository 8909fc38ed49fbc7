/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "exporters/perfetto/annotations.h"
#include "exporters/perfetto/links.h"
#include "exporters/perfetto/range_slices.h"
#include "exporters/perfetto/results.h"
#include "exporters/perfetto/syncs.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"
#include "model/ranges/nesting.h"
#include "model/work/timed.h"

/* API calls on their threads, in the NVTX ranges that they were made in. */
struct calls {
	struct gt_perfetto *perfetto;
	bool *nest; /* by row of ranges: it is shown here */
	struct gt_threads threads;
	struct gt_links launched;
	struct gt_links awaited;
	struct gt_links syncs;
	struct gt_links memory;
	struct gt_results results;
};

enum {
	NAME_SIZE = 256,
	PROFILED_ANNOTATIONS = 1,
	MEMORY_CALL_ANNOTATIONS = 4,
	MEMORY_CALLS_WITH_ADDRESS = 100000, /* Perfetto keeps these apart for each slice */
};

/* A call that failed, or was held up to be profiled, has another name and so another colour. */
static uint32_t name_of(struct calls *calls, const struct gt_api_call *call)
{
	struct gt_names *names = &calls->perfetto->names;
	const uint32_t function = gt_names_of(names, call->function);
	char name[NAME_SIZE];

	if (!gt_results_failed(call) && !(call->flags & GT_PROFILED))
		return function;
	snprintf(name, sizeof(name), "%s: %s", gt_results_failed(call) ? "failed" : "profiled",
	         gt_names_text(names, function));
	return gt_names_add(names, name);
}

/* A call that waits for several things, such as a batch, is described by the first. */
static size_t annotate_sync(struct calls *calls, size_t row, struct gt_annotation *annotations)
{
	const struct gt_slices syncs = gt_links_of(&calls->syncs, row);

	if (syncs.count == 0)
		return 0;
	return gt_syncs_annotate(calls->perfetto,
	                         &calls->perfetto->trace->syncs.rows[syncs.numbers[0]],
	                         annotations);
}

/* A call that is about several pieces of memory is described by the first, as far as it is known. */
static size_t annotate_memory(struct calls *calls, size_t row, struct gt_annotation *annotations)
{
	const struct gt_slices memory = gt_links_of(&calls->memory, row);
	const struct gt_trace *trace = calls->perfetto->trace;
	struct gt_annotations list = {.names = &calls->perfetto->names, .rows = annotations};
	const struct gt_memory_call *call;

	if (memory.count == 0)
		return 0;
	call = &trace->memory_calls.rows[memory.numbers[0]];
	gt_annotations_add_text(&list, "memory", gt_memory_call_name(call->kind));
	if (call->size_bytes > 0)
		gt_annotations_add_size(&list, "bytes", call->size_bytes);
	if (trace->memory_calls.count <= MEMORY_CALLS_WITH_ADDRESS) {
		gt_annotations_add_address(&list, "address", call->address);
		gt_annotations_add_address(&list, "handle", call->handle);
	}
	return list.count;
}

/* A launch that was held up for its counters. */
static size_t annotate_profiled(struct calls *calls, const struct gt_api_call *call,
                                struct gt_annotation *annotations)
{
	struct gt_annotations list = {.names = &calls->perfetto->names, .rows = annotations};

	if (call->flags & GT_PROFILED)
		gt_annotations_add_number(&list, "profiled", 1);
	return list.count;
}

static void put_call(struct calls *calls, size_t row)
{
	const struct gt_api_call *call = &calls->perfetto->trace->api_calls.rows[row];
	struct gt_annotation annotations[GT_RESULT_ANNOTATIONS + GT_SYNC_ANNOTATIONS +
	                                 MEMORY_CALL_ANNOTATIONS + PROFILED_ANNOTATIONS];
	struct gt_slice slice = {
		.start_ns = call->start_ns,
		.end_ns = gt_known_end(call->flags, call->end_ns, INT64_MAX),
		.name = name_of(calls, call),
		.nested = (call->flags & GT_NESTED) != 0,
		.annotations = annotations,
		.launched = gt_links_of(&calls->launched, row),
		.awaited = gt_links_of(&calls->awaited, row),
	};

	slice.annotation_count = gt_results_annotate(&calls->results, call, annotations);
	slice.annotation_count += annotate_sync(calls, row, annotations + slice.annotation_count);
	slice.annotation_count += annotate_memory(calls, row, annotations + slice.annotation_count);
	slice.annotation_count +=
		annotate_profiled(calls, call, annotations + slice.annotation_count);
	gt_track_put(gt_threads_get(&calls->threads, call->thread), &slice);
	calls->perfetto->counts.api_slices++;
}

static void put_range(struct calls *calls, const struct gt_range *range)
{
	struct gt_annotation annotations[GT_RANGE_ANNOTATIONS];
	const struct gt_slice slice = gt_range_slice(calls->perfetto, range, annotations);

	gt_track_put(gt_threads_get(&calls->threads, range->thread), &slice);
	calls->perfetto->counts.range_slices++;
}

/* The ranges that began before the next call; a call begins in them. */
static size_t put_ranges(struct calls *calls, size_t next, gt_time before_ns)
{
	const struct gt_trace *trace = calls->perfetto->trace;

	for (; next < trace->ranges.count && trace->ranges.rows[next].start_ns <= before_ns; next++)
		if (calls->nest[next] &&
		    gt_ids_has_thread(&calls->perfetto->ids, trace->ranges.rows[next].thread) &&
		    gt_ids_time_is_sound(trace->ranges.rows[next].start_ns))
			put_range(calls, &trace->ranges.rows[next]);
	return next;
}

static void put_all(struct calls *calls)
{
	struct gt_perfetto *perfetto = calls->perfetto;
	const struct gt_trace *trace = perfetto->trace;
	size_t next = 0;

	for (size_t i = 0; i < trace->api_calls.count && !perfetto->ids.without_calls; i++) {
		if (!gt_ids_has_call(&perfetto->ids, (gt_id)i)) {
			gt_perfetto_skip(perfetto);
			continue;
		}
		next = put_ranges(calls, next, trace->api_calls.rows[i].start_ns);
		put_call(calls, i);
	}
	(void)put_ranges(calls, next, INT64_MAX);
}

void gt_perfetto_write_calls(struct gt_perfetto *perfetto)
{
	struct calls calls = {.perfetto = perfetto};

	calls.nest = gt_ranges_nest(perfetto->trace);
	gt_results_init(&calls.results, &perfetto->names);
	gt_threads_init(&calls.threads, perfetto, "api", NULL);
	gt_links_launched(&calls.launched, &perfetto->ids);
	gt_links_host_waits(&calls.awaited, &perfetto->ids);
	gt_links_syncs(&calls.syncs, &perfetto->ids);
	gt_links_memory(&calls.memory, &perfetto->ids);
	put_all(&calls);
	gt_threads_finish(&calls.threads);
	gt_links_release(&calls.launched);
	gt_links_release(&calls.awaited);
	gt_links_release(&calls.syncs);
	gt_links_release(&calls.memory);
	gt_array_free(calls.nest);
}
