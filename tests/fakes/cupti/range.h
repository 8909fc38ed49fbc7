/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_CUPTI_RANGE_H
#define GT_TESTS_FAKES_CUPTI_RANGE_H

#include <stddef.h>
#include <stdint.h>

/* The values of metrics of a range; 0: the image is none of the range profiler's. */
int fake_range_evaluate(const uint8_t *image, size_t range, const char **metrics, size_t count,
                        double *values);

#endif
