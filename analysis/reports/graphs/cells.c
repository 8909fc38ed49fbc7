/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/graphs/tables.h"

#include <math.h>

double gt_graphs_mean(uint64_t total, uint64_t count)
{
	return count ? (double)total / (double)count : NAN;
}

void gt_graphs_add_exec_name(struct gt_result *result, const struct gt_trace *trace, gt_id row)
{
	const struct gt_graph_exec *exec;

	if (row >= trace->graph_execs.count) {
		gt_result_add_unknown(result);
		return;
	}
	exec = &trace->graph_execs.rows[row];
	if (exec->number)
		gt_result_add_format(result, "%u", exec->number);
	else
		gt_result_add_format(result, "0x%llx", (unsigned long long)exec->handle);
}

void gt_graphs_add_graph_name(struct gt_result *result, const struct gt_trace *trace, gt_id row)
{
	if (row < trace->graphs.count)
		gt_result_add_format(result, "%u", trace->graphs.rows[row].number);
	else
		gt_result_add_unknown(result);
}

void gt_graphs_add_time(struct gt_result *result, bool known, uint64_t ns)
{
	if (known)
		gt_result_add_count(result, (int64_t)ns);
	else
		gt_result_add_unknown(result);
}
