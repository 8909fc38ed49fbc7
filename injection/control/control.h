/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CONTROL_CONTROL_H
#define GT_INJECTION_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "format/control/control.h"
#include "format/settings.h"

/*
 * Orders to record or to pause, from outside: commands (format/control/control.h) and times that
 * were given. The last order counts, whoever gives it. The starting thread's, then the writer
 * thread's.
 */
struct gt_control {
	const struct gt_roll *roll; /* NULL: there is none, commands are not heard */
	uint64_t followed;          /* the last of its orders */
	uint64_t start_at_ns;       /* CLOCK_REALTIME; 0: none, or it is over */
	uint64_t stop_at_ns;
};

struct gt_order {
	bool is_one; /* there is an order */
	bool records;
	enum gt_control_cause cause;
};

/* Returns whether recording begins, or what is not to be recorded before somebody says so. */
struct gt_order gt_control_begin(struct gt_control *control, const struct gt_roll *roll,
                                 const struct gt_settings *settings);

/* The next order that is to be followed. */
struct gt_order gt_control_next(struct gt_control *control);

/* Nanoseconds until gt_control_next should be asked again, no more than most_ns; 0: now. */
uint64_t gt_control_wait_ns(const struct gt_control *control, uint64_t most_ns);

#endif
