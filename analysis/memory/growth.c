/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/growth.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/memory/totals.h"
#include "base/search.h"
#include "model/index.h"
#include "model/memory/use.h"
#include "model/view/view.h"

/* Key of memory that is counted together; without padding. */
struct scope {
	gt_id process;
	gt_id device;
	gt_id pool; /* whose blocks; GT_NONE: allocations */
};

/* Memory in use after each step, with the most of any stretch of steps at hand. */
struct line {
	gt_array(gt_time) times;
	gt_array(uint64_t) values;
	uint64_t *most; /* a tree: of node i nodes 2i and 2i + 1 are the halves, values its leaves */
	uint64_t now;
};

struct key {
	gt_id path;
	gt_id line;
};

struct finder {
	const struct gt_view *view;
	const struct gt_ranges *ranges;
	struct gt_memory_use use;
	struct gt_index *scopes;
	gt_array(struct line) lines; /* by number of the scope */
	uint32_t *line_of_holder;    /* UINT32_MAX: in none */
	struct gt_index *keys;
	struct gt_memory_growths *growths; /* rows by number of the key */
};

static void find_lines(struct finder *finder)
{
	finder->line_of_holder =
		gt_allocate((finder->use.holders.count + 1) * sizeof(*finder->line_of_holder));
	for (size_t i = 0; i < finder->use.holders.count; i++) {
		const struct gt_memory_holder *holder = &finder->use.holders.rows[i];
		const struct scope scope = {holder->process, holder->device, holder->pool};
		size_t number;

		finder->line_of_holder[i] = UINT32_MAX;
		if (holder->pool == GT_NONE && !gt_memory_holder_is_on_device(holder))
			continue;
		number = gt_index_add(finder->scopes, &scope);
		if (number == finder->lines.count)
			*gt_array_push(&finder->lines) = (struct line){0};
		finder->line_of_holder[i] = (uint32_t)number;
	}
}

static void draw_lines(struct finder *finder)
{
	struct gt_memory_step step;

	while (gt_memory_use_next(&finder->use, &step) == 1) {
		const uint32_t number = finder->line_of_holder[step.holder];
		struct line *line = number == UINT32_MAX ? NULL : &finder->lines.rows[number];

		if (!line)
			continue;
		line->now += step.ends ? 0 - step.size_bytes : step.size_bytes;
		*gt_array_push(&line->times) = step.time_ns;
		*gt_array_push(&line->values) = line->now;
	}
}

static void plant(struct line *line)
{
	const size_t count = line->values.count;

	line->most = gt_allocate((2 * count + 2) * sizeof(*line->most));
	for (size_t i = 0; i < count; i++)
		line->most[count + i] = line->values.rows[i];
	for (size_t i = count; i-- > 1;)
		line->most[i] = line->most[2 * i] > line->most[2 * i + 1] ? line->most[2 * i]
		                                                          : line->most[2 * i + 1];
}

/* The most of the values from one to before another. */
static uint64_t most_of(const struct line *line, size_t from, size_t to)
{
	uint64_t most = 0;

	for (from += line->values.count, to += line->values.count; from < to; from /= 2, to /= 2) {
		if (from % 2) {
			if (line->most[from] > most)
				most = line->most[from];
			from++;
		}
		if (to % 2) {
			to--;
			if (line->most[to] > most)
				most = line->most[to];
		}
	}
	return most;
}

static struct gt_memory_growth *growth_of(struct finder *finder, gt_id path, uint32_t line)
{
	const struct key key = {path, line};
	const size_t number = gt_index_add(finder->keys, &key);
	const struct scope *scope;

	if (number == finder->growths->rows.count) {
		scope = gt_index_key(finder->scopes, line);
		*gt_array_push(&finder->growths->rows) = (struct gt_memory_growth){
			.path = path,
			.device = scope->device,
			.pool = scope->pool,
			.process = scope->process,
		};
	}
	return &finder->growths->rows.rows[number];
}

static void see_range_on(struct finder *finder, const struct gt_range *range, gt_id path,
                         uint32_t number)
{
	const struct line *line = &finder->lines.rows[number];
	const gt_time end_ns = gt_range_end(range);
	const size_t from = gt_count_up_to(&line->times, &range->start_ns, gt_by_i64);
	const size_t to = gt_count_up_to(&line->times, &end_ns, gt_by_i64);
	const uint64_t before = from ? line->values.rows[from - 1] : 0;
	const uint64_t inside = most_of(line, from, to);
	const uint64_t peak = inside > before ? inside : before;
	struct gt_memory_growth *growth = growth_of(finder, path, number);

	growth->ranges++;
	if (peak > growth->peak_bytes)
		growth->peak_bytes = peak;
	if (peak - before > growth->rise_bytes)
		growth->rise_bytes = peak - before;
}

static void see_ranges(struct finder *finder)
{
	const struct gt_trace *trace = finder->view->trace;

	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];
		const gt_id path = gt_ranges_path(finder->ranges, (gt_id)i);

		if (range->flags & GT_AROUND || path == GT_NONE)
			continue;
		for (uint32_t line = 0; line < finder->lines.count; line++) {
			const struct scope *scope = gt_index_key(finder->scopes, line);

			if (scope->process == gt_trace_thread_process(trace, range->thread))
				see_range_on(finder, range, path, line);
		}
	}
}

/* Memory that was asked for in a range. */
struct piece {
	gt_id range;
	gt_time at_ns; /* when it was asked for */
	gt_time end_ns;
	uint64_t bytes;
	uint32_t line;
};

/* Counts in all ranges that were open around it. */
static void see_piece(struct finder *finder, const struct piece *piece)
{
	const struct gt_trace *trace = finder->view->trace;

	for (gt_id range = piece->range; range < trace->ranges.count;
	     range = gt_ranges_around(finder->ranges, range, piece->at_ns)) {
		const struct gt_range *row = &trace->ranges.rows[range];
		struct gt_memory_growth *growth;

		if (row->flags & GT_AROUND)
			continue;
		growth = growth_of(finder, gt_ranges_path(finder->ranges, range), piece->line);
		growth->asked++;
		growth->asked_bytes += piece->bytes;
		if (piece->end_ns <= gt_range_end(row))
			continue;
		growth->kept++;
		growth->kept_bytes += piece->bytes;
	}
}

static void see_pieces(struct finder *finder)
{
	const struct gt_trace *trace = finder->view->trace;

	for (size_t i = 0; i < trace->allocations.count; i++) {
		const struct gt_allocation *row = &trace->allocations.rows[i];
		const uint32_t line = finder->line_of_holder[finder->use.holder_of_allocation[i]];

		if (line != UINT32_MAX && row->range != GT_NONE)
			see_piece(finder, &(struct piece){row->range, row->start_ns,
			                                  row->flags & GT_UNFINISHED ? INT64_MAX
			                                                             : row->end_ns,
			                                  row->size_bytes, line});
	}
	for (size_t i = 0; i < trace->pool_blocks.count; i++) {
		const struct gt_pool_block *row = &trace->pool_blocks.rows[i];

		if (row->pool < trace->pools.count && row->range != GT_NONE)
			see_piece(finder,
			          &(struct piece){
					  row->range, row->start_ns,
					  row->flags & GT_UNFINISHED ? INT64_MAX : row->end_ns,
					  row->size_bytes,
					  finder->line_of_holder[finder->use.holder_of_block[i]]});
	}
}

static int by_kept(const void *a, const void *b)
{
	const struct gt_memory_growth *left = a;
	const struct gt_memory_growth *right = b;

	if (left->kept_bytes != right->kept_bytes)
		return left->kept_bytes < right->kept_bytes ? 1 : -1;
	if (left->rise_bytes != right->rise_bytes)
		return left->rise_bytes < right->rise_bytes ? 1 : -1;
	if (left->path != right->path)
		return left->path < right->path ? -1 : 1;
	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return (left->pool > right->pool) - (left->pool < right->pool);
}

/* Without those in which memory neither rose nor was asked for. */
static void sort(struct gt_memory_growths *growths)
{
	size_t kept = 0;

	for (size_t i = 0; i < growths->rows.count; i++)
		if (growths->rows.rows[i].rise_bytes || growths->rows.rows[i].asked)
			growths->rows.rows[kept++] = growths->rows.rows[i];
	growths->rows.count = kept;
	if (kept > 1)
		qsort(growths->rows.rows, kept, sizeof(*growths->rows.rows), by_kept);
}

static void release(struct finder *finder)
{
	gt_array_each(struct line, line, &finder->lines) {
		gt_array_release(&line->times);
		gt_array_release(&line->values);
		gt_array_free(line->most);
	}
	gt_array_release(&finder->lines);
	gt_array_free(finder->line_of_holder);
	gt_index_free(finder->scopes);
	gt_index_free(finder->keys);
	gt_memory_use_release(&finder->use);
}

void gt_memory_growths_init(struct gt_memory_growths *growths, const struct gt_view *view,
                            const struct gt_ranges *ranges)
{
	struct finder finder = {.view = view, .ranges = ranges, .growths = growths};

	*growths = (struct gt_memory_growths){0};
	if (view->trace->ranges.count == 0)
		return;
	finder.scopes = gt_index_new(sizeof(struct scope));
	finder.keys = gt_index_new(sizeof(struct key));
	gt_memory_use_init(&finder.use, view);
	find_lines(&finder);
	draw_lines(&finder);
	gt_array_each(struct line, line, &finder.lines)
		plant(line);
	see_ranges(&finder);
	see_pieces(&finder);
	sort(growths);
	release(&finder);
}

void gt_memory_growths_release(struct gt_memory_growths *growths)
{
	gt_array_release(&growths->rows);
}
