/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_DUMP_H
#define GT_FORMAT_ARENA_DUMP_H

struct gt_error;

/*
 * Writes a capture of its own, of what the capture and the arena of a process hold that runs and
 * goes on: nothing of the process is touched. arena: its path; where there is none the process has
 * ended, and the capture is copied. into must not exist. 0, or negative with err set; then the file
 * is gone again.
 */
int gt_dump_capture(const char *capture, const char *arena, const char *into, struct gt_error *err);

#endif
