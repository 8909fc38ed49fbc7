/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SOURCE_H
#define GT_INJECTION_SOURCE_H

#include <stddef.h>

struct gt_session;

/* Something that produces records while a program runs. To add one: see sources.def. */
struct gt_source {
	const char *name;
	/*
	 * Called on the thread that initialises CUDA, with CUPTI subscribed. Returns 0, or a
	 * negative value with a sentence in why: the source is then left out and noted.
	 */
	int (*start)(struct gt_session *session, char *why, size_t why_size);
	/* Called on the writer thread every flush interval and once before the end; may be NULL. */
	void (*tick)(struct gt_session *session);
	/* Called at exit, only after a start that returned 0; may be NULL. */
	void (*stop)(struct gt_session *session);
};

#endif
