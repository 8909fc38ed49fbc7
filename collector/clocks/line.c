/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/clocks/line.h"

#include <math.h>
#include <stdlib.h>

/* Readings so far apart tell the rate of a clock to a few millionths. */
#define RATE_NS 100000000

/* Times so far from all readings are damage. */
#define FAR_NS ((int64_t)100 * 86400 * 1000000000)

static int by_from(const void *a, const void *b)
{
	const struct gt_clock_pair *left = a;
	const struct gt_clock_pair *right = b;

	return (left->from > right->from) - (left->from < right->from);
}

/* time: from 1 to GT_MOST_CLOCK_NS. There are pairs. */
static int64_t interpolate(struct gt_clock_line *line, int64_t time)
{
	const struct gt_clock_pair *pairs = line->pairs.rows;
	const size_t count = line->pairs.count;

	while (line->at + 1 < count && pairs[line->at + 1].from <= time)
		line->at++;
	while (line->at > 0 && pairs[line->at].from > time)
		line->at--;

	const struct gt_clock_pair *left = &pairs[line->at];

	if (time <= left->from || line->at + 1 == count)
		return left->to + (time - left->from) +
		       (int64_t)(line->excess * (double)(time - left->from));

	const struct gt_clock_pair *right = left + 1;
	const double share = (double)(time - left->from) / (double)(right->from - left->from);
	const int64_t drift = (right->to - left->to) - (right->from - left->from);

	return left->to + (time - left->from) + (int64_t)(share * (double)drift);
}

int64_t gt_clock_line_convert(struct gt_clock_line *line, int64_t time)
{
	if (time == 0 || line->pairs.count == 0)
		return 0; /* not known, or on a clock that was never read */
	if (time > 0 && (uint64_t)time <= GT_MOST_CLOCK_NS) {
		const int64_t converted = interpolate(line, time);

		if (converted >= line->from_ns && converted <= line->to_ns)
			return converted;
	}
	line->refused++;
	return 0;
}

void gt_clock_line_add(struct gt_clock_line *line, uint64_t from, uint64_t to)
{
	if (from)
		*gt_array_push(&line->pairs) = (struct gt_clock_pair){(int64_t)from, (int64_t)to};
}

double gt_clock_excess(const struct gt_clock_pair *left, const struct gt_clock_pair *right)
{
	const double own = (double)(right->from - left->from);

	return own > 0 ? (double)(right->to - left->to) / own - 1 : 0;
}

/*
 * The rate at the end: from the last pair back to one that is far enough away, or to the first.
 * Twice as fast is no rate but a jump.
 */
static double excess_of(const struct gt_clock_line *line)
{
	const struct gt_clock_pair *pairs = line->pairs.rows;
	const size_t last = line->pairs.count - 1;
	size_t first = last;

	while (first > 0 && pairs[last].from - pairs[first].from < RATE_NS)
		first--;
	const double excess = gt_clock_excess(&pairs[first], &pairs[last]);

	return fabs(excess) <= 1 ? excess : 0;
}

void gt_clock_line_prepare(struct gt_clock_line *line)
{
	if (line->pairs.count == 0)
		return;
	qsort(line->pairs.rows, line->pairs.count, sizeof(struct gt_clock_pair), by_from);
	line->excess = line->is_scaled ? excess_of(line) : 0;
	line->from_ns = line->to_ns = line->pairs.rows[0].to;
	gt_array_each(const struct gt_clock_pair, pair, &line->pairs) {
		line->from_ns = pair->to < line->from_ns ? pair->to : line->from_ns;
		line->to_ns = pair->to > line->to_ns ? pair->to : line->to_ns;
	}
	line->from_ns = line->from_ns > FAR_NS ? line->from_ns - FAR_NS : 1;
	line->to_ns += FAR_NS;
}
