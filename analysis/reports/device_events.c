/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/device_events/drawn.h"
#include "analysis/device_events/phases.h"
#include "analysis/device_events/picture.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/device_events/tables.h"
#include "analysis/result.h"
#include "analysis/statistics/groups.h"
#include "base/array.h"
#include "base/error.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_parameter parameters[] = {
	{"launch", GT_PARAMETER_COUNT, "0",
         "Launch that is drawn, from 1 in order of time; 0: the longest, of one function", NULL},
	{"columns", GT_PARAMETER_COUNT, "56", "Letters of a row of the timeline", NULL},
	{"strips", GT_PARAMETER_COUNT, "24", "Rows of the timeline, at most", NULL},
	{"rows", GT_PARAMETER_ROWS, "20", "Names that are listed, those with most time first",
         NULL},
	{0},
};

enum { LAUNCH, COLUMNS, STRIPS, ROWS }; /* arguments, as above */

/* ---- order ---- */

struct place {
	uint32_t name;
	uint64_t total_ns;
	uint64_t count;
};

static int by_time(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return (left->name > right->name) - (left->name < right->name);
}

static void sort_names(struct gt_device_tally *tally)
{
	const size_t count = tally->phases.names.count;
	struct place *places = gt_allocate((count + 1) * sizeof(*places));

	tally->order = gt_allocate((count + 1) * sizeof(*tally->order));
	for (uint32_t i = 0; i < count; i++) {
		const struct gt_device_name *name = &tally->phases.names.rows[i];

		places[i] = (struct place){i, name->total_ns, name->count};
	}
	qsort(places, count, sizeof(*places), by_time);
	for (size_t i = 0; i < count; i++)
		tally->order[i] = places[i].name;
	gt_array_free(places);
}

static void find_durations(struct gt_device_tally *tally)
{
	const struct gt_trace *trace = tally->trace;

	gt_groups_init(&tally->durations, tally->phases.names.count);
	for (size_t i = 0; i < trace->device_events.count; i++)
		if (gt_device_is_timed(&trace->device_events.rows[i]))
			gt_groups_expect(&tally->durations, tally->phases.names_of[i]);
	gt_groups_begin(&tally->durations);
	for (size_t i = 0; i < trace->device_events.count; i++) {
		const struct gt_device_event *event = &trace->device_events.rows[i];

		if (gt_device_is_timed(event))
			gt_groups_add(&tally->durations, tally->phases.names_of[i],
			              event->end_ns - event->start_ns);
	}
}

/* ---- the launch that is drawn ---- */

static int64_t lasts_ns(const struct gt_device_tally *tally, size_t launch)
{
	const struct gt_device_launch_facts *facts = &tally->phases.facts[launch];
	const int64_t kernel_ns =
		gt_device_kernel_ns(tally->trace, &tally->phases.writers.launches.rows[launch]);

	return kernel_ns >= 0 ? kernel_ns : facts->end_ns - facts->start_ns;
}

/* The longest launch, where all that are known are of one function; else the count of launches. */
static size_t longest(const struct gt_device_tally *tally)
{
	const struct gt_device_phases *phases = &tally->phases;
	const size_t count = phases->writers.launches.count;
	size_t found = count;

	for (size_t i = 0; i < count; i++) {
		const struct gt_device_launch *launch = &phases->writers.launches.rows[i];

		if (launch->kernel >= tally->trace->kernels.count)
			continue;
		if (found < count &&
		    gt_device_function(phases, launch) !=
		            gt_device_function(phases, &phases->writers.launches.rows[found]))
			return count;
		if (found == count || lasts_ns(tally, i) > lasts_ns(tally, found))
			found = i;
	}
	return found;
}

static int check(const struct gt_device_tally *tally, const struct gt_arguments *arguments,
                 struct gt_error *err)
{
	const uint64_t launch = arguments->values[LAUNCH].number;
	const uint64_t columns = arguments->values[COLUMNS].number;
	const size_t count = tally->phases.writers.launches.count;

	if (launch > count)
		return gt_fail(err, EINVAL,
		               "launch=%" PRIu64
		               ": launches that told events are numbered up to %zu",
		               launch, count);
	if (columns < 1 || columns > GT_DEVICE_COLUMNS_MOST)
		return gt_fail(err, EINVAL, "columns=%" PRIu64 ": 1 to %d", columns,
		               GT_DEVICE_COLUMNS_MOST);
	if (arguments->values[STRIPS].number < 1)
		return gt_fail(err, EINVAL, "strips=0: 1 or more");
	return 0;
}

static void add_drawn(struct gt_result *result, const struct gt_device_tally *tally,
                      const struct gt_arguments *arguments)
{
	const struct gt_device_drawn drawn = {
		.columns = (size_t)arguments->values[COLUMNS].number,
		.rows = (size_t)arguments->values[STRIPS].number,
	};
	const uint64_t chosen = arguments->values[LAUNCH].number;
	const size_t count = tally->phases.writers.launches.count;
	const size_t launch = chosen > 0 ? (size_t)chosen - 1 : longest(tally);

	if (launch < count || tally->trace->device_events.count == 0)
		gt_add_device_launch(result, &tally->phases, launch, &drawn);
	else
		gt_result_remark(result,
		                 "--kernel NAME draws the longest launch of a kernel, --set "
		                 "launch=N any one.");
}

static void add_tables(struct gt_result *result, struct gt_device_tally *tally,
                       const struct gt_arguments *arguments)
{
	gt_device_add_names(result, tally, arguments->values[ROWS].number);
	gt_device_add_kernels(result, tally);
	gt_device_add_clocks(result, tally->trace);
	gt_device_add_rings(result, tally->trace);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_device_tally tally = {.view = view, .trace = view->trace};
	int failed;

	gt_device_phases_init(&tally.phases, view->trace);
	failed = check(&tally, arguments, err);
	if (failed == 0) {
		sort_names(&tally);
		find_durations(&tally);
		add_drawn(result, &tally, arguments);
		add_tables(result, &tally, arguments);
		gt_device_add_remarks(result, view);
		gt_groups_release(&tally.durations);
		gt_array_free(tally.order);
	}
	gt_device_phases_release(&tally.phases);
	return failed;
}

const struct gt_report gt_report_device_events = {
	.name = "device-events",
	.summary = "Events that kernels wrote: phases by multiprocessor",
	.parameters = parameters,
	.run = run,
};
