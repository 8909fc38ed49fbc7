/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPARE_SIDES_H
#define GT_CLI_COMPARE_SIDES_H

#include <stddef.h>

#include "cli/output/words.h"

struct gt_error;

/* The recordings that are compared: paths of side A, then of side B. */
struct gt_sides {
	struct gt_words paths;
	size_t a; /* how many are of side A */
};

/* Stands among the operands where --against stood: compared by its address. */
extern char gt_against[];

/*
 * Operands as they were typed: A B, A... --against B..., or one folder that gputrace repeat made,
 * in which recordings are called a-1, b-1, and so on. A folder of recordings stands for all of
 * them; a file of JSON is a baseline. -EINVAL with what to type instead.
 */
int gt_sides_read(struct gt_sides *sides, int count, char **words, struct gt_error *err);
/* The same of one side alone: recordings, and folders of them. */
int gt_sides_read_one(struct gt_sides *sides, int count, char **words, struct gt_error *err);
void gt_sides_release(struct gt_sides *sides);

#endif
