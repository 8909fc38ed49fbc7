/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of runs, and what is said of them side by side. */
#include "analysis/compare/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "model/naming/kernel_names.h"
#include "support/check.h"

enum { RUNS = 6, STEPS = 10 };

static struct gt_profile profiles[RUNS];
static struct gt_comparison comparison;

static void begin(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		profiles[i] = (struct gt_profile){.strings = gt_strings_new(), .steps = STEPS};
		profiles[i].step = gt_strings_add(profiles[i].strings, "step");
		for (size_t f = 0; f < GT_COMPARED_FIGURES; f++)
			profiles[i].figures[f] = NAN;
	}
}

static void end(size_t count)
{
	gt_comparison_release(&comparison);
	for (size_t i = 0; i < count; i++) {
		gt_array_release(&profiles[i].rows);
		gt_array_release(&profiles[i].settings);
		gt_strings_free(profiles[i].strings);
	}
}

/* Kernels of a run: calls a step, of so many ns each. */
static void add(struct gt_profile *profile, const char *name, const char *shape, const char *range,
                double calls, double ns)
{
	struct gt_profile_row *row = gt_array_push(&profile->rows);

	*row = (struct gt_profile_row){.table = GT_COMPARED_kernels, .family = GT_FAMILY_gemm};
	row->keys[GT_KERNEL_KEY_NAME] = gt_strings_add(profile->strings, name);
	row->keys[GT_KERNEL_KEY_SHAPE] = gt_strings_add(profile->strings, shape);
	row->keys[GT_KERNEL_KEY_RANGE] = gt_strings_add(profile->strings, range);
	row->steady = (struct gt_profile_sum){calls * STEPS, calls * STEPS * ns, log(ns)};
	row->all = row->steady;
	row->place = (double)profile->rows.count / 100;
}

static const struct gt_compared_row *row_of(const char *name)
{
	gt_array_each(const struct gt_compared_row, row, &comparison.rows)
		if (strcmp(row->keys[0], name) == 0)
			return row;
	return NULL;
}

static const char *verdict_of(const char *name)
{
	const struct gt_compared_row *row = row_of(name);

	return row ? gt_compared_verdict(row) : "not there";
}

/* The runs of a side differ by a thousandth from each other. */
static double of_run(double ns, size_t run)
{
	return ns * (1 + 0.001 * (double)(run % 3));
}

Test(comparison, verdicts)
{
	begin(RUNS);
	for (size_t r = 0; r < RUNS; r++) {
		const bool b = r >= 3;

		add(&profiles[r], "same", "1", "step", 2, of_run(1000, r));
		add(&profiles[r], "slower", "1", "step", 2, of_run(b ? 1100 : 1000, r));
		add(&profiles[r], "faster", "1", "step", 2, of_run(b ? 900 : 1000, r));
		add(&profiles[r], "often", "1", "step", b ? 3 : 2, of_run(1000, r));
		add(&profiles[r], "tiny", "1", "step", 1, of_run(b ? 2 : 1, r));
	}
	gt_comparison_init(&comparison, profiles, 3, 3);
	cr_expect(!comparison.no_verdict);
	expect_text(verdict_of("same"), "same");
	expect_text(verdict_of("slower"), "slower");
	expect_text(verdict_of("faster"), "faster");
	expect_text(verdict_of("often"), "more calls");
	expect_text(verdict_of("tiny"), ""); /* less than a thousandth of the time */
	cr_expect(fabs(row_of("slower")->total_ns[GT_SIDE_A] - 2 * 1001) < 1e-6);
	cr_expect(row_of("often")->count[GT_SIDE_B] == 3);
	end(RUNS);
}

Test(comparison, one_run_each)
{
	begin(2);
	add(&profiles[0], "k", "1", "step", 2, 1000);
	add(&profiles[1], "k", "1", "step", 2, 3000);
	add(&profiles[1], "more", "1", "step", 2, 3000);
	profiles[0].figures[GT_FIGURE_step_wall] = 1000;
	profiles[1].figures[GT_FIGURE_step_wall] = 3000;
	gt_comparison_init(&comparison, profiles, 1, 1);
	expect_text(comparison.no_verdict, "one run each");
	expect_text(verdict_of("k"), "");
	expect_text(verdict_of("more"), "new");
	cr_expect(fabs(row_of("k")->change.raw - log(3)) < 1e-9);
	expect_text(gt_compared_figure_verdict(&comparison, GT_FIGURE_step_wall), "");
	end(2);
}

Test(comparison, matches)
{
	const struct gt_compared_row *row;

	begin(2);
	add(&profiles[0], "shaped", "1x1x1 32x1x1", "step", 2, 1000);
	add(&profiles[1], "shaped", "2x1x1 32x1x1", "step", 2, 1000);
	add(&profiles[0], "moved", "1", "step/old", 2, 1000);
	add(&profiles[1], "moved", "1", "step/new", 2, 1000);
	add(&profiles[0], "gemm 128x64", "1", "step/mlp", 4, 1000);
	add(&profiles[1], "gemm 256x64", "3", "step/mlp", 4, 700);
	add(&profiles[0], "gone", "1", "step/a", 2, 1000);
	add(&profiles[1], "new", "1", "step/b", 2, 1000);
	gt_comparison_init(&comparison, profiles, 1, 1);
	expect_text(verdict_of("shaped"), "other work");
	expect_text(row_of("shaped")->were[GT_KERNEL_KEY_SHAPE], "1x1x1 32x1x1");
	row = row_of("moved");
	cr_expect(row->match == GT_MATCH_PLACE);
	expect_text(row->were[GT_KERNEL_KEY_RANGE], "step/old");
	row = row_of("gemm 256x64");
	cr_expect(row->match == GT_MATCH_RENAMED);
	expect_text(row->were[GT_KERNEL_KEY_NAME], "gemm 128x64");
	cr_expect(fabs(row->total_ns[GT_SIDE_A] - 4000) < 1e-6 &&
	          fabs(row->total_ns[GT_SIDE_B] - 2800) < 1e-6);
	expect_text(verdict_of("gone"), "gone");
	expect_text(verdict_of("new"), "new");
	cr_expect(!row_of("gemm 128x64"));
	end(2);
}

/* Several kernels of a family at a place are matched in their order, if each comes as often. */
Test(comparison, renamed_in_order)
{
	begin(2);
	add(&profiles[0], "gemm a1", "1", "step", 2, 1000);
	add(&profiles[0], "gemm a2", "1", "step", 5, 1000);
	add(&profiles[1], "gemm b1", "1", "step", 2, 1000);
	add(&profiles[1], "gemm b2", "1", "step", 5, 1000);
	gt_comparison_init(&comparison, profiles, 1, 1);
	expect_text(row_of("gemm b1")->were[GT_KERNEL_KEY_NAME], "gemm a1");
	expect_text(row_of("gemm b2")->were[GT_KERNEL_KEY_NAME], "gemm a2");
	end(2);
	begin(2);
	add(&profiles[0], "gemm a1", "1", "step", 2, 1000);
	add(&profiles[0], "gemm a2", "1", "step", 5, 1000);
	add(&profiles[1], "gemm b1", "1", "step", 5, 1000);
	add(&profiles[1], "gemm b2", "1", "step", 2, 1000);
	gt_comparison_init(&comparison, profiles, 1, 1);
	expect_text(verdict_of("gemm b1"), "new");
	expect_text(verdict_of("gemm a1"), "gone");
	end(2);
}

Test(comparison, in_some_runs)
{
	begin(RUNS);
	for (size_t r = 0; r < RUNS; r++) {
		add(&profiles[r], "always", "1", "step", 2, of_run(1000, r));
		if (r != 1)
			add(&profiles[r], "sometimes", "1", "step", 2, of_run(1000, r));
	}
	gt_comparison_init(&comparison, profiles, 3, 3);
	expect_text(verdict_of("sometimes"), "in some runs");
	expect_text(verdict_of("always"), "same");
	end(RUNS);
}

/* Where some runs have no steps, all launches are compared, and there is no verdict. */
Test(comparison, steps_of_some)
{
	begin(RUNS);
	for (size_t r = 0; r < RUNS; r++)
		add(&profiles[r], "k", "1", "", 2, 1000);
	profiles[4].steps = 0;
	gt_comparison_init(&comparison, profiles, 3, 3);
	cr_expect(!comparison.by_step && comparison.no_verdict);
	cr_expect(row_of("k")->count[GT_SIDE_A] == 2 * STEPS);
	end(RUNS);
}

static void set(struct gt_profile *profile, const char *name, const char *value, bool of_recording)
{
	*gt_array_push(&profile->settings) =
		(struct gt_profile_setting){gt_strings_add(profile->strings, name),
	                                    gt_strings_add(profile->strings, value), of_recording};
}

Test(comparison, settings)
{
	begin(RUNS);
	for (size_t r = 0; r < RUNS; r++) {
		add(&profiles[r], "k", "1", "step", 2, of_run(1000, r));
		set(&profiles[r], "driver", r < 3 ? "12.0" : "13.0", false);
		set(&profiles[r], "machine", "one", false);
		set(&profiles[r], "BATCH", r == 4 ? "2" : "1", false);
	}
	gt_comparison_init(&comparison, profiles, 3, 3);
	cr_expect(comparison.settings.count == 2 && !comparison.no_verdict);
	expect_text(comparison.settings.rows[0].value[GT_SIDE_B], "13.0");
	expect_text(comparison.settings.rows[1].value[GT_SIDE_B], "1, 2");
	gt_comparison_release(&comparison);
	for (size_t r = 0; r < RUNS; r++)
		set(&profiles[r], "PyTorch", r < 3 ? "" : "operations have ranges", true);
	gt_comparison_init(&comparison, profiles, 3, 3);
	expect_text(comparison.no_verdict, "the sides were recorded in different ways");
	end(RUNS);
}

/* Amounts on which the runs of each side agree: any change is one. Others need runs apart. */
Test(comparison, figures)
{
	begin(RUNS);
	for (size_t r = 0; r < RUNS; r++) {
		profiles[r].figures[GT_FIGURE_launches] = r < 3 ? 1000 : 1001;
		profiles[r].figures[GT_FIGURE_memory_peak] = 1 << 20;
		profiles[r].figures[GT_FIGURE_step_wall] = of_run(r < 3 ? 1000 : 1100, r);
		profiles[r].figures[GT_FIGURE_startup] = of_run(r < 3 ? 1000 : 2000, r);
	}
	gt_comparison_init(&comparison, profiles, 3, 3);
	expect_text(gt_compared_figure_verdict(&comparison, GT_FIGURE_launches), "more");
	expect_text(gt_compared_figure_verdict(&comparison, GT_FIGURE_memory_peak), "same");
	expect_text(gt_compared_figure_verdict(&comparison, GT_FIGURE_step_wall), "slower");
	expect_text(gt_compared_figure_verdict(&comparison, GT_FIGURE_startup),
	            ""); /* needs five */
	expect_text(gt_compared_figure_verdict(&comparison, GT_FIGURE_joules), "");
	end(RUNS);
}
