/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_LAUNCHED_H
#define GT_EXPORTERS_PERFETTO_LAUNCHED_H

#include <stddef.h>
#include <stdint.h>

struct gt_ids;

/* The other direction of the column api_call: which kernels, copies and fills a call launched. */
struct gt_launched {
	uint32_t *first;      /* by row of api_calls, and one more: where its activities begin */
	uint32_t *activities; /* numbers as gt_ids_activity gives them, in ascending order */
};

/* Only activities that have a place in the file and ran in the process of the call. */
void gt_launched_init(struct gt_launched *launched, const struct gt_ids *ids);
void gt_launched_release(struct gt_launched *launched);

#endif
