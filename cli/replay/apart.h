/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_APART_H
#define GT_CLI_REPLAY_APART_H

#include <stdbool.h>
#include <stddef.h>

struct gt_bundle;
struct gt_outcome;
struct gt_result;

/*
 * How far the time of launches that were run again is from that in the program: in the state of the
 * cache that fits best, as nobody knows what the program's caches held.
 */

/* The state whose median is nearest to the time in the program, the asked one first: sets fits. */
void gt_apart_choose(struct gt_outcome *outcome, unsigned asked);

/* Whether that is further away than figures of the same work are. */
bool gt_apart_is_far(const struct gt_outcome *outcome);

/* The reason, as far as it is known; false: it is not. */
bool gt_apart_reason(const struct gt_outcome *outcome, const struct gt_bundle *bundle, char *text,
                     size_t size);

/* That it is far away, with the reason, as a sentence; false: it is not. */
bool gt_apart_warn(const struct gt_outcome *outcome, const struct gt_bundle *bundle, char *text,
                   size_t size);

/* Remarks on the states that were tried, and that warning. */
void gt_apart_remark(struct gt_result *result, const struct gt_outcome *outcome,
                     const struct gt_bundle *bundle);

#endif
