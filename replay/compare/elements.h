/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_COMPARE_ELEMENTS_H
#define GT_REPLAY_COMPARE_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "replay/compare/compare.h"

/*
 * Elements of memory as numbers. Bytes need not be aligned; they are little-endian, as a GPU writes
 * them.
 */

/*
 * The first count elements as doubles. Integers of 64 bits lose what a double does not hold.
 * GT_ELEMENT_bytes: as u8.
 */
void gt_elements_load(const uint8_t *bytes, size_t count, enum gt_element element, double *values);

/* |got - wanted| of two elements that are no NaN; of integers of 64 bits before it is rounded. */
double gt_element_distance(const uint8_t *wanted, const uint8_t *got, enum gt_element element);

#endif
