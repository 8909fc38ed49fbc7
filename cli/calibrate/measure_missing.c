/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/error.h"
#include "cli/calibrate/measure.h"

/* For a build without the CUDA toolkit. */
int gt_measure(const struct gt_measure_plan *plan, struct gt_calibrations *calibrations,
               struct gt_error *err)
{
	(void)plan;
	(void)calibrations;
	return gt_fail(
		err, ENOTSUP,
		"this build of gputrace cannot measure: there was no CUDA toolkit when it was "
		"made");
}
