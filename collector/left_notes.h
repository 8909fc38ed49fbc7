/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_LEFT_NOTES_H
#define GT_COLLECTOR_LEFT_NOTES_H

#include <stdint.h>

#include "base/array.h"

/*
 * Notes that others than the injection library left in files of their own, a line each. What Python
 * brings along writes HOST-PID.notes in its process. gputrace run writes HOST.kernel-log
 * (cli/run/machine/kernel_log.h): its messages are of the process that they name.
 */

enum {
	GT_LEFT_NOTES_MOST = 1000,       /* of a recording */
	GT_LEFT_NOTES_BYTES = 16 * 1024, /* of a file that are read */
};

struct gt_left_note {
	char host[65];
	const char *topic; /* constant */
	uint32_t pid;      /* 0: of no process */
	char text[512];    /* UTF-8 without control characters */
};

struct gt_left_notes {
	gt_array(struct gt_left_note) list;
};

/* Adds those of a file in a folder; what cannot be read, or has no such name, adds none. */
void gt_left_notes_read(struct gt_left_notes *notes, int folder, const char *name);

/* The same of a kernel log. */
void gt_left_notes_read_log(struct gt_left_notes *notes, int folder, const char *name);
void gt_left_notes_release(struct gt_left_notes *notes);

#endif
