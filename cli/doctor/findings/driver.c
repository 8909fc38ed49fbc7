/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

/* Results of cuInit that say what to do (CUresult in cuda.h). */
enum { NO_DEVICE = 100, NOT_READY = 802, MISMATCH = 803, NOT_COMPATIBLE = 804 };

/* The number in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...". */
static void kernel_version(const struct gt_world *world, char *version, size_t size)
{
	char line[512];
	const char *at = line;

	*version = '\0';
	(void)gt_world_line(world, "proc/driver/nvidia/version", "NVRM version:", line,
	                    sizeof(line));
	while (*at) {
		const size_t length = strcspn(at, " \t");
		const size_t digits = strspn(at, "0123456789");

		if (digits > 0 && at[digits] == '.' && strspn(at, "0123456789.") == length) {
			snprintf(version, size, "%.*s", (int)length, at);
			return;
		}
		at += length + strspn(at + length, " \t");
	}
}

static void is_not_there(struct gt_findings *findings, const char *why, const char *version)
{
	gt_found(findings, GT_SEVERITY_ERROR, "There is no NVIDIA driver here: %s.", why);
	gt_costs(findings, "No program can use NVIDIA GPUs, and nothing is recorded.");
	if (*version)
		gt_mend(findings,
		        "The kernel's part of the driver is there (%s), its libraries are not. In a "
		        "container: docker run --gpus all -e "
		        "NVIDIA_DRIVER_CAPABILITIES=compute,utility; else install the package of "
		        "version %s that has libcuda.so.1.",
		        version, version);
	else
		gt_mend(findings,
		        "Install NVIDIA's driver; in a container: docker run --gpus all, or "
		        "apptainer exec --nv.");
}

static const char *mend_of(int result)
{
	switch (result) {
	case NOT_READY:
		return "GPUs of an NVSwitch machine wait for the fabric manager: sudo systemctl "
		       "start nvidia-fabricmanager";
	case MISMATCH:
		return "The driver was updated while it was loaded: restart the machine, or the "
		       "container.";
	case NOT_COMPATIBLE:
		return "Take the folder with CUDA's compatibility libraries (cuda-compat) out of "
		       "LD_LIBRARY_PATH: this GPU does not work with them.";
	default:
		return "See what nvidia-smi says, and the kernel: sudo dmesg | grep NVRM";
	}
}

static void does_not_start(struct gt_findings *findings, const char *why, const char *mend)
{
	gt_found(findings, GT_SEVERITY_ERROR, "%s.", why);
	gt_costs(findings, "No program can use NVIDIA GPUs, and nothing is recorded.");
	gt_mend(findings, "%s", mend);
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_answer *answer = &world->answer;
	const int cuda = answer->gpus.driver_version;
	char version[64];

	kernel_version(world, version, sizeof(version));
	if (!answer->complete)
		does_not_start(findings, "The NVIDIA driver hangs or crashes when CUDA starts",
		               mend_of(0));
	else if (*answer->no_driver)
		is_not_there(findings, answer->no_driver, version);
	else if (answer->gpus.result != 0 && answer->gpus.result != NO_DEVICE)
		does_not_start(findings, answer->no_gpus.text, mend_of(answer->gpus.result));
	else
		gt_found(findings, GT_SEVERITY_OK, "The driver%s%s is for CUDA %d.%d.",
		         *version ? " " : "", version, cuda / 1000, cuda % 1000 / 10);
}

const struct gt_finder gt_finder_driver = {
	.explains = true,
	.find = find,
};
