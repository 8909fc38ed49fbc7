/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_VERIFY_REHEARSAL_H
#define GT_REPLAY_VERIFY_REHEARSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_cuda;
struct gt_error;
struct gt_excerpt;
struct gt_replay_options;

/* Outcome of running a whole bundle once, for the sake of one of its steps. */
struct gt_rehearsal {
	bool compared;       /* with what was recorded */
	uint32_t buffers;    /* that hold something recorded to compare with, or should have */
	uint32_t differing;  /* of these, buffers that are not as recorded */
	uint64_t mismatches; /* elements */
	uint32_t first;      /* memory that is not as recorded; UINT32_MAX: all is */
};

/*
 * Runs the steps before the excerpt's once, from what was recorded, and keeps in the excerpt what
 * memory holds then and after its own step; to verify, the steps behind it as well, after which all
 * is compared with what was recorded. Steps run one after the other, as recorded, each part of
 * them for most_run_ns at most. Fails as gt_replay_run does.
 */
int gt_rehearse(struct gt_excerpt *excerpt, const struct gt_cuda *cuda,
                const struct gt_replay_options *options, struct gt_rehearsal *rehearsal,
                struct gt_error *err);

#endif
