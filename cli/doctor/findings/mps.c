/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

/* Names of processes are cut at 15 characters: nvidia-cuda-mps-control and -server. */
static void find(struct gt_findings *findings, const struct gt_world *world)
{
	static const char *const names[] = {"nvidia-cuda-mps", NULL};
	const char *pipes = gt_world_variable(world, "CUDA_MPS_PIPE_DIRECTORY");
	const pid_t process = gt_world_process(world, names, NULL);

	if (!process && !pipes)
		return;
	if (process)
		gt_found(findings, GT_SEVERITY_WARNING,
		         "MPS runs (process %d): programs share GPUs.", (int)process);
	else
		gt_found(findings, GT_SEVERITY_WARNING,
		         "CUDA_MPS_PIPE_DIRECTORY is %s: programs share GPUs by MPS.", pipes);
	gt_costs(findings,
	         "gputrace sees the programs that it starts. Work of others on the GPU is "
	         "not in the recording, and slows down what is.");
	gt_mend(findings, "To record without others, end MPS while no program uses it: echo quit | "
	                  "nvidia-cuda-mps-control");
}

const struct gt_finder gt_finder_mps = {
	.find = find,
};
