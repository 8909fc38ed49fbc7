/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NAMES_H
#define GT_INJECTION_NAMES_H

struct gt_session;

/*
 * Keeps the names of kernels whose records still lie in a buffer of CUPTI's: if the process dies
 * now, the salvager has only their pointers. Writer thread.
 */
void gt_names_keep(struct gt_session *session);

#endif
