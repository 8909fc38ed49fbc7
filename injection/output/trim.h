/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_OUTPUT_TRIM_H
#define GT_INJECTION_OUTPUT_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/records.h"

struct gt_error;
struct gt_output;
struct gt_settings;
struct gt_writer;

/*
 * Takes what is old out of the capture, so that a program which is recorded for days takes a
 * bounded part of the disk (GPUTRACE_KEEP_LAST, GPUTRACE_KEEP_BYTES). A copy is made of the capture
 * without the chunks of kinds that pass (gt_record_passes) from before some moment, and takes its
 * place when it has caught up. So readers find a capture like any other, whenever they look; one
 * record for each kind says how much is gone.
 *
 * By time the capture is cut to what was asked for when it holds half as much again. By bytes it is
 * cut to a quarter when it has half of them: the two files, and what is written meanwhile, take no
 * more.
 */

#define GT_TRIM_MARKS 256

/* All that is written from this place on is of records that began later, or were on their way. */
struct gt_trim_mark {
	uint64_t at_ns; /* gt_now */
	uint64_t place;
};

struct gt_trim {
	uint64_t keep_ns;    /* 0: not asked for */
	uint64_t keep_bytes; /* likewise */
	uint64_t bytes;      /* of the capture */
	uint64_t kept;       /* of these, before the first mark: what stays for ever */
	struct gt_trim_mark marks[GT_TRIM_MARKS];
	uint32_t count;
	bool has_failed;
	uint64_t gone[GT_RECORD_KIND_COUNT]; /* records, in all */

	/* While a copy is made: */
	int from; /* -1: none is */
	int into;
	dev_t into_device; /* which file that is */
	ino_t into_inode;
	struct gt_trim_mark cut; /* where the marks begin when it is done */
	uint64_t done;           /* bytes of the capture that were copied or left out */
	uint64_t written;        /* bytes of the copy, */
	uint64_t kept_of_copy;   /* and of these those from before the cut */
	uint64_t leaves_out[GT_RECORD_KIND_COUNT];
	bool has_clock;
	bool takes_writes; /* what is written goes to the copy: it is complete but for that */
};

void gt_trim_init(struct gt_trim *trim, const struct gt_settings *settings);

/*
 * To be called often, on the writer thread: each call copies a part. 0, or negative with err set,
 * once: the capture then grows on.
 */
int gt_trim_turn(struct gt_output *output, struct gt_writer *writer, struct gt_error *err);

/* For gt_capture_file_write, in a job of the thread for files. */
int gt_trim_write(struct gt_trim *trim, const void *data, size_t size);

/* The process ends, or this is the child of a fork: the copy is forgotten, the capture stays. */
void gt_trim_stop(struct gt_output *output);
void gt_trim_forget(struct gt_trim *trim);

#endif
