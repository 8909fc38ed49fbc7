/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/critical_path/tables.h"

#include "analysis/figures.h"
#include "base/array.h"
#include "model/names.h"

static const struct gt_heading name_headings[] = {
	{"kind", GT_UNIT_TEXT, "Kind of work or wait that took the time", GT_WORTH_KEY},
	{"stretches", GT_UNIT_COUNT, "Members of the path that are such"},
	{"total_ns", GT_UNIT_NS, "Their sum", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of length_ns", GT_WORTH_KEY},
	{"name", GT_UNIT_TEXT,
         "Kernel, kind of copy or API call; of the program's own time the call after it",
         GT_WORTH_NAME},
};

static const struct gt_heading member_headings[] = {
	{"start_time_ns", GT_UNIT_TIME, "When it began, since the recording began", GT_WORTH_KEY},
	{"duration_ns", GT_UNIT_NS, "How long it took", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "duration_ns of length_ns"},
	{"kind", GT_UNIT_TEXT, "Kind of work or wait that took the time", GT_WORTH_KEY},
	{"basis", GT_UNIT_TEXT, "recorded, or assumed: nobody recorded the edge",
         GT_WORTH_ORDINARY},
	{"where", GT_UNIT_TEXT, "Thread, or stream"},
	{"name", GT_UNIT_TEXT,
         "Kernel, kind of copy or API call; of the program's own time the call after it",
         GT_WORTH_NAME},
	{"range", GT_UNIT_TEXT, "Innermost NVTX range", GT_WORTH_LESSER_NAME},
	{"process", GT_UNIT_TEXT, "Process whose stretch it is", GT_WORTH_LITTLE},
};

static const struct gt_heading span_headings[] = {
	{"start_time_ns", GT_UNIT_TIME, "When the range began, since the recording began",
         GT_WORTH_KEY},
	{"length_ns", GT_UNIT_NS, "Until it had ended, and all that was asked for inside",
         GT_WORTH_KEY},
	{"kernels_ns", GT_UNIT_NS, "On its path: kernels, and graphs as a whole", GT_WORTH_KEY},
	{"copies_ns", GT_UNIT_NS, "On its path: copies and fills"},
	{"launch_ns", GT_UNIT_NS, "On its path: launch latency"},
	{"order_ns", GT_UNIT_NS, "On its path: between work on the GPU, and delays of it"},
	{"calls_ns", GT_UNIT_NS, "On its path: API calls"},
	{"host_ns", GT_UNIT_NS, "On its path: the program's own time", GT_WORTH_KEY},
	{"waits_ns", GT_UNIT_NS,
         "On its path: returns from waits, and waits for what is not known"},
	{"held_ns", GT_UNIT_NS, "On its path: not measured, as gputrace held launches up",
         GT_WORTH_LITTLE},
	{"certain_percent", GT_UNIT_PERCENT, "Share of length_ns that no assumed edge follows",
         GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "Path of the range", GT_WORTH_NAME},
};

const char gt_critical_other_work[] = "other work";

void gt_critical_add_share(const struct gt_critical_figures *figures, struct gt_result *result,
                           gt_time part_ns)
{
	gt_result_add_real(result, gt_percent((double)part_ns, (double)figures->account.lasts_ns));
}

static void add_name(const struct gt_critical_figures *figures, struct gt_result *result,
                     const struct gt_path_key *key)
{
	switch ((enum gt_path_what)key->what) {
	case GT_PATH_WHAT_KERNEL:
		gt_result_add_format(result, "%s", figures->account.kernels.labels[key->name]);
		break;
	case GT_PATH_WHAT_CALL:
		if (key->kind == GT_PATH_OF_HOST)
			gt_result_add_format(result, "before %s",
			                     gt_trace_text(figures->trace, key->name));
		else
			gt_result_add_text(result, gt_trace_text(figures->trace, key->name));
		break;
	case GT_PATH_WHAT_COPY:
		gt_result_add_format(result, "copy %s", gt_copy_kind_name(key->name));
		break;
	case GT_PATH_WHAT_FILL:
		gt_result_add_text(result, "fill");
		break;
	case GT_PATH_WHAT_GRAPH:
		gt_result_add_text(result, "graph launch");
		break;
	case GT_PATH_WHAT_END:
		gt_result_add_text(result, "after the last call");
		break;
	case GT_PATH_WHAT_OTHER:
		gt_result_add_text(result, gt_critical_other_work);
		break;
	}
}

void gt_critical_add_names(const struct gt_critical_figures *figures, struct gt_result *result)
{
	const struct gt_path_account *account = &figures->account;

	gt_result_begin(result, "by_name", name_headings, GT_COUNT_OF(name_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < account->by_name.count && i < figures->top; i++) {
		const struct gt_path_total *total = &account->by_name.rows[i];

		gt_result_add_text(result, gt_path_kind_name((enum gt_path_kind)total->key.kind));
		gt_result_add_count(result, (int64_t)total->stretches);
		gt_result_add_count(result, total->total_ns);
		gt_critical_add_share(figures, result, total->total_ns);
		add_name(figures, result, &total->key);
	}
	gt_result_top(result, account->by_name.count, figures->top);
}

static gt_id stream_of(const struct gt_trace *trace, struct gt_step step)
{
	switch (step.table) {
	case GT_TABLE_kernels:
		return trace->kernels.rows[step.row].stream;
	case GT_TABLE_copies:
		return trace->copies.rows[step.row].stream;
	case GT_TABLE_fills:
		return trace->fills.rows[step.row].stream;
	case GT_TABLE_graph_traces:
		return trace->graph_traces.rows[step.row].stream;
	default:
		return GT_NONE;
	}
}

static void add_where(const struct gt_critical_figures *figures, struct gt_result *result,
                      gt_id item)
{
	const struct gt_trace *trace = figures->trace;
	const struct gt_step step = gt_path_step(&figures->account.path, item);
	const gt_id stream = stream_of(trace, step);
	const gt_id thread =
		step.table == GT_TABLE_api_calls ? trace->api_calls.rows[step.row].thread : GT_NONE;

	if (stream < trace->streams.count)
		gt_result_add_format(result, "stream %u", trace->streams.rows[stream].number);
	else if (thread < trace->threads.count)
		gt_result_add_format(result, "thread %u", trace->threads.rows[thread].tid);
	else
		gt_result_add_unknown(result);
}

void gt_critical_add_members(const struct gt_critical_figures *figures, struct gt_result *result)
{
	const struct gt_path_account *account = &figures->account;

	gt_result_begin(result, "longest_members", member_headings, GT_COUNT_OF(member_headings));
	gt_result_order(result, "duration_ns");
	gt_array_each(const struct gt_path_member, member, &account->longest) {
		const struct gt_path_key key = gt_path_key_of(account, member);

		gt_add_moment(result, figures->trace, member->start_ns);
		gt_result_add_count(result, member->end_ns - member->start_ns);
		gt_critical_add_share(figures, result, member->end_ns - member->start_ns);
		gt_result_add_text(result, gt_path_kind_name(member->kind));
		gt_result_add_text(result, member->assumed ? "assumed" : "recorded");
		add_where(figures, result, member->item);
		add_name(figures, result, &key);
		gt_add_range(result, &account->ranges, gt_path_range_of(account, member));
		gt_add_process(result, figures->trace,
		               gt_path_process(&account->path, member->item));
	}
	gt_result_top(result, account->members, figures->top);
}

static void add_span(const struct gt_critical_figures *figures, struct gt_result *result,
                     size_t number)
{
	const struct gt_path_span *span = &figures->account.spans.list.rows[number];
	const struct gt_path_span_total *total = &figures->account.of_span[number];
	const gt_time *by = total->by_kind_ns;
	const gt_time length_ns = span->window.end_ns - span->window.start_ns;

	gt_add_moment(result, figures->trace, span->window.start_ns);
	gt_result_add_count(result, length_ns);
	gt_result_add_count(result, by[GT_PATH_OF_KERNEL] + by[GT_PATH_OF_GRAPH]);
	gt_result_add_count(result, by[GT_PATH_OF_COPY]);
	gt_result_add_count(result, by[GT_PATH_OF_LAUNCH]);
	gt_result_add_count(result, by[GT_PATH_OF_ORDER] + by[GT_PATH_OF_DELAY]);
	gt_result_add_count(result, by[GT_PATH_OF_CALL]);
	gt_result_add_count(result, by[GT_PATH_OF_HOST]);
	gt_result_add_count(result, by[GT_PATH_OF_RETURN] + by[GT_PATH_OF_WAIT]);
	gt_result_add_count(result, by[GT_PATH_OF_HELD]);
	gt_result_add_real(result, gt_percent((double)total->certain_ns, (double)length_ns));
	gt_add_range(result, &figures->account.ranges, span->range);
}

void gt_critical_add_spans(const struct gt_critical_figures *figures, struct gt_result *result)
{
	const size_t count = figures->account.spans.list.count;

	gt_result_begin(result, "each", span_headings, GT_COUNT_OF(span_headings));
	for (size_t i = 0; figures->account.spans.of_range && i < count; i++)
		add_span(figures, result, i);
}
