/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_CONDITION_H
#define GT_COLLECTOR_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct gt_reader;

/*
 * Whether a recording is whole, and what is wrong with it otherwise. Whoever reads a recording says
 * so in these words.
 */

/* Condition of one file of chunks, after it was read. */
struct gt_condition {
	const char *name;    /* of the file, without its folder */
	const char *problem; /* why nothing of it could be read; NULL: it was read */
	size_t size;
	size_t good_bytes; /* end of its last good chunk */
	size_t damage_at;
	uint64_t skipped; /* damaged bytes that were skipped over, from damage_at on */
	bool torn;        /* nothing behind good_bytes could be read */
	bool has_end;     /* it says how its process ended; true for a file of no process */
	bool missing;     /* there is only an arena */
	bool running;     /* its process still writes */
};

/* Takes over what a reader found that has come to its end. */
void gt_condition_take(struct gt_condition *condition, const struct gt_reader *reader);

#define GT_CONDITION_BYTES 512 /* that the text of a file fits into; longer names are cut */

/* One sentence, without a full stop, about what cannot be read of it. False, and "": nothing. */
bool gt_condition_text(const struct gt_condition *condition, char *text, size_t size);

/* Condition of all files of a recording. Zeroed, it is that of none. */
struct gt_recording_condition {
	unsigned damaged; /* files of which not all can be read */
	unsigned running; /* processes that still write */
	char first[GT_CONDITION_BYTES];
};

void gt_recording_condition_add(struct gt_recording_condition *recording,
                                const struct gt_condition *condition);

#define GT_RECORDING_CONDITION_BYTES 1024

/* The words that follow the name of the recording. False, and "": it is whole. */
bool gt_recording_condition_text(const struct gt_recording_condition *recording, char *text,
                                 size_t size);

/* The sentence for a recording none of whose captures can be read. The code is that of why. */
int gt_fail_unread(struct gt_error *err, size_t captures, const char *path,
                   const struct gt_error *why);

/*
 * Looks at the files of a recording's folder that no process writes any more, without keeping what
 * they hold. Fails as reading the recording does: when none of its captures can be read.
 */
int gt_recording_condition_read(struct gt_recording_condition *recording, const char *folder,
                                struct gt_error *err);

#endif
