/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/device_events/drawn.h"
#include "analysis/device_events/phases.h"
#include "analysis/device_events/picture.h"
#include "analysis/figures.h"
#include "analysis/groups.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/spread.h"
#include "base/array.h"
#include "base/error.h"
#include "model/naming/short_name.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading range_headings[] = {
	{"name", GT_UNIT_TEXT, "As the program named it", GT_WORTH_NAME},
	{"kernel", GT_UNIT_TEXT, "Function that told it", GT_WORTH_NAME},
	{"count", GT_UNIT_COUNT, "Ranges, of all writers: a writer is a thread of a launch",
         GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "That have such a range", GT_WORTH_LEAST},
	{"total_ns", GT_UNIT_NS, "Sum of end - start, of all writers", GT_WORTH_KEY},
	{"own_ns", GT_UNIT_NS, "The same without what ranges right inside them took",
         GT_WORTH_ORDINARY},
	{"mean_ns", GT_UNIT_NS, "Mean of end - start", GT_WORTH_LITTLE},
	{"p50_ns", GT_UNIT_NS, "Half of them took no longer", GT_WORTH_ORDINARY},
	{"p95_ns", GT_UNIT_NS, "95 % of them took no longer", GT_WORTH_LEAST},
	{"p99_ns", GT_UNIT_NS, "99 % of them took no longer", GT_WORTH_LITTLE},
	{"share_percent", GT_UNIT_PERCENT,
         "total_ns of the time of the launches that have it, each times its writers", GT_WORTH_KEY},
	{"sm_imbalance", GT_UNIT_REAL,
         "Time on the slowest multiprocessor of a launch / on the mean one", GT_WORTH_ORDINARY},
	{"block_imbalance", GT_UNIT_REAL, "The same of blocks", GT_WORTH_ORDINARY},
	{"unended", GT_UNIT_COUNT, "Whose begin or end is not there: only count has them",
         GT_WORTH_LEAST, true},
};

static const struct gt_heading mark_headings[] = {
	{"name", GT_UNIT_TEXT, "As the program named it", GT_WORTH_NAME},
	{"kernel", GT_UNIT_TEXT, "Function that told it", GT_WORTH_NAME},
	{"count", GT_UNIT_COUNT, "Marks, of all writers", GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "That have such a mark", GT_WORTH_LITTLE},
	{"first_ns", GT_UNIT_NS, "After the kernel began, the least", GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "After the kernel began, the mean", GT_WORTH_KEY},
	{"last_ns", GT_UNIT_NS, "After the kernel began, the most", GT_WORTH_KEY},
};

static const struct gt_heading value_headings[] = {
	{"name", GT_UNIT_TEXT, "As the program named it", GT_WORTH_NAME},
	{"kernel", GT_UNIT_TEXT, "Function that told it", GT_WORTH_NAME},
	{"count", GT_UNIT_COUNT, "Values, of all writers", GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "That have such a value", GT_WORTH_LITTLE},
	{"min", GT_UNIT_REAL, "The least", GT_WORTH_KEY},
	{"mean", GT_UNIT_REAL, "Mean of all", GT_WORTH_KEY},
	{"max", GT_UNIT_REAL, "The most", GT_WORTH_KEY},
};

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"launches", GT_UNIT_COUNT, "That told events", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "How long these ran, by CUPTI", GT_WORTH_KEY},
	{"events", GT_UNIT_COUNT, "Ranges, marks and values", GT_WORTH_ORDINARY},
	{"writers", GT_UNIT_REAL, "Threads of a launch that told any, a mean", GT_WORTH_LITTLE},
	{"blocks", GT_UNIT_REAL, "Blocks of a launch that told any, a mean", GT_WORTH_LITTLE},
	{"multiprocessors", GT_UNIT_REAL, "That told any in a launch, a mean", GT_WORTH_LITTLE,
         .label = "SMs"},
	{"late_ns", GT_UNIT_NS,
         "From the first event of the first block to that of the last one, a mean",
         GT_WORTH_ORDINARY},
	{"tail_ns", GT_UNIT_NS,
         "From when half of the multiprocessors were done to the last event of all, a mean",
         GT_WORTH_KEY},
	{"tail_percent", GT_UNIT_PERCENT, "Tails of total_ns", GT_WORTH_KEY},
	{"idle_percent", GT_UNIT_PERCENT,
         "Time between each multiprocessor's last event and the last one of all, of their time",
         GT_WORTH_ORDINARY},
};

static const struct gt_heading clock_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"bound_ns", GT_UNIT_NS, "Times of events are off by so much at most", GT_WORTH_KEY},
	{"step_ns", GT_UNIT_NS, "What %globaltimer goes on by", GT_WORTH_KEY},
	{"kernels", GT_UNIT_COUNT, "Kernels of gputrace's own that it is told from", GT_WORTH_KEY},
};

static const struct gt_heading ring_headings[] = {
	{"process", GT_UNIT_TEXT, "Whose context it is", GT_WORTH_NAME},
	{"context", GT_UNIT_COUNT, "CUPTI's number of it", GT_WORTH_ORDINARY},
	{"written", GT_UNIT_COUNT, "Events that were copied out", GT_WORTH_KEY},
	{"lost", GT_UNIT_COUNT, "Events that found no room", GT_WORTH_KEY, true},
	{"overwritten", GT_UNIT_COUNT, "Events that later ones took the place of", GT_WORTH_KEY,
         true},
	{"without_kernel", GT_UNIT_COUNT,
         "Events that no recorded launch can have written, or more than one", GT_WORTH_KEY, true},
	{"chunks", GT_UNIT_COUNT, "Chunks of the ring, of 28 events each", GT_WORTH_LITTLE},
};

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

struct tally {
	const struct gt_view *view;
	const struct gt_trace *trace;
	struct gt_device_phases phases;
	struct gt_groups durations; /* by name */
	uint32_t *order;            /* names, those with most time first */
};

static const struct gt_device_name *name_at(const struct tally *tally, size_t place)
{
	return &tally->phases.names.rows[tally->order[place]];
}

static const char *function_of(const struct tally *tally, size_t function)
{
	return tally->phases.functions.names[function];
}

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

static void sort_names(struct tally *tally)
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

static void find_durations(struct tally *tally)
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

/* ---- names ---- */

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static void add_percentiles(struct gt_result *result, int64_t *values, size_t count)
{
	static const double percents[] = {50, 95, 99};

	for (size_t i = 0; i < GT_COUNT_OF(percents); i++)
		if (count > 0)
			gt_result_add_count(result, gt_percentile(values, count, percents[i]));
		else
			gt_result_add_unknown(result);
}

/* First cells of the rows of all three tables. */
static void add_name(struct gt_result *result, const struct tally *tally,
                     const struct gt_device_name *name)
{
	gt_result_add_text(result, gt_trace_text(tally->trace, name->name));
	gt_result_add_text(result, function_of(tally, name->function));
	gt_result_add_count(result, (int64_t)name->count);
	gt_result_add_count(result, (int64_t)name->launches);
}

static void add_range(struct gt_result *result, struct tally *tally, uint32_t number)
{
	const struct gt_device_name *name = &tally->phases.names.rows[number];
	size_t count;
	int64_t *values = gt_groups_get(&tally->durations, number, number, &count);

	add_name(result, tally, name);
	gt_result_add_count_if(result, count > 0, (int64_t)name->total_ns);
	gt_result_add_count_if(result, count > 0, (int64_t)name->own_ns);
	gt_add_rounded(result, ratio((double)name->total_ns, (double)count));
	add_percentiles(result, values, count);
	gt_result_add_real(result,
	                   count > 0 ? gt_percent((double)name->total_ns, name->writers_ns) : NAN);
	gt_result_add_real(result, ratio(name->sms.slowest_ns, name->sms.mean_ns));
	gt_result_add_real(result, ratio(name->blocks.slowest_ns, name->blocks.mean_ns));
	gt_result_add_count(result, (int64_t)name->unended);
}

static void add_mark(struct gt_result *result, const struct tally *tally,
                     const struct gt_device_name *name)
{
	const bool known = name->valued > 0;

	add_name(result, tally, name);
	gt_add_rounded(result, known ? name->least : NAN);
	gt_add_rounded(result, ratio(name->sum, (double)name->valued));
	gt_add_rounded(result, known ? name->most : NAN);
}

static void add_value(struct gt_result *result, const struct tally *tally,
                      const struct gt_device_name *name)
{
	const bool known = name->valued > 0;

	add_name(result, tally, name);
	gt_result_add_real(result, known ? name->least : NAN);
	gt_result_add_real(result, ratio(name->sum, (double)name->valued));
	gt_result_add_real(result, known ? name->most : NAN);
}

/* The three tables of names. */
enum sort { RANGES, MARKS, VALUES };

static enum sort sort_of(const struct gt_device_name *name)
{
	switch ((enum gt_device_kind)name->kind) {
	case GT_DEVICE_MARK:
		return MARKS;
	case GT_DEVICE_INT:
	case GT_DEVICE_REAL:
		return VALUES;
	case GT_DEVICE_RANGE:
		break;
	}
	return RANGES;
}

static void add_names(struct gt_result *result, struct tally *tally, enum sort sort, uint64_t most)
{
	const size_t count = tally->phases.names.count;
	uint64_t all = 0;
	uint64_t shown = 0;

	for (size_t i = 0; i < count; i++)
		all += sort_of(name_at(tally, i)) == sort;
	gt_result_order(result, sort == RANGES ? "total_ns" : "count");
	gt_result_top(result, all, most);
	for (size_t i = 0; i < count && shown < most; i++) {
		if (sort_of(name_at(tally, i)) != sort)
			continue;
		if (sort == RANGES)
			add_range(result, tally, tally->order[i]);
		else if (sort == MARKS)
			add_mark(result, tally, name_at(tally, i));
		else
			add_value(result, tally, name_at(tally, i));
		shown++;
	}
}

/* ---- kernels ---- */

struct function_row {
	size_t function;
	uint64_t launches;
	uint64_t timed; /* of them, those whose kernel has a time: the sums with it below */
	double total_ns;
	double events, writers, blocks, sms;
	double late_ns;
	double tail_ns;
	double timed_tail_ns;
	double idle_ns;
	double room_ns; /* time of all multiprocessors */
};

static void add_facts(struct function_row *row, const struct gt_device_launch_facts *facts,
                      int64_t kernel_ns)
{
	const double tail_ns = (double)(facts->end_ns - facts->half_ns);

	row->launches++;
	row->events += (double)facts->events;
	row->writers += (double)facts->writers;
	row->blocks += (double)facts->blocks;
	row->sms += (double)facts->sms;
	row->late_ns += (double)facts->late_ns;
	row->tail_ns += tail_ns;
	if (kernel_ns < 0)
		return;
	row->timed++;
	row->total_ns += (double)kernel_ns;
	row->timed_tail_ns += tail_ns;
	row->idle_ns += (double)facts->idle_ns;
	row->room_ns += (double)kernel_ns * (double)facts->sms;
}

static int by_total(const void *a, const void *b)
{
	const struct function_row *left = a;
	const struct function_row *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

static void add_function(struct gt_result *result, const struct tally *tally,
                         const struct function_row *row)
{
	const double launches = (double)row->launches;

	gt_result_add_text(result, function_of(tally, row->function));
	gt_result_add_count(result, (int64_t)row->launches);
	gt_add_rounded(result, row->timed > 0 ? row->total_ns : NAN);
	gt_result_add_count(result, (int64_t)row->events);
	gt_result_add_real(result, row->writers / launches);
	gt_result_add_real(result, row->blocks / launches);
	gt_result_add_real(result, row->sms / launches);
	gt_add_rounded(result, row->late_ns / launches);
	gt_add_rounded(result, row->tail_ns / launches);
	gt_result_add_real(result, gt_percent(row->timed_tail_ns, row->total_ns));
	gt_result_add_real(result, gt_percent(row->idle_ns, row->room_ns));
}

static void add_kernels(struct gt_result *result, const struct tally *tally)
{
	const struct gt_device_phases *phases = &tally->phases;
	const size_t count = phases->functions.count;
	struct function_row *rows = gt_allocate((count + 1) * sizeof(*rows));

	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct function_row){.function = i};
	for (size_t i = 0; i < phases->writers.launches.count; i++) {
		const struct gt_device_launch *launch = &phases->writers.launches.rows[i];

		if (launch->kernel < tally->trace->kernels.count)
			add_facts(&rows[gt_device_function(phases, launch)], &phases->facts[i],
			          gt_device_kernel_ns(tally->trace, launch));
	}
	qsort(rows, count, sizeof(*rows), by_total);
	for (size_t i = 0; i < count; i++)
		if (rows[i].launches > 0)
			add_function(result, tally, &rows[i]);
	gt_array_free(rows);
}

/* ---- what the figures stand on ---- */

struct clock {
	bool known;
	uint64_t bound_ns;
	gt_count step_ns;
	uint64_t kernels;
};

/* Clock of a GPU; GT_NONE: of all of them. */
static struct clock clock_of(const struct gt_trace *trace, gt_id device)
{
	struct clock clock = {.known = false};

	gt_array_each(const struct gt_device_clock, row, &trace->device_clocks) {
		if (device != GT_NONE && row->device != device)
			continue;
		clock.known = true;
		clock.bound_ns = row->bound_ns > clock.bound_ns ? row->bound_ns : clock.bound_ns;
		clock.step_ns = row->step_ns > clock.step_ns ? row->step_ns : clock.step_ns;
		clock.kernels += row->kernels;
	}
	return clock;
}

static void add_clocks(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "clocks", clock_headings, GT_COUNT_OF(clock_headings));
	gt_result_detail(result);
	for (gt_id i = 0; i < trace->devices.count; i++) {
		const struct clock clock = clock_of(trace, i);

		if (!clock.known)
			continue;
		gt_add_device(result, trace, i);
		gt_result_add_count(result, (int64_t)clock.bound_ns);
		gt_result_add_count_if(result, clock.step_ns > 0, clock.step_ns);
		gt_result_add_count(result, (int64_t)clock.kernels);
	}
}

static void add_rings(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "rings", ring_headings, GT_COUNT_OF(ring_headings));
	gt_result_detail(result);
	gt_array_each(const struct gt_device_ring, ring, &trace->device_rings) {
		const bool known = ring->context < trace->contexts.count;

		gt_add_process(result, trace, ring->process);
		gt_result_add_count_if(result, known,
		                       known ? trace->contexts.rows[ring->context].number : 0);
		gt_result_add_count(result, (int64_t)ring->written);
		gt_result_add_count(result, (int64_t)ring->lost);
		gt_result_add_count(result, (int64_t)ring->overwritten);
		gt_result_add_count(result, (int64_t)ring->without_kernel);
		gt_result_add_count(result, ring->chunk_count);
	}
}

static void remark_clock(struct gt_result *result, const struct gt_trace *trace)
{
	const struct clock clock = clock_of(trace, GT_NONE);

	if (!clock.known)
		gt_result_remark(result,
		                 "How well the times of events agree with those of kernels is not "
		                 "known: the recording has no calibration of the GPU's clock.");
	else if (clock.step_ns > 0)
		gt_result_remark(result,
		                 "Times of events are off from those of kernels by %s at most; "
		                 "%%globaltimer goes on by %s.",
		                 gt_figure_ns((int64_t)clock.bound_ns).text,
		                 gt_figure_ns(clock.step_ns).text);
	else
		gt_result_remark(
			result,
			"Times of events are off from those of kernels by %s at most; what "
			"%%globaltimer goes on by was not seen.",
			gt_figure_ns((int64_t)clock.bound_ns).text);
}

static void remark_losses(struct gt_result *result, const struct gt_trace *trace)
{
	uint64_t lost = 0;
	uint64_t overwritten = 0;
	uint64_t without_kernel = 0;

	gt_array_each(const struct gt_device_ring, ring, &trace->device_rings) {
		lost += ring->lost;
		overwritten += ring->overwritten;
		without_kernel += ring->without_kernel;
	}
	if (lost > 0)
		gt_result_remark(result,
		                 "Events that found no room and are lost: %s. run "
		                 "--device-events=SIZE makes more, --device-events-last keeps the "
		                 "last ones instead.",
		                 gt_grouped(lost).text);
	if (overwritten > 0)
		gt_result_remark(result,
		                 "Events that later ones took the place of: %s. run "
		                 "--device-events=SIZE makes more room.",
		                 gt_grouped(overwritten).text);
	if (without_kernel > 0)
		gt_result_remark(
			result,
			"Events that no recorded launch can have written, or more than one: "
			"%s.",
			gt_grouped(without_kernel).text);
}

static void remark_events(struct gt_result *result, const struct gt_trace *trace)
{
	uint64_t by_time_alone = 0;
	uint64_t unended = 0;

	gt_array_each(const struct gt_device_event, event, &trace->device_events) {
		by_time_alone += (event->flags & GT_DEVICE_BY_TIME) != 0;
		unended += (event->flags & (GT_DEVICE_NO_END | GT_DEVICE_NO_BEGIN)) != 0;
	}
	if (unended > 0)
		gt_result_remark(
			result,
			"Ranges whose begin or end is not there: %s. They count, and are in "
			"no time.",
			gt_grouped(unended).text);
	if (by_time_alone > 0)
		gt_result_remark(result,
		                 "Events whose launch is told by time and launch shape alone: %s.",
		                 gt_grouped(by_time_alone).text);
}

static void remark_none(struct gt_result *result, const struct gt_view *view)
{
	uint64_t written = 0;

	gt_array_each(const struct gt_device_ring, ring, &view->trace->device_rings)
		written += ring->written;
	if (written > 0 && !view->restriction)
		gt_result_remark_empty(result,
		                       "None of %s events that kernels told can be put on the "
		                       "timeline: what gputrace info notes says why.",
		                       gt_grouped(written).text);
	else if (view->restriction && view->trace->device_rings.count > 0)
		gt_result_remark_empty(result, "Nothing that was chosen told events.");
	else if (view->trace->device_rings.count > 0)
		gt_result_remark_empty(result, "No kernel told events. Those that include "
		                               "include/gputrace/device.cuh do.");
	else
		gt_result_remark_empty(result, "No events of kernels were recorded: gputrace run "
		                               "--device-events records what kernels write with "
		                               "include/gputrace/device.cuh.");
}

static void add_remarks(struct gt_result *result, const struct gt_view *view)
{
	if (view->trace->device_events.count > 0)
		remark_clock(result, view->trace);
	else
		remark_none(result, view);
	remark_losses(result, view->trace);
	remark_events(result, view->trace);
}

/* ---- the launch that is drawn ---- */

static int64_t lasts_ns(const struct tally *tally, size_t launch)
{
	const struct gt_device_launch_facts *facts = &tally->phases.facts[launch];
	const int64_t kernel_ns =
		gt_device_kernel_ns(tally->trace, &tally->phases.writers.launches.rows[launch]);

	return kernel_ns >= 0 ? kernel_ns : facts->end_ns - facts->start_ns;
}

/* The longest launch, where all that are known are of one function; else the count of launches. */
static size_t longest(const struct tally *tally)
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

static int check(const struct tally *tally, const struct gt_arguments *arguments,
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

static void add_drawn(struct gt_result *result, const struct tally *tally,
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

static void add_tables(struct gt_result *result, struct tally *tally,
                       const struct gt_arguments *arguments)
{
	const uint64_t most = arguments->values[ROWS].number;

	gt_result_begin(result, "ranges", range_headings, GT_COUNT_OF(range_headings));
	add_names(result, tally, RANGES, most);
	gt_result_begin(result, "marks", mark_headings, GT_COUNT_OF(mark_headings));
	add_names(result, tally, MARKS, most);
	gt_result_begin(result, "values", value_headings, GT_COUNT_OF(value_headings));
	add_names(result, tally, VALUES, most);
	add_kernels(result, tally);
	add_clocks(result, tally->trace);
	add_rings(result, tally->trace);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct tally tally = {.view = view, .trace = view->trace};
	int failed;

	gt_device_phases_init(&tally.phases, view->trace);
	failed = check(&tally, arguments, err);
	if (failed == 0) {
		sort_names(&tally);
		find_durations(&tally);
		add_tables(result, &tally, arguments);
		add_drawn(result, &tally, arguments);
		add_remarks(result, view);
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
