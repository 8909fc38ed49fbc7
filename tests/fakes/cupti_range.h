/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_CUPTI_RANGE_H
#define GT_TESTS_FAKES_CUPTI_RANGE_H

#include <cupti_profiler_host.h>

/* The values of a range; 0: the image is none of the range profiler's. */
int fake_range_evaluate(const CUpti_Profiler_Host_EvaluateToGpuValues_Params *params);

#endif
