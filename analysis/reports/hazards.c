/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/hazards/hazards.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/index.h"
#include "model/names.h"
#include "model/naming/labels.h"
#include "model/naming/shape_names.h"
#include "model/ranges/folds.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading hazard_headings[] = {
	{"kind", GT_UNIT_TEXT, "The two uses that are in no order", GT_WORTH_NAME},
	{"times", GT_UNIT_COUNT, "Pairs of such uses", GT_WORTH_KEY},
	{"overlapped", GT_UNIT_COUNT,
         "Those that ran at the same time, or used memory after the call that freed it",
         GT_WORTH_KEY, true},
	{"earlier", GT_UNIT_TEXT, "Use that the host asked for first, with its stream",
         GT_WORTH_NAME},
	{"later", GT_UNIT_TEXT, "The other one, with its stream", GT_WORTH_NAME},
	{"order_by", GT_UNIT_TEXT, "The call that would put them in order"},
	{"earlier_stream", GT_UNIT_TEXT, "Stream that the earlier one was given to", GT_WORTH_DATA},
	{"later_stream", GT_UNIT_TEXT, "Stream that the later one was given to", GT_WORTH_DATA},
	{"bytes", GT_UNIT_BYTES, "That both use, in the pair with most", GT_WORTH_LITTLE},
	{"address", GT_UNIT_TEXT, "Address of the first byte that both use, in the first pair",
         GT_WORTH_DATA},
	{"earlier_node", GT_UNIT_COUNT,
         "The earlier made of two nodes of one launch: its number in the program's graph",
         GT_WORTH_DATA},
	{"later_node", GT_UNIT_COUNT, "The other one", GT_WORTH_DATA},
	{"earlier_range", GT_UNIT_TEXT, "NVTX range that it was asked for in",
         GT_WORTH_LESSER_NAME},
	{"later_range", GT_UNIT_TEXT, "NVTX range that the other one was asked for in",
         GT_WORTH_LESSER_NAME},
	{"earlier_call", GT_UNIT_TEXT, "API call that asked for it", GT_WORTH_DATA},
	{"later_call", GT_UNIT_TEXT, "API call that asked for the other one", GT_WORTH_DATA},
	{"earlier_thread", GT_UNIT_TEXT, "Thread that asked for it, in the first pair",
         GT_WORTH_DATA},
	{"later_thread", GT_UNIT_TEXT, "Thread that asked for the other one, in the first pair",
         GT_WORTH_DATA},
	{"earlier_at_ns", GT_UNIT_TIME, "When it was asked for, in the first pair", GT_WORTH_DATA},
	{"later_at_ns", GT_UNIT_TIME, "When the other one was asked for, in the first pair",
         GT_WORTH_DATA},
};

static const struct gt_heading cover_headings[] = {
	{"work", GT_UNIT_TEXT, "Kind of work that uses memory", GT_WORTH_NAME},
	{"count", GT_UNIT_COUNT, "How many there are", GT_WORTH_KEY},
	{"known", GT_UNIT_COUNT, "Those whose memory is known", GT_WORTH_KEY},
	{"known_percent", GT_UNIT_PERCENT, "known of count", GT_WORTH_KEY},
};

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_ROWS, "20", "Rows of hazards, the most frequent first"},
	{0},
};

enum { TOP }; /* arguments, as above */

enum { NAME_BYTES = 512 };

/* One use, as rows tell them apart. */
struct side {
	uint32_t what; /* of the words */
	gt_id stream;
	gt_string function;
	gt_id path;
	gt_id node; /* that the program made; GT_NONE: see struct gt_hazard_use */
};

struct key {
	uint32_t kind;
	struct side earlier;
	struct side later;
};

struct row {
	struct key key;
	uint64_t times;
	uint64_t happened;
	uint64_t most_bytes;
	const struct gt_hazard *first;
};

struct rows {
	const struct gt_trace *trace;
	struct gt_range_folds folds;
	struct gt_ranges ranges;
	struct gt_strings *words;
	struct gt_index *index;
	gt_array(struct row) list;
};

static void name_use(const struct gt_trace *trace, const struct gt_hazard_use *use, char *text,
                     size_t size)
{
	if (use->table == GT_TABLE_kernels)
		(void)snprintf(text, size, "%s",
		               gt_shape_name(trace, trace->kernels.rows[use->row].shape));
	else if (use->table == GT_TABLE_copies)
		(void)snprintf(text, size, "copy %s",
		               gt_copy_kind_name(trace->copies.rows[use->row].kind));
	else if (use->table == GT_TABLE_fills)
		(void)snprintf(text, size, "fill");
	else
		(void)snprintf(text, size, "%s",
		               gt_memory_call_name(trace->memory_calls.rows[use->row].kind));
}

static struct gt_owner owner_of(const struct gt_trace *trace, const struct gt_hazard_use *use)
{
	switch (use->table) {
	case GT_TABLE_kernels:
		return gt_owner_of(trace, GT_ACTIVITY_KERNEL, use->row);
	case GT_TABLE_copies:
		return gt_owner_of(trace, GT_ACTIVITY_COPY, use->row);
	case GT_TABLE_fills:
		return gt_owner_of(trace, GT_ACTIVITY_FILL, use->row);
	default:
		return gt_owner_of_call(trace, use->api_call);
	}
}

/* The node that the program made: executable graphs have clones of it. */
static gt_id made_node(const struct gt_trace *trace, const struct gt_hazard_use *use)
{
	gt_id origin;

	if (use->node >= trace->graph_nodes.count)
		return GT_NONE;
	origin = trace->graph_nodes.rows[use->node].origin;
	return origin < trace->graph_nodes.count ? origin : use->node;
}

/* Function that asked for it: of a node the one that made it, else its call. */
static gt_string function_of(const struct gt_trace *trace, const struct gt_hazard_use *use)
{
	const gt_id node = made_node(trace, use);

	if (node != GT_NONE)
		return trace->graph_nodes.rows[node].made_by;
	return use->api_call < trace->api_calls.count
	               ? trace->api_calls.rows[use->api_call].function
	               : 0;
}

static struct side side_of(struct rows *rows, const struct gt_hazard_use *use)
{
	const struct gt_trace *trace = rows->trace;
	char name[NAME_BYTES];

	name_use(trace, use, name, sizeof(name));
	return (struct side){
		.what = gt_strings_add(rows->words, name),
		.stream = use->stream,
		.function = function_of(trace, use),
		.node = made_node(trace, use),
		.path = gt_ranges_path(&rows->ranges, owner_of(trace, use).range),
	};
}

static void count(struct rows *rows, const struct gt_hazard *hazard)
{
	const struct key key = {
		.kind = hazard->kind,
		.earlier = side_of(rows, &hazard->earlier),
		.later = side_of(rows, &hazard->later),
	};
	const size_t number = gt_index_add(rows->index, &key);
	struct row *row;

	if (number == rows->list.count)
		*gt_array_push(&rows->list) = (struct row){.key = key, .first = hazard};
	row = &rows->list.rows[number];
	row->times++;
	row->happened += hazard->happened;
	if (hazard->size_bytes > row->most_bytes)
		row->most_bytes = hazard->size_bytes;
}

/* Those that were seen to happen first, then the most frequent. */
static int by_weight(const void *a, const void *b)
{
	const struct row *left = a;
	const struct row *right = b;

	if (left->happened != right->happened)
		return left->happened < right->happened ? 1 : -1;
	if (left->times != right->times)
		return left->times < right->times ? 1 : -1;
	return memcmp(&left->key, &right->key, sizeof(left->key));
}

/* ---- cells ---- */

static void add_thread(struct gt_result *result, const struct gt_trace *trace, gt_id api_call)
{
	const gt_id thread = api_call < trace->api_calls.count
	                             ? trace->api_calls.rows[api_call].thread
	                             : GT_NONE;

	if (thread >= trace->threads.count) {
		gt_result_add_unknown(result);
		return;
	}
	gt_result_add_format(result, "%s (%u)",
	                     gt_trace_text(trace, trace->threads.rows[thread].name),
	                     trace->threads.rows[thread].tid);
}

static void add_path(struct gt_result *result, const struct gt_ranges *ranges, gt_id path)
{
	char text[GT_RANGE_PATH_BYTES];

	if (path == GT_NONE) {
		gt_result_add_unknown(result);
		return;
	}
	gt_range_path_text(ranges, path, text);
	gt_result_add_format(result, "%s", text);
}

static void label_of(const struct gt_trace *trace, gt_id stream, char *text, size_t size)
{
	if (stream < trace->streams.count)
		gt_stream_label(trace, stream, text, size);
	else
		(void)snprintf(text, size, "?");
}

static unsigned long long number_of(const struct gt_trace *trace, gt_id node)
{
	return trace->graph_nodes.rows[node].number;
}

static void add_order_by(struct gt_result *result, const struct gt_trace *trace,
                         const struct gt_hazard *hazard)
{
	char earlier[GT_LABEL_BYTES];
	char later[GT_LABEL_BYTES];

	if (hazard->in_graph) {
		gt_result_add_format(result, "dependency of node %llu on node %llu",
		                     number_of(trace, made_node(trace, &hazard->later)),
		                     number_of(trace, made_node(trace, &hazard->earlier)));
		return;
	}
	label_of(trace, hazard->earlier.stream, earlier, sizeof(earlier));
	label_of(trace, hazard->later.stream, later, sizeof(later));
	if (hazard->kind == GT_HAZARD_USE_AFTER_FREE &&
	    hazard->earlier.table == GT_TABLE_memory_calls)
		gt_result_add_text(result, "free it later");
	else if (hazard->kind == GT_HAZARD_USE_AFTER_FREE)
		gt_result_add_format(result, "event from %s to %s, or free it in %s", earlier,
		                     later, earlier);
	else
		gt_result_add_format(result, "event from %s to %s", earlier, later);
}

/* "fill (13)"; of a node "fill, node 4 (13)"; a free of no stream is what it is called. */
static void add_side(struct gt_result *result, const struct rows *rows, const struct side *side)
{
	const char *what = gt_strings_get(rows->words, side->what);
	char stream[GT_LABEL_BYTES];

	if (side->stream >= rows->trace->streams.count) {
		gt_result_add_format(result, "%s", what);
		return;
	}
	gt_stream_label(rows->trace, side->stream, stream, sizeof(stream));
	if (side->node != GT_NONE)
		gt_result_add_format(result, "%s, node %llu (%s)", what,
		                     number_of(rows->trace, side->node), stream);
	else
		gt_result_add_format(result, "%s (%s)", what, stream);
}

static void add_node(struct gt_result *result, const struct gt_trace *trace, gt_id node)
{
	if (node == GT_NONE)
		gt_result_add_unknown(result);
	else
		gt_result_add_count(result, (int64_t)number_of(trace, node));
}

static void add_row(struct gt_result *result, const struct rows *rows, const struct row *row)
{
	const struct gt_trace *trace = rows->trace;
	const struct gt_hazard *first = row->first;

	gt_result_add_text(result, gt_hazard_name((enum gt_hazard_kind)row->key.kind));
	gt_result_add_count(result, (int64_t)row->times);
	gt_result_add_count(result, (int64_t)row->happened);
	add_side(result, rows, &row->key.earlier);
	add_side(result, rows, &row->key.later);
	add_order_by(result, trace, first);
	gt_add_stream(result, trace, row->key.earlier.stream);
	gt_add_stream(result, trace, row->key.later.stream);
	gt_result_add_count(result,
	                    row->most_bytes < INT64_MAX ? (int64_t)row->most_bytes : INT64_MAX);
	gt_result_add_format(result, "0x%llx", (unsigned long long)first->address);
	add_node(result, trace, row->key.earlier.node);
	add_node(result, trace, row->key.later.node);
	add_path(result, &rows->ranges, row->key.earlier.path);
	add_path(result, &rows->ranges, row->key.later.path);
	gt_add_string(result, trace, row->key.earlier.function);
	gt_add_string(result, trace, row->key.later.function);
	add_thread(result, trace, first->earlier.api_call);
	add_thread(result, trace, first->later.api_call);
	gt_add_moment(result, trace, first->earlier.given_ns);
	gt_add_moment(result, trace, first->later.given_ns);
}

static void add_hazards(struct gt_result *result, const struct gt_trace *trace,
                        const struct gt_hazards *hazards, uint64_t top)
{
	struct rows rows = {.trace = trace};

	gt_range_folds_init(&rows.folds, trace, GT_FOLD_AUTO);
	gt_ranges_init_folded(&rows.ranges, trace, &rows.folds);
	rows.words = gt_strings_new();
	rows.index = gt_index_new(sizeof(struct key));
	gt_array_each(const struct gt_hazard, hazard, &hazards->list)
		count(&rows, hazard);
	if (rows.list.count > 1)
		qsort(rows.list.rows, rows.list.count, sizeof(*rows.list.rows), by_weight);
	gt_result_begin(result, "hazards", hazard_headings, GT_COUNT_OF(hazard_headings));
	gt_result_order(result, "overlapped");
	for (size_t i = 0; i < rows.list.count && i < top; i++)
		add_row(result, &rows, &rows.list.rows[i]);
	gt_result_top(result, rows.list.count, top);
	gt_array_release(&rows.list);
	gt_index_free(rows.index);
	gt_strings_free(rows.words);
	gt_ranges_release(&rows.ranges);
	gt_range_folds_release(&rows.folds);
}

/* ---- what is known ---- */

static void add_work(struct gt_result *result, const char *name, uint64_t all, uint64_t known)
{
	if (all == 0)
		return;
	gt_result_add_text(result, name);
	gt_result_add_count(result, (int64_t)all);
	gt_result_add_count(result, (int64_t)known);
	gt_result_add_real(result, gt_percent((double)known, (double)all));
}

static void add_cover(struct gt_result *result, const struct gt_hazard_cover *cover)
{
	gt_result_begin(result, "covered", cover_headings, GT_COUNT_OF(cover_headings));
	add_work(result, "kernels", cover->kernels, cover->known_kernels);
	add_work(result, "copies", cover->copies, cover->known_copies);
	add_work(result, "fills", cover->fills, cover->known_fills);
	add_work(result, "ordered allocations and frees", cover->ordered_calls,
	         cover->ordered_calls);
}

static void add_remarks(struct gt_result *result, const struct gt_hazards *hazards, bool by_work)
{
	const struct gt_hazard_cover *cover = &hazards->cover;
	const uint64_t known = cover->known_kernels + cover->known_copies + cover->known_fills;
	const uint64_t all = cover->kernels + cover->copies + cover->fills;

	if (known == 0) {
		gt_result_remark_empty(result,
		                       "It is not known what memory the work uses: gputrace run "
		                       "--hazards records it of copies and fills, and programs say "
		                       "it of kernels through NVTX (docs/reports/hazards.md).");
		return;
	}
	if (by_work) {
		gt_result_remark_empty(
			result, "Work that a filter leaves out may set the order: hazards are "
				"looked for only without --device, --stream, --kernel and "
				"--range.");
		return;
	}
	if (hazards->list.count == 0)
		gt_result_remark_empty(result,
		                       "No two uses of the same memory without an order were "
		                       "found among those that are known.");
	if (known < all)
		gt_result_remark(
			result,
			"%s of %s kernels, copies and fills are not looked at: what memory "
			"they use is not known.",
			gt_grouped(all - known).text, gt_grouped(all).text);
	if (hazards->has_lost)
		gt_result_remark(
			result, "A process waits for values or semaphores that are written by what "
				"is not recorded: from then on nothing is said of it.");
	if (hazards->has_unclocked)
		gt_result_remark(result, "There are more than 512 streams: uses in the others are "
		                         "not compared.");
	if (hazards->cut_short)
		gt_result_remark(result, "The memory is used in so many pieces that not all were "
		                         "compared.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_hazards hazards;

	(void)err;
	gt_hazards_init(&hazards, view->trace);
	if (view->by_work) /* what orders the work that was chosen may be gone */
		hazards.list.count = 0;
	add_hazards(result, view->trace, &hazards, arguments->values[TOP].number);
	add_cover(result, &hazards.cover);
	add_remarks(result, &hazards, view->by_work);
	gt_hazards_release(&hazards);
	return 0;
}

const struct gt_report gt_report_hazards = {
	.name = "hazards",
	.summary = "Uses of the same memory on several streams that nothing puts in order",
	.parameters = parameters,
	.run = run,
};
