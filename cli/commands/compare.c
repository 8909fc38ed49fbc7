/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/compare/bars.h"
#include "analysis/compare/compare_result.h"
#include "analysis/compare/comparison.h"
#include "analysis/compare/headline.h"
#include "analysis/result.h"
#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/option.h"
#include "cli/compare/baseline.h"
#include "cli/compare/both.h"
#include "cli/compare/gate.h"
#include "cli/compare/profiles.h"
#include "cli/compare/sides.h"
#include "cli/recording/reading.h"
#include "cli/render/render.h"
#include "cli/render/show.h"

struct args {
	struct gt_option_list conditions;
	struct gt_filter_args filter;
	struct gt_sort sort;
	struct gt_show_args show;
	bool against;
	bool strict;
};

static const struct gt_option options[] = {
	{OPT("against", 0, FLAG, struct args, against, NULL,
             "The recordings behind it are side B, where a side has several"),
         .group = "Sides"},
	{OPT("fail-if", 0, LIST, struct args, conditions, "CONDITION",
             "End with status 3 when it holds: 'kernel slower 5%', 'step slower 2%', 'memory peak "
             "more 1%', 'launches more 0'; may be given again"),
         .group = "Verdict"},
	OPT_FLAG("strict", 0, struct args, strict,
                 "End with status 4 when a condition of --fail-if cannot be told, and with 3 when a "
                 "recording is damaged or lacks anything"),
	OPT_SORT("sort", 's', struct args, sort, "COLUMN",
                 "Sort by this column: COLUMN:asc or COLUMN:desc, commas separate several"),
	GT_FILTER_OPTIONS(struct args, filter),
	GT_SHOW_OPTIONS(struct args, show),
	OPT_FLAG("all", 'a', struct args, show.all,
                 "Every table; without it text has the first three, and names the others"),
	OPT_END_OF("compare"),
};

/* All of them, without rows. */
static void make_tables(struct gt_result *result)
{
	const struct gt_option_list none = {.count = 0};
	enum gt_gate_outcome outcome;

	gt_comparison_add_headline(NULL, result);
	gt_gates_check(&none, NULL, result, &outcome, NULL);
	gt_comparison_show(NULL, result);
}

/* The word stands among the operands from now on: which side an operand is of is its place. */
static void keep_against(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--against") == 0)
			argv[i] = gt_against;
}

static int status_of(const struct args *args, enum gt_gate_outcome outcome, bool whole)
{
	if (outcome == GT_GATE_CROSSED)
		return GT_EXIT_LIMIT;
	if (args->strict && outcome == GT_GATE_UNTOLD)
		return GT_EXIT_UNTOLD;
	return args->strict && !whole ? GT_EXIT_INCOMPLETE : GT_EXIT_OK;
}

static int compare(const struct args *args, enum gt_style style, const struct gt_profiles *profiles,
                   struct gt_error *err)
{
	const struct gt_rendering rendering = {
		.style = style,
		.sort = args->sort.count ? &args->sort : NULL,
	};
	struct gt_comparison comparison;
	struct gt_result result;
	enum gt_gate_outcome outcome;
	int status;

	gt_result_init(&result);
	gt_comparison_init(&comparison, profiles->list.rows, profiles->a,
	                   profiles->list.count - profiles->a);
	gt_comparison_add_headline(&comparison, &result);
	status = gt_gates_check(&args->conditions, &comparison, &result, &outcome, err);
	gt_comparison_show(&comparison, &result);
	gt_comparison_add_bars(&comparison, &result);
	if (status == 0) {
		gt_result_mark_further(&result);
		status = gt_result_check(&result, err);
	}
	if (status == 0)
		status = gt_show(&args->show, &rendering,
		                 &(struct gt_named_result){"compare", &result}, 1, err);
	gt_result_release(&result);
	gt_comparison_release(&comparison);
	return status < 0 ? status : status_of(args, outcome, profiles->whole);
}

/* One trace of the first recording of each side. */
static int write_both(const struct args *args, const struct gt_sides *sides, struct gt_error *err)
{
	static const struct gt_filter_args none;
	const char *a = sides->paths.list.rows[0];
	const char *b = sides->paths.list.rows[sides->a];

	if (memcmp(&args->filter, &none, sizeof(none)) != 0)
		return gt_fail(err, EINVAL,
		               "both sides on one timeline are whole recordings: leave out what "
		               "chooses a part");
	if (gt_is_baseline(a) || gt_is_baseline(b))
		return gt_fail(err, EINVAL, "a baseline has no timeline: give the recordings");
	return gt_both_write(a, b, args->show.output, args->show.force, err);
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.show = GT_SHOW_ARGS_INIT};
	struct gt_profiles profiles = {.whole = true};
	struct gt_sides sides = {0};
	enum gt_style style = GT_STYLE_TEXT;
	int status;
	int left;

	keep_against(argc, argv);
	left = gt_options_parse(options, &args, argc, argv, err);
	if (left < 0)
		return left;
	for (size_t i = 0; i < args.conditions.count; i++) {
		struct gt_gate gate;
		const int parsed = gt_gate_parse(&gate, args.conditions.texts[i], err);

		if (parsed < 0)
			return parsed;
	}
	status = gt_is_both(args.show.output) ? 0 : gt_show_style(&args.show, &style, err);
	if (status == 0)
		status = gt_sides_read(&sides, left, argv, err);
	if (status == 0 && gt_is_both(args.show.output)) {
		status = write_both(&args, &sides, err);
		gt_sides_release(&sides);
		return status;
	}
	if (status == 0)
		status = gt_profiles_read(&profiles, &sides, &args.filter, err);
	if (status == 0)
		status = compare(&args, style, &profiles, err);
	gt_profiles_release(&profiles);
	gt_sides_release(&sides);
	return status;
}

const struct gt_command gt_command_compare = {
	.name = "compare",
	.operands = "BEFORE AFTER",
	.summary = "Say whether a change helped: two recordings, or several of each side",
	.list_title = "Subjects of --fail-if",
	.list = gt_gate_list_subjects,
	.details = "BEFORE is side A, AFTER is side B. A verdict needs three recordings of each\n"
		   "side, made in turn: gputrace repeat makes them. With one of each, differences\n"
		   "are shown without a verdict. A folder stands for all recordings in it, and a\n"
		   "file of JSON is what gputrace baseline saved.\n"
		   "\n"
		   "  gputrace compare old.gputrace new.gputrace\n"
		   "  gputrace compare a1 a2 a3 --against b1 b2 b3 --fail-if 'step slower 2%'\n"
		   "  gputrace compare old new -o both.perfetto     (both on one timeline)\n"
		   "  gputrace compare app.runs     (made by gputrace repeat --interleave)",
	.tables = make_tables,
	.options = options,
	.run = run,
};
