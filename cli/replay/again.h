/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_AGAIN_H
#define GT_CLI_REPLAY_AGAIN_H

/*
 * Begins this program again, with the words that it was started with: as another process it has
 * other addresses taken. It does so GT_AGAIN_MOST times at most, the last time with the kernel's
 * random addresses switched off. Returns only where it does not begin again.
 */
enum { GT_AGAIN_MOST = 6 };

void gt_begin_again(void);

/* How often it began again. */
unsigned gt_begun_again(void);

#endif
