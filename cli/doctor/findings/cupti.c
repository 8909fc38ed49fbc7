/* SPDX-License-Identifier: Apache-2.0 */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"
#include "cli/output/process.h"
#include "cupti/library.h"

/* The first file that fits a pattern. */
static bool find_file(const char *pattern, char path[PATH_MAX])
{
	glob_t found;

	// NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
	globfree(&found);
	return true;
}

/* In packages below a folder that has lib/pythonN. */
static bool find_package(const char *prefix, int major, char path[PATH_MAX])
{
	static const char *const wheels[] = {"nvidia/cu[0-9]*/lib", "nvidia/cuda_cupti/lib",
	                                     "torch/lib"};
	char pattern[PATH_MAX + 128];

	for (size_t i = 0; i < GT_COUNT_OF(wheels); i++) {
		snprintf(pattern, sizeof(pattern), "%s/lib/python3*/*-packages/%s/libcupti.so.%d",
		         prefix, wheels[i], major);
		if (find_file(pattern, path))
			return true;
	}
	return false;
}

/* The folder above bin/ of the Python that would run. False: there is none. */
static bool find_prefix(const struct gt_world *world, char prefix[PATH_MAX])
{
	if (gt_program_is_python(&world->program))
		snprintf(prefix, PATH_MAX, "%s", world->program.runs);
	else if (gt_process_path("python3", prefix) < 0)
		return false;
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(prefix, '/');

		if (!slash)
			return false;
		*slash = '\0';
	}
	return true;
}

/*
 * Python's own packages, those of its user and of its administrator: a program that imports PyTorch
 * or JAX has them in memory when CUDA starts, and gputrace takes what it finds there.
 */
static bool find_in_python(const struct gt_world *world, int major, char path[PATH_MAX])
{
	const char *home = gt_world_variable(world, "HOME");
	char prefix[PATH_MAX];
	char other[PATH_MAX + 16];

	if (!find_prefix(world, prefix))
		return false;
	snprintf(other, sizeof(other), "%s/local", prefix);
	if (find_package(prefix, major, path) || find_package(other, major, path))
		return true;
	snprintf(other, sizeof(other), "%s/.local", home ? home : "");
	return home && find_package(other, major, path);
}

/* A program that no Python and no script runs has no packages. */
static bool is_compiled(const struct gt_world *world)
{
	return world->program.name && !world->program.is_script &&
	       !gt_program_is_python(&world->program);
}

static void is_missing(struct gt_findings *findings, const struct gt_world *world)
{
	const bool named = gt_world_variable(world, "GPUTRACE_CUPTI");
	const bool open = !named && world->program.name && !is_compiled(world);

	gt_found(findings, open ? GT_SEVERITY_WARNING : GT_SEVERITY_ERROR, "%s.",
	         world->answer.no_cupti.text);
	gt_costs(findings, "%s",
	         open ? "Only a program that loads a libcupti itself, as PyTorch and JAX do, is "
	                "recorded."
	              : "Kernels, copies and calls are not recorded.");
	gt_mend(findings, "%s, or name another one: gputrace run --cupti FILE",
	        named ? "unset GPUTRACE_CUPTI" : "Install it");
}

static void is_in_python(struct gt_findings *findings, const struct gt_world *world,
                         const char *path)
{
	if (gt_program_is_python(&world->program)) {
		gt_found(findings, GT_SEVERITY_OK, "libcupti is among Python's packages: %s.",
		         path);
		return;
	}
	gt_found(findings, is_compiled(world) ? GT_SEVERITY_ERROR : GT_SEVERITY_WARNING,
	         "libcupti is among Python's packages alone: %s.", path);
	gt_costs(findings,
	         "Only programs of that Python are recorded, where they use its packages.");
	gt_mend(findings, "For others: gputrace run --cupti %s", path);
}

static void is_too_old(struct gt_findings *findings, const struct gt_answer *answer)
{
	gt_found(findings, GT_SEVERITY_ERROR,
	         "%s is CUPTI version %u, and CUDA 12.4 (version %u) is the oldest that works.",
	         answer->cupti, answer->cupti_version, GT_CUPTI_OLDEST_VERSION);
	gt_costs(findings, "Kernels, copies and calls are not recorded.");
	gt_mend(findings, "Name a newer one: gputrace run --cupti FILE");
}

static void is_of_another_cuda(struct gt_findings *findings, const struct gt_answer *answer)
{
	const int driver = gt_answer_driver_major(answer);
	const int cupti = gt_answer_cupti_major(answer);

	gt_found(findings, GT_SEVERITY_WARNING, "%s is for CUDA %d, and the driver for CUDA %d.",
	         answer->cupti, cupti, driver);
	gt_costs(findings, "%s",
	         cupti > driver ? "CUPTI may refuse to start, and then nothing is recorded."
	                        : "It mostly works; what is newer than it is not recorded.");
	gt_mend(findings, "Name one for CUDA %d: gputrace run --cupti FILE/libcupti.so.%d", driver,
	        driver);
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_answer *answer = &world->answer;
	const int driver = gt_answer_driver_major(answer);
	const int cupti = gt_answer_cupti_major(answer);
	char path[PATH_MAX];

	if (!answer->complete || *answer->no_driver)
		return; /* it has to fit the driver */
	if (!*answer->cupti && !gt_world_variable(world, "GPUTRACE_CUPTI") &&
	    find_in_python(world, driver, path))
		is_in_python(findings, world, path);
	else if (!*answer->cupti)
		is_missing(findings, world);
	else if (cupti == 0)
		is_too_old(findings, answer);
	else if (driver != 0 && cupti != driver)
		is_of_another_cuda(findings, answer);
	else
		gt_found(findings, GT_SEVERITY_OK, "libcupti fits the driver: %s.", answer->cupti);
}

const struct gt_finder gt_finder_cupti = {
	.explains = true,
	.find = find,
};
