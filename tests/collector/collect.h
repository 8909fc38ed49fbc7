/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_COLLECTOR_COLLECT_H
#define GT_TESTS_COLLECTOR_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "collector/collector.h"
#include "model/trace.h"
#include "support/check.h"
#include "support/recording.h"

/* The trace of a recording that must be readable; released by the caller. */
static inline struct gt_trace collect(const struct recording *recording)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	gt_trace_init(&trace);
	cr_assert(eq(int, gt_collect(recording->path, &trace, &err), 0), "%s", err.text);
	return trace;
}

/* Whether a note says this, of that process. */
static inline bool has_note(const struct gt_trace *trace, gt_id process, const char *text)
{
	gt_array_each(const struct gt_note, note, &trace->notes)
		if (note->process == process && strcmp(gt_trace_text(trace, note->text), text) == 0)
			return true;
	return false;
}

/* A ledger class summed over all processes; UINT64_MAX when there is none. */
static inline uint64_t ledger_of(const struct gt_trace *trace, const char *name)
{
	uint64_t value = UINT64_MAX;

	(void)gt_trace_ledger(trace, name, &value);
	return value;
}

#endif
