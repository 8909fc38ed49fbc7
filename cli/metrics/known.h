/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_METRICS_KNOWN_H
#define GT_CLI_METRICS_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/chip.h"

enum { GT_KNOWN_SETS = 8 }; /* of a list, at most */

/* The hardware counters that gputrace has names for, and the sets that choose them. */
struct gt_known_counter {
	const char *name;
	const char *unit;
	const char *metric; /* CUPTI's */
	const char *help;
	uint32_t sets; /* bit n: it is in the set n of its list */
	bool instead;  /* stands in for the one before it, where the chip does not have that */
};

/* Those that one option of run chooses. */
struct gt_known_list {
	const char *option; /* "--counters" */
	const char *counted;
	enum gt_chip_way way;
	const char *const *sets;
	size_t set_count;
	const struct gt_known_counter *counters;
	size_t count;
};

extern const struct gt_known_list gt_known_lists[];
extern const size_t gt_known_list_count;

/* A chip's part of a set. */
struct gt_known_set {
	size_t counters;
	size_t left_out;
	int passes; /* of the others together; 0: there are none */
};

/*
 * Fills wanted, one for each counter of the list, with what becomes of them when the set is asked
 * for; of those that it does not hold the outcome is GT_METRIC_UNUSED. 0, or -ENOTSUP: CUPTI does
 * not know the chip.
 */
int gt_known_schedule(const struct gt_known_list *list, size_t set, struct gt_chip *chip,
                      struct gt_metric_wanted *wanted, struct gt_known_set *what);

#endif
