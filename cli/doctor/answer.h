/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DOCTOR_ANSWER_H
#define GT_CLI_DOCTOR_ANSWER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cupti/gpus.h"

/*
 * Answers of the driver and of libcupti, asked in a process of its own: a driver that hangs or
 * crashes is a finding. Plain memory without pointers, as two processes share it.
 */
struct gt_answer {
	bool complete;            /* the process came to its end; else nothing below is known */
	char no_driver[256];      /* why libcuda.so.1 cannot be loaded; "": it can */
	struct gt_gpus gpus;      /* count 0: CUDA does not start, or finds none */
	struct gt_error no_gpus;  /* the sentence then */
	char cupti[PATH_MAX];     /* file of the libcupti that was found; "": none */
	uint32_t cupti_version;   /* as cuptiGetVersion gives it; 0: it does not say */
	struct gt_error no_cupti; /* the sentence then */
};

#define GT_ANSWER_SECONDS 30 /* that the driver may take */

/* wanted: the libcupti that the user chose, or "". */
void gt_answer_get(struct gt_answer *answer, const char *wanted);

/* As CUDA counts them: 13 for 13.0. 0: not known. */
int gt_answer_driver_major(const struct gt_answer *answer);
int gt_answer_cupti_major(const struct gt_answer *answer);

#endif
