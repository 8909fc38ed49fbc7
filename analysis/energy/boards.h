/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ENERGY_BOARDS_H
#define GT_ANALYSIS_ENERGY_BOARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/energy/power.h"
#include "analysis/time/covered.h"
#include "model/view/view.h"

/*
 * The boards of all GPUs of a recording: the power of each over time, and when it was active. They
 * are of all that happened, whatever a filter left of the trace.
 */
struct gt_boards {
	const struct gt_trace *trace;
	const struct gt_trace *whole;
	struct gt_covered_device *covered; /* by row of devices of whole, as is */
	struct gt_power *powers;           /* this */
};

/* The view's trace must outlive them. */
void gt_boards_init(struct gt_boards *boards, const struct gt_view *view);
void gt_boards_release(struct gt_boards *boards);

/* Energy of a GPU, a row of devices of whole, in a time, without what is not measured of it. */
struct gt_energy gt_boards_energy(const struct gt_boards *boards, gt_id device,
                                  struct gt_interval when);

/* One GPU in the window of a view. */
struct gt_board_figures {
	struct gt_energy energy;
	double shared_joules; /* of its active joules: several pieces of work ran at once */
	double peak_watts;    /* most of the samples of power; NAN: there are none */
	uint64_t window_ns;
};

/* By row of devices of whole. The caller frees them with gt_array_free. */
struct gt_board_figures *gt_boards_figures(const struct gt_boards *boards,
                                           const struct gt_view *view);

/* Half of the samples of the GPUs are no farther apart, on the GPU where that is longest; 0: none. */
gt_time gt_boards_interval(const struct gt_boards *boards);

#endif
