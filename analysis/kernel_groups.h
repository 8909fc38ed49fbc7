/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNEL_GROUPS_H
#define GT_ANALYSIS_KERNEL_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

struct gt_strings;

/* What executions of kernels are counted together by. */
enum gt_group_by {
	GT_BY_NAME,   /* kernels that are called the same */
	GT_BY_BASE,   /* whatever the template arguments or the tile: gt_short_base */
	GT_BY_SHAPE,  /* of one name, with one grid, block and cluster */
	GT_BY_STREAM, /* they ran on */
	GT_BY_FAMILY, /* what they are for */
	GT_BY_ORIGIN, /* whose they are */
};

/* The words for these, in their order, with NULL behind them. */
extern const char *const gt_group_words[];

/* The enum's value for one of the words. */
enum gt_group_by gt_group_by(const char *word);

/* Groups of the kernels of a trace, which must outlive them. */
struct gt_kernel_groups {
	enum gt_group_by by;
	size_t count;
	size_t none; /* group of the kernels of which the key is not known */
	size_t key_count;
	uint32_t *of_key;           /* row of launch_shapes, or of streams -> group */
	gt_id *shapes;              /* a launch shape of each group, GT_NONE for none */
	const char **labels;        /* what each is called */
	struct gt_strings *strings; /* that hold the labels */
};

void gt_kernel_groups_init(struct gt_kernel_groups *groups, const struct gt_trace *trace,
                           enum gt_group_by by);
void gt_kernel_groups_release(struct gt_kernel_groups *groups);

static inline size_t gt_kernel_group_of(const struct gt_kernel_groups *groups,
                                        const struct gt_kernel *kernel)
{
	const gt_id key = groups->by == GT_BY_STREAM ? kernel->stream : kernel->shape;

	return key < groups->key_count ? groups->of_key[key] : groups->none;
}

#endif
