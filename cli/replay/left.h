/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_LEFT_H
#define GT_CLI_REPLAY_LEFT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/replay/outcome.h"

struct gt_error;

/*
 * Data that gputrace replay leaves to the process that it becomes (again.h): outcomes of the
 * variants that were run. That one goes through them in the same order, and runs those that
 * are not there.
 */
struct gt_left {
	struct gt_outcomes outcomes;
	bool relocate;   /* memory cannot be had where it was */
	bool unverified; /* of the last outcome another process finds out more */
	struct gt_roles roles;
};

/* As bytes, for the same program on the same machine. The caller frees them. */
void *gt_left_pack(const struct gt_left *left, size_t *size);

/* -EBADMSG where they are none; left is then empty. */
int gt_left_unpack(struct gt_left *left, const void *bytes, size_t size, struct gt_error *err);
void gt_left_release(struct gt_left *left);

#endif
