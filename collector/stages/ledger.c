/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "base/sums.h"
#include "collector/missing.h"
#include "collector/stage.h"
#include "model/ledger.h"
#include "model/work/timed.h"

/*
 * The fate of every launch: launches = launches_timed + launches_unfinished + launches_captured +
 * launches_missing, exactly, for each process; and the process's own counters beside it.
 */

/* Facts about one API call's kernels; bits. */
enum { HAS_TIMED = 1, HAS_UNFINISHED = 2 };

struct tally {
	uint64_t launches;
	uint64_t timed;
	uint64_t unfinished;
	uint64_t without_kernel; /* of the launches, all that nothing is known of */
	uint64_t made_node;      /* of these, by what their records say */
	uint64_t in_capture;     /* of these, by the calls of their threads */
	bool tells_nodes;        /* there are calls that say that they made one */
	uint64_t failed;
	uint64_t graph_launches;
	uint64_t kernels;
	uint64_t kernels_unfinished;
	uint64_t kernels_without_call;
	uint64_t copies_untimed;
	uint64_t fills_untimed;
};

/* Kernels on no stream, as damaged records name none, are of no process: one tally more. */
static void count_kernels(const struct gt_trace *trace, uint8_t *known, struct tally *tallies)
{
	const size_t count = trace->processes.count;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const gt_id stream_process = gt_trace_stream_process(trace, kernel->stream);
		const size_t process = stream_process < count ? stream_process : count;
		const bool unfinished =
			!gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns);

		tallies[process].kernels++;
		tallies[process].kernels_unfinished += unfinished;
		if (kernel->api_call == GT_NONE)
			tallies[process].kernels_without_call++;
		else
			known[kernel->api_call] |= unfinished ? HAS_UNFINISHED : HAS_TIMED;
	}
}

/*
 * A launch into a stream that is being captured runs nothing: it makes a node of a graph, and its
 * record says so. A process none of whose calls says that was recorded before they did, or with a
 * CUPTI that does not tell. There the calls that begin and end a capture say something: between
 * them on the same thread a launch without a kernel is one.
 */
static void follow_capture(const struct gt_trace *trace, const struct gt_api_call *call,
                           uint32_t *depth)
{
	const char *name = gt_trace_text(trace, call->function);

	if (call->kind != GT_API_GRAPH || call->result != 0)
		return;
	if (strstr(name, "StreamBeginCapture"))
		depth[call->thread]++;
	else if (strstr(name, "StreamEndCapture") && depth[call->thread])
		depth[call->thread]--;
}

static void count_launch(struct tally *tally, const struct gt_api_call *call, uint8_t known,
                         bool capturing)
{
	if (call->result != 0) {
		tally->failed++;
		return;
	}
	tally->launches++;
	if (known & HAS_TIMED)
		tally->timed++;
	else if (known & HAS_UNFINISHED || call->flags & GT_UNFINISHED)
		tally->unfinished++;
	else {
		tally->without_kernel++;
		tally->made_node += (call->flags & GT_GRAPH_NODE) != 0;
		tally->in_capture += capturing;
	}
}

static void count_calls(const struct gt_trace *trace, const uint8_t *known, struct tally *tallies)
{
	uint32_t *depth = calloc(trace->threads.count + 1, sizeof(*depth));

	if (!depth)
		abort();
	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];
		struct tally *tally = &tallies[trace->threads.rows[call->thread].process];

		if (call->flags & GT_NESTED)
			continue;
		tally->tells_nodes |= (call->flags & GT_GRAPH_NODE) != 0;
		follow_capture(trace, call, depth);
		if (call->kind == GT_API_LAUNCH)
			count_launch(tally, call, known[i], depth[call->thread] > 0);
		else if (call->kind == GT_API_GRAPH_LAUNCH && call->result == 0)
			tally->graph_launches++;
	}
	free(depth);
}

static bool is_damaged(const struct gt_capture *capture)
{
	return capture->bytes_damaged || capture->chunks_damaged || capture->chunks_left_out;
}

/* Each launch is of one class: counted by the calls that were read. */
static void add_launches(struct gt_trace *trace, gt_id process, const struct tally *tally)
{
	const uint64_t captured = tally->tells_nodes ? tally->made_node : tally->in_capture;

	gt_trace_add_ledger(trace, process, "launches", tally->launches);
	gt_trace_add_ledger(trace, process, "launches_timed", tally->timed);
	gt_trace_add_ledger(trace, process, "launches_unfinished", tally->unfinished);
	gt_trace_add_ledger(trace, process, "launches_captured", captured);
	gt_trace_add_ledger(trace, process, "launches_missing", tally->without_kernel - captured);
}

/*
 * That there is no launch means that there was none only where all of the file could be read, and
 * where no kernel lacks its call: kernels that ran were launched.
 */
static bool lost_launches(const struct gt_capture *capture, const struct tally *tally)
{
	const bool torn = !capture->clean && !capture->died && !capture->running;

	/* Those of kernels that go on may have been taken out, as was asked. */
	if (tally->launches > 0 || capture->gone_until > 0)
		return false;
	return torn || is_damaged(capture) ||
	       (tally->kernels_without_call > 0 && tally->graph_launches == 0);
}

static void add_calls(struct gt_trace *trace, const struct gt_capture *capture,
                      const struct tally *tally)
{
	const gt_id process = capture->process;
	const bool known = capture->api_known;
	/* A file that has lost the words that say whether calls were recorded may have some. */
	const bool recorded = known ? capture->api_recorded : tally->launches > 0;

	if (recorded && !lost_launches(capture, tally))
		add_launches(trace, process, tally);
	else if ((recorded || !known) && !capture->unread)
		gt_trace_add_ledger(trace, process, "launches_unknown", 1);
	if (!recorded)
		return;
	/* Not all files of other profilers say whether calls failed. */
	if (tally->failed || !capture->imported)
		gt_trace_add_ledger(trace, process, "launches_refused", tally->failed);
	gt_trace_add_ledger(trace, process, "graph_launches", tally->graph_launches);
	gt_trace_add_ledger(trace, process, "kernels_without_call", tally->kernels_without_call);
}

/* How many of the copies, or of the fills, of each process have no times. */
#define COUNT_UNTIMED(table, member)                                                               \
	gt_array_each(const struct gt_##member, member, &trace->table) {                           \
		const gt_id process = gt_trace_stream_process(trace, member->stream);              \
                                                                                                   \
		tallies[process < count ? process : count].table##_untimed +=                      \
			!gt_timed(GT_TIMES_ANY, member->flags, member->start_ns, member->end_ns);  \
	}

static void count_other_work(const struct gt_trace *trace, struct tally *tallies)
{
	const size_t count = trace->processes.count;

	COUNT_UNTIMED(copies, copy)
	COUNT_UNTIMED(fills, fill)
}

static void add_damage(struct gt_trace *trace, const struct gt_capture *capture)
{
	const gt_id process = capture->process;

	if (capture->chunks_left_out)
		gt_trace_add_ledger(trace, process, "chunks_left_out", capture->chunks_left_out);
	if (capture->chunks_damaged)
		gt_trace_add_ledger(trace, process, "chunks_damaged", capture->chunks_damaged);
	if (capture->bytes_damaged)
		gt_trace_add_ledger(trace, process, "bytes_damaged", capture->bytes_damaged);
}

/* A process that recorded to its end, or was salvaged, has counted something. */
static bool lacks_ledger(const struct gt_capture *capture)
{
	const bool ended = (capture->clean && !capture->imported) || capture->died;
	const bool told = capture->written[GT_RECORD_written].read > 0;

	if (capture->raw_ledger.count == 0)
		return ended || is_damaged(capture);
	return capture->counts_written && !told && ended;
}

/* Whether its counts of written records are numbers that a process can have counted. */
static bool counts_sensibly(const struct gt_capture *capture)
{
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (capture->written[kind].told > GT_MOST_COUNTED)
			return false;
	return true;
}

/*
 * The process's own counts. A class whose name was in a chunk that is lost is known to nobody, one
 * that only a later gputrace knows says nothing here, and a number that no process can have counted
 * is none.
 */
static void add_own(struct gt_collection *collection, const struct gt_capture *capture)
{
	struct gt_trace *trace = collection->trace;
	uint64_t unreadable = 0;
	uint64_t newer = 0;

	gt_array_each(const struct gt_record_ledger, row, &capture->raw_ledger) {
		const gt_string name = gt_capture_string(capture, row->name);
		const char *text = gt_trace_text(trace, name);

		if (!*text || row->value > GT_MOST_COUNTED)
			unreadable++;
		else if (!gt_ledger_class_find(text))
			newer++;
		else
			gt_trace_add_ledger(trace, capture->process, text, row->value);
	}
	if (newer)
		gt_collection_note(collection, capture->process, "ledger",
		                   "%s counts %llu things that only a later gputrace knows",
		                   capture->name, (unsigned long long)newer);
	if (unreadable || lacks_ledger(capture) || !counts_sensibly(capture))
		gt_trace_add_ledger(trace, capture->process, "ledgers_unknown", 1);
}

static void add_rows(struct gt_collection *collection, const struct gt_capture *capture,
                     const struct tally *tally)
{
	struct gt_trace *trace = collection->trace;

	/* A look at processes that run reads a part of their work and calls. */
	if (collection->live) {
		add_damage(trace, capture);
		add_own(collection, capture);
		return;
	}
	add_calls(trace, capture, tally);
	add_damage(trace, capture);
	gt_trace_add_ledger(trace, capture->process, "kernels", tally->kernels);
	gt_trace_add_ledger(trace, capture->process, "kernels_unfinished",
	                    tally->kernels_unfinished);
	if (tally->copies_untimed)
		gt_trace_add_ledger(trace, capture->process, "copies_unfinished",
		                    tally->copies_untimed);
	if (tally->fills_untimed)
		gt_trace_add_ledger(trace, capture->process, "fills_unfinished",
		                    tally->fills_untimed);
	add_own(collection, capture);
	gt_missing_add(collection, capture);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	uint8_t *known = calloc(trace->api_calls.count + 1, sizeof(*known));
	struct tally *tallies = calloc(trace->processes.count + 1, sizeof(*tallies));

	(void)err;
	if (!known || !tallies)
		abort();
	count_kernels(trace, known, tallies);
	count_calls(trace, known, tallies);
	count_other_work(trace, tallies);
	gt_array_each(const struct gt_capture, capture, &collection->captures)
		add_rows(collection, capture, &tallies[capture->process]);
	free(known);
	free(tallies);
	return 0;
}

const struct gt_stage gt_stage_ledger = {.name = "ledger", .run = run};
