/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_room *room = &world->room;

	if (world->folder_code != 0) {
		gt_found(findings, GT_SEVERITY_ERROR,
		         "No recording can be made in the folder %s: %s.", world->folder,
		         gt_errno_text(world->folder_code));
		gt_costs(findings, "gputrace run does not start the program.");
		gt_mend(findings, "Choose another folder: gputrace run --output /tmp/app");
	} else if (!gt_room_is_enough(room)) {
		gt_found(
			findings, GT_SEVERITY_ERROR,
			"Each process needs %s of disk while it runs, and %s are free in the folder "
			"%s.",
			gt_figure_bytes((int64_t)room->needed_bytes).text,
			gt_figure_bytes((int64_t)room->free_bytes).text, world->folder);
		gt_costs(findings, "gputrace run does not start the program.");
		gt_mend(findings, "Choose another disk, or smaller buffers: gputrace run --output "
		                  "/tmp/app, or --buffer-size 256K");
	} else {
		gt_found(findings, GT_SEVERITY_OK, "The folder %s can be written%s.", world->folder,
		         room->known ? " and has room" : "");
	}
}

const struct gt_finder gt_finder_output = {
	.find = find,
};
