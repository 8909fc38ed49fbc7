/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/decode/cut.h"

#include <string.h>

#include "collector/kinds.h"
#include "collector/stage.h"

typedef bool stays_function(const struct gt_capture *capture, uint32_t record,
                            const struct gt_kind *kind, const uint8_t *row);

struct cut {
	stays_function *stays;
	uint8_t *rows;
	size_t row_size;
	size_t left; /* rows that stay, of those looked at so far */
};

/* Moves the rows of a segment that stay behind those before it. */
static void cut_segment(struct cut *cut, const struct gt_capture *capture,
                        const struct gt_kind *kind, struct gt_segment *segment)
{
	const size_t first = cut->left;

	for (size_t i = 0; i < segment->count; i++) {
		const uint8_t *row = cut->rows + (segment->first + i) * cut->row_size;

		if (cut->stays(capture, segment->kind, kind, row))
			memmove(cut->rows + cut->left++ * cut->row_size, row, cut->row_size);
	}
	segment->first = first;
	segment->count = cut->left - first;
}

/*
 * Captures were decoded one after the other: the segments of a table, of whatever kind, stand in
 * the order of its rows.
 */
static size_t cut_table(struct gt_collection *collection, size_t table, stays_function *stays)
{
	const struct gt_rows rows = gt_trace_rows(collection->trace, table);
	const size_t before = *rows.count;
	struct cut cut = {.stays = stays, .rows = rows.rows, .row_size = rows.row_size};
	bool has_segments = false;

	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		gt_array_each(struct gt_segment, segment, &capture->segments) {
			const struct gt_kind *kind = gt_kind_find(collection->kinds, segment->kind);

			if (!kind || kind->table != table)
				continue;
			cut_segment(&cut, capture, kind, segment);
			has_segments = true;
		}
	}
	if (has_segments)
		*rows.count = cut.left;
	return before - *rows.count;
}

size_t gt_cut_rows(struct gt_collection *collection, stays_function *stays)
{
	size_t gone = 0;

	for (size_t table = 0; table < GT_TABLE_COUNT; table++)
		gone += cut_table(collection, table, stays);
	return gone;
}
