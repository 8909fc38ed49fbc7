/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/graph_others.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/graphs/runs.h"
#include "model/index.h"
#include "model/naming/shape_names.h"
#include "model/trace.h"
#include "model/work/timed.h"

static uint64_t lasts_ns(gt_time start_ns, gt_time end_ns)
{
	return start_ns > 0 && end_ns > start_ns ? (uint64_t)(end_ns - start_ns) : 0;
}

/* A figure is made of it: it ended, and was not run several times for its counters. */
static bool is_timed(gt_count flags, gt_time start_ns, gt_time end_ns)
{
	return start_ns > 0 && gt_timed(GT_TIMES_FIGURES, flags, start_ns, end_ns);
}

/* ---- share ---- */

static const struct gt_heading share_headings[] = {
	{"asked_for", GT_UNIT_TEXT, "in graphs, or one by one", GT_WORTH_NAME},
	{"kernels", GT_UNIT_COUNT, "Executions with times", GT_WORTH_KEY},
	{"kernels_percent", GT_UNIT_PERCENT, "Share of all kernels", GT_WORTH_KEY},
	{"kernel_ns", GT_UNIT_NS, "Their time, each for itself", GT_WORTH_KEY, .label = "time"},
	{"kernel_ns_percent", GT_UNIT_PERCENT, "Share of the time of all kernels", GT_WORTH_KEY,
         .label = "time_share"},
	{"copies", GT_UNIT_COUNT, "Copies with times"},
	{"fills", GT_UNIT_COUNT, "Fills with times"},
};

/* [1]: in graphs. */
struct share {
	uint64_t kernels[2];
	uint64_t kernel_ns[2];
	uint64_t copies[2];
	uint64_t fills[2];
};

void gt_add_graph_share(struct gt_result *result, const struct gt_trace *trace)
{
	static const char *const words[] = {"one by one", "in graphs"};
	struct share share = {.kernels = {0}};

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const bool in_graph = kernel->graph_node != 0;

		if (!is_timed(kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		share.kernels[in_graph]++;
		share.kernel_ns[in_graph] += lasts_ns(kernel->start_ns, kernel->end_ns);
	}
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		share.copies[copy->graph_node != 0] +=
			is_timed(copy->flags, copy->start_ns, copy->end_ns);
	gt_array_each(const struct gt_fill, fill, &trace->fills)
		share.fills[fill->graph_node != 0] +=
			is_timed(fill->flags, fill->start_ns, fill->end_ns);
	gt_result_begin(result, "share", share_headings, GT_COUNT_OF(share_headings));
	for (int in_graph = 1; in_graph >= 0; in_graph--) {
		gt_result_add_text(result, words[in_graph]);
		gt_result_add_count(result, (int64_t)share.kernels[in_graph]);
		gt_result_add_real(result,
		                   gt_percent((double)share.kernels[in_graph],
		                              (double)(share.kernels[0] + share.kernels[1])));
		gt_result_add_count(result, (int64_t)share.kernel_ns[in_graph]);
		gt_result_add_real(result,
		                   gt_percent((double)share.kernel_ns[in_graph],
		                              (double)(share.kernel_ns[0] + share.kernel_ns[1])));
		gt_result_add_count(result, (int64_t)share.copies[in_graph]);
		gt_result_add_count(result, (int64_t)share.fills[in_graph]);
	}
}

/* ---- compared ---- */

static const struct gt_heading compared_headings[] = {
	{"in_graph_calls", GT_UNIT_COUNT, "Executions in graphs, with times"},
	{"alone_calls", GT_UNIT_COUNT, "Executions launched one by one, with times"},
	{"in_graph_ns", GT_UNIT_NS, "Mean time of one in a graph", GT_WORTH_KEY},
	{"alone_ns", GT_UNIT_NS, "Mean time of one launched alone", GT_WORTH_KEY},
	{"difference_percent", GT_UNIT_PERCENT,
         "in_graph_ns less alone_ns, of alone_ns; below 0: faster in graphs", GT_WORTH_KEY},
	{"in_graph_launch_ns", GT_UNIT_NS,
         "Mean time of the host for one: of the call that launches the graph, by its kernels"},
	{"alone_launch_ns", GT_UNIT_NS,
         "Mean time of the host for one: of the call that launches it"},
	{"kernel", GT_UNIT_TEXT, "Kernel with one grid, block and size of shared memory",
         GT_WORTH_NAME},
};

/* Launches that differ in what the driver chose alone are the same here. */
struct launched {
	gt_string name;
	gt_count grid[3];
	gt_count block[3];
	gt_count shared[2]; /* dynamic bytes: the lower and the upper half */
};

/* [1]: in graphs. */
struct use {
	gt_id shape; /* of the first */
	uint64_t calls[2];
	uint64_t total_ns[2];
	uint64_t launches[2]; /* whose call is known with its times */
	double launch_ns[2];
};

static void see_call(struct use *use, const struct gt_trace *trace,
                     const struct gt_graph_runs *runs, const struct gt_kernel *kernel)
{
	const bool in_graph = kernel->graph_node != 0;
	const struct gt_api_call *call;
	const gt_id launch = gt_graph_launch_of(runs, trace, kernel->api_call);
	double call_ns;

	if (kernel->api_call >= trace->api_calls.count)
		return;
	call = &trace->api_calls.rows[kernel->api_call];
	call_ns = (double)lasts_ns(call->start_ns, call->end_ns);
	if (call_ns <= 0 || (in_graph && launch == GT_NONE))
		return;
	use->launches[in_graph]++;
	use->launch_ns[in_graph] += in_graph ? call_ns / runs->of_launch[launch].kernels : call_ns;
}

static struct launched launched_as(const struct gt_launch_shape *shape)
{
	return (struct launched){
		.name = shape->name,
		.grid = {shape->grid_x, shape->grid_y, shape->grid_z},
		.block = {shape->block_x, shape->block_y, shape->block_z},
		.shared = {(gt_count)shape->shared_dynamic_bytes,
	                   (gt_count)(shape->shared_dynamic_bytes >> 32)},
	};
}

/* By number of what was launched; of no more than there are shapes. */
static struct use *find_uses(const struct gt_trace *trace, const struct gt_graph_runs *runs,
                             size_t *count)
{
	struct use *uses = gt_allocate_zeroed(trace->launch_shapes.count, sizeof(*uses));
	gt_id *numbers = gt_allocate(trace->launch_shapes.count * sizeof(*numbers));
	struct gt_index *index = gt_index_new(sizeof(struct launched));

	for (gt_id i = 0; i < trace->launch_shapes.count; i++) {
		const struct launched launched = launched_as(&trace->launch_shapes.rows[i]);
		const size_t known = gt_index_count(index);

		numbers[i] = (gt_id)gt_index_add(index, &launched);
		if (numbers[i] == known)
			uses[numbers[i]].shape = i;
	}
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const bool in_graph = kernel->graph_node != 0;
		struct use *use;

		if (kernel->shape >= trace->launch_shapes.count ||
		    !is_timed(kernel->flags, kernel->start_ns, kernel->end_ns) ||
		    kernel->flags & GT_DEVICE_LAUNCHED)
			continue;
		use = &uses[numbers[kernel->shape]];
		use->calls[in_graph]++;
		use->total_ns[in_graph] += lasts_ns(kernel->start_ns, kernel->end_ns);
		see_call(use, trace, runs, kernel);
	}
	*count = gt_index_count(index);
	gt_index_free(index);
	gt_array_free(numbers);
	return uses;
}

/* A row and what it is put in order by. */
struct place {
	size_t row;
	uint64_t total_ns;
};

static int by_total(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->row > right->row) - (left->row < right->row);
}

static double mean(double total, uint64_t count)
{
	return count ? total / (double)count : NAN;
}

static void add_use(struct gt_result *result, const struct gt_trace *trace, const struct use *use)
{
	const double in_graph_ns = mean((double)use->total_ns[1], use->calls[1]);
	const double alone_ns = mean((double)use->total_ns[0], use->calls[0]);

	gt_result_add_count(result, (int64_t)use->calls[1]);
	gt_result_add_count(result, (int64_t)use->calls[0]);
	gt_add_rounded(result, in_graph_ns);
	gt_add_rounded(result, alone_ns);
	gt_result_add_real(result, gt_percent(in_graph_ns - alone_ns, alone_ns));
	gt_add_rounded(result, mean(use->launch_ns[1], use->launches[1]));
	gt_add_rounded(result, mean(use->launch_ns[0], use->launches[0]));
	gt_result_add_text(result, gt_shape_name(trace, use->shape));
}

void gt_add_graph_compared(struct gt_result *result, const struct gt_trace *trace,
                           const struct gt_graph_runs *runs, uint64_t top)
{
	size_t use_count;
	struct use *uses = find_uses(trace, runs, &use_count);
	struct place *places = gt_allocate(use_count * sizeof(*places));
	size_t count = 0;

	for (size_t i = 0; i < use_count; i++)
		if (uses[i].calls[0] && uses[i].calls[1])
			places[count++] =
				(struct place){i, uses[i].total_ns[0] + uses[i].total_ns[1]};
	if (count > 1)
		qsort(places, count, sizeof(*places), by_total);
	gt_result_begin(result, "compared", compared_headings, GT_COUNT_OF(compared_headings));
	for (size_t i = 0; i < count && i < top; i++)
		add_use(result, trace, &uses[places[i].row]);
	gt_result_top(result, count, top);
	gt_array_free(places);
	gt_array_free(uses);
}

/* ---- between ---- */

static const struct gt_heading between_headings[] = {
	{"calls", GT_UNIT_COUNT, "Calls between two launches of graphs by one thread",
         GT_WORTH_KEY},
	{"per_launch", GT_UNIT_REAL, "calls, by the launches that another one came before",
         GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Time in them", GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "Mean time of one"},
	{"function", GT_UNIT_TEXT, "API call", GT_WORTH_NAME},
};

struct call_sum {
	uint64_t calls;
	uint64_t total_ns;
};

struct between {
	const struct gt_trace *trace;
	struct gt_index *names;
	gt_array(struct call_sum) sums; /* by number in names */
	gt_time *last_ns;               /* by thread: when it last launched a graph */
	bool *begun;                    /* by thread: it has launched one */
	uint64_t launches;              /* that another one of the thread came before */
};

static bool is_graph_launch(const struct gt_api_call *call)
{
	return call->kind == GT_API_GRAPH_LAUNCH && call->result == 0;
}

static struct call_sum *sum_of(struct between *between, const struct gt_api_call *call)
{
	const size_t number = gt_index_add(between->names, &call->function);
	struct call_sum *fresh;

	if (number < between->sums.count)
		return &between->sums.rows[number];
	fresh = gt_array_push(&between->sums);
	*fresh = (struct call_sum){0};
	return fresh;
}

static void see_between(struct between *between, const struct gt_api_call *call)
{
	struct call_sum *sum;

	if (is_graph_launch(call)) {
		between->launches += between->begun[call->thread];
		between->begun[call->thread] = true;
		return;
	}
	if (!between->begun[call->thread] || call->start_ns >= between->last_ns[call->thread])
		return;
	sum = sum_of(between, call);
	sum->calls++;
	sum->total_ns += lasts_ns(call->start_ns, call->end_ns);
}

static void find_between(struct between *between)
{
	const struct gt_trace *trace = between->trace;

	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		if (call->thread < trace->threads.count && is_graph_launch(call) &&
		    call->start_ns > between->last_ns[call->thread])
			between->last_ns[call->thread] = call->start_ns;
	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		if (call->thread < trace->threads.count && !(call->flags & GT_NESTED))
			see_between(between, call);
}

static void add_between(struct gt_result *result, const struct between *between, uint64_t top)
{
	const size_t count = between->sums.count;
	struct place *places = gt_allocate(count * sizeof(*places));

	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){i, between->sums.rows[i].total_ns};
	if (count > 1)
		qsort(places, count, sizeof(*places), by_total);
	gt_result_begin(result, "between", between_headings, GT_COUNT_OF(between_headings));
	for (size_t i = 0; i < count && i < top; i++) {
		const struct call_sum *sum = &between->sums.rows[places[i].row];

		gt_result_add_count(result, (int64_t)sum->calls);
		gt_result_add_real(result, mean((double)sum->calls, between->launches));
		gt_result_add_count(result, (int64_t)sum->total_ns);
		gt_add_rounded(result, mean((double)sum->total_ns, sum->calls));
		gt_add_string(result, between->trace,
		              *(const gt_string *)gt_index_key(between->names, places[i].row));
	}
	gt_result_top(result, count, top);
	gt_array_free(places);
}

void gt_add_graph_between(struct gt_result *result, const struct gt_trace *trace, uint64_t top)
{
	struct between between = {
		.trace = trace,
		.names = gt_index_new(sizeof(gt_string)),
		.last_ns = gt_allocate_zeroed(trace->threads.count, sizeof(gt_time)),
		.begun = gt_allocate_zeroed(trace->threads.count, sizeof(bool)),
	};

	find_between(&between);
	add_between(result, &between, top);
	gt_index_free(between.names);
	gt_array_release(&between.sums);
	gt_array_free(between.last_ns);
	gt_array_free(between.begun);
}
