/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_LIVE_H
#define GT_FORMAT_ARENA_LIVE_H

struct gt_content;
struct gt_error;

/*
 * A private copy of the arena of a process that runs and goes on writing it: nothing of the process
 * is touched. Slots that it handed on while they were copied are free in the copy: the capture has
 * what was in them. So the capture is read after the copy was made, and gt_salvage_live leaves out
 * what is in both. 0, or negative with err set: -ENODATA where the arena was never published.
 */
int gt_arena_load_live(struct gt_content *copy, const char *path, struct gt_error *err);

#endif
