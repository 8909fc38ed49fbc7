/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/decode/long_ago.h"

#include "format/file/reader.h"
#include "format/records.h"

static bool is_plentiful(uint16_t kind)
{
	switch (kind) {
	case GT_RECORD_kernel:
	case GT_RECORD_copy:
	case GT_RECORD_fill:
	case GT_RECORD_api_call:
	case GT_RECORD_sync_call:
	case GT_RECORD_query:
	case GT_RECORD_SERIES:
		return true;
	default:
		return false;
	}
}

bool gt_is_long_ago(const struct gt_reader *reader, const struct gt_chunk_header *header)
{
	return reader->size - reader->offset > GT_RECENT_BYTES && is_plentiful(header->kind);
}

enum gt_keep gt_keep_of(uint16_t kind)
{
	if (is_plentiful(kind))
		return GT_KEEP_WANTED;
	switch (kind) {
	case GT_RECORD_graph_trace:
	case GT_RECORD_overhead:
	case GT_RECORD_access:
	case GT_RECORD_copy_place:
	case GT_RECORD_unified_event:
	case GT_RECORD_device_chunk:
	case GT_RECORD_device_event:
		return GT_KEEP_WANTED;
	case GT_RECORD_sync:
	case GT_RECORD_graph_launch:
	case GT_RECORD_range_begin:
	case GT_RECORD_range_end:
	case GT_RECORD_range_data:
		return GT_KEEP_LATE;
	default:
		return GT_KEEP_ALL;
	}
}

bool gt_is_timed_by_cupti(uint16_t kind)
{
	return kind == GT_RECORD_kernel || kind == GT_RECORD_copy || kind == GT_RECORD_fill ||
	       kind == GT_RECORD_graph_trace;
}
