/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_CLOCKS_WINDOWS_H
#define GT_COLLECTOR_CLOCKS_WINDOWS_H

#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * The offset between two clocks, of which intervals are known. Intervals that follow each other are
 * a window as long as one straight line goes through all of them (the clocks differ in rate, but
 * evenly) and the window is not too long for that. The lines that go through all intervals are a
 * polygon in the plane of offset and slope; at any moment the highest and the lowest of them are as
 * far as the offset can be off.
 *
 * A window that is complete hands on what it knows of its end: the next one begins there, with that
 * interval and those slopes. So a kernel that ran beside others, and took long for it, leaves
 * nothing uncertain that those before and after it know. Where a kernel contradicts what is known,
 * as after a step, a window begins with that kernel alone.
 */

enum { GT_OFFSET_CORNERS = 64 };

/* One kernel's bounds of the offset. */
struct gt_offset_point {
	gt_id device;
	gt_time time_ns;
	int64_t low_ns;
	int64_t high_ns;
	uint32_t step_ns; /* 0: not seen */
};

/* A line: offset at the window's start, from its base, and nanoseconds that it grows a second. */
struct gt_offset_line {
	double offset_ns;
	double slope;
};

struct gt_offset_window {
	gt_time start_ns;
	gt_time end_ns;
	int64_t base_ns;
	gt_count step_ns;
	gt_count kernels;
	uint32_t corner_count;
	struct gt_offset_line corners[GT_OFFSET_CORNERS];
};

struct gt_offset_range {
	double low_ns; /* both from the base of the window */
	double high_ns;
};

/* Windows that follow each other in time. */
struct gt_offset_windows {
	gt_array(struct gt_offset_window) list;
};

/* Bounds of one device come in the order of their time. */
void gt_offset_windows_add(struct gt_offset_windows *windows, const struct gt_offset_point *point);

/* The range of a window's lines at a moment. */
struct gt_offset_range gt_offset_range_at(const struct gt_offset_window *window, gt_time time_ns);

double gt_offset_middle(struct gt_offset_range range);
double gt_offset_half(struct gt_offset_range range);

/* How far the truth may have left the lines of something so long by its end. */
double gt_offset_wander(gt_time length_ns);

#endif
