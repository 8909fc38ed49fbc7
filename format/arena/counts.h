/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_COUNTS_H
#define GT_FORMAT_ARENA_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/arena/arena.h"

/*
 * Counts that a traced process keeps of itself, read from its arena while it writes on: a page or
 * two, however long the recording is. Each only grows.
 */
struct gt_arena_counts {
	char capture[256]; /* name of its capture file: tells processes apart */
	bool is_live;      /* the process runs, or may */
	bool paused;       /* recording is */
	uint64_t ledger[GT_LEDGER_COUNT];
};

/* Names of the ledger's classes. */
extern const char *const gt_ledger_names[GT_LEDGER_COUNT];

/* False: there is no arena of this gputrace at that path, or it was not published yet. */
bool gt_arena_read_counts(const char *path, struct gt_arena_counts *counts);

#endif
