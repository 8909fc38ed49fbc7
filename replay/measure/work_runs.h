/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEASURE_WORK_RUNS_H
#define GT_REPLAY_MEASURE_WORK_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "replay/measure/work.h"

/* Runs of the steps that show something. For replay/measure/work.c and work_left.c alone. */

/* Parts that are looked at together. */
struct gt_work_asked {
	const struct gt_work_part *parts;
	size_t count;
};

size_t gt_work_memory_count(const struct gt_work *work);

/* Bytes of a memory, by its number. */
size_t gt_work_memory_size(const struct gt_work *work, size_t number);
bool gt_work_is_array(const struct gt_work *work, size_t number);

/* One run. most_ns: that it may take; 0: as long as it takes. */
int gt_work_finish(struct gt_work *work, int64_t most_ns, struct gt_error *err);

/* All memory as it was recorded. */
int gt_work_reset(const struct gt_work *work, struct gt_error *err);

/* Whether the same comes out over such bytes in these parts, all else being as recorded. */
int gt_work_try_over(struct gt_work *work, const struct gt_work_asked *asked, bool poison,
                     bool *same, struct gt_error *err);

#endif
