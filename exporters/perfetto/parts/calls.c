/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "exporters/perfetto/links.h"
#include "exporters/perfetto/syncs.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

struct calls {
	struct gt_perfetto *perfetto;
	struct gt_threads threads;
	struct gt_links launched;
	struct gt_links awaited;
	struct gt_links syncs;
	uint32_t code_name;
	uint32_t result_name;
	uint32_t function_name;
};

enum {
	NOT_READY = 600, /* what queries return while the GPU still works, no error */
	NAME_SIZE = 256,
	RESULT_ANNOTATIONS = 3,
};

static bool has_result(const struct gt_api_call *call)
{
	return call->result != 0 && !(call->flags & GT_UNFINISHED);
}

/* A call that failed has another name and so another colour. */
static uint32_t name_of(struct calls *calls, const struct gt_api_call *call)
{
	struct gt_names *names = &calls->perfetto->names;
	const uint32_t function = gt_names_of(names, call->function);
	char name[NAME_SIZE];

	if (!has_result(call) || call->result == NOT_READY)
		return function;
	snprintf(name, sizeof(name), "failed: %s", gt_names_text(names, function));
	return gt_names_add(names, name);
}

/*
 * Says what went wrong: "code" is the number, "result" the name where there is one; "function" is
 * what the name of the slice would have been.
 */
static size_t annotate_result(struct calls *calls, const struct gt_api_call *call,
                              struct gt_annotation *annotations)
{
	struct gt_names *names = &calls->perfetto->names;
	const char *name;

	if (!has_result(call))
		return 0;
	name = gt_result_name(call->result, (call->flags & GT_DRIVER_API) != 0);
	annotations[0] = (struct gt_annotation){
		.type = GT_VALUE_NUMBER, .name = calls->code_name, .number = call->result};
	annotations[1] = (struct gt_annotation){.type = GT_VALUE_TEXT,
	                                        .name = calls->function_name,
	                                        .number = gt_names_of(names, call->function)};
	if (!name)
		return 2;
	annotations[2] = (struct gt_annotation){.type = GT_VALUE_TEXT,
	                                        .name = calls->result_name,
	                                        .number = gt_names_add(names, name)};
	return RESULT_ANNOTATIONS;
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

static void put_call(struct calls *calls, size_t row)
{
	const struct gt_api_call *call = &calls->perfetto->trace->api_calls.rows[row];
	struct gt_annotation annotations[RESULT_ANNOTATIONS + GT_SYNC_ANNOTATIONS];
	struct gt_slice slice = {
		.start_ns = call->start_ns,
		.end_ns = call->flags & GT_UNFINISHED ? INT64_MAX : call->end_ns,
		.name = name_of(calls, call),
		.nested = (call->flags & GT_NESTED) != 0,
		.annotations = annotations,
		.launched = gt_links_of(&calls->launched, row),
		.awaited = gt_links_of(&calls->awaited, row),
	};

	slice.annotation_count = annotate_result(calls, call, annotations);
	slice.annotation_count += annotate_sync(calls, row, annotations + slice.annotation_count);
	gt_track_put(gt_threads_get(&calls->threads, call->thread), &slice);
	calls->perfetto->counts.api_slices++;
}

void gt_perfetto_write_calls(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct calls calls = {
		.perfetto = perfetto,
		.code_name = gt_names_add(&perfetto->names, "code"),
		.result_name = gt_names_add(&perfetto->names, "result"),
		.function_name = gt_names_add(&perfetto->names, "function"),
	};

	gt_threads_init(&calls.threads, perfetto, "api", NULL);
	gt_links_launched(&calls.launched, &perfetto->ids);
	gt_links_host_waits(&calls.awaited, &perfetto->ids);
	gt_links_syncs(&calls.syncs, &perfetto->ids);
	for (size_t i = 0; i < trace->api_calls.count; i++)
		if (gt_ids_has_call(&perfetto->ids, (gt_id)i))
			put_call(&calls, i);
		else
			gt_perfetto_skip(perfetto);
	gt_threads_finish(&calls.threads);
	gt_links_release(&calls.launched);
	gt_links_release(&calls.awaited);
	gt_links_release(&calls.syncs);
}
