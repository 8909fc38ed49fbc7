/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ENERGY_SHARES_H
#define GT_ANALYSIS_ENERGY_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/energy/boards.h"
#include "model/work/activity.h"

/*
 * Energy of groups of work, as kernels of one name or NVTX ranges of one path. A group has the
 * joules of the time in which nothing but its own work ran on a GPU. Those of time in which other
 * work ran there too are shared: nobody can say how much of them is whose.
 *
 * The samples lie much farther apart than kernels, and all work between two samples has the same
 * power by the model of power.h. most_joules is the bound that does not depend on it: of each
 * interval between two samples in which the group ran, all joules but those that the board draws at
 * least in the time in which the group did not run. It is close to the group's joules where the
 * group fills its intervals, and far from them where it has a small part of each.
 */
struct gt_energy_share {
	double joules;
	double shared_joules;
	double most_joules;
	uint64_t ran_ns;   /* something of it ran; united for each GPU, summed over GPUs */
	uint64_t told_ns;  /* of that: between samples that are not too far apart */
	uint64_t alone_ns; /* of that: nothing else ran; joules are of it */
};

/* Groups that work is sorted into. */
struct gt_energy_groups {
	size_t count;
	void *context;
	/*
	 * Writes the groups of a piece of work, a row of the trace, each once; returns how many
	 * there are. Valid until the next call.
	 */
	size_t (*of)(void *context, const struct gt_activity *activity, const gt_id **groups);
};

/*
 * By group, of the work that the trace shows, whenever that ran. Work that a filter took out is no
 * group's, and shares what it ran beside. The caller frees them with gt_array_free.
 */
struct gt_energy_share *gt_energy_shares(const struct gt_boards *boards,
                                         const struct gt_energy_groups *groups);

/* Compares them for an order by joules, those that come first being less; 0: shared ones are equal
 * too. */
int gt_energy_compare(const struct gt_energy_share *a, const struct gt_energy_share *b);

#endif
