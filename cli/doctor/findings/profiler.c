/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

enum { MOST_ANCESTORS = 64 };

/* Tools of NVIDIA's that start the program and take CUPTI or the debugger's place in it. */
static bool is_profiler(const char *comm)
{
	static const char *const names[] = {"nsys", "ncu", "nv-nsight-cu-cli", "nvprof",
	                                    "compute-sanitiz"};

	for (size_t i = 0; i < GT_COUNT_OF(names); i++)
		if (strncmp(comm, names[i], 15) == 0)
			return true;
	return strncmp(comm, "nsys-", 5) == 0 || strncmp(comm, "cuda-gdb", 8) == 0;
}

/* The process above a process; 0: there is none, or nobody knows. */
static uint64_t parent_of(const struct gt_world *world, const char *process)
{
	char file[64];
	char text[32];
	uint64_t parent = 0;

	snprintf(file, sizeof(file), "proc/%s/status", process);
	(void)gt_world_line(world, file, "PPid:", text, sizeof(text));
	return gt_parse_count(text, &parent) == 0 ? parent : 0;
}

/* An ancestor of this process that is a profiler; 0: none. */
static uint64_t find_above(const struct gt_world *world, char comm[64])
{
	char process[24] = "self";

	for (int i = 0; i < MOST_ANCESTORS; i++) {
		const uint64_t parent = parent_of(world, process);
		char file[64];

		if (parent == 0)
			return 0;
		snprintf(process, sizeof(process), "%llu", (unsigned long long)parent);
		snprintf(file, sizeof(file), "proc/%s/comm", process);
		if (gt_world_line(world, file, "", comm, 64) && is_profiler(comm))
			return parent;
	}
	return 0;
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	char comm[64];
	const uint64_t process = find_above(world, comm);

	if (process == 0)
		return;
	gt_found(findings, GT_SEVERITY_ERROR, "This runs under another tool: %s (process %llu).",
	         comm, (unsigned long long)process);
	gt_costs(findings,
	         "CUPTI serves one tool at a time in a process: kernels, copies and calls "
	         "are not recorded.");
	gt_mend(findings, "Start gputrace run without %s.", comm);
}

const struct gt_finder gt_finder_profiler = {
	.explains = true,
	.find = find,
};
