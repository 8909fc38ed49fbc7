/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_JOB_RANK_H
#define GT_MODEL_NAMING_JOB_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Which process of a job one is, as its launcher told it (format/launchers.def). Processes that
 * one starts have its environment: workers of a rank say the same rank.
 */
struct gt_job_rank {
	int64_t rank; /* from 0; -1: not known */
	int64_t size; /* ranks of the job; -1: not known */
};

struct gt_job_rank gt_job_rank_of(const struct gt_trace *trace, const struct gt_process *process);

/*
 * The one rank of all processes of a trace whose rank is known; not known where they have several,
 * or none.
 */
struct gt_job_rank gt_job_rank_of_all(const struct gt_trace *trace);

enum { GT_JOB_ID_BYTES = 64 };

/*
 * The id of the job in lines NAME=value, as its launcher told it; "": none did. The same of all
 * processes of a trace that know one; "" also where they know several.
 */
void gt_job_id_in(const char *lines, char id[GT_JOB_ID_BYTES]);
void gt_job_id_of_all(const struct gt_trace *trace, char id[GT_JOB_ID_BYTES]);

/* Whether a line NAME=value of an environment is a launcher's. */
bool gt_job_rank_is_line(const char *line);

#endif
