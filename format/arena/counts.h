/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_COUNTS_H
#define GT_FORMAT_ARENA_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/arena/arena.h"

struct gt_error;

/*
 * Counts that a traced process keeps of itself, read from its arena while it writes on: a page or
 * two, however long the recording is. Each count only grows.
 */
struct gt_arena_counts {
	char capture[256]; /* name of its capture file: tells processes apart */
	bool is_live;      /* the process runs, or may */
	bool paused;       /* recording is */
	uint64_t followed; /* the order that it followed last (format/control/control.h), 0: none */
	uint64_t ledger[GT_LEDGER_COUNT];
};

/* Names of the ledger's classes. */
extern const char *const gt_ledger_names[GT_LEDGER_COUNT];

/* False: there is no arena of this gputrace at that path, or it was not published yet. */
bool gt_arena_read_counts(const char *path, struct gt_arena_counts *counts);

/*
 * Calls see for each such arena in a folder; counts are valid during the call. Returns how many
 * there are, or a negative errno value with a sentence.
 */
int gt_arena_each_counts(const char *folder,
                         void (*see)(void *context, const struct gt_arena_counts *counts),
                         void *context, struct gt_error *err);

#endif
