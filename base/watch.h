/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_WATCH_H
#define GT_BASE_WATCH_H

#include <stdint.h>

/*
 * Who wants to know how far something long is. Told often, on the thread that does it, and never
 * backwards: done of total, in whatever it counts.
 */
struct gt_watch {
	void (*tell)(void *context, uint64_t done, uint64_t total);
	void *context;
};

/* watch NULL: nobody does. */
static inline void gt_watch_tell(const struct gt_watch *watch, uint64_t done, uint64_t total)
{
	if (watch)
		watch->tell(watch->context, done, total);
}

#endif
