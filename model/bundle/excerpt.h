/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_BUNDLE_EXCERPT_H
#define GT_MODEL_BUNDLE_EXCERPT_H

#include <stddef.h>
#include <stdint.h>

#include "model/bundle/bundle.h"

/*
 * One step of a bundle as a bundle of its own, which whoever runs a launch again need not know.
 * Memory contents before and after that step were not recorded: they are held here once the whole
 * bundle was run (replay/verify/rehearsal.h). Until then memory holds what it did before the first
 * step, and nothing is known of it afterwards.
 */
struct gt_excerpt {
	struct gt_bundle bundle; /* texts and lists that do not change are the whole one's */
	const struct gt_bundle *whole;
	uint32_t step; /* of the whole one */
};

/* The step is work. Its times in the program are the bundle's; whole must outlive the excerpt. */
void gt_excerpt_init(struct gt_excerpt *excerpt, const struct gt_bundle *whole, uint32_t step);
void gt_excerpt_release(struct gt_excerpt *excerpt);

/*
 * Contents of a memory before the step and after it, with addresses as in the program; both become
 * the excerpt's, of gt_allocate. before NULL: what it held before the first step; after NULL: the
 * same as before.
 */
void gt_excerpt_hold(struct gt_excerpt *excerpt, size_t memory, uint8_t *before, uint8_t *after);

/*
 * Once all is held: addresses that were known where there are others now lead elsewhere, and
 * handles are where the steps before have left or brought some.
 */
void gt_excerpt_settle(struct gt_excerpt *excerpt);

#endif
