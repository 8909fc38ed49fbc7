/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ADVICE_HEAVY_SHAPES_H
#define GT_ANALYSIS_ADVICE_HEAVY_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/advice/advice.h"
#include "analysis/kernels/shape_totals.h"
#include "model/gpu/occupancy.h"

/* For rules about kernels: those that take so much time that a change to them could be seen. */

struct gt_heavy {
	const struct gt_facts *facts;
	const struct gt_shape_total *total;
	const struct gt_launch_shape *shape;
	const struct gt_device *device;
	struct gt_occupancy occupancy;
	const char *name;
	struct gt_share ran; /* when at least one of the GPUs of the total ran it */
};

/*
 * Calls look with every launch shape that at least one GPU of a model ran for 5 percent of the
 * window or more; where launches were profiled, which makes the window longer than it would be,
 * that took 10 percent of the time of kernels on the GPU on which it took most. The row is about
 * that GPU.
 */
void gt_heavy_shapes(const struct gt_facts *facts, struct gt_advice *advice,
                     void (*look)(const struct gt_heavy *heavy, struct gt_advice *advice));

/*
 * A row about it, with its time as evidence: the sum over all GPUs, as report kernels has it. Its
 * place is from the first to the last of these launches on the GPU that the row is about.
 */
struct gt_advice_row *gt_heavy_cite_time(const struct gt_heavy *heavy, struct gt_advice_row *row);

/* One of its counters as evidence, where they are shown. */
void gt_heavy_cite(const struct gt_heavy *heavy, struct gt_advice_row *row,
                   enum gt_shape_counter counter);

/*
 * At most that part of the time in which at least one GPU ran it is to gain, 0 to 1; how: a
 * constant.
 */
void gt_heavy_gain(const struct gt_heavy *heavy, struct gt_advice_row *row, double part,
                   const char *how);

/* Whether it has so many percent of the time of all kernels of the GPU on which it took most. */
bool gt_heavy_has_share(const struct gt_heavy *heavy, unsigned percent);

/* A counter of it; NAN: not measured. */
double gt_heavy_counter(const struct gt_heavy *heavy, enum gt_shape_counter counter);

/*
 * Whether neither memory nor any part of the multiprocessors was used to 60 percent: then its time
 * is what its warps wait (the border that Nsight Compute draws). 1, 0, or -1: not measured.
 */
int gt_heavy_waits(const struct gt_heavy *heavy);

/* Whether device memory, or any part of the way to it, was used to that; false: not measured. */
bool gt_heavy_uses_memory(const struct gt_heavy *heavy);

/*
 * Cycles of all multiprocessors together in which its blocks were there, of one launch; NAN: not
 * measured.
 */
double gt_heavy_cycles(const struct gt_heavy *heavy);

/* Texts of rules that go by counters of launches, where there are none. Constants. */
#define GT_NO_MEMORY_COUNTERS  "no launches were profiled (run --kernel-counters=memory)"
#define GT_NO_COMPUTE_COUNTERS "no launches were profiled (run --kernel-counters=compute)"
#define GT_NO_COUNTERS                                                                             \
	"no launches were profiled (run --kernel-counters), nor GPUs sampled (run --counters)"

#endif
