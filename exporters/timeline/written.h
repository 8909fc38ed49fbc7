/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_TIMELINE_WRITTEN_H
#define GT_EXPORTERS_TIMELINE_WRITTEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/sink/sink.h"

struct gt_error;

/* Output to a sink: how much, and the first error, after which nothing more is written. */
struct gt_written {
	struct gt_sink sink;
	int error; /* errno value, 0 while nothing has failed */
	uint64_t bytes;
};

void gt_written_add(struct gt_written *written, const void *bytes, size_t size);

/* Something else failed, with a positive errno value; only the first one counts. */
void gt_written_fail(struct gt_written *written, int code);

/* At the end: 0, or what went wrong, in a sentence. */
int gt_written_check(const struct gt_written *written, struct gt_error *err);

#endif
