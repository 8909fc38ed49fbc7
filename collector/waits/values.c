/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/waits/values.h"

#include <stdint.h>

#include "base/array.h"
#include "model/index.h"
#include "model/work/sync.h"

/* Known writes and waits of an address: rows of syncs. */
struct cell {
	gt_id write;   /* the last write */
	gt_id waiting; /* the first wait since for which there was no write yet; GT_NONE: none */
};

/* An address means something in its process alone. */
struct cell_key {
	uint64_t address;
	uint64_t process;
};

struct cells {
	struct gt_index *keys;
	gt_array(struct cell) list;
};

static struct cell *cell_at(struct cells *cells, const struct cell_key *key)
{
	const size_t place = gt_index_add(cells->keys, key);

	if (place == cells->list.count)
		*gt_array_push(&cells->list) = (struct cell){GT_NONE, GT_NONE};
	return &cells->list.rows[place];
}

/*
 * A wait is for the last write before it if that wrote the value, else for the next write. Writes
 * of the host, a kernel or another process are not seen.
 */
static void follow_value(struct gt_trace *trace, struct cells *cells, gt_id row)
{
	struct gt_sync *sync = &trace->syncs.rows[row];
	const gt_id process = sync->context < trace->contexts.count
	                              ? trace->contexts.rows[sync->context].process
	                              : GT_NONE;
	struct cell *cell;

	if ((sync->kind != GT_SYNC_WAIT_VALUE && sync->kind != GT_SYNC_WRITE_VALUE) ||
	    sync->result != 0 || sync->address == 0)
		return;
	cell = cell_at(cells, &(struct cell_key){sync->address, process});
	if (sync->kind == GT_SYNC_WRITE_VALUE) {
		if (cell->waiting != GT_NONE)
			trace->syncs.rows[cell->waiting].record = row;
		*cell = (struct cell){.write = row, .waiting = GT_NONE};
		return;
	}
	/* With GEQ an earlier, larger value will do as well: what is there stays until the next. */
	sync->record = cell->write;
	if (cell->waiting == GT_NONE &&
	    (cell->write == GT_NONE || trace->syncs.rows[cell->write].value != sync->value))
		cell->waiting = row;
}

void gt_follow_values(struct gt_trace *trace)
{
	struct cells cells = {.keys = gt_index_new(sizeof(struct cell_key))};

	for (gt_id row = 0; row < trace->syncs.count; row++)
		follow_value(trace, &cells, row);
	gt_index_free(cells.keys);
	gt_array_release(&cells.list);
}
