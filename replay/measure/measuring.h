/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEASURE_MEASURING_H
#define GT_REPLAY_MEASURE_MEASURING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "replay/measure/activity.h"
#include "replay/measure/work.h"
#include "replay/memory/restored.h"
#include "replay/steps/steps.h"
#include "replay/types/options.h"

/*
 * A measurement in the making: its runs so far, and how one more is made and timed. For
 * replay/measure/ alone.
 */

struct gt_run_sample {
	uint64_t from_ns; /* of CUPTI's clock: its work lies between the two */
	uint64_t until_ns;
	double ns;        /* by CUPTI; NAN: it did not tell */
	double events_ns; /* by a pair of events */
	double sm_mhz;
	bool throttled;
	bool other_mode; /* by its time it did other work, or was held up */
};

struct gt_measuring {
	struct gt_steps *steps;
	struct gt_restored *restored;
	struct gt_activity *activity; /* NULL: events */
	const struct gt_replay_options *options;
	struct gt_work same;
	enum gt_l2_state l2;
	CUdeviceptr scratch; /* that is written before runs with a cold cache; 0: none */
	size_t scratch_bytes;
	size_t lead_ins;
	size_t work; /* activities of one run */
	int64_t begun_ns;
	double run_ns; /* of the shortest run so far, by events */
	gt_array(struct gt_run_sample) samples;
	char no_cupti[256];
};

/* Of the level-2 cache; 0 or less: not known. */
int64_t gt_measuring_cache_bytes(const struct gt_measuring *measuring);

/* Memory to overwrite the cache with. */
int gt_measuring_make_scratch(struct gt_measuring *measuring, struct gt_error *err);

/* Overwrites what the cache holds. */
int gt_measuring_flush(const struct gt_measuring *measuring, struct gt_error *err);

/* How many runs come right before a timed one. */
size_t gt_lead_ins_for(double run_ns);

/* Once memory and cache are as it is to find them. */
int gt_measuring_time_run(const struct gt_measuring *measuring, struct gt_run_sample *sample,
                          struct gt_error *err);

extern const struct gt_run_sample gt_no_sample;

/* A whole run: prepared, then timed. */
int gt_measuring_run(const struct gt_measuring *measuring, struct gt_run_sample *sample,
                     struct gt_error *err);
void gt_measuring_ask_clocks(const struct gt_measuring *measuring, struct gt_run_sample *sample);

/* GPU work between the two, into found, by when it began. Returns how much that is. */
size_t gt_sample_work(const struct gt_run_sample *sample, const struct gt_activity_time *times,
                      size_t count, struct gt_activity_time *found);

/* CUPTI tells late of what has ended. */
void gt_measuring_take_times(struct gt_measuring *measuring, size_t first);

/* The double of a sample that lies there. */
double gt_sample_value(const struct gt_run_sample *sample, size_t offset);

/* Offset of the time that counts. */
size_t gt_measuring_clock(const struct gt_measuring *measuring);

/* Says how far it is, and what is done. */
void gt_measuring_tell(const struct gt_measuring *measuring, const char *what);

/* For runs that follow each other: what has to be restored between them, and how many. */
int gt_measuring_choose_warm(struct gt_measuring *measuring, bool over_poison,
                             struct gt_error *err);

#endif
