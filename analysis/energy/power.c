/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/energy/power.h"

#include <math.h>

#include "analysis/statistics/spread.h"
#include "analysis/time/measured.h"
#include "base/search.h"

static struct gt_interval time_of(const struct gt_power_step *step)
{
	return (struct gt_interval){step->start_ns, step->end_ns};
}

static double seconds_of(struct gt_interval time)
{
	return (double)(time.end_ns - time.start_ns) / 1e9;
}

static double mean_of(const struct gt_power_step *step)
{
	return step->joules / seconds_of(time_of(step));
}

/*
 * A GPU adds to its energy counter ten times a second (seen on H100 and H200, driver 580), so that
 * a difference may be off by what it draws in a tenth of a second.
 */
#define COUNTED_LEAST_NS 1000000000

#define MOST_JOULES      1e12 /* of a step: a gigawatt for a quarter of an hour */

/* Both counters of one GPU, and how far steps were made of them. */
struct samples {
	struct gt_measured counter; /* millijoules */
	struct gt_measured drawn;   /* milliwatts */
	gt_time until_ns;
};

static void add_step(struct gt_power *power, struct gt_interval when, double joules, bool told)
{
	/* A recording that is damaged may say anything. */
	if (joules >= 0 && joules < MOST_JOULES)
		*gt_array_push(&power->steps) = (struct gt_power_step){
			.start_ns = when.start_ns,
			.end_ns = when.end_ns,
			.joules = joules,
			.told = told,
		};
}

/* Steps from one sample of power to the next, in a time; joules are so many times the area. */
static void add_drawn(struct gt_power *power, const struct gt_measured *drawn,
                      struct gt_interval when, double scale)
{
	for (size_t i = gt_measured_first(drawn, when.start_ns);
	     i + 1 < drawn->count && drawn->times_ns[i] < when.end_ns; i++) {
		const struct gt_power_step step = {.start_ns = drawn->times_ns[i],
		                                   .end_ns = drawn->times_ns[i + 1],
		                                   .told = true};
		const struct gt_interval part = gt_power_part(&step, when);

		if (part.end_ns <= part.start_ns || !gt_measured_watched(drawn, i))
			continue;
		add_step(power, part,
		         gt_measured_area(drawn, part.start_ns, part.end_ns) / 1e12 * scale, true);
	}
}

/* The samples of power alone, up to a moment. */
static void add_drawn_until(struct gt_power *power, struct samples *samples, gt_time until_ns)
{
	const size_t before = power->steps.count;

	add_drawn(power, &samples->drawn, (struct gt_interval){samples->until_ns, until_ns}, 1);
	power->drawn = power->drawn || power->steps.count > before;
}

/* The joules of the counter, where the samples of power say they went or as one step. */
static void add_counted(struct gt_power *power, struct samples *samples, struct gt_interval when,
                        double joules, bool watched)
{
	const double area = gt_measured_area(&samples->drawn, when.start_ns, when.end_ns) / 1e12;

	add_drawn_until(power, samples, when.start_ns);
	if (area > 0)
		add_drawn(power, &samples->drawn, when, joules / area);
	else
		add_step(power, when, joules, watched);
	power->counted = true;
	samples->until_ns = when.end_ns;
}

/* The counter counts also while nobody reads it. */
static void add_steps(struct gt_power *power, struct samples *samples)
{
	const struct gt_measured *counter = &samples->counter;
	size_t first = 0;
	bool watched = true;

	for (size_t i = 1; i < counter->count; i++) {
		const struct gt_interval when = {counter->times_ns[first], counter->times_ns[i]};
		const bool reset = counter->values[i] < counter->values[i - 1];

		power->resets += reset;
		watched = watched && gt_measured_watched(counter, i - 1);
		if (!reset && when.end_ns - when.start_ns < COUNTED_LEAST_NS)
			continue;
		if (!reset)
			add_counted(power, samples, when,
			            (counter->values[i] - counter->values[first]) / 1e3, watched);
		first = i;
		watched = true;
	}
	add_drawn_until(power, samples, INT64_MAX);
}

static void find_usual(struct gt_power *power)
{
	const size_t count = power->steps.count;
	int64_t *lengths = gt_allocate(count * sizeof(*lengths));

	for (size_t i = 0; i < count; i++)
		lengths[i] = power->steps.rows[i].end_ns - power->steps.rows[i].start_ns;
	if (count > 0)
		power->usual_ns = gt_percentile(lengths, count, 50);
	gt_array_free(lengths);
}

static void read_samples(struct gt_power *power, const struct gt_trace *whole, gt_id device)
{
	struct samples samples = {
		.counter = gt_measured_on(whole, device, "energy_mj"),
		.drawn = gt_measured_on(whole, device, "power_mw"),
	};

	add_steps(power, &samples);
	find_usual(power);
	gt_measured_release(&samples.counter);
	gt_measured_release(&samples.drawn);
}

/* Steps in which nothing ran, nor in the one before: what work drew is no longer in the samples. */
static void find_quiet(struct gt_power *power, const struct gt_covered *active)
{
	double joules = 0;
	double seconds = 0;

	power->quiet_most = 0;
	gt_array_each(const struct gt_power_step, step, &power->steps) {
		const bool follows = step > power->steps.rows && step[-1].end_ns == step->start_ns;
		const gt_time from_ns = follows ? step[-1].start_ns : step->start_ns;

		if (!step->told ||
		    gt_covered_within(active, (struct gt_interval){from_ns, step->end_ns}) > 0)
			continue;
		joules += step->joules;
		seconds += seconds_of(time_of(step));
		power->quiet_most = fmax(power->quiet_most, mean_of(step));
	}
	power->quiet_watts = seconds > 0 ? joules / seconds : NAN;
}

static void model_step(struct gt_power_step *step, double active_s, const struct gt_power *power)
{
	const double all_s = seconds_of(time_of(step));
	const bool stands_out = mean_of(step) > power->quiet_most && 100 * active_s >= all_s;

	step->quiet_watts = active_s > 0 && stands_out && !isnan(power->quiet_watts)
	                            ? power->quiet_watts
	                            : mean_of(step);
	step->least_watts = isnan(power->quiet_watts) ? 0 : fmin(power->quiet_watts, mean_of(step));
	if (active_s > 0)
		step->active_watts =
			(step->joules - step->quiet_watts * (all_s - active_s)) / active_s;
}

/* A short kernel does not draw all that an idle board drew above its mean by chance. */
static void cap_step(struct gt_power_step *step, double active_s, double most_watts)
{
	if (step->active_watts <= most_watts)
		return;
	step->active_watts = most_watts;
	step->quiet_watts =
		(step->joules - most_watts * active_s) / (seconds_of(time_of(step)) - active_s);
}

static void model_steps(struct gt_power *power, const struct gt_covered *active)
{
	double most_watts = 0; /* of steps in half of which, or more, something ran */

	gt_array_each(struct gt_power_step, step, &power->steps) {
		const double active_s = (double)gt_covered_within(active, time_of(step)) / 1e9;

		model_step(step, active_s, power);
		if (step->told && 2 * active_s >= seconds_of(time_of(step)))
			most_watts = fmax(most_watts, step->active_watts);
	}
	if (most_watts == 0)
		return;
	gt_array_each(struct gt_power_step, step, &power->steps)
		if (step->told)
			cap_step(step, (double)gt_covered_within(active, time_of(step)) / 1e9,
			         most_watts);
}

/* Up to a moment in the step. */
static struct gt_power_sums sums_until(const struct gt_power_step *step, gt_time time_ns)
{
	struct gt_power_sums sums = step->before;
	const double part_s = (double)(time_ns - step->start_ns) / 1e9;

	if (!step->told || time_ns <= step->start_ns)
		return sums;
	sums.told_ns += (uint64_t)(time_ns - step->start_ns);
	sums.active_joules += step->active_watts * part_s;
	sums.least_joules += step->least_watts * part_s;
	sums.rest_joules += step->joules - step->least_watts * seconds_of(time_of(step));
	return sums;
}

static void add_up(struct gt_power *power)
{
	struct gt_power_sums sums = {0};

	gt_array_each(struct gt_power_step, step, &power->steps) {
		step->before = sums;
		sums = sums_until(step, step->end_ns);
	}
}

struct gt_power_sums gt_power_sums(const struct gt_power *power, gt_time time_ns)
{
	const size_t ended = gt_power_ended(power, time_ns);

	if (ended < power->steps.count)
		return sums_until(&power->steps.rows[ended], time_ns);
	if (ended > 0)
		return sums_until(&power->steps.rows[ended - 1],
		                  power->steps.rows[ended - 1].end_ns);
	return (struct gt_power_sums){0};
}

void gt_power_init(struct gt_power *power, const struct gt_trace *whole, gt_id device,
                   const struct gt_covered *active)
{
	*power = (struct gt_power){0};
	read_samples(power, whole, device);
	find_quiet(power, active);
	model_steps(power, active);
	add_up(power);
}

void gt_power_release(struct gt_power *power)
{
	gt_array_release(&power->steps);
}

static int by_end(const void *row, const void *wanted)
{
	const gt_time end_ns = ((const struct gt_power_step *)row)->end_ns;
	const gt_time time_ns = *(const gt_time *)wanted;

	return (end_ns > time_ns) - (end_ns < time_ns);
}

size_t gt_power_ended(const struct gt_power *power, gt_time time_ns)
{
	return power->steps.count ? gt_count_up_to(&power->steps, &time_ns, by_end) : 0;
}

static void add_part(struct gt_energy *energy, const struct gt_power_step *step,
                     const struct gt_covered *active, struct gt_interval part)
{
	const uint64_t all_ns = (uint64_t)(part.end_ns - part.start_ns);
	uint64_t active_ns;

	if (!step->told) {
		energy->untold_ns += all_ns;
		energy->untold_joules +=
			step->joules * seconds_of(part) / seconds_of(time_of(step));
		return;
	}
	active_ns = gt_covered_within(active, part);
	energy->told_ns += all_ns;
	energy->active_joules += step->active_watts * (double)active_ns / 1e9;
	energy->quiet_joules += step->quiet_watts * (double)(all_ns - active_ns) / 1e9;
}

void gt_energy_add(struct gt_energy *energy, const struct gt_power *power,
                   const struct gt_covered *active, struct gt_interval when)
{
	for (size_t i = gt_power_ended(power, when.start_ns); i < power->steps.count; i++) {
		const struct gt_power_step *step = &power->steps.rows[i];
		const struct gt_interval part = gt_power_part(step, when);

		if (part.end_ns <= part.start_ns)
			break;
		add_part(energy, step, active, part);
	}
}

double gt_energy_joules(const struct gt_energy *energy)
{
	return energy->told_ns + energy->untold_ns > 0
	               ? energy->active_joules + energy->quiet_joules + energy->untold_joules
	               : NAN;
}
