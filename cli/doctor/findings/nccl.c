/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

#define PLUGIN "libnccl-profiler.so" /* that NCCL loads where no variable names another */

/* Whether a folder of LD_LIBRARY_PATH has the plugin. */
static bool is_on_path(const char *folders)
{
	char path[PATH_MAX];

	for (; *folders; folders += *folders == ':') {
		const size_t length = strcspn(folders, ":");

		snprintf(path, sizeof(path), "%.*s/" PLUGIN, (int)length, folders);
		if (access(path, R_OK) == 0)
			return true;
		folders += length;
	}
	return false;
}

/* gputrace sees NCCL through kernels and NVTX: another tool may have the plugin's place. */
static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const char *named = gt_world_variable(world, "NCCL_PROFILER_PLUGIN");
	const char *folders = gt_world_variable(world, "LD_LIBRARY_PATH");

	if (!named && folders && is_on_path(folders))
		named = PLUGIN;
	if (named && *named)
		gt_found(findings, GT_SEVERITY_OK,
		         "NCCL loads the profiler plugin %s, which gputrace does not need and "
		         "leaves alone.",
		         named);
}

const struct gt_finder gt_finder_nccl = {
	.find = find,
};
