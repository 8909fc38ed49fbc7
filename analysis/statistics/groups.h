/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_STATISTICS_GROUPS_H
#define GT_ANALYSIS_STATISTICS_GROUPS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Values sorted into numbered groups, for figures such as the median that need all of them at
 * once: 8 bytes a value and nothing else. All values are announced with expect, then added in
 * a second pass over the same rows.
 */
struct gt_groups {
	size_t count;    /* groups */
	size_t *ends;    /* where the next value of each group goes; its end once all are added */
	int64_t *values; /* group after group */
};

void gt_groups_init(struct gt_groups *groups, size_t count);
void gt_groups_expect(struct gt_groups *groups, size_t group);

/* Between the two passes. */
void gt_groups_begin(struct gt_groups *groups);
void gt_groups_add(struct gt_groups *groups, size_t group, int64_t value);

/* The values of the groups from first to last, which the caller may reorder. */
int64_t *gt_groups_get(const struct gt_groups *groups, size_t first, size_t last, size_t *count);

void gt_groups_release(struct gt_groups *groups);

#endif
