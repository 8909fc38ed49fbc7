/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tune/tune.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { RECORDED = -1 };

/* One value of each axis, or RECORDED. */
struct choice {
	int values[GT_TUNE_WORD_COUNT];
};

/* A search under way. */
struct search {
	const struct gt_tune_plan *plan;
	struct gt_tune_result *result;
	gt_array(struct choice) choices; /* of the rows */
	struct gt_error *err;
};

static bool is_better(const struct gt_tune_row *row, const struct gt_tune_row *best)
{
	return row->verified && !isnan(row->ns) && (!best || row->ns < best->ns);
}

static struct gt_variant variant_of(const struct gt_tune_space *space, const struct choice *choice)
{
	struct gt_variant variant = gt_variant_recorded();

	for (size_t i = 0; i < space->axis_count; i++)
		if (choice->values[i] != RECORDED)
			gt_tune_set(&variant, &space->axes[i], (size_t)choice->values[i]);
	return variant;
}

static struct choice choice_recorded(void)
{
	struct choice choice;

	for (size_t i = 0; i < GT_TUNE_WORD_COUNT; i++)
		choice.values[i] = RECORDED;
	return choice;
}

/* As gt_tune_configuration counts. */
static struct choice choice_of(const struct gt_tune_space *space, size_t number)
{
	struct choice choice = choice_recorded();

	for (size_t i = space->axis_count; i-- > 0;) {
		const size_t count = space->axes[i].values.count;

		choice.values[i] = (int)(number % count);
		number /= count;
	}
	return choice;
}

/* Adds its row. */
static int measure(struct search *search, const struct choice *choice)
{
	const struct gt_tune_plan *plan = search->plan;
	struct gt_tune_result *result = search->result;
	struct gt_tune_row row = {.variant = variant_of(plan->space, choice), .ns = NAN};
	struct gt_error err = {0};
	const int status = plan->measure(plan->context, &row.variant, &row.ns, &row.verified, &err);

	if (status == -EINTR)
		return gt_fail(search->err, EINTR, "%s", err.text);
	if (status < 0) {
		row.ns = NAN;
		row.verified = false;
		snprintf(row.why, sizeof(row.why), "%s", err.text);
	}
	*gt_array_push(&search->choices) = *choice;
	*gt_array_push(&result->rows) = row;
	if (is_better(&row, result->best == SIZE_MAX ? NULL : &result->rows.rows[result->best]))
		result->best = result->rows.count - 1;
	return 0;
}

static bool is_measured(const struct search *search, const struct choice *choice)
{
	gt_array_each(const struct choice, there, &search->choices)
		if (memcmp(there, choice, sizeof(*there)) == 0)
			return true;
	return false;
}

/* The recorded one is not counted. */
static bool may_measure(const struct search *search)
{
	return search->result->rows.count <= search->plan->most;
}

static int measure_all(struct search *search, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct choice choice = choice_of(search->plan->space, i);
		const int result = measure(search, &choice);

		if (result < 0)
			return result;
	}
	search->result->whole = true;
	return 0;
}

/* Each value of one axis beside what is best by now. */
static int try_axis(struct search *search, size_t axis)
{
	const struct gt_tune_result *result = search->result;
	const size_t count = search->plan->space->axes[axis].values.count;
	struct choice choice =
		result->best == SIZE_MAX ? choice_recorded() : search->choices.rows[result->best];

	for (size_t i = 0; i < count && may_measure(search); i++) {
		int status;

		choice.values[axis] = (int)i;
		if (is_measured(search, &choice))
			continue;
		status = measure(search, &choice);
		if (status < 0)
			return status;
	}
	return 0;
}

static int measure_some(struct search *search)
{
	size_t before;

	do {
		before = search->result->rows.count;
		for (size_t i = 0; i < search->plan->space->axis_count; i++) {
			const int result = try_axis(search, i);

			if (result < 0)
				return result;
		}
	} while (search->result->rows.count > before && may_measure(search));
	return 0;
}

int gt_tune_search(const struct gt_tune_plan *plan, struct gt_tune_result *result,
                   struct gt_error *err)
{
	const size_t count = gt_tune_count(plan->space);
	const struct choice recorded = choice_recorded();
	struct search search = {.plan = plan, .result = result, .err = err};
	int status;

	*result = (struct gt_tune_result){.best = SIZE_MAX};
	status = measure(&search, &recorded);
	if (status == 0)
		status = plan->most && count > plan->most ? measure_some(&search)
		                                          : measure_all(&search, count);
	gt_array_release(&search.choices);
	return status;
}

void gt_tune_result_release(struct gt_tune_result *result)
{
	gt_array_release(&result->rows);
	*result = (struct gt_tune_result){.best = SIZE_MAX};
}
