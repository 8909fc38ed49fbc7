/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_AGAIN_H
#define GT_CLI_REPLAY_AGAIN_H

#include <stddef.h>

struct gt_error;

/*
 * This program as another process, with the words that it was started with, and with what this one
 * leaves to it: bytes that mean something to this program alone. Each returns only where there is
 * no other process.
 */
enum { GT_AGAIN_MOST = 6 };

/*
 * With other addresses taken: GT_AGAIN_MOST times at most, the last time with the kernel's random
 * addresses switched off.
 */
void gt_begin_again(const void *left, size_t size);

/* With a GPU that works: after a fault it does nothing more for a process. As often as is wanted. */
void gt_go_on_elsewhere(const void *left, size_t size);

/* How often it began again. */
unsigned gt_begun_again(void);

/*
 * Data that the process before left, once: NULL where there was none. The caller frees it. Fails
 * where it cannot be read: then nothing may begin once more, which might never end.
 */
int gt_take_left(void **left, size_t *size, struct gt_error *err);

#endif
