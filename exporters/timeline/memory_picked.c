/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/timeline/memory_picked.h"

#include <string.h>

#include "base/array.h"
#include "exporters/timeline/memory_shown.h"

/* Why a row is among those that stay. */
enum reason { LARGE, AT_PEAK, NEVER_FREED, REASONS };

struct candidate {
	gt_size size_bytes;
	gt_id row;
};

/* The largest so far, the least of them at the top: a heap. */
struct largest {
	struct candidate rows[GT_MEMORY_MARKED_MOST];
	size_t count;
};

/* The later of two rows of one size goes first. */
static bool is_less(struct candidate left, struct candidate right)
{
	return left.size_bytes != right.size_bytes ? left.size_bytes < right.size_bytes
	                                           : left.row > right.row;
}

static void sift_up(struct largest *largest, struct candidate candidate)
{
	size_t at = largest->count++;

	for (; at > 0 && is_less(candidate, largest->rows[(at - 1) / 2]); at = (at - 1) / 2)
		largest->rows[at] = largest->rows[(at - 1) / 2];
	largest->rows[at] = candidate;
}

/* In place of the least. */
static void sift_down(struct largest *largest, struct candidate candidate)
{
	size_t at = 0;

	for (;;) {
		size_t below = 2 * at + 1;

		if (below + 1 < largest->count &&
		    is_less(largest->rows[below + 1], largest->rows[below]))
			below++;
		if (below >= largest->count || !is_less(largest->rows[below], candidate))
			break;
		largest->rows[at] = largest->rows[below];
		at = below;
	}
	largest->rows[at] = candidate;
}

static void offer(struct largest *largest, struct candidate candidate)
{
	if (largest->count < GT_MEMORY_MARKED_MOST)
		sift_up(largest, candidate);
	else if (is_less(largest->rows[0], candidate))
		sift_down(largest, candidate);
}

bool gt_memory_span_has_peak(const struct gt_memory_span *span)
{
	return span->begin_ns <= span->peak_ns && span->end_ns > span->peak_ns;
}

static bool is_for(const struct gt_memory_span *span, enum reason reason)
{
	switch (reason) {
	case AT_PEAK:
		return gt_memory_span_has_peak(span);
	case NEVER_FREED:
		return span->end_ns == INT64_MAX;
	case LARGE:
	case REASONS:
		break;
	}
	return true;
}

static void pick_largest(bool *picked, size_t count, gt_memory_span_of *span_of,
                         const void *context)
{
	struct largest *largest = gt_allocate(REASONS * sizeof(*largest));

	for (size_t i = 0; i < REASONS; i++)
		largest[i].count = 0;
	for (gt_id row = 0; row < count; row++) {
		const struct gt_memory_span span = span_of(context, row);

		for (size_t i = 0; i < REASONS; i++)
			if (span.in_view && is_for(&span, (enum reason)i))
				offer(&largest[i], (struct candidate){span.size_bytes, row});
	}
	for (size_t i = 0; i < REASONS; i++)
		for (size_t j = 0; j < largest[i].count; j++)
			picked[largest[i].rows[j].row] = true;
	gt_array_free(largest);
}

bool *gt_memory_pick(size_t count, gt_memory_span_of *span_of, const void *context)
{
	bool *picked = gt_allocate_zeroed(count + 1, sizeof(*picked));
	size_t in_view = 0;

	for (gt_id row = 0; row < count; row++) {
		picked[row] = span_of(context, row).in_view;
		in_view += picked[row];
	}
	if (in_view <= GT_MEMORY_MARKED_ALL)
		return picked;
	memset(picked, 0, (count + 1) * sizeof(*picked));
	pick_largest(picked, count, span_of, context);
	return picked;
}
