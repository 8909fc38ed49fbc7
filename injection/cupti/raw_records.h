/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CUPTI_RAW_RECORDS_H
#define GT_INJECTION_CUPTI_RAW_RECORDS_H

#include <stdint.h>

struct gt_arena;
struct gt_cupti;

/*
 * Calls use() for each record that CUPTI says a buffer holds. On the way it learns the sizes of
 * records that have grown since the headers of this build.
 */
void gt_each_raw_record(const struct gt_cupti *cupti, struct gt_arena *arena, uint8_t *bytes,
                        uint32_t used, void (*use)(void *context, const uint8_t *record),
                        void *context);

#endif
