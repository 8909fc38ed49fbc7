/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_USDT_RECORDS_H
#define GT_INJECTION_USDT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/usdt/probe.h"

struct gt_activity_layout;
struct gt_cupti;

/* Whether somebody is attached to a probe of CUPTI's records. */
static inline bool gt_probe_hears_records(void)
{
	return GT_PROBE_IS_ON(kernel) || GT_PROBE_IS_ON(copy);
}

/*
 * Fires kernel and copy for the records in a buffer that CUPTI hands back, on the thread on which
 * it does: one of CUPTI's or gputrace's, or the program's where that flushes. Records that CUPTI
 * has not finished come to the end without a probe.
 */
void gt_probe_records(const struct gt_cupti *cupti, const struct gt_activity_layout *layout,
                      uint8_t *bytes, size_t used);

/* Fires dropped. */
void gt_probe_dropped(size_t records);

#endif
