/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_VERIFY_ROLES_H
#define GT_REPLAY_VERIFY_ROLES_H

#include <stdbool.h>

#include "replay/types/role.h"

struct gt_error;
struct gt_verifying;

/* Finds the roles of memory. */

void gt_roles_release(struct gt_roles *roles);

/* For a variant beside the first: what is known of memory stays, and is all that there will be. */
void gt_roles_begin_variant(struct gt_roles *roles);

/* Whether there is memory that may be asked still, or an output of which no bytes are counted. */
bool gt_roles_has_more(struct gt_roles *roles, const struct gt_verifying *verifying);

/*
 * Finds what it can. Memory is afterwards as before. Fails where a run over other bytes fails,
 * after which the GPU is not to be used.
 */
int gt_roles_find(struct gt_roles *roles, const struct gt_verifying *verifying,
                  struct gt_error *err);

#endif
