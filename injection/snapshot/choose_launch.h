/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_CHOOSE_LAUNCH_H
#define GT_INJECTION_SNAPSHOT_CHOOSE_LAUNCH_H

#include "injection/calls/parameters.h"
#include "injection/snapshot/single_launch.h"

struct gt_session;

/*
 * Single launches with all that running them again needs: code, parameters, and the memory that
 * they can reach, before and after. One launch is captured at a time, and no other one of the
 * process goes to a GPU meanwhile. A kernel that is a node of a graph is captured with all of the
 * graph's launch.
 *
 * At the entry of the driver's call the program's thread reads what is launched and waits for a
 * thread of ours (thread.h), which waits for the GPU, copies memory and writes the bundle; at its
 * return once more.
 */

/* At the entry of a call. Returns what source captures keeps until the call returns, or NULL. */
void *gt_choose_launch(struct gt_session *session, struct gt_single_launch *kernels,
                       struct gt_call call);

#endif
