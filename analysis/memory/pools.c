/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/pools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/memory/totals.h"
#include "analysis/time/measured.h"
#include "base/array.h"
#include "model/allocations.h"
#include "model/memory/use.h"
#include "model/view/view.h"

/* Fields that have no unit in their name may have it behind that. */
static bool is_called(const char *counter, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(counter, name, length) == 0 &&
	       (!counter[length] || strcmp(counter + length, "_bytes") == 0);
}

static const struct gt_counter *find(const struct gt_trace *trace, gt_id pool, const char *name)
{
	gt_array_each(const struct gt_counter, counter, &trace->counters)
		if (counter->pool == pool && is_called(gt_trace_text(trace, counter->name), name))
			return counter;
	return NULL;
}

static struct gt_measured measured(const struct gt_trace *trace, gt_id pool, const char *name)
{
	const struct gt_counter *counter = find(trace, pool, name);

	return counter ? gt_measured_of(trace, counter) : (struct gt_measured){0};
}

double gt_pool_told(const struct gt_trace *trace, gt_id pool, const char *name, gt_time at_ns)
{
	struct gt_measured values = measured(trace, pool, name);
	const double value = gt_measured_at(&values, at_ns);

	gt_measured_release(&values);
	return value;
}

/* Values of one field in the window. */
struct told {
	double last;
	double most;
	double grown; /* of what counts up: in the window, or since the pool was made */
};

static struct told told(const struct gt_view *view, gt_id pool, const char *name)
{
	struct gt_measured values = measured(view->trace, pool, name);
	struct told told = {NAN, NAN, NAN};
	const bool whole = view->start_ns <= view->trace->start_ns;

	for (size_t i = 0; i < values.count; i++)
		if (!(told.most >= values.values[i]))
			told.most = values.values[i];
	if (values.count) {
		told.last = values.values[values.count - 1];
		told.grown = whole ? values.values[0] : 0;
	}
	/* Less than before: somebody made it count anew. */
	for (size_t i = 1; i < values.count; i++)
		told.grown += fmax(0, values.values[i] - values.values[i - 1]);
	gt_measured_release(&values);
	return told;
}

static double fragmentation(double largest, double all)
{
	return all > 0 && largest >= 0 ? 100 * (1 - largest / all) : NAN;
}

/* Uses samples that have both figures: the largest free piece may be told more rarely. */
static void find_fragmentation(const struct gt_view *view, gt_id pool, const char *all_name,
                               struct gt_pool_figures *figures)
{
	struct gt_measured largest = measured(view->trace, pool, "largest_free_block");
	struct gt_measured all = measured(view->trace, pool, all_name);
	size_t at = 0; /* in all */

	for (size_t i = 0; i < largest.count; i++) {
		double percent;

		while (at < all.count && all.times_ns[at] < largest.times_ns[i])
			at++;
		if (at == all.count || all.times_ns[at] != largest.times_ns[i])
			continue;
		percent = fragmentation(largest.values[i], all.values[at]);
		figures->fragmentation_percent = percent;
		if (isnan(percent) || figures->worst_fragmentation_percent >= percent)
			continue;
		figures->worst_fragmentation_percent = percent;
		figures->worst_ns = largest.times_ns[i];
	}
	gt_measured_release(&largest);
	gt_measured_release(&all);
}

static void take_levels(const struct gt_view *view, gt_id pool, struct gt_pool_figures *figures)
{
	const bool has_free = find(view->trace, pool, "free") != NULL;
	const char *all_name = has_free ? "free" : "cached";
	const struct told in_use = told(view, pool, "bytes_in_use");
	const struct told reserved = told(view, pool, "bytes_reserved");
	const bool whole =
		view->start_ns <= view->trace->start_ns && view->end_ns >= view->trace->end_ns;

	figures->in_use = in_use.last;
	figures->peak_in_use =
		whole ? fmax(in_use.most, told(view, pool, "peak_bytes_in_use").last) : in_use.most;
	figures->reserved = reserved.last;
	figures->peak_reserved =
		whole ? fmax(reserved.most, told(view, pool, "peak_bytes_reserved").last)
		      : reserved.most;
	figures->requested = told(view, pool, "bytes_requested").last;
	figures->cached = told(view, pool, "cached").last;
	if (isnan(figures->cached))
		figures->cached = reserved.last - in_use.last;
	figures->largest_free = told(view, pool, "largest_free_block").last;
	figures->limit = told(view, pool, "limit").last;
	if (isnan(figures->limit))
		figures->limit = told(view, pool, "bytes_reservable_limit").last;
	figures->segments = told(view, pool, "num_segments").last;
	find_fragmentation(view, pool, all_name, figures);
}

static void take_statistics(const struct gt_view *view, gt_id pool, struct gt_pool_figures *figures)
{
	gt_array_each(const struct gt_counter, counter, &view->trace->counters)
		figures->has_statistics |= counter->pool == pool;
	if (!figures->has_statistics)
		return;
	take_levels(view, pool, figures);
	figures->allocs = told(view, pool, "num_allocs").grown;
	figures->reserve_calls = told(view, pool, "num_reserve_calls").grown;
	figures->splits = told(view, pool, "num_splits").grown;
	figures->trims = told(view, pool, "num_trims").grown;
	figures->failed = told(view, pool, "num_failed").grown;
}

/* Memory of the carriers of a pool, over time. */
struct carried {
	uint64_t now;
	uint64_t peak;
	uint64_t begun; /* carriers, in the window */
	uint64_t count;
};

static struct carried *carry(const struct gt_view *view, struct gt_memory_use *use,
                             const gt_id *carriers)
{
	const size_t count = view->trace->pools.count;
	struct carried *rows = gt_allocate_zeroed(count + 1, sizeof(*rows));
	struct gt_memory_step step;

	gt_memory_use_rewind(use);
	while (gt_memory_use_next(use, &step) == 1) {
		struct carried *row;

		if (use->holders.rows[step.holder].pool != GT_NONE || carriers[step.row] == GT_NONE)
			continue;
		row = &rows[carriers[step.row]];
		row->now += step.ends ? 0 - step.size_bytes : step.size_bytes;
		row->count += step.ends ? UINT64_MAX : 1;
		row->begun += !step.ends &&
		              view->trace->allocations.rows[step.row].start_ns >= view->start_ns;
		if (row->now > row->peak)
			row->peak = row->now;
	}
	return rows;
}

/* A piece of addresses that is there at the end of the window. */
struct span {
	gt_id pool;
	bool is_block;
	uint64_t start;
	uint64_t end;
};

struct spans {
	gt_array(struct span) rows;
};

static int by_place(const void *a, const void *b)
{
	const struct span *left = a;
	const struct span *right = b;

	if (left->pool != right->pool)
		return left->pool < right->pool ? -1 : 1;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return (left->is_block ? 1 : 0) - (right->is_block ? 1 : 0);
}

static void find_spans(struct spans *spans, const struct gt_view *view, const gt_id *carriers)
{
	const struct gt_trace *trace = view->trace;

	for (size_t i = 0; i < trace->allocations.count; i++) {
		const struct gt_allocation *row = &trace->allocations.rows[i];

		if (carriers[i] != GT_NONE && row->address &&
		    gt_memory_is_there(trace, row, view->end_ns))
			*gt_array_push(&spans->rows) = (struct span){
				carriers[i], false, row->address, row->address + row->size_bytes};
	}
	for (size_t i = 0; i < trace->pool_blocks.count; i++) {
		const struct gt_pool_block *row = &trace->pool_blocks.rows[i];

		if (row->pool < trace->pools.count && gt_memory_block_is_out(row, view->end_ns))
			*gt_array_push(&spans->rows) = (struct span){
				row->pool, true, row->address, row->address + row->size_bytes};
	}
	if (spans->rows.count > 1)
		qsort(spans->rows.rows, spans->rows.count, sizeof(*spans->rows.rows), by_place);
}

/* Free memory of one carrier. */
struct holes {
	uint64_t all;
	uint64_t largest;
};

static void see_hole(struct holes *holes, uint64_t start, uint64_t end)
{
	if (end <= start)
		return;
	holes->all += end - start;
	if (end - start > holes->largest)
		holes->largest = end - start;
}

/* The spans from one place on that are of its pool; the place behind them. */
static size_t find_holes(const struct spans *spans, size_t first, struct holes *holes)
{
	const gt_id pool = spans->rows.rows[first].pool;
	uint64_t at = 0;  /* up to here it is used */
	uint64_t end = 0; /* of the carrier */
	size_t i = first;

	*holes = (struct holes){0};
	for (; i < spans->rows.count && spans->rows.rows[i].pool == pool; i++) {
		const struct span *span = &spans->rows.rows[i];

		see_hole(holes, at, span->is_block && span->start < end ? span->start : end);
		if (!span->is_block) {
			at = span->start;
			end = span->end;
		} else if (span->end > at) {
			at = span->end;
		}
	}
	see_hole(holes, at, end);
	return i;
}

/* Without the statistics that say so, at the end of the window alone. */
static void take_holes(const struct gt_view *view, const gt_id *carriers,
                       struct gt_pool_figures *figures)
{
	struct spans spans = {0};
	struct holes holes;

	find_spans(&spans, view, carriers);
	for (size_t i = 0; i < spans.rows.count;) {
		struct gt_pool_figures *row = &figures[spans.rows.rows[i].pool];

		i = find_holes(&spans, i, &holes);
		if (!isnan(row->fragmentation_percent) || holes.all == 0)
			continue;
		row->largest_free = (double)holes.largest;
		row->fragmentation_percent =
			fragmentation((double)holes.largest, (double)holes.all);
	}
	gt_array_release(&spans.rows);
}

static void take_if_unknown(double *figure, double value)
{
	if (isnan(*figure))
		*figure = value;
}

static void take_blocks(const struct gt_memory_total *total, struct gt_pool_figures *figures)
{
	figures->has_blocks = true;
	take_if_unknown(&figures->in_use, (double)total->now);
	take_if_unknown(&figures->peak_in_use, (double)total->peak);
	take_if_unknown(&figures->allocs, (double)total->begun);
}

static void take_carriers(const struct carried *carried, struct gt_pool_figures *figures)
{
	take_if_unknown(&figures->reserved, (double)carried->now);
	take_if_unknown(&figures->peak_reserved, (double)carried->peak);
	take_if_unknown(&figures->reserve_calls, (double)carried->begun);
	take_if_unknown(&figures->segments, (double)carried->count);
	take_if_unknown(&figures->cached, figures->reserved - figures->in_use);
}

/* As blocks were asked for: known where each says so. */
static void take_requested(const struct gt_view *view, struct gt_pool_figures *figures)
{
	const struct gt_trace *trace = view->trace;
	double *sums = gt_allocate_zeroed(trace->pools.count + 1, sizeof(*sums));

	for (size_t i = 0; i < trace->pool_blocks.count; i++) {
		const struct gt_pool_block *row = &trace->pool_blocks.rows[i];

		if (row->pool < trace->pools.count && gt_memory_block_is_out(row, view->end_ns))
			sums[row->pool] +=
				row->requested_bytes ? (double)row->requested_bytes : NAN;
	}
	for (size_t i = 0; i < trace->pools.count; i++)
		if (figures[i].has_blocks)
			take_if_unknown(&figures[i].requested, sums[i]);
	gt_array_free(sums);
}

static const struct gt_pool_figures nothing = {
	.in_use = NAN,
	.peak_in_use = NAN,
	.requested = NAN,
	.reserved = NAN,
	.peak_reserved = NAN,
	.cached = NAN,
	.largest_free = NAN,
	.fragmentation_percent = NAN,
	.worst_fragmentation_percent = NAN,
	.limit = NAN,
	.segments = NAN,
	.allocs = NAN,
	.reserve_calls = NAN,
	.splits = NAN,
	.trims = NAN,
	.failed = NAN,
};

struct gt_pool_figures *gt_pool_figures(const struct gt_view *view,
                                        const struct gt_memory_totals *totals,
                                        const gt_id *carriers)
{
	const size_t count = view->trace->pools.count;
	struct gt_pool_figures *figures = gt_allocate((count + 1) * sizeof(*figures));
	struct gt_memory_use use;
	struct carried *carried;

	gt_memory_use_init(&use, view);
	carried = carry(view, &use, carriers);
	for (size_t i = 0; i < count; i++) {
		figures[i] = nothing;
		take_statistics(view, (gt_id)i, &figures[i]);
	}
	for (size_t i = 0; i < totals->use.holders.count; i++)
		if (totals->use.holders.rows[i].pool < count)
			take_blocks(&totals->of_holder[i],
			            &figures[totals->use.holders.rows[i].pool]);
	for (size_t i = 0; i < count; i++)
		if (carried[i].peak)
			take_carriers(&carried[i], &figures[i]);
	take_requested(view, figures);
	take_holes(view, carriers, figures);
	gt_array_free(carried);
	gt_memory_use_release(&use);
	return figures;
}
