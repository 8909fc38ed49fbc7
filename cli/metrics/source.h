/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_METRICS_SOURCE_H
#define GT_CLI_METRICS_SOURCE_H

#include <limits.h>
#include <stdint.h>

#include "cupti/chip.h"
#include "cupti/gpus.h"
#include "cupti/profiler.h"

struct gt_error;

/* Whose counters are listed. */
struct gt_metric_choice {
	const char *chip;  /* NULL: that of a GPU */
	uint64_t gpu;      /* which */
	const char *cupti; /* NULL: GPUTRACE_CUPTI, else the one that is found */
};

/* libcupti, asked about one chip. It stays where it was opened: chips point into it. */
struct gt_metric_source {
	struct gt_gpus gpus;
	struct gt_profiler profiler;
	struct gt_image availability;
	char library[PATH_MAX];
	char chip[32];
	const char *gpu;          /* its name; NULL: none was asked */
	int no_availability;      /* CUPTI's answer, where it did not say what the GPU has */
	struct gt_chip ways[2];   /* by enum gt_chip_way */
	struct gt_chip *asked[2]; /* those of them that CUPTI knows */
};

/*
 * Fails with -ENODEV without a driver or GPU, -EINVAL for a GPU or chip that is not there, and as
 * gt_cupti_library_open does. gt_metric_source_close is called in any case.
 */
int gt_metric_source_open(struct gt_metric_source *source, const struct gt_metric_choice *choice,
                          struct gt_error *err);
void gt_metric_source_close(struct gt_metric_source *source);

#endif
