/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_SEQUENCE_H
#define GT_CLI_RUN_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/known.h"
#include "model/trace.h"

/*
 * A sequence that was captured, in its recording: the GPU work of its process, and the other
 * occurrences of its range, or the other launches of its graph.
 */

/* GPU work for a call of the process. */
enum gt_sequence_work_kind { GT_SEQUENCE_LAUNCH, GT_SEQUENCE_COPY, GT_SEQUENCE_FILL };

struct gt_sequence_work {
	enum gt_sequence_work_kind kind;
	int64_t call_ns;
	int64_t start_ns;
	int64_t end_ns;
	gt_id shape;    /* of a launch */
	uint64_t bytes; /* of copies and fills */
	bool counts;    /* its times are a figure */
	bool captured;  /* a call that was captured asked for it */
};

struct gt_sequence_interval {
	int64_t start_ns;
	int64_t end_ns;
};

/* Data of one bundle. */
struct gt_sequence {
	const struct gt_trace *trace;
	const struct gt_captured_launch *launch;
	gt_array(struct gt_sequence_work) work; /* of the process, by call */
	gt_array(struct gt_sequence_interval)
		occurrences;   /* of the range in it, but those that were captured */
	struct gt_known calls; /* of api_calls, by correlation */
};

/* The trace and the launch must outlive it. */
void gt_sequence_init(struct gt_sequence *sequence, const struct gt_trace *trace,
                      const struct gt_captured_launch *launch);
void gt_sequence_release(struct gt_sequence *sequence);

/* The first work whose call was made at that time or later. */
size_t gt_sequence_first_at(const struct gt_sequence *sequence, int64_t time_ns);

#endif
