/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/ceilings.h"
#include "collector/stage.h"
#include "model/gpu/calibration.h"

/*
 * The limits of the recording's GPUs become rows of ceilings: for each GPU those that gputrace
 * calibrate measured of it and gputrace run put into the recording, those measured of another GPU
 * of its model that came with gputrace, and those that follow from its clocks and widths.
 */

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_calibrations shipped = {0};

	(void)err;
	gt_calibrations_add_shipped(&shipped);
	for (gt_id device = 0; device < collection->trace->devices.count; device++)
		gt_ceilings_add(collection->trace, device, &collection->calibrations, &shipped);
	gt_calibrations_release(&shipped);
	return 0;
}

const struct gt_stage gt_stage_ceilings = {.name = "ceilings", .run = run};
