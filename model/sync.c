/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sync.h"

bool gt_sync_waits_host(uint32_t kind)
{
	switch (kind) {
#define SYNC_KIND(name, number, words, waits_host)                                                 \
	case number:                                                                               \
		return (waits_host) != 0;
#include "format/sync_kinds.def"
	default:
		return false;
	}
}

gt_id gt_sync_stream(const struct gt_trace *trace, const struct gt_sync *sync)
{
	return sync->stream == GT_NONE && sync->record < trace->syncs.count
	               ? trace->syncs.rows[sync->record].stream
	               : sync->stream;
}
