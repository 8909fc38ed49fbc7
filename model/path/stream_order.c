/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path/stream_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/work/activity.h"

enum { ROW_BITS = 30 };

/* The first of gt_activity_tables: without graphs that were recorded as a whole, and all. */
enum { PLAIN_TABLES = GT_ACTIVITY_GRAPH, WHOLE_TABLES = GT_ACTIVITY_TYPES };

/* Common fields of the tables. */
struct activity {
	gt_time start_ns;
	gt_time end_ns;
	gt_id stream;
	gt_id api_call;
};

#define ACTIVITY(row)                                                                              \
	((struct activity){(row)->start_ns, (row)->end_ns, (row)->stream, (row)->api_call})

static struct activity activity_at(const struct gt_trace *trace, size_t table, size_t row)
{
	switch (table) {
	case GT_TABLE_kernels:
		return ACTIVITY(&trace->kernels.rows[row]);
	case GT_TABLE_copies:
		return ACTIVITY(&trace->copies.rows[row]);
	case GT_TABLE_fills:
		return ACTIVITY(&trace->fills.rows[row]);
	default:
		return ACTIVITY(&trace->graph_traces.rows[row]);
	}
}

static size_t row_count(const struct gt_trace *trace, size_t table)
{
	const size_t count = gt_trace_table(trace, table).row_count;
	const size_t most = (size_t)1 << ROW_BITS;

	return count < most ? count : most;
}

static struct gt_step unpack(uint32_t packed)
{
	return (struct gt_step){(size_t)gt_activity_tables[packed >> ROW_BITS],
	                        packed & (((uint32_t)1 << ROW_BITS) - 1)};
}

/* When it was given to its stream: by its call where that is known. */
static gt_time given_ns(const struct gt_trace *trace, const struct activity *activity)
{
	return activity->api_call < trace->api_calls.count
	               ? trace->api_calls.rows[activity->api_call].start_ns
	               : activity->start_ns;
}

static gt_id stream_of(const struct gt_stream_order *order, const struct activity *activity)
{
	const gt_id into = order->into && activity->api_call < order->trace->api_calls.count
	                           ? order->into[activity->api_call]
	                           : GT_NONE;

	return into == GT_NONE ? activity->stream : into;
}

/* Every activity of a wanted stream, in order of its start for each table. */
static void each(const struct gt_trace *trace, const bool *wanted,
                 void (*use)(struct gt_stream_order *, gt_id stream, uint32_t packed),
                 struct gt_stream_order *order)
{
	const uint32_t table_count = order->into ? WHOLE_TABLES : PLAIN_TABLES;

	for (uint32_t t = 0; t < table_count; t++) {
		const size_t table = (size_t)gt_activity_tables[t];
		const size_t count = row_count(trace, table);

		for (size_t row = 0; row < count; row++) {
			const struct activity activity = activity_at(trace, table, row);
			const gt_id stream = stream_of(order, &activity);

			if (stream < trace->streams.count && (!wanted || wanted[stream]))
				use(order, stream, t << ROW_BITS | (uint32_t)row);
		}
	}
}

static void count_step(struct gt_stream_order *order, gt_id stream, uint32_t packed)
{
	(void)packed;
	order->ends[stream]++;
}

static void put_step(struct gt_stream_order *order, gt_id stream, uint32_t packed)
{
	order->steps[order->ends[stream]++] = packed;
}

/* Equal ones are in the order of their start: kernels of one graph launch. */
static int compare(const void *a, const void *b, void *context)
{
	const struct gt_trace *trace = ((const struct gt_stream_order *)context)->trace;
	const struct gt_step left = unpack(*(const uint32_t *)a);
	const struct gt_step right = unpack(*(const uint32_t *)b);
	const struct activity l = activity_at(trace, left.table, left.row);
	const struct activity r = activity_at(trace, right.table, right.row);
	const gt_time l_ns = given_ns(trace, &l);
	const gt_time r_ns = given_ns(trace, &r);

	if (l_ns != r_ns)
		return l_ns < r_ns ? -1 : 1;
	if (l.start_ns != r.start_ns)
		return l.start_ns < r.start_ns ? -1 : 1;
	return (left.row > right.row) - (left.row < right.row);
}

/* Mostly they are in order already: work starts in the order in which it was given. */
static void sort(struct gt_stream_order *order, size_t first, size_t end)
{
	for (size_t i = first + 1; i < end; i++) {
		if (compare(&order->steps[i - 1], &order->steps[i], order) > 0) {
			qsort_r(order->steps + first, end - first, sizeof(*order->steps), compare,
			        order);
			return;
		}
	}
}

static void init(struct gt_stream_order *order, const bool *wanted)
{
	const struct gt_trace *trace = order->trace;
	const size_t streams = trace->streams.count;
	size_t total = 0;

	order->ends = gt_allocate_zeroed(streams, sizeof(*order->ends));
	each(trace, wanted, count_step, order);
	for (size_t i = 0; i < streams; i++) {
		const size_t count = order->ends[i];

		order->ends[i] = total;
		total += count;
	}
	order->steps = gt_allocate(total * sizeof(*order->steps));
	each(trace, wanted, put_step, order);
	for (size_t i = 0; i < streams; i++)
		sort(order, i ? order->ends[i - 1] : 0, order->ends[i]);
}

void gt_stream_order_init(struct gt_stream_order *order, const struct gt_trace *trace,
                          const bool *wanted)
{
	*order = (struct gt_stream_order){.trace = trace};
	init(order, wanted);
}

void gt_stream_order_init_whole(struct gt_stream_order *order, const struct gt_trace *trace)
{
	*order = (struct gt_stream_order){
		.trace = trace,
		.into = gt_allocate((trace->api_calls.count + 1) * sizeof(*order->into)),
	};
	memset(order->into, 0xff, (trace->api_calls.count + 1) * sizeof(*order->into));
	gt_array_each(const struct gt_graph_launch, launch, &trace->graph_launches)
		if (launch->api_call < trace->api_calls.count &&
		    launch->stream < trace->streams.count)
			order->into[launch->api_call] = launch->stream;
	init(order, NULL);
}

void gt_stream_order_release(struct gt_stream_order *order)
{
	gt_array_free(order->ends);
	gt_array_free(order->steps);
	gt_array_free(order->into);
	*order = (struct gt_stream_order){0};
}

static size_t first_of(const struct gt_stream_order *order, gt_id stream)
{
	return stream ? order->ends[stream - 1] : 0;
}

size_t gt_stream_order_count(const struct gt_stream_order *order, gt_id stream)
{
	return stream < order->trace->streams.count ? order->ends[stream] - first_of(order, stream)
	                                            : 0;
}

struct gt_step gt_stream_order_at(const struct gt_stream_order *order, gt_id stream, size_t step)
{
	return unpack(order->steps[first_of(order, stream) + step]);
}

gt_time gt_stream_order_given(const struct gt_stream_order *order, gt_id stream, size_t step)
{
	const struct gt_step at = gt_stream_order_at(order, stream, step);
	const struct activity activity = activity_at(order->trace, at.table, at.row);

	return given_ns(order->trace, &activity);
}

size_t gt_stream_order_from(const struct gt_stream_order *order, gt_id stream, gt_time time_ns)
{
	size_t low = 0;
	size_t high = gt_stream_order_count(order, stream);

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct gt_step step = gt_stream_order_at(order, stream, middle);
		const struct activity activity = activity_at(order->trace, step.table, step.row);

		if (given_ns(order->trace, &activity) < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool gt_stream_order_before(const struct gt_stream_order *order, gt_id stream, gt_time time_ns,
                            struct gt_step *step)
{
	const size_t count = stream < order->trace->streams.count
	                             ? gt_stream_order_from(order, stream, time_ns)
	                             : 0;

	if (count > 0)
		*step = gt_stream_order_at(order, stream, count - 1);
	return count > 0;
}

void gt_step_times(const struct gt_trace *trace, struct gt_step step, gt_time *start_ns,
                   gt_time *end_ns)
{
	const struct activity activity = activity_at(trace, step.table, step.row);

	*start_ns = activity.start_ns;
	*end_ns = activity.end_ns;
}
