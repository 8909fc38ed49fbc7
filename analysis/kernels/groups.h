/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNELS_GROUPS_H
#define GT_ANALYSIS_KERNELS_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "model/ranges/ranges.h"
#include "model/trace.h"

struct gt_strings;

/* Property by which executions of kernels are counted together. */
enum gt_group_by {
	GT_BY_NAME,   /* kernels that are called the same */
	GT_BY_BASE,   /* whatever the template arguments or the tile: gt_short_base */
	GT_BY_SHAPE,  /* of one name, with one grid, block and cluster */
	GT_BY_STREAM, /* they ran on */
	GT_BY_FAMILY, /* what they are for */
	GT_BY_ORIGIN, /* whose they are */
	GT_BY_RANGE,  /* path of the NVTX range that they were asked for in */
};

/* The words for these, in their order; gt_group_words has NULL behind them. */
#define GT_GROUP_WORDS "name", "base", "shape", "stream", "family", "origin", "range"
extern const char *const gt_group_words[];

/* The enum's value for one of the words. */
enum gt_group_by gt_group_by(const char *word);

/* Groups of the kernels of a trace, which must outlive them. */
struct gt_kernel_groups {
	const struct gt_trace *trace;
	enum gt_group_by by;
	size_t count;
	size_t none; /* group of the kernels of which the key is not known */
	size_t key_count;
	uint32_t *of_key;    /* row of launch_shapes, of streams or of range paths -> group */
	gt_id *shapes;       /* a launch shape of each group, GT_NONE for none */
	const char **labels; /* what each is called */
	struct gt_strings *strings; /* that hold the labels */
	struct gt_ranges ranges;    /* of those by range */
};

void gt_kernel_groups_init(struct gt_kernel_groups *groups, const struct gt_trace *trace,
                           enum gt_group_by by);
void gt_kernel_groups_release(struct gt_kernel_groups *groups);

/* The group of a kernel of the trace. */
size_t gt_kernel_group_of(const struct gt_kernel_groups *groups, const struct gt_kernel *kernel);

#endif
