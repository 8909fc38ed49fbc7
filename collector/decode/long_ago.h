/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DECODE_LONG_AGO_H
#define GT_COLLECTOR_DECODE_LONG_AGO_H

#include <stdbool.h>
#include <stdint.h>

struct gt_chunk_header;
struct gt_reader;

/*
 * For a look at processes that run, which is to take less than a second however long they have been
 * recorded: kernels, copies, fills, calls, waits, queries and samples in chunks before the last
 * GT_RECENT_BYTES of a capture are passed over. All that describes others is read.
 */
enum { GT_RECENT_BYTES = 2 << 20 };

bool gt_is_long_ago(const struct gt_reader *reader, const struct gt_chunk_header *header);

/* For looks one after the other (gt_collect_look): which records of a kind are kept. */
enum gt_keep {
	GT_KEEP_ALL,    /* they describe others, or are memory in use */
	GT_KEEP_LATE,   /* the latest: earlier ones say little of now */
	GT_KEEP_WANTED, /* as far back as is asked for: there are very many */
};

enum gt_keep gt_keep_of(uint16_t kind);

/* Whether it is work of GPUs, whose chunks say when the last of it ended. */
bool gt_is_timed_by_cupti(uint16_t kind);

#endif
