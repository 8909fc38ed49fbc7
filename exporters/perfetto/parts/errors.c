/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "exporters/perfetto/results.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

/*
 * Calls that failed, as marks on a track of their own: among thousands of calls on the track of a
 * thread one of another colour is not seen.
 */

enum { NAME_SIZE = 256 };

/* "cudaErrorMemoryAllocation in cudaMalloc", from the left what tells it apart. */
static uint32_t name_of(struct gt_names *names, const struct gt_api_call *call)
{
	const char *result = gt_result_name(call->result, (call->flags & GT_DRIVER_API) != 0);
	const char *function = gt_names_text(names, gt_names_of(names, call->function));
	char name[NAME_SIZE];

	if (result)
		snprintf(name, sizeof(name), "%s in %s", result, function);
	else
		snprintf(name, sizeof(name), "error %d in %s", call->result, function);
	return gt_names_add(names, name);
}

static void put_error(struct gt_lanes *lanes, const struct gt_results *results,
                      const struct gt_api_call *call)
{
	struct gt_annotation annotations[GT_RESULT_ANNOTATIONS];
	const struct gt_slice mark = {
		.start_ns = call->start_ns,
		.end_ns = call->start_ns,
		.instant = true,
		.name = name_of(results->names, call),
		.annotations = annotations,
		.annotation_count = gt_results_annotate(results, call, annotations),
	};

	gt_lanes_put(lanes, &mark);
}

void gt_perfetto_write_errors(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct gt_lanes *lanes = gt_allocate(trace->processes.count * sizeof(*lanes));
	struct gt_results results;

	gt_results_init(&results, &perfetto->names);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_init(&lanes[i], perfetto, perfetto->ids.process_uuids[i], "error",
		              "CUDA errors");
	for (gt_id i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];

		if (gt_results_failed(call) && gt_ids_places_call(&perfetto->ids, i))
			put_error(&lanes[trace->threads.rows[call->thread].process], &results,
			          call);
	}
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_finish(&lanes[i]);
	gt_array_free(lanes);
}
