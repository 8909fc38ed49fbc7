/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DECODE_LONG_AGO_H
#define GT_COLLECTOR_DECODE_LONG_AGO_H

#include <stdbool.h>

struct gt_chunk_header;
struct gt_reader;

/*
 * For a look at processes that run, which is to take less than a second however long they have been
 * recorded: kernels, copies, fills, calls, waits, queries and samples in chunks before the last
 * GT_RECENT_BYTES of a capture are passed over. All that describes others is read.
 */
enum { GT_RECENT_BYTES = 2 << 20 };

bool gt_is_long_ago(const struct gt_reader *reader, const struct gt_chunk_header *header);

#endif
