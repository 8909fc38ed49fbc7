/* SPDX-License-Identifier: Apache-2.0 */
#include "model/work/sync.h"

#include "model/whole.h"

bool gt_sync_waits_host(uint32_t kind)
{
	switch (kind) {
#define SYNC_KIND(name, number, words, waits_host)                                                 \
	case number:                                                                               \
		return (waits_host) != 0;
#include "format/kinds/sync.def"
	default:
		return false;
	}
}

/* The record may lie before a window. */
gt_id gt_sync_stream(const struct gt_trace *trace, const struct gt_sync *sync)
{
	const struct gt_trace *whole = gt_whole_of(trace);
	const gt_id row = gt_whole_origin(trace, GT_TABLE_syncs, (gt_id)(sync - trace->syncs.rows));
	const gt_id record = row < whole->syncs.count ? whole->syncs.rows[row].record : GT_NONE;

	if (sync->stream != GT_NONE || record >= whole->syncs.count)
		return sync->stream;
	return gt_whole_shown(trace, GT_TABLE_streams, whole->syncs.rows[record].stream);
}
