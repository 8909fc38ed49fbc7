/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEASURE_WORK_H
#define GT_REPLAY_MEASURE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct gt_error;
struct gt_replay_options;
struct gt_restored;
struct gt_steps;

/*
 * Whether runs do the same work. A run finds all that the steps change as it was recorded, or is
 * shown to do the same without: a kernel that takes its tiles from a counter in memory does nothing
 * where it finds the counter as the run before left it.
 */

/* A part of memory that the steps change. */
struct gt_work_part {
	uint32_t memory;
	uint64_t offset;
	uint64_t bytes;
	bool left;    /* it is not restored between runs that follow each other: they do the same */
	bool by_time; /* shown by what changes, and so by nothing but the time as well */
};

/* Contents of one memory that the steps change; else NULL. */
struct gt_work_memory {
	uint8_t *before;
	uint8_t *after;
	bool varies; /* two runs from the same contents gave different bytes */
};

struct gt_work {
	struct gt_steps *steps;
	struct gt_restored *restored;
	const struct gt_replay_options *options;
	struct gt_work_memory *memory; /* by number in the bundle */
	gt_array(struct gt_work_part) parts;
	int64_t run_ns;  /* that the first run took, as the host saw it */
	int64_t most_ns; /* that a run over other bytes may take */
	int64_t begun_ns;
	uint32_t runs; /* that were made to show something */
	bool over_poison;
	char doubt[200]; /* why it is not known that runs do the same work; "" */
};

/*
 * Runs the steps twice from recorded memory, and finds what they change. Memory that they change
 * here, and did not in the program, is restored from now on as well.
 */
int gt_work_open(struct gt_work *work, struct gt_steps *steps, struct gt_restored *restored,
                 const struct gt_replay_options *options, struct gt_error *err);

/*
 * For runs that follow each other. Small parts are restored between them: so many bytes in all
 * leave the cache as it is. The rest is searched for parts that need not be restored: over other
 * bytes there, of over_poison, the same comes out; or over what a run left there as much is
 * changed, which the time has to confirm. Fails where a run over other bytes makes the GPU fail,
 * with unproven of the options' roles set: another process does without.
 */
int gt_work_choose(struct gt_work *work, uint64_t small_bytes, bool over_poison,
                   struct gt_error *err);

/* Bytes of parts that are left as a run leaves them, or of those that are restored. */
uint64_t gt_work_bytes(const struct gt_work *work, bool left);

/* From now on all is restored. */
void gt_work_leave_nothing(struct gt_work *work);

/* Restores what is not left, in the GPU's stream. copies: how many copies that takes. */
int gt_work_restore(const struct gt_work *work, struct gt_error *err);
size_t gt_work_copies(const struct gt_work *work);

/*
 * Behind the last timed run: whether it wrote what the first one did, and whether what was left
 * still makes no difference. Sets doubt.
 */
int gt_work_check(struct gt_work *work, struct gt_error *err);

void gt_work_close(struct gt_work *work);

#endif
