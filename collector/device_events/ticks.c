/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/device_events/ticks.h"

#include <math.h>
#include <stdlib.h>

#include "collector/device_events/written.h"

/* Steps of %globaltimer between two knots: it then says the rate to less than half a percent; */
#define STEPS_BETWEEN 256

/* and so many tell the rate of a launch better than other launches do. */
#define STEPS_ENOUGH 64

/* Nanoseconds between two knots at least, as the delay of a reading is some tens of them. */
#define LEAST_BETWEEN 8192

/* A clock that is quicker or slower is none: 100 GHz, 10 MHz. */
#define LEAST_NS_PER_CYCLE 0.01
#define MOST_NS_PER_CYCLE  100.0

void gt_ticks_clear(struct gt_ticks *ticks)
{
	ticks->pairs.count = ticks->knots.count = ticks->sms.count = 0;
	ticks->at = 0;
}

void gt_ticks_release(struct gt_ticks *ticks)
{
	gt_array_release(&ticks->pairs);
	gt_array_release(&ticks->knots);
	gt_array_release(&ticks->sms);
}

void gt_ticks_add(struct gt_ticks *ticks, uint32_t sm, uint64_t clock, uint64_t timer)
{
	*gt_array_push(&ticks->pairs) = (struct gt_ticks_pair){clock, timer, sm};
}

static int by_sm_and_clock(const void *a, const void *b)
{
	const struct gt_ticks_pair *left = a;
	const struct gt_ticks_pair *right = b;

	if (left->sm != right->sm)
		return left->sm < right->sm ? -1 : 1;
	if (left->clock != right->clock)
		return left->clock < right->clock ? -1 : 1;
	return (left->timer > right->timer) - (left->timer < right->timer);
}

/* 0: there is none. */
static double rate_between(uint64_t clock, uint64_t timer, uint64_t next_clock, uint64_t next_timer)
{
	double ns_per_cycle;

	if (next_clock <= clock || next_timer <= timer)
		return 0;
	ns_per_cycle = (double)(next_timer - timer) / (double)(next_clock - clock);
	return ns_per_cycle >= LEAST_NS_PER_CYCLE && ns_per_cycle <= MOST_NS_PER_CYCLE
	               ? ns_per_cycle
	               : 0;
}

/* The end of the pairs of the multiprocessor that the first one is of. */
static size_t end_of_sm(const struct gt_ticks *ticks, size_t first)
{
	size_t end = first;

	while (end < ticks->pairs.count && ticks->pairs.rows[end].sm == ticks->pairs.rows[first].sm)
		end++;
	return end;
}

/* The rate of the launch: of the multiprocessor that was read over the longest time. */
static void find_rate(struct gt_ticks *ticks, const struct gt_rate *usual, uint32_t step_ns)
{
	ticks->rate = *usual;
	for (size_t first = 0, end; first < ticks->pairs.count; first = end) {
		const struct gt_ticks_pair *begin = &ticks->pairs.rows[first];
		const struct gt_ticks_pair *last;
		double ns_per_cycle;
		bool better;

		end = end_of_sm(ticks, first);
		last = &ticks->pairs.rows[end - 1];
		ns_per_cycle = rate_between(begin->clock, begin->timer, last->clock, last->timer);
		if (ns_per_cycle == 0 ||
		    last->timer - begin->timer < (uint64_t)STEPS_ENOUGH * step_ns)
			continue;
		better = ticks->rate.baseline_ns == usual->baseline_ns ||
		         last->timer - begin->timer > ticks->rate.baseline_ns;
		if (better)
			ticks->rate = (struct gt_rate){
				.ns_per_cycle = ns_per_cycle,
				.doubt = (double)step_ns / (double)(last->timer - begin->timer),
				.baseline_ns = last->timer - begin->timer,
			};
	}
}

/* Nanoseconds from one pair to another one by the clock less those by the timer. */
static double delay_of(const struct gt_ticks *ticks, const struct gt_ticks_pair *from,
                       const struct gt_ticks_pair *pair)
{
	return (double)((int64_t)pair->timer - (int64_t)from->timer) -
	       (double)(pair->clock - from->clock) * ticks->rate.ns_per_cycle;
}

/* A knot that has its place behind the last one of its multiprocessor, else it is left out. */
static void add_knot(struct gt_ticks *ticks, struct gt_ticks_sm *sm,
                     const struct gt_ticks_pair *pair, double between_ns)
{
	if (sm->count > 0) {
		struct gt_ticks_knot *last = &ticks->knots.rows[ticks->knots.count - 1];
		const double ns_per_cycle =
			rate_between(last->clock, last->timer, pair->clock, pair->timer);

		if (ns_per_cycle == 0 || (double)(pair->timer - last->timer) < between_ns / 2)
			return;
		last->ns_per_cycle = ns_per_cycle;
	}
	*gt_array_push(&ticks->knots) =
		(struct gt_ticks_knot){pair->clock, pair->timer, ticks->rate.ns_per_cycle, 0};
	sm->count++;
}

/* Rates of neighbours differ by noise, or as the clock's rate changed: it is not known where. */
static void find_doubts(struct gt_ticks *ticks, const struct gt_ticks_sm *sm, uint32_t step_ns)
{
	struct gt_ticks_knot *knots = &ticks->knots.rows[sm->first];

	if (sm->count == 1) {
		knots[0].doubt = ticks->rate.doubt;
		return;
	}
	for (uint32_t i = 0; i + 1 < sm->count; i++) {
		const double rate = knots[i].ns_per_cycle;
		const double before = i > 0 ? knots[i - 1].ns_per_cycle : rate;
		const double after = i + 2 < sm->count ? knots[i + 1].ns_per_cycle : rate;

		knots[i].doubt =
			fmax((double)step_ns / (double)(knots[i + 1].timer - knots[i].timer),
		             fmax(fabs(before - rate), fabs(after - rate)) / rate);
	}
	knots[sm->count - 1].ns_per_cycle = knots[sm->count - 2].ns_per_cycle;
	knots[sm->count - 1].doubt = knots[sm->count - 2].doubt;
}

static void fit_sm(struct gt_ticks *ticks, size_t first, size_t end, uint32_t step_ns)
{
	const double between_ns = fmax((double)step_ns * STEPS_BETWEEN, LEAST_BETWEEN);
	const double between = between_ns / ticks->rate.ns_per_cycle;
	struct gt_ticks_sm sm = {.sm = ticks->pairs.rows[first].sm,
	                         .first = (uint32_t)ticks->knots.count};

	while (first < end) {
		const struct gt_ticks_pair *begin = &ticks->pairs.rows[first];
		const struct gt_ticks_pair *best = begin;

		for (; first < end; first++) {
			const struct gt_ticks_pair *pair = &ticks->pairs.rows[first];

			if ((double)(pair->clock - begin->clock) >= between && pair != begin)
				break;
			if (delay_of(ticks, begin, pair) < delay_of(ticks, begin, best))
				best = pair;
		}
		add_knot(ticks, &sm, best, between_ns);
	}
	find_doubts(ticks, &sm, step_ns);
	*gt_array_push(&ticks->sms) = sm;
}

void gt_ticks_fit(struct gt_ticks *ticks, const struct gt_rate *usual, uint32_t step_ns)
{
	if (ticks->pairs.count > 1)
		qsort(ticks->pairs.rows, ticks->pairs.count, sizeof(struct gt_ticks_pair),
		      by_sm_and_clock);
	find_rate(ticks, usual, step_ns);
	for (size_t first = 0, end; first < ticks->pairs.count; first = end) {
		end = end_of_sm(ticks, first);
		fit_sm(ticks, first, end, step_ns);
	}
}

static const struct gt_ticks_sm *find_sm(struct gt_ticks *ticks, uint32_t sm)
{
	size_t low = 0;
	size_t high = ticks->sms.count;

	if (ticks->sms.rows[ticks->at].sm == sm)
		return &ticks->sms.rows[ticks->at];
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (ticks->sms.rows[middle].sm <= sm)
			low = middle;
		else
			high = middle;
	}
	ticks->at = low;
	return &ticks->sms.rows[low];
}

/* The last knot that is not behind the clock, or the first one. */
static const struct gt_ticks_knot *find_knot(const struct gt_ticks_knot *knots, uint32_t count,
                                             uint64_t clock)
{
	uint32_t low = 0;
	uint32_t high = count;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (knots[middle].clock <= clock)
			low = middle;
		else
			high = middle;
	}
	return &knots[low];
}

uint64_t gt_ticks_timer(struct gt_ticks *ticks, uint32_t sm_number, uint64_t clock,
                        double *doubt_ns)
{
	const struct gt_ticks_sm *sm = find_sm(ticks, sm_number);
	const struct gt_ticks_knot *knots = &ticks->knots.rows[sm->first];
	const struct gt_ticks_knot *knot = find_knot(knots, sm->count, clock);
	const double away = (double)((int64_t)clock - (int64_t)knot->clock);
	const double timer_ns = away * knot->ns_per_cycle;
	double near = fabs(away);

	if (away > 0 && knot + 1 < knots + sm->count)
		near = fmin(near, fabs((double)((int64_t)knot[1].clock - (int64_t)clock)));
	*doubt_ns = near * knot->ns_per_cycle * knot->doubt;
	if (fabs(timer_ns) > (double)GT_MOST_TIMER / 2)
		return knot->timer;

	const int64_t timer = (int64_t)knot->timer + llround(timer_ns);

	if (timer < 1)
		return 1;
	return (uint64_t)timer > GT_MOST_TIMER ? GT_MOST_TIMER : (uint64_t)timer;
}
