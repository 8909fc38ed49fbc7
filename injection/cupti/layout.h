/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CUPTI_LAYOUT_H
#define GT_INJECTION_CUPTI_LAYOUT_H

#include <stdint.h>

struct gt_activity_layout;

/*
 * Where the fields of raw records stand in the CUPTI of this version. Structs only grow at
 * their end from one version to the next, so a later library than the headers know is read as
 * the latest of them; its larger sizes are learned while it runs.
 */
void gt_layout_fill(struct gt_activity_layout *layout, uint32_t cupti_version);

#endif
