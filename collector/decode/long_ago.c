/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/decode/long_ago.h"

#include "format/file/reader.h"
#include "format/records.h"

bool gt_is_long_ago(const struct gt_reader *reader, const struct gt_chunk_header *header)
{
	if (reader->size - reader->offset <= GT_RECENT_BYTES)
		return false;
	switch (header->kind) {
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
