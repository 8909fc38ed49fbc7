/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_GPUS_LOCK_H
#define GT_CLI_GPUS_LOCK_H

struct gt_error;

/*
 * One measurement on a GPU at a time: a locked file for each GPU, by its UUID, in gputrace/ of the
 * user's runtime folder, which XDG_RUNTIME_DIR names (XDG Base Directory Specification), else in
 * gputrace-UID of the folder for temporary files. It holds for the commands of one user on one
 * machine, and ends with the process that holds it.
 */

/*
 * Waits, and says for whom, until no other process holds it. The lock, to be given back, or
 * negative: the file cannot be made.
 */
int gt_gpu_lock(const char *uuid, struct gt_error *err);
void gt_gpu_unlock(int lock);

#endif
