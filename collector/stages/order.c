/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/stage.h"

/*
 * Rows by start time: CUPTI hands records over late and out of order. Equal times keep the
 * longer row first, so that what contains comes before what is contained.
 *
 * A merge sort of the runs that are there: each thread's and each stream's records come in order,
 * and what is out of place is not far from it. So runs are long, and merging two of them touches
 * only the rows where they overlap.
 */

#define SHORT_RUN 32 /* shorter ones are made so long, row by row */

struct sorter {
	uint8_t *rows;
	size_t size;           /* of a row, bytes */
	gt_array(size_t) ends; /* of the runs, as row numbers */
	uint8_t *left;         /* the rows of a left run that are merged */
	size_t left_bytes;     /* room for them */
};

static uint8_t *row_at(const struct sorter *sorter, size_t row)
{
	return sorter->rows + row * sorter->size;
}

/* Moves a row down to its place among the sorted ones from first on. */
static void insert(const struct sorter *sorter, size_t first, size_t row)
{
	uint8_t moved[GT_ROW_MAX];
	size_t to = row;

	while (to > first && gt_row_is_before(row_at(sorter, row), row_at(sorter, to - 1)))
		to--;
	if (to == row)
		return;
	memcpy(moved, row_at(sorter, row), sorter->size);
	memmove(row_at(sorter, to + 1), row_at(sorter, to), (row - to) * sorter->size);
	memcpy(row_at(sorter, to), moved, sorter->size);
}

static void find_runs(struct sorter *sorter, size_t count)
{
	size_t end = 0;

	while (end < count) {
		const size_t first = end++;

		while (end < count &&
		       !gt_row_is_before(row_at(sorter, end), row_at(sorter, end - 1)))
			end++;
		for (; end < count && end - first < SHORT_RUN; end++)
			insert(sorter, first, end);
		*gt_array_push(&sorter->ends) = end;
	}
}

/* The first of the sorted rows first to end - 1 that a row belongs before, or end. */
static size_t place_of(const struct sorter *sorter, const void *row, size_t first, size_t end)
{
	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (gt_row_is_before(row, row_at(sorter, middle)))
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

/* A copy of rows, valid until the next. */
static const uint8_t *keep_left(struct sorter *sorter, const uint8_t *rows, size_t bytes)
{
	if (bytes > sorter->left_bytes) {
		free(sorter->left);
		sorter->left = gt_allocate(bytes);
		sorter->left_bytes = bytes;
	}
	return memcpy(sorter->left, rows, bytes);
}

/* The runs first to middle - 1 and middle to end - 1 become one. */
static void merge(struct sorter *sorter, size_t first, size_t middle, size_t end)
{
	const size_t size = sorter->size;
	const uint8_t *left;
	const uint8_t *left_end;
	uint8_t *right = row_at(sorter, middle);
	uint8_t *const right_end = row_at(sorter, end);
	uint8_t *to;

	first = place_of(sorter, right, first, middle); /* what is before that stays */
	if (first == middle)
		return;
	to = row_at(sorter, first);
	left = keep_left(sorter, to, (middle - first) * size);
	left_end = left + (middle - first) * size;
	while (left < left_end && right < right_end) {
		if (gt_row_is_before(right, left)) {
			memcpy(to, right, size);
			right += size;
		} else {
			memcpy(to, left, size);
			left += size;
		}
		to += size;
	}
	memcpy(to, left, (size_t)(left_end - left)); /* the rest of the right ones is in place */
}

/* Each run with its neighbour, until there is one. */
static void merge_runs(struct sorter *sorter)
{
	while (sorter->ends.count > 1) {
		const size_t count = sorter->ends.count;
		size_t *ends = sorter->ends.rows;
		size_t first = 0;

		sorter->ends.count = 0;
		for (size_t i = 0; i + 1 < count; i += 2) {
			merge(sorter, first, ends[i], ends[i + 1]);
			first = ends[i + 1];
			ends[sorter->ends.count++] = first;
		}
		if (count % 2)
			ends[sorter->ends.count++] = ends[count - 1];
	}
}

static void sort(void *rows, size_t count, size_t size)
{
	struct sorter sorter = {.rows = rows, .size = size};

	find_runs(&sorter, count);
	merge_runs(&sorter);
	gt_array_release(&sorter.ends);
	free(sorter.left);
}

/* Where a sample stood: of equal times the first stays the first. */
struct sample {
	gt_time time_ns;
	size_t place;
};

static int by_time(const void *a, const void *b)
{
	const struct sample *left = a;
	const struct sample *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

static void arrange(double *values, double *room, const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		room[i] = values[samples[i].place];
	memcpy(values, room, count * sizeof(*values));
}

/* Samples come in order but where a buffer was found late. */
static void sort_series(struct gt_series *series)
{
	struct sample *samples;
	double *room;
	size_t at = 1;

	while (at < series->count && series->times_ns[at - 1] <= series->times_ns[at])
		at++;
	if (at >= series->count)
		return;
	samples = gt_allocate(series->count * sizeof(*samples));
	room = gt_allocate(series->count * sizeof(*room));
	for (size_t i = 0; i < series->count; i++)
		samples[i] = (struct sample){series->times_ns[i], i};
	qsort(samples, series->count, sizeof(*samples), by_time);
	for (size_t i = 0; i < series->count; i++)
		series->times_ns[i] = samples[i].time_ns;
	for (size_t column = 0; column < series->column_count; column++)
		arrange(series->columns[column], room, samples, series->count);
	free(samples);
	free(room);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;

	(void)err;
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_rows rows = gt_trace_rows(trace, i);

		if (gt_trace_table(trace, i).order == GT_ORDER_by_time)
			sort(rows.rows, *rows.count, rows.row_size);
	}
	gt_array_each(struct gt_series, series, &trace->series)
		sort_series(series);
	return 0;
}

const struct gt_stage gt_stage_order = {.name = "order", .run = run};
