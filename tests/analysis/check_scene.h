/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_ANALYSIS_CHECK_SCENE_H
#define GT_TESTS_ANALYSIS_CHECK_SCENE_H

#include "analysis/check_report.h"
#include "support/scene.h"

/* Checks of reports on the scene of support/scene.h. For one file of tests. */

static struct gt_result result;

static inline void scene_end(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

#endif
