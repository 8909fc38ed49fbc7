/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

enum { MOST_NODES = 64, NO_DEVICE = 100 };

/* Why a device node below the root cannot be used: an errno value, or 0. */
static int refusal(const struct gt_world *world, const char *node)
{
	char path[PATH_MAX];

	if (!gt_world_path(world, node, path) || access(path, R_OK | W_OK) == 0)
		return 0;
	return errno;
}

/* Finds the first of the GPUs' nodes that is there and may not be used. Returns its errno value. */
static int find_refused(const struct gt_world *world, char node[32])
{
	snprintf(node, 32, "dev/nvidiactl");
	for (int i = -1; i < MOST_NODES; i++) {
		int code;

		if (i >= 0)
			snprintf(node, 32, "dev/nvidia%d", i);
		code = refusal(world, node);
		if (code != 0 && code != ENOENT)
			return code;
	}
	return 0;
}

/* Whether CUDA says that it finds none; else the driver's finding tells more. */
static bool are_asked_for(const struct gt_answer *answer)
{
	return answer->complete && !*answer->no_driver &&
	       (answer->gpus.result == 0 || answer->gpus.result == NO_DEVICE);
}

static void mend_none(struct gt_findings *findings, const struct gt_world *world)
{
	const char *visible = gt_world_variable(world, "CUDA_VISIBLE_DEVICES");

	if (visible)
		gt_mend(findings,
		        "CUDA_VISIBLE_DEVICES is '%.64s'. See all GPUs: unset "
		        "CUDA_VISIBLE_DEVICES",
		        visible);
	else if (gt_world_count(world, "proc/driver/nvidia/gpus/*") > 0)
		gt_mend(findings,
		        "The kernel's driver has GPUs, and this container or user has "
		        "not: docker run --gpus all, or ask for some (srun --gres gpu:1).");
	else
		gt_mend(findings,
		        "See whether the machine has one: lspci -d 10de: and nvidia-smi -L");
}

static void are_none(struct gt_findings *findings, const struct gt_world *world)
{
	gt_found(findings, GT_SEVERITY_ERROR, "CUDA finds no GPU here.");
	gt_costs(findings, "Programs do nothing on GPUs, and nothing is recorded.");
	mend_none(findings, world);
}

static void is_refused(struct gt_findings *findings, const char *node, int code, bool others)
{
	gt_found(findings, others ? GT_SEVERITY_WARNING : GT_SEVERITY_ERROR,
	         "This user may not open /%s: %s.", node, gt_errno_text(code));
	gt_costs(findings, "%s",
	         others ? "Programs cannot use that GPU; the others are recorded."
	                : "Programs do nothing on GPUs, and nothing is recorded.");
	gt_mend(findings,
	        "Look at its rights with ls -l /%s, and let an administrator add this user to its "
	        "group: sudo usermod -aG GROUP USER",
	        node);
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_gpus *gpus = &world->answer.gpus;
	const bool others = gpus->count > 0;
	char node[32];
	const int code = find_refused(world, node);

	if (code != 0)
		is_refused(findings, node, code, others);
	else if (!others && are_asked_for(&world->answer))
		are_none(findings, world);
	if (others)
		gt_found(findings, GT_SEVERITY_OK, "CUDA finds %u GPU%s: %s%s.", gpus->count,
		         gpus->count == 1 ? "" : "s",
		         *gpus->names[0] ? gpus->names[0] : "without a name",
		         gpus->count == 1 ? "" : " is the first");
}

const struct gt_finder gt_finder_gpus = {
	.explains = true,
	.find = find,
};
