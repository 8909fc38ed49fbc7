/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_SINK_SINK_H
#define GT_BASE_SINK_SINK_H

#include <stddef.h>

/* Where bytes go. write() takes all of them or returns a negative errno value. */
struct gt_sink {
	int (*write)(void *context, const void *data, size_t size);
	void *context;
};

#endif
