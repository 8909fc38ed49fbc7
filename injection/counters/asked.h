/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_COUNTERS_ASKED_H
#define GT_INJECTION_COUNTERS_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/counters/pm_sampler.h"

struct gt_session;

/*
 * The hardware counters that the program's setting asks for, by name, as sets, or as CUPTI calls
 * them: the metrics that they are, and how their columns are described.
 */

enum { GT_COUNTERS_TEXT_BYTES = 2048 };

/* Metrics that count the same as one of the known, on other chips. */
enum {
	GT_COUNTERS_OTHERS = 0
#define COUNTER(name, unit, kind, set, group, metric, help)
#define INSTEAD(name, metric) +1
#include "format/kinds/pm_counters.def"
};

enum { GT_COUNTERS_ASKED = GT_PM_METRICS + GT_COUNTERS_OTHERS };

struct gt_known_counter;

/* One that was asked for, by name, as part of a set, or as CUPTI calls it. */
struct gt_asked_counter {
	const char *metric;
	const struct gt_known_counter *known; /* NULL: it was asked for as CUPTI calls it */
	bool instead;                         /* of the one before it */
};

struct gt_asked_counters {
	struct gt_asked_counter list[GT_COUNTERS_ASKED];
	size_t count;
	char text[GT_COUNTERS_TEXT_BYTES]; /* the setting, cut at its commas */
};

/* The words of the setting, each into metrics; says which are none. */
void gt_asked_counters_read(struct gt_session *session, struct gt_asked_counters *counters);

/* Says which counters are not sampled on a GPU, and why. */
void gt_asked_counters_note_missing(struct gt_session *session,
                                    const struct gt_asked_counters *counters,
                                    const struct gt_metric_wanted *wanted, uint32_t ordinal);

/* Describes each column of a sampler's samples, of which the first says how long they are. */
void gt_asked_counters_announce(struct gt_session *session,
                                const struct gt_asked_counters *counters,
                                const struct gt_pm_sampler *sampler);

#endif
