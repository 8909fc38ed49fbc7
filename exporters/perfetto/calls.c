/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "exporters/perfetto/launched.h"
#include "exporters/perfetto/slices.h"
#include "exporters/perfetto/texts.h"
#include "exporters/perfetto/wire.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

enum { ANNOTATION_RESULT = 1, ANNOTATION_CODE };
static const char *const annotation_names[] = {"result", "code"};

/* The begin of a slice of one function, packed once. */
struct begin {
	uint8_t bytes[GT_SLICE_BEGIN_MAX];
	size_t size;
};

/* Calls of one thread. */
struct track {
	struct gt_sequence sequence;
	gt_array(gt_time) open_ends; /* of calls that have not ended yet; INT64_MAX: unfinished */
	gt_array(bool) known;        /* by number of the function: the sequence has its name */
	gt_array(uint32_t) results;  /* numbers of the results whose names the sequence has */
};

struct calls {
	struct gt_perfetto *perfetto;
	struct gt_launched launched;
	struct gt_texts functions;
	gt_array(struct begin) begins; /* by number of the function - 1 */
	struct track *tracks;          /* by row of threads */
	uint8_t *message;              /* the one being made */
	size_t message_size;
	uint32_t event_tag;
	uint32_t correlation_tag;
	uint32_t submission_tag;
};

static void calls_init(struct calls *calls, struct gt_perfetto *perfetto)
{
	const size_t threads = perfetto->trace->threads.count;

	*calls = (struct calls){
		.perfetto = perfetto,
		.tracks = gt_allocate(threads * sizeof(*calls->tracks)),
		.event_tag = gt_slices_tag(),
		.correlation_tag =
			gt_wire_tag(&perfetto__track_event__descriptor, "gpu_correlation"),
		.submission_tag = gt_wire_tag(&perfetto__gpu_correlation__descriptor,
	                                      "render_stage_submission_event_ids"),
	};
	for (size_t i = 0; i < threads; i++)
		calls->tracks[i] = (struct track){0};
	gt_texts_init(&calls->functions, perfetto->trace);
	gt_launched_init(&calls->launched, &perfetto->ids);
}

static void calls_release(struct calls *calls)
{
	for (size_t i = 0; i < calls->perfetto->trace->threads.count; i++) {
		gt_array_release(&calls->tracks[i].open_ends);
		gt_array_release(&calls->tracks[i].known);
		gt_array_release(&calls->tracks[i].results);
	}
	gt_array_free(calls->tracks);
	gt_array_release(&calls->begins);
	gt_array_free(calls->message);
	gt_texts_release(&calls->functions);
	gt_launched_release(&calls->launched);
}

/* Ends the calls that are over at time_ns, the inner ones first. */
static void end_calls(struct track *track, gt_time time_ns)
{
	while (track->open_ends.count > 0) {
		const gt_time end_ns = track->open_ends.rows[track->open_ends.count - 1];

		if (end_ns > time_ns)
			break;
		gt_slices_end(&track->sequence, end_ns);
		track->open_ends.count--;
	}
}

/* Makes room on the thread for a call that begins now. */
static void end_calls_before(struct track *track, const struct gt_api_call *call)
{
	if (!(call->flags & GT_NESTED)) {
		gt_array_each(gt_time, end_ns, &track->open_ends)
			if (*end_ns > call->start_ns)
				*end_ns = call->start_ns;
	}
	end_calls(track, call->start_ns);
}

/* A nested call is over when the one around it is. */
static void open_call(struct track *track, const struct gt_api_call *call)
{
	const size_t depth = track->open_ends.count;
	gt_time end_ns = call->end_ns > call->start_ns ? call->end_ns : call->start_ns + 1;

	if (call->flags & GT_UNFINISHED)
		end_ns = INT64_MAX;
	if (depth > 0 && end_ns > track->open_ends.rows[depth - 1])
		end_ns = track->open_ends.rows[depth - 1];
	*gt_array_push(&track->open_ends) = end_ns;
}

/* The packed begin of the call's slice; the track knows its name afterwards. */
static const struct begin *find_begin(struct calls *calls, struct track *track, gt_string function)
{
	const uint32_t iid = gt_texts_add(&calls->functions, function);

	if (iid > calls->begins.count) {
		struct begin *begin = gt_array_push(&calls->begins);

		begin->size = gt_slices_pack_begin(iid, NULL, begin->bytes);
	}
	while (track->known.count <= iid)
		*gt_array_push(&track->known) = false;
	if (!track->known.rows[iid]) {
		const char *name = gt_trace_text(calls->perfetto->trace, function);

		track->known.rows[iid] = true;
		gt_slices_intern_name(&track->sequence, iid, gt_name_or(name, "(no name)"));
	}
	return &calls->begins.rows[iid - 1];
}

static void intern_result(struct track *track, uint32_t iid, const char *name)
{
	gt_array_each(const uint32_t, known, &track->results)
		if (*known == iid)
			return;
	*gt_array_push(&track->results) = iid;
	gt_slices_intern_text(&track->sequence, iid, name);
}

/* Says what went wrong: "code" is the number, "result" the name where there is one. */
static uint8_t *put_result(struct track *track, const struct gt_api_call *call, uint8_t *at)
{
	const bool driver = (call->flags & GT_DRIVER_API) != 0;
	const char *name = gt_result_name(call->result, driver);
	const uint32_t iid = ((uint32_t)call->result << 1 | driver) + 1;
	Perfetto__DebugAnnotation code = PERFETTO__DEBUG_ANNOTATION__INIT;
	Perfetto__DebugAnnotation result = PERFETTO__DEBUG_ANNOTATION__INIT;
	Perfetto__DebugAnnotation *list[] = {&code, &result};
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	code.has_name_iid = code.has_int_value = 1;
	code.name_iid = ANNOTATION_CODE;
	code.int_value = call->result;
	result.has_name_iid = result.has_string_value_iid = 1;
	result.name_iid = ANNOTATION_RESULT;
	result.string_value_iid = iid;
	if (name)
		intern_result(track, iid, name);
	event.debug_annotations = list;
	event.n_debug_annotations = name ? 2 : 1;
	return at + perfetto__track_event__pack(&event, at);
}

/* Names everything that the call launched. */
static uint8_t *put_arrows(const struct calls *calls, size_t row, uint8_t *at)
{
	const uint32_t first = calls->launched.first[row];
	const uint32_t end = calls->launched.first[row + 1];
	size_t size = 0;

	if (first == end)
		return at;
	for (uint32_t i = first; i < end; i++)
		size += gt_varint_size(calls->submission_tag) +
		        gt_varint_size(gt_ids_event(calls->launched.activities[i]));
	at = gt_put_varint(gt_put_varint(at, calls->correlation_tag), size);
	for (uint32_t i = first; i < end; i++)
		at = gt_put_varint(gt_put_varint(at, calls->submission_tag),
		                   gt_ids_event(calls->launched.activities[i]));
	calls->perfetto->counts.arrows += end - first;
	return at;
}

/* Room for a begin, the annotations of its result, and arrows. */
static uint8_t *reserve_message(struct calls *calls, size_t row)
{
	const uint32_t arrows = calls->launched.first[row + 1] - calls->launched.first[row];
	const size_t arrow_size = 1 + GT_VARINT_MAX;
	const size_t size = (size_t)2 * GT_SLICE_BEGIN_MAX + arrows * arrow_size;

	if (size > calls->message_size) {
		gt_array_free(calls->message);
		calls->message = gt_allocate(size);
		calls->message_size = size;
	}
	return calls->message;
}

static void put_call(struct calls *calls, size_t row)
{
	const struct gt_trace *trace = calls->perfetto->trace;
	const struct gt_api_call *call = &trace->api_calls.rows[row];
	const struct gt_thread *thread = &trace->threads.rows[call->thread];
	struct track *track = &calls->tracks[call->thread];
	const struct begin *begin;
	uint8_t *at = reserve_message(calls, row);

	if (track->sequence.id == 0)
		gt_slices_start(calls->perfetto, &track->sequence,
		                gt_ids_thread_uuid(&calls->perfetto->ids, thread), "api",
		                annotation_names, 2);
	end_calls_before(track, call);
	begin = find_begin(calls, track, call->function);
	at = gt_put_bytes(at, begin->bytes, begin->size);
	if (call->result != 0 && !(call->flags & GT_UNFINISHED))
		at = put_result(track, call, at);
	at = put_arrows(calls, row, at);
	gt_sequence_put(&track->sequence, call->start_ns, calls->event_tag, calls->message,
	                (size_t)(at - calls->message));
	open_call(track, call);
	calls->perfetto->counts.api_slices++;
}

void gt_perfetto_write_calls(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct calls calls;

	calls_init(&calls, perfetto);
	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];

		if (gt_ids_time_is_sound(call->start_ns) && call->thread < trace->threads.count &&
		    trace->threads.rows[call->thread].process < trace->processes.count)
			put_call(&calls, i);
		else
			gt_perfetto_skip(perfetto);
	}
	for (size_t i = 0; i < trace->threads.count; i++)
		end_calls(&calls.tracks[i], INT64_MAX - 1); /* unfinished ones stay open */
	calls_release(&calls);
}
