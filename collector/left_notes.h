/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_LEFT_NOTES_H
#define GT_COLLECTOR_LEFT_NOTES_H

#include <stdint.h>

#include "base/array.h"

/*
 * Notes that a process left in a file of its own, HOST-PID.notes, because what it had to say was
 * not said by the injection library: a line each. What Python brings along writes them.
 */

enum {
	GT_LEFT_NOTES_MOST = 1000,       /* of a recording */
	GT_LEFT_NOTES_BYTES = 16 * 1024, /* of a file that are read */
};

struct gt_left_note {
	char host[65];
	uint32_t pid;
	char text[512]; /* UTF-8 without control characters */
};

struct gt_left_notes {
	gt_array(struct gt_left_note) list;
};

/* Adds those of a file in a folder; what cannot be read, or has no such name, adds none. */
void gt_left_notes_read(struct gt_left_notes *notes, int folder, const char *name);
void gt_left_notes_release(struct gt_left_notes *notes);

#endif
