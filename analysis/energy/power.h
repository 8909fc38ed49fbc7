/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ENERGY_POWER_H
#define GT_ANALYSIS_ENERGY_POWER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/time/covered.h"
#include "base/array.h"
#include "model/trace.h"

/* Of steps that are told, from the first one on. */
struct gt_power_sums {
	uint64_t told_ns;
	double active_joules; /* if something ran all the time */
	double least_joules;  /* if it drew the least all the time */
	double rest_joules;   /* of whole steps: all joules but these */
};

/*
 * Power of one GPU's board over time, as far as its samples tell it, in steps. Where the energy
 * counter was read twice, a second apart or more, the board used the difference, and the samples of
 * power in that time say where in it; without these it is one step. Elsewhere a step has the area
 * under the line from one sample of power to the next.
 *
 * How joules are spread inside a step is a model (docs/design/energy.md):
 * - while nothing ran on the GPU it drew its quiet power, the mean over the steps in which nothing
 *   ran, nor in the step before. That holds for steps whose mean power is above that of all of
 *   these, and in at least a hundredth of which something ran; else work does not stand out of the
 *   noise, and all of the step has its mean power.
 * - the rest is spread evenly over the time in which something ran, up to the greatest power that
 *   this gives for a step in at least half of which something ran; more than that is quiet.
 * So every moment has one power, whatever is asked, and joules of times that lie apart add up.
 */
struct gt_power_step {
	gt_time start_ns;
	gt_time end_ns;
	double joules;
	bool told;           /* false: nobody sampled meanwhile, no more than its joules is known */
	double active_watts; /* while something ran */
	double quiet_watts;  /* while nothing did */
	double least_watts;  /* taken as the least that the board can draw; 0: not known */
	struct gt_power_sums before; /* of the steps before it */
};

struct gt_power {
	bool counted;                         /* some steps are of the energy counter, */
	bool drawn;                           /* and some of samples of power alone */
	gt_array(struct gt_power_step) steps; /* in order of time and apart */
	gt_time usual_ns;   /* half of the steps are no longer; 0: there are none */
	double quiet_watts; /* NAN: not known */
	double quiet_most;  /* most that a step has in which nothing ran */
	uint64_t resets;    /* how often the counter began anew */
};

/* whole: with all that happened; active: when work ran on the GPU, or nobody can say. */
void gt_power_init(struct gt_power *power, const struct gt_trace *whole, gt_id device,
                   const struct gt_covered *active);
void gt_power_release(struct gt_power *power);

/* How many of the steps end at that moment or before. */
size_t gt_power_ended(const struct gt_power *power, gt_time time_ns);

/* Up to a moment; the rest is of the steps that begin before it. */
struct gt_power_sums gt_power_sums(const struct gt_power *power, gt_time time_ns);

/* The part of a step that lies in a time; it ends before it starts where there is none. */
static inline struct gt_interval gt_power_part(const struct gt_power_step *step,
                                               struct gt_interval when)
{
	return (struct gt_interval){
		step->start_ns > when.start_ns ? step->start_ns : when.start_ns,
		step->end_ns < when.end_ns ? step->end_ns : when.end_ns,
	};
}

/* Energy of some time; zero-initialise it. */
struct gt_energy {
	double active_joules; /* while something ran */
	double quiet_joules;  /* while nothing did */
	double untold_joules; /* of steps that do not say which; by time alone */
	uint64_t told_ns;     /* that active and quiet joules are of */
	uint64_t untold_ns;
};

/* Adds the energy of a time; active is as above. */
void gt_energy_add(struct gt_energy *energy, const struct gt_power *power,
                   const struct gt_covered *active, struct gt_interval when);

/* All joules; NAN where none are known. */
double gt_energy_joules(const struct gt_energy *energy);

#endif
