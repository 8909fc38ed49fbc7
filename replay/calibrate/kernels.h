/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_CALIBRATE_KERNELS_H
#define GT_REPLAY_CALIBRATE_KERNELS_H

#include <stdbool.h>

/* The kernels that gputrace brings along, as PTX: the driver compiles it for the GPU that it has. */
enum gt_kernels {
#define KERNELS(name, capability, only) GT_KERNELS_##name,
#include "replay/calibrate/kernels.def"
	GT_KERNELS_COUNT,
};

struct gt_kernels_file {
	const char *name;
	const char *ptx;     /* NULL: there was no nvcc when gputrace was built */
	unsigned capability; /* 10 x major + minor of the least that runs it */
	bool only;           /* no other runs it */
};

extern const struct gt_kernels_file gt_kernels_files[GT_KERNELS_COUNT];

#endif
