/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/top/ended.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "analysis/top/may_run.h"
#include "base/hash.h"
#include "base/search.h"
#include "model/naming/shape_names.h"
#include "model/ranges/ranges.h"
#include "model/work/timed.h"

/* The clocks of a process are read once a second: nobody waits longer for one that was stopped. */
#define PATIENCE_NS 3000000000

const char *const gt_ended_words[] = {"kernels", "ranges", NULL};

static const struct gt_heading kernel_headings[] = {
	{"end_time_ns", GT_UNIT_TIME, "When it ended", GT_WORTH_KEY},
	{"duration_ns", GT_UNIT_NS, "Its end - its start; not known of one that ran several times",
         GT_WORTH_KEY},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"stream", GT_UNIT_TEXT, "Its stream", GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Whose it is", GT_WORTH_LITTLE},
	{"correlation", GT_UNIT_COUNT, "CUPTI's correlation id", GT_WORTH_DATA},
	{"kernel", GT_UNIT_TEXT, "Function", GT_WORTH_NAME},
};

static const struct gt_heading range_headings[] = {
	{"end_time_ns", GT_UNIT_TIME, "When it ended", GT_WORTH_KEY},
	{"wall_ns", GT_UNIT_NS, "Its end - its begin, on the host", GT_WORTH_KEY},
	{"process", GT_UNIT_TEXT, "Whose it is", GT_WORTH_KEY},
	{"thread", GT_UNIT_TEXT, "That began it", GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "Its path", GT_WORTH_NAME},
};

/* ---- until when ---- */

/* When clocks were read last, of the running process of which that is longest ago. */
static gt_time clocks_read_ns(const struct gt_trace *trace)
{
	gt_time *last_ns = gt_allocate_zeroed(trace->processes.count + 1, sizeof(*last_ns));
	gt_time first_ns = INT64_MAX;

	gt_array_each(const struct gt_clock, clock, &trace->clocks)
		if (clock->process < trace->processes.count &&
		    clock->boottime_ns > last_ns[clock->process])
			last_ns[clock->process] = clock->boottime_ns;
	for (size_t i = 0; i < trace->processes.count; i++)
		if (trace->processes.rows[i].ended == GT_END_RUNNING && last_ns[i] > 0 &&
		    last_ns[i] < first_ns)
			first_ns = last_ns[i];
	gt_array_free(last_ns);
	return first_ns;
}

static gt_time settled_ns(const struct gt_trace *trace, gt_time now_ns)
{
	const gt_time clocks_ns = clocks_read_ns(trace);
	gt_time until_ns = gt_fetched_until(trace, now_ns);

	if (clocks_ns == INT64_MAX) /* none runs */
		return INT64_MAX;
	if (clocks_ns < until_ns)
		until_ns = clocks_ns > now_ns - PATIENCE_NS ? clocks_ns : now_ns - PATIENCE_NS;
	return until_ns;
}

/* ---- which ---- */

/* The words that tell a row from all others, in every look. */
struct identity {
	uint64_t words[4];
};

/* A process that calls exec has a new capture, and counts anew. */
static struct identity of_process(const struct gt_ended *ended, const struct gt_trace *trace,
                                  gt_id process)
{
	struct identity identity = {0};
	const char *capture = process < trace->processes.count
	                              ? gt_trace_text(trace, trace->processes.rows[process].capture)
	                              : "";

	identity.words[0] = gt_hash_bytes(capture, strlen(capture), ended);
	return identity;
}

static uint64_t key_of_kernel(const struct gt_ended *ended, const struct gt_trace *trace,
                              const struct gt_kernel *kernel)
{
	struct identity identity =
		of_process(ended, trace, gt_trace_stream_process(trace, kernel->stream));

	identity.words[1] = kernel->correlation;
	identity.words[2] = kernel->graph_node;
	identity.words[3] = kernel->grid_id;
	return gt_hash_bytes(&identity, sizeof(identity), ended);
}

/* Between two readings of clocks times stay what they are. */
static uint64_t key_of_range(const struct gt_ended *ended, const struct gt_trace *trace,
                             const struct gt_range *range)
{
	const gt_id process = gt_trace_thread_process(trace, range->thread);
	struct identity identity = of_process(ended, trace, process);

	identity.words[1] =
		process < trace->processes.count ? trace->threads.rows[range->thread].tid : 0;
	identity.words[2] = (uint64_t)range->start_ns;
	identity.words[3] = (uint64_t)range->end_ns;
	return gt_hash_bytes(&identity, sizeof(identity), ended);
}

/* An end. */
struct end_row {
	gt_time end_ns;
	uint64_t key; /* the same in every look */
	gt_id row;    /* of kernels or ranges */
};

struct ends {
	gt_array(struct end_row) list;
};

#define ADD_ENDS(name, plural)                                                                     \
	static void add_##plural(const struct gt_ended *ended, struct ends *ends,                  \
	                         const struct gt_trace *trace, gt_time until_ns)                   \
	{                                                                                          \
		for (gt_id i = 0; i < trace->plural.count; i++) {                                  \
			const struct gt_##name *row = &trace->plural.rows[i];                      \
                                                                                                   \
			if (row->start_ns > 0 && row->end_ns <= until_ns &&                        \
			    gt_timed(GT_TIMES_ANY, row->flags, row->start_ns, row->end_ns))        \
				*gt_array_push(&ends->list) = (struct end_row){                    \
					row->end_ns, key_of_##name(ended, trace, row), i};         \
		}                                                                                  \
	}

ADD_ENDS(kernel, kernels)
ADD_ENDS(range, ranges)

static int by_end(const void *a, const void *b)
{
	const struct end_row *left = a;
	const struct end_row *right = b;

	if (left->end_ns != right->end_ns)
		return left->end_ns < right->end_ns ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

static int by_key(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static bool was_seen(const struct gt_ended *ended, uint64_t key)
{
	return ended->seen.count > 0 &&
	       bsearch(&key, ended->seen.rows, ended->seen.count, sizeof(key), by_key);
}

/* A look holds of what was given out no more than the look before. */
static void remember(struct gt_ended *ended, const struct ends *ends)
{
	ended->seen.count = 0;
	gt_array_each(const struct end_row, row, &ends->list)
		*gt_array_push(&ended->seen) = row->key;
	if (ended->seen.count > 1)
		qsort(ended->seen.rows, ended->seen.count, sizeof(uint64_t), by_key);
}

/* ---- the table ---- */

static void add_kernel(struct gt_result *result, const struct gt_trace *trace, gt_id row)
{
	const struct gt_kernel *kernel = &trace->kernels.rows[row];

	gt_add_moment(result, trace, kernel->end_ns);
	gt_result_add_count_if(result, !(kernel->flags & GT_PROFILED),
	                       kernel->end_ns - kernel->start_ns);
	if (kernel->device < trace->devices.count)
		gt_add_device_number(result, trace, kernel->device);
	else
		gt_result_add_unknown(result);
	if (kernel->stream < trace->streams.count)
		gt_add_stream(result, trace, kernel->stream);
	else
		gt_result_add_unknown(result);
	gt_add_process(result, trace, gt_trace_stream_process(trace, kernel->stream));
	gt_result_add_count(result, kernel->correlation);
	gt_result_add_copy(result, gt_shape_name(trace, kernel->shape));
}

static void add_range(struct gt_result *result, const struct gt_ranges *ranges, gt_id row)
{
	const struct gt_trace *trace = ranges->trace;
	const struct gt_range *range = &trace->ranges.rows[row];

	gt_add_moment(result, trace, range->end_ns);
	gt_result_add_count(result, range->end_ns - range->start_ns);
	gt_add_process(result, trace, gt_trace_thread_process(trace, range->thread));
	gt_add_thread(result, trace, range->thread);
	gt_add_range(result, ranges, row);
}

static void add_rows(const struct gt_ended *ended, const struct gt_trace *trace,
                     const struct ends *ends, struct gt_result *result)
{
	struct gt_ranges ranges;

	gt_ranges_init(&ranges, trace);
	gt_array_each(const struct end_row, row, &ends->list) {
		if (row->end_ns < ended->from_ns || was_seen(ended, row->key))
			continue;
		if (ended->of == GT_ENDED_KERNELS)
			add_kernel(result, trace, row->row);
		else
			add_range(result, &ranges, row->row);
	}
	gt_ranges_release(&ranges);
}

void gt_ended_begin(const struct gt_ended *ended, struct gt_result *result)
{
	if (ended->of == GT_ENDED_KERNELS)
		gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	else
		gt_result_begin(result, "ranges", range_headings, GT_COUNT_OF(range_headings));
}

void gt_ended_add(struct gt_ended *ended, const struct gt_trace *trace, gt_time now_ns,
                  struct gt_result *result)
{
	const gt_time until_ns = settled_ns(trace, now_ns);
	struct ends ends = {0};

	if (ended->of == GT_ENDED_KERNELS)
		add_kernels(ended, &ends, trace, until_ns);
	else
		add_ranges(ended, &ends, trace, until_ns);
	if (ends.list.count > 1)
		qsort(ends.list.rows, ends.list.count, sizeof(*ends.list.rows), by_end);
	add_rows(ended, trace, &ends, result);
	remember(ended, &ends);
	ended->until_ns = until_ns;
	gt_array_release(&ends.list);
}

void gt_ended_release(struct gt_ended *ended)
{
	gt_array_release(&ended->seen);
}
