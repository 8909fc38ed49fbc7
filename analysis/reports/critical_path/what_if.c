/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/critical_path/tables.h"

#include <regex.h>
#include <stdbool.h>

#include "base/array.h"
#include "model/naming/shape_names.h"

static const struct gt_heading change_headings[] = {
	{"change", GT_UNIT_TEXT, "The change", GT_WORTH_NAME},
	{"length_ns", GT_UNIT_NS, "Length then, all ranges together", GT_WORTH_KEY},
	{"saved_ns", GT_UNIT_NS, "length_ns as it is less that", GT_WORTH_KEY},
	{"saved_percent", GT_UNIT_PERCENT, "saved_ns of length_ns as it is", GT_WORTH_KEY},
};

/* A change, and its name in three parts. */
struct what_if {
	const char *words[3];
	struct gt_path_change change;
	bool *shapes; /* of the change */
};

struct what_ifs {
	gt_array(struct what_if) list;
};

static bool *shapes_of_group(const struct gt_critical_figures *figures, size_t group)
{
	const struct gt_trace *trace = figures->trace;
	bool *shapes = gt_allocate((trace->launch_shapes.count + 1) * sizeof(*shapes));

	for (gt_id i = 0; i < trace->launch_shapes.count; i++)
		shapes[i] = gt_kernel_group_of(&figures->account.kernels,
		                               &(struct gt_kernel){.shape = i}) == group;
	return shapes;
}

static bool fits(const struct gt_trace *trace, const regex_t *regex, gt_id row)
{
	const struct gt_launch_shape *shape = &trace->launch_shapes.rows[row];

	return regexec(regex, gt_shape_text(trace, shape, GT_NAMES_SHORT), 0, NULL, 0) == 0 ||
	       regexec(regex, gt_shape_text(trace, shape, GT_NAMES_FULL), 0, NULL, 0) == 0;
}

static void ask_of_fitting(const struct gt_critical_figures *figures, struct what_ifs *what_ifs)
{
	const struct gt_trace *trace = figures->trace;
	bool *shapes = gt_allocate((trace->launch_shapes.count + 1) * sizeof(*shapes));

	for (gt_id i = 0; i < trace->launch_shapes.count; i++)
		shapes[i] = fits(trace, figures->regex, i);
	*gt_array_push(&what_ifs->list) =
		(struct what_if){.words = {"kernels that fit ", figures->pattern, " take no time"},
	                         .change = {.shapes = shapes},
	                         .shapes = shapes};
}

static void ask_of_kernels(const struct gt_critical_figures *figures, struct what_ifs *what_ifs,
                           const struct gt_critical_kernel *kernels)
{
	for (size_t i = 0; i < figures->account.kernels.count && i < figures->kernels; i++) {
		bool *shapes;

		if (kernels[i].on_path == 0)
			return;
		shapes = shapes_of_group(figures, kernels[i].group);
		*gt_array_push(&what_ifs->list) = (struct what_if){
			.words = {"", figures->account.kernels.labels[kernels[i].group],
		                  " takes no time"},
			.change = {.shapes = shapes},
			.shapes = shapes,
		};
	}
}

static void ask_of_waits(const struct gt_critical_figures *figures, struct what_ifs *what_ifs)
{
	enum { MOST = 2 };
	const struct gt_path_account *account = &figures->account;

	for (size_t i = 0; i < account->waits.count && i < MOST; i++) {
		const gt_string function = account->waits.rows[i].function;

		*gt_array_push(&what_ifs->list) = (struct what_if){
			.words = {"", gt_trace_text(figures->trace, function),
		                  " waits for nothing"},
			.change = {.wait_in = function},
		};
	}
}

static void add_change(const struct gt_critical_figures *figures, struct gt_result *result,
                       gt_time length_ns)
{
	const gt_time saved_ns = figures->account.lasts_ns - length_ns;

	gt_result_add_count(result, length_ns);
	gt_result_add_count(result, saved_ns);
	gt_critical_add_share(figures, result, saved_ns);
}

static void add_what_ifs(struct gt_critical_figures *figures, struct gt_result *result,
                         const struct what_ifs *what_ifs)
{
	const size_t spans = figures->account.spans.list.count;
	const size_t count = what_ifs->list.count;
	struct gt_path_change *changes = gt_allocate((count + 1) * sizeof(*changes));
	gt_time *lasts_ns = gt_allocate((count * spans + 1) * sizeof(*lasts_ns));

	for (size_t i = 0; i < count; i++)
		changes[i] = what_ifs->list.rows[i].change;
	gt_path_changes_last(&figures->changes, &figures->account.spans, changes, count, lasts_ns);
	for (size_t i = 0; i < count; i++) {
		const char *const *words = what_ifs->list.rows[i].words;
		gt_time length_ns = 0;

		for (size_t span = 0; span < spans; span++)
			length_ns += lasts_ns[i * spans + span];
		gt_result_add_format(result, "%s%s%s", words[0], words[1], words[2]);
		add_change(figures, result, length_ns);
	}
	gt_array_free(changes);
	gt_array_free(lasts_ns);
}

void gt_critical_add_changes(struct gt_critical_figures *figures, struct gt_result *result,
                             const struct gt_critical_kernel *kernels)
{
	struct what_ifs what_ifs = {0};

	gt_result_begin(result, "what_if", change_headings, GT_COUNT_OF(change_headings));
	gt_result_whole(result);
	if (figures->account.spans.list.count == 0)
		return;
	gt_result_add_text(result, "as it is");
	add_change(figures, result, figures->account.lasts_ns);
	if (figures->regex)
		ask_of_fitting(figures, &what_ifs);
	ask_of_kernels(figures, &what_ifs, kernels);
	*gt_array_push(&what_ifs.list) = (struct what_if){
		.words = {"launches cost nothing", "", ""}, .change = {.launches = true}};
	if (figures->trace->copies.count + figures->trace->fills.count > 0)
		*gt_array_push(&what_ifs.list) =
			(struct what_if){.words = {"copies and fills run beside all else", "", ""},
		                         .change = {.copies = true}};
	ask_of_waits(figures, &what_ifs);
	add_what_ifs(figures, result, &what_ifs);
	gt_array_each(const struct what_if, what_if, &what_ifs.list)
		gt_array_free(what_if->shapes);
	gt_array_release(&what_ifs.list);
}
