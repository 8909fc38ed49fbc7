/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/bandwidth/cells.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/figures.h"

static int by_time(const void *a, const void *b)
{
	const struct gt_bandwidth_row *left = a;
	const struct gt_bandwidth_row *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns > right->time_ns ? -1 : 1;
	return (left->group > right->group) - (left->group < right->group);
}

void gt_bandwidth_rows_add(struct gt_bandwidth_rows *rows, const struct gt_traffic *traffic,
                           size_t group)
{
	if (traffic->calls > 0)
		*gt_array_push(&rows->list) =
			(struct gt_bandwidth_row){(gt_id)group, traffic->time_ns, traffic->calls};
}

void gt_bandwidth_rows_sort(struct gt_bandwidth_rows *rows, struct gt_result *result, uint64_t most)
{
	if (rows->list.count > 1)
		qsort(rows->list.rows, rows->list.count, sizeof(*rows->list.rows), by_time);
	gt_result_order(result, "total_ns");
	gt_result_top(result, rows->list.count, most);
	if (rows->list.count > most)
		rows->list.count = (size_t)most;
}

void gt_bandwidth_add_shares(struct gt_result *result, const struct gt_roof *roof, double rate)
{
	gt_result_add_real(result, gt_percent(rate, roof->theoretical));
	gt_result_add_real(result, gt_percent(rate, roof->measured));
}

void gt_bandwidth_add_rates(struct gt_result *result, const struct gt_traffic_facts *facts,
                            gt_id device, const struct gt_traffic *traffic)
{
	const struct gt_traffic_bytes bytes = gt_traffic_bytes(traffic);
	const struct gt_roof roof =
		gt_roof_of_memory(facts->trace, device, bytes.read_bytes, bytes.write_bytes);

	gt_result_add_real(result, bytes.bytes_per_second);
	gt_bandwidth_add_shares(result, &roof, bytes.bytes_per_second);
	gt_result_add_real(result, gt_traffic_over_declared(traffic));
	gt_result_add_real(result, bytes.covered_percent);
	gt_roof_add_source(result, &roof);
	if (bytes.source == GT_TRAFFIC_UNKNOWN)
		gt_result_add_format(result, "not measured: %s", gt_traffic_why(facts, traffic));
	else
		gt_result_add_text(result, gt_traffic_source_name(bytes.source));
}

void gt_bandwidth_add_time(struct gt_result *result, const struct gt_traffic *traffic)
{
	gt_result_add_count(result, (int64_t)traffic->calls);
	gt_add_rounded(result, traffic->timed > 0 ? traffic->time_ns : NAN);
}
