/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CUPTI_CHIP_H
#define GT_CUPTI_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/image.h"

struct gt_profiler;

/*
 * The hardware counters of a chip as CUPTI's profiler host knows them: without a GPU, but for which
 * of them a certain one has. CUPTI calls them metrics. Calls for one chip come from one thread at a
 * time; CUPTI allocates in them.
 */

/* How they are counted; numbers are CUpti_ProfilerType's. */
enum gt_chip_way {
	GT_CHIP_RANGES = 0,  /* in single launches, run again for each pass */
	GT_CHIP_SAMPLES = 1, /* at an interval, in one pass */
};

/* Sorts of metrics; numbers are CUpti_MetricType's. */
enum gt_metric_type {
	GT_METRIC_COUNTER = 0,
	GT_METRIC_RATIO = 1,
	GT_METRIC_THROUGHPUT = 2,
	GT_METRIC_TYPES
};

/* Zeroed but for the first four; those belong to the caller and live as long. */
struct gt_chip {
	const struct gt_profiler *profiler;
	const char *name; /* as CUPTI has it: GH100 */
	enum gt_chip_way way;
	const uint8_t *availability; /* what a GPU has of them; NULL: all */
	void *host;
	struct gt_image config; /* what was scheduled last, for the functions that count */
};

/* A host object that has no metrics, instead of the one before. False: CUPTI does not know the
 * chip. */
bool gt_chip_begin(struct gt_chip *chip);

/* Gives back all; may be called twice. */
void gt_chip_release(struct gt_chip *chip);

/*
 * A new host object with these metrics and nothing else, and their config image. Returns the passes
 * that they need together, 0 when CUPTI does not know one of them or cannot count them together, or
 * -ENOTSUP when it does not know the chip.
 */
int gt_chip_schedule(struct gt_chip *chip, const char *const *metrics, size_t count);

/* Outcome of a metric that was asked for. */
enum gt_metric_outcome {
	GT_METRIC_TAKEN,
	GT_METRIC_UNKNOWN, /* the chip has none of that name */
	GT_METRIC_NO_ROOM, /* it does not fit into one pass with those before it */
	GT_METRIC_UNUSED,  /* one that it stands in for is taken */
};

struct gt_metric_wanted {
	const char *metric;
	bool instead; /* of the one before it in the list, where that one cannot be had */
	enum gt_metric_outcome outcome;
};

/*
 * As many of the metrics, in order, as fit into one pass: taken has room for most, and gets *count.
 * They are scheduled then. Some milliseconds for each, as CUPTI cannot take a metric back. 0, or
 * -ENOTSUP when CUPTI does not know the chip.
 */
int gt_chip_fit(struct gt_chip *chip, struct gt_metric_wanted *wanted, size_t wanted_count,
                const char **taken, size_t most, size_t *count);

/*
 * Why neither this metric nor any that stands in for it was taken; GT_METRIC_TAKEN: one was. There
 * was no room where that is so of one of them.
 */
enum gt_metric_outcome gt_metric_outcome_of(const struct gt_metric_wanted *wanted, size_t count,
                                            size_t first);

/* CUPTI's facts about a metric, with or without what stands behind its dot; never NULL. */
struct gt_metric_property {
	const char *unit;
	const char *help;
	const char *hardware; /* unit of the chip that counts it: dram */
};

/* False: CUPTI knows none of that name. gt_chip_begin or gt_chip_schedule comes first, here and
 * below. */
bool gt_chip_property_of(const struct gt_chip *chip, const char *metric,
                         struct gt_metric_property *property);

/* Texts of CUPTI's, as long as the host object. */
struct gt_metric_names {
	const char *const *names;
	size_t count;
};

/* Names of all metrics of that type, without what stands behind their dot. */
struct gt_metric_names gt_chip_metrics(const struct gt_chip *chip, enum gt_metric_type type);

/* Suffixes that the name of a metric can have, with the dot: ".sum". */
struct gt_metric_names gt_chip_forms(const struct gt_chip *chip, enum gt_metric_type type,
                                     const char *metric);

#endif
