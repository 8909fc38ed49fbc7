/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CUPTI_GPUS_H
#define GT_CUPTI_GPUS_H

#include <stdint.h>

struct gt_error;

#define GT_GPUS_MOST 64

/* The GPUs of this machine as the CUDA driver counts them, for a process that does nothing on them.
 */
struct gt_gpus {
	int driver_version; /* as cuDriverGetVersion has it: 13000 */
	int result;         /* the CUresult that stood in the way; 0: none did */
	uint32_t count;
	char names[GT_GPUS_MOST][96]; /* "NVIDIA H200"; "": not known */
};

/*
 * Opens libcuda and initialises it. 0 and at least one GPU, or a negative errno value and the
 * sentence that says what is missing.
 */
int gt_gpus_find(struct gt_gpus *gpus, struct gt_error *err);

#endif
