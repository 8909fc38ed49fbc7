/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/step_choice.h"

#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/result.h"
#include "base/demangle/demangle.h"
#include "base/error.h"
#include "base/parse.h"
#include "model/bundle/bundle.h"

static const char *const kinds[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_STEP_KINDS(KIND)
#undef KIND
};

static const struct gt_heading headings[] = {
	{"step", GT_UNIT_COUNT, "Its number, as --step takes it", GT_WORTH_KEY},
	{"kind", GT_UNIT_TEXT, "Its action", GT_WORTH_KEY},
	{"chosen", GT_UNIT_TEXT, "Whether it was chosen when it was captured, and is run alone",
         GT_WORTH_LITTLE},
	{"stream", GT_UNIT_COUNT, "Number in the program; null: the host waits for all of it"},
	{"graph", GT_UNIT_COUNT, "Which launch of a graph it is of; null: of none"},
	{"grid", GT_UNIT_TEXT, "Blocks of a launch"},
	{"block", GT_UNIT_TEXT, "Threads of a block of it", GT_WORTH_LITTLE},
	{"bytes", GT_UNIT_BYTES, "That are copied or filled"},
	{"start_ns", GT_UNIT_NS, "In the program, since the first call of work; null: not known",
         GT_WORTH_LITTLE},
	{"duration_ns", GT_UNIT_NS, "On the GPU, in the program; null: not known"},
	{"event", GT_UNIT_COUNT, "Number of what is recorded or waited for", GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "NVTX ranges that were open", GT_WORTH_LITTLE},
	{"kernel", GT_UNIT_TEXT, "Name of what is launched", GT_WORTH_NAME},
};

/* The caller frees it; NULL: it launches nothing. */
static char *name_of(const struct gt_bundle *bundle, const struct gt_bundle_step *step)
{
	return step->kind == GT_BUNDLE_STEP_launch
	               ? gt_demangle(bundle->functions.rows[step->function].name)
	               : NULL;
}

static bool fits(const struct gt_bundle *bundle, const struct gt_bundle_step *step,
                 const regex_t *regex)
{
	char *name;
	bool found;

	if (step->kind != GT_BUNDLE_STEP_launch)
		return false;
	name = name_of(bundle, step);
	found = (name && regexec(regex, name, 0, NULL, 0) == 0) ||
	        regexec(regex, bundle->functions.rows[step->function].name, 0, NULL, 0) == 0;
	free(name);
	return found;
}

static int choose_number(const struct gt_bundle *bundle, uint64_t number, uint32_t *step,
                         struct gt_error *err)
{
	const size_t count = bundle->steps.count;

	if (number >= count)
		return gt_fail(err, EINVAL,
		               "--step %llu: the bundle's steps are numbered from 0 to %zu; --list "
		               "shows them",
		               (unsigned long long)number, count - 1);
	if (!gt_bundle_is_work(&bundle->steps.rows[number]))
		return gt_fail(err, EINVAL,
		               "--step %llu is a %s, which is no work of the GPU's; --list shows "
		               "all steps",
		               (unsigned long long)number, kinds[bundle->steps.rows[number].kind]);
	*step = (uint32_t)number;
	return 0;
}

static int choose_name(const struct gt_bundle *bundle, const char *text, uint32_t *step,
                       size_t *matching, struct gt_error *err)
{
	size_t count = 0;
	regex_t regex;
	int result = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

	if (result != 0) {
		char problem[128];

		regerror(result, &regex, problem, sizeof(problem));
		return gt_fail(err, EINVAL,
		               "--step takes a number or a regular expression, and '%s' is "
		               "neither: %s",
		               text, problem);
	}
	for (size_t i = 0; i < bundle->steps.count; i++)
		if (fits(bundle, &bundle->steps.rows[i], &regex) && count++ == 0)
			*step = (uint32_t)i;
	regfree(&regex);
	if (count == 0)
		return gt_fail(err, EINVAL,
		               "--step %s: no kernel of the bundle is called so; --list shows all "
		               "steps",
		               text);
	*matching = count;
	return 0;
}

int gt_step_choose(const struct gt_bundle *bundle, const char *text, uint32_t *step,
                   size_t *matching, struct gt_error *err)
{
	uint64_t number;

	*matching = 1;
	return gt_parse_count(text, &number) == 0 ? choose_number(bundle, number, step, err)
	                                          : choose_name(bundle, text, step, matching, err);
}

/* ---- the table ---- */

static void add_extent(struct gt_result *result, bool known, const uint32_t extent[3])
{
	if (known)
		gt_result_add_format(result, "%u x %u x %u", extent[0], extent[1], extent[2]);
	else
		gt_result_add_unknown(result);
}

static void add_step(struct gt_result *result, const struct gt_bundle *bundle, size_t number)
{
	const struct gt_bundle_step *step = &bundle->steps.rows[number];
	const bool launches = step->kind == GT_BUNDLE_STEP_launch;
	const bool streams = step->stream != GT_BUNDLE_NONE;
	char *name = name_of(bundle, step);

	gt_result_add_count(result, (int64_t)number);
	gt_result_add_text(result, kinds[step->kind]);
	gt_result_add_text(result, number == bundle->focus ? "yes" : "");
	gt_result_add_count_if(result, streams,
	                       streams ? bundle->streams.rows[step->stream].number : 0);
	gt_result_add_count_if(result, step->graph != 0, step->graph);
	add_extent(result, launches, step->grid);
	add_extent(result, launches, step->block);
	gt_result_add_count_if(result, gt_bundle_is_work(step) && !launches,
	                       (int64_t)(step->bytes * step->rows * step->slices));
	gt_result_add_count_if(result, step->start_ns >= 0, step->start_ns);
	gt_result_add_count_if(result, step->start_ns >= 0 && step->end_ns >= step->start_ns,
	                       step->end_ns - step->start_ns);
	gt_result_add_count_if(result, step->event != GT_BUNDLE_NONE, step->event);
	gt_result_add_copy(result, step->range);
	gt_result_add_copy(result, name       ? name
	                           : launches ? bundle->functions.rows[step->function].name
	                                      : "");
	free(name);
}

void gt_steps_fill(struct gt_result *result, const struct gt_bundle *bundle)
{
	gt_result_begin(result, "steps", headings, GT_COUNT_OF(headings));
	gt_result_whole(result);
	for (size_t i = 0; bundle && i < bundle->steps.count; i++)
		add_step(result, bundle, i);
}
