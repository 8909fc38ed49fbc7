/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gaps/blocked.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/gaps/host_waits.h"
#include "analysis/gaps/places.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/sums.h"
#include "base/units.h"
#include "model/index.h"
#include "model/names.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"
#include "model/view/view.h"

/* Columns of each group of waits, after its name. */
#define FIGURES                                                                                     \
	{"calls", GT_UNIT_COUNT, "Calls that returned", GT_WORTH_KEY},                              \
		{"blocked_ns", GT_UNIT_NS,                                                          \
	         "Sum of return - entry over all threads, also of those that wait at once",         \
	         GT_WORTH_KEY},                                                                     \
		{"idle_ns", GT_UNIT_NS,                                                             \
	         "Part of blocked_ns: the GPU that was waited for ran neither kernel nor copy nor " \
	         "fill"},                                                                           \
		{"at_once", GT_UNIT_COUNT,                                                          \
	         "Calls that cost nothing: the work had been done, or there was none, and they "    \
	         "returned at once"},                                                               \
		{"emptied", GT_UNIT_COUNT,                                                          \
	         "Calls in which the GPU ran out of work, and got no more before they returned"},   \
		{"gap_ns", GT_UNIT_NS,                                                              \
	         "Emptied: from the end of the GPU's work to the begin of its next, each gap "      \
	         "once",                                                                            \
	         GT_WORTH_KEY},                                                                     \
		{"busy_ns", GT_UNIT_NS, "Part of blocked_ns: the GPU ran kernels",                  \
	         GT_WORTH_LITTLE},                                                                  \
	{                                                                                           \
		"max_ns", GT_UNIT_NS, "Longest call", GT_WORTH_LITTLE                               \
	}

static const struct gt_heading function_headings[] = {
	{"function", GT_UNIT_TEXT, "API call, or how it waits where that is not recorded",
         GT_WORTH_NAME},
	FIGURES,
};

static const struct gt_heading range_headings[] = {
	{"range", GT_UNIT_TEXT, "Path of the innermost NVTX range around the call", GT_WORTH_NAME},
	FIGURES,
};

static const struct gt_heading op_headings[] = {
	{"op", GT_UNIT_TEXT, "Innermost operation of a framework around the call", GT_WORTH_NAME},
	FIGURES,
};

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU that was waited for", GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Waits of the host for it", GT_WORTH_KEY},
	{"blocked_ns", GT_UNIT_NS,
         "Sum of return - entry over all threads, also of those that wait at once", GT_WORTH_KEY},
	{"busy_ns", GT_UNIT_NS, "Part of that: kernels ran on it", GT_WORTH_KEY},
	{"copying_ns", GT_UNIT_NS, "Part of that: copies or fills ran on it, and no kernel"},
	{"idle_ns", GT_UNIT_NS, "Part of that: nothing ran on it", GT_WORTH_KEY},
	{"idle_percent", GT_UNIT_PERCENT, "idle_ns of blocked_ns"},
	{"emptied", GT_UNIT_COUNT,
         "Calls in which it ran out of work, and got no more before they returned"},
	{"gap_ns", GT_UNIT_NS, "How long it ran nothing behind these", GT_WORTH_KEY},
};

static const struct gt_heading avoidable_headings[] = {
	{"why", GT_UNIT_TEXT, "Why they are avoidable", GT_WORTH_NAME},
	{"function", GT_UNIT_TEXT, "API call, or how it waits where that is not recorded",
         GT_WORTH_LESSER_NAME},
	{"calls", GT_UNIT_COUNT, "Such calls", GT_WORTH_KEY},
	{"blocked_ns", GT_UNIT_NS,
         "Sum of return - entry over all threads, also of those that wait at once", GT_WORTH_KEY},
	{"emptied", GT_UNIT_COUNT, "Those among them that emptied the GPU", GT_WORTH_LITTLE},
	{"gap_ns", GT_UNIT_NS, "How long the GPU ran nothing behind these", GT_WORTH_KEY},
	{"max_ns", GT_UNIT_NS, "Longest call", GT_WORTH_LITTLE},
	{"bytes", GT_UNIT_BYTES, "Bytes of small reads and of pageable copies: all that was copied",
         GT_WORTH_LITTLE},
	{"at_ns", GT_UNIT_TIME, "When the longest was entered", GT_WORTH_LEAST},
	{"where", GT_UNIT_TEXT,
         "Innermost operation of a framework around the call, else path of the innermost range",
         GT_WORTH_NAME},
	{"range", GT_UNIT_TEXT, "Path of the innermost NVTX range around the longest call",
         GT_WORTH_DATA},
	{"evidence", GT_UNIT_TEXT,
         "The longest call: how long it took for what, or what the thread asked for next",
         GT_WORTH_PROSE},
};

/* Key of a row; members that a table does not tell apart are as in no_group. */
struct group {
	gt_string function; /* or kind, with its highest bit set */
	gt_id path;
	uint32_t op; /* of the ops' names */
	gt_id device;
	uint32_t reason;
};

static const struct group no_group = {.path = GT_NONE, .device = GT_NONE};

enum { IS_KIND = INT32_MIN };

struct figures {
	struct group group;
	uint64_t calls;
	uint64_t at_once;
	uint64_t emptied;
	uint64_t located; /* whose GPU is known */
	uint64_t blocked_ns;
	uint64_t busy_ns;
	uint64_t copying_ns;
	uint64_t idle_ns;
	uint64_t gap_ns;
	int64_t max_ns;
	uint64_t bytes;
	const struct gt_host_wait *longest;
};

struct table {
	struct gt_index *index;
	gt_array(struct figures) list;
};

struct shown {
	const struct gt_trace *trace;
	struct gt_wait_places places;
	struct gt_result *result;
	uint64_t top;
	bool has_calls; /* as struct gt_host_waits has it */
};

static void table_init(struct table *table)
{
	*table = (struct table){.index = gt_index_new(sizeof(struct group))};
}

static void table_release(struct table *table)
{
	gt_index_free(table->index);
	gt_array_release(&table->list);
}

static struct figures *figures_of(struct table *table, const struct group *group)
{
	const size_t number = gt_index_add(table->index, group);

	if (number == table->list.count)
		*gt_array_push(&table->list) = (struct figures){.group = *group};
	return &table->list.rows[number];
}

static void count(struct table *table, const struct group *group, const struct gt_host_wait *wait)
{
	struct figures *figures = figures_of(table, group);

	figures->calls++;
	figures->at_once += wait->outcome == GT_WAIT_DONE || wait->outcome == GT_WAIT_NOTHING;
	figures->emptied += wait->emptied;
	figures->located += wait->device != GT_NONE;
	gt_count_add(&figures->blocked_ns, (uint64_t)wait->blocked_ns);
	gt_count_add(&figures->busy_ns, (uint64_t)wait->busy_ns);
	gt_count_add(&figures->copying_ns, (uint64_t)wait->copying_ns);
	gt_count_add(&figures->idle_ns, (uint64_t)wait->idle_ns);
	gt_count_add(&figures->gap_ns, (uint64_t)wait->gap_ns);
	gt_count_add(&figures->bytes, (uint64_t)wait->bytes);
	if (!figures->longest || wait->blocked_ns > figures->max_ns) {
		figures->longest = wait;
		figures->max_ns = wait->blocked_ns;
	}
}

static gt_string function_of(const struct shown *shown, const struct gt_host_wait *wait)
{
	return wait->function ? wait->function
	                      : shown->trace->syncs.rows[wait->sync].kind | (uint32_t)IS_KIND;
}

static void add_function(const struct shown *shown, gt_string function)
{
	if (function & (uint32_t)IS_KIND)
		gt_result_add_text(shown->result, gt_sync_kind_name(function & ~(uint32_t)IS_KIND));
	else
		gt_add_string(shown->result, shown->trace, function);
}

/* ---- the tables ---- */

static int by_blocked(const void *a, const void *b)
{
	const struct figures *left = a;
	const struct figures *right = b;

	if (left->blocked_ns != right->blocked_ns)
		return left->blocked_ns < right->blocked_ns ? 1 : -1;
	if (left->calls != right->calls)
		return left->calls < right->calls ? 1 : -1;
	return memcmp(&left->group, &right->group, sizeof(left->group));
}

static void sort(struct table *table)
{
	if (table->list.count > 1)
		qsort(table->list.rows, table->list.count, sizeof(*table->list.rows), by_blocked);
}

static void begin(const struct shown *shown, const char *title, const struct gt_heading *headings,
                  size_t heading_count)
{
	gt_result_begin(shown->result, title, headings, heading_count);
	gt_result_order(shown->result, "blocked_ns");
}

static void add_figures(const struct shown *shown, const struct figures *figures)
{
	struct gt_result *result = shown->result;
	const bool located = figures->located == figures->calls;

	gt_result_add_count(result, (int64_t)figures->calls);
	gt_result_add_count(result, (int64_t)figures->blocked_ns);
	gt_result_add_count_if(result, located, (int64_t)figures->idle_ns);
	gt_result_add_count(result, (int64_t)figures->at_once);
	gt_result_add_count_if(result, located && shown->has_calls, (int64_t)figures->emptied);
	gt_result_add_count_if(result, located && shown->has_calls, (int64_t)figures->gap_ns);
	gt_result_add_count_if(result, located, (int64_t)figures->busy_ns);
	gt_result_add_count(result, figures->max_ns);
}

/* A table of what the waits have in common. */
struct section {
	const char *name;
	const struct gt_heading *headings;
	size_t count;
	/* False: the wait is in no row. */
	bool (*group_of)(const struct shown *shown, const struct gt_host_wait *wait,
	                 struct group *group);
	void (*add_group)(const struct shown *shown, const struct group *group);
};

static bool group_function(const struct shown *shown, const struct gt_host_wait *wait,
                           struct group *group)
{
	group->function = function_of(shown, wait);
	return true;
}

static void add_group_function(const struct shown *shown, const struct group *group)
{
	add_function(shown, group->function);
}

static bool group_range(const struct shown *shown, const struct gt_host_wait *wait,
                        struct group *group)
{
	group->path = gt_ranges_path(&shown->places.ranges, wait->owner.range);
	return group->path != GT_NONE;
}

static void add_group_path(const struct shown *shown, const struct group *group)
{
	gt_wait_places_add_path(&shown->places, shown->result, group->path);
}

static bool group_op(const struct shown *shown, const struct gt_host_wait *wait,
                     struct group *group)
{
	group->op = gt_wait_places_op(&shown->places, &wait->owner);
	return group->op != 0;
}

static void add_group_op(const struct shown *shown, const struct group *group)
{
	gt_wait_places_add_op(&shown->places, shown->result, group->op);
}

static const struct section sections[] = {
	{"blocked", function_headings, GT_COUNT_OF(function_headings), group_function,
         add_group_function},
	{"blocked_ranges", range_headings, GT_COUNT_OF(range_headings), group_range,
         add_group_path},
	{"blocked_ops", op_headings, GT_COUNT_OF(op_headings), group_op, add_group_op},
};

static void add_section(const struct shown *shown, const struct gt_host_waits *waits,
                        const struct section *section)
{
	struct table table;

	table_init(&table);
	gt_array_each(const struct gt_host_wait, wait, &waits->list) {
		struct group group = no_group;

		if (section->group_of(shown, wait, &group))
			count(&table, &group, wait);
	}
	sort(&table);
	begin(shown, section->name, section->headings, section->count);
	for (size_t i = 0; i < table.list.count && i < shown->top; i++) {
		section->add_group(shown, &table.list.rows[i].group);
		add_figures(shown, &table.list.rows[i]);
	}
	gt_result_top(shown->result, table.list.count, shown->top);
	table_release(&table);
}

static void add_devices(const struct shown *shown, const struct gt_host_waits *waits)
{
	struct gt_result *result = shown->result;
	struct table table;

	table_init(&table);
	gt_array_each(const struct gt_host_wait, wait, &waits->list) {
		struct group group = no_group;

		group.device = wait->device;
		if (wait->device < shown->trace->devices.count)
			count(&table, &group, wait);
	}
	sort(&table);
	begin(shown, "meanwhile", device_headings, GT_COUNT_OF(device_headings));
	for (size_t i = 0; i < table.list.count; i++) {
		const struct figures *row = &table.list.rows[i];

		gt_add_device(result, shown->trace, row->group.device);
		gt_result_add_count(result, (int64_t)row->calls);
		gt_result_add_count(result, (int64_t)row->blocked_ns);
		gt_result_add_count(result, (int64_t)row->busy_ns);
		gt_result_add_count(result, (int64_t)row->copying_ns);
		gt_result_add_count(result, (int64_t)row->idle_ns);
		gt_result_add_real(result,
		                   gt_percent((double)row->idle_ns, (double)row->blocked_ns));
		gt_result_add_count_if(result, shown->has_calls, (int64_t)row->emptied);
		gt_result_add_count_if(result, shown->has_calls, (int64_t)row->gap_ns);
	}
	table_release(&table);
}

/* ---- what could be left out ---- */

static const char *const reasons[GT_WAIT_REASONS] = {
	[GT_WAIT_NEEDED] = "",
	[GT_WAIT_SMALL_READ] = "small read",
	[GT_WAIT_PAGEABLE] = "pageable copy",
	[GT_WAIT_IDLE] = "nothing new",
	[GT_WAIT_SAME_STREAM] = "then more work",
	[GT_WAIT_OTHER_STREAM] = "then other stream",
};

static void add_evidence(const struct shown *shown, const struct figures *figures)
{
	const struct gt_host_wait *wait = figures->longest;
	struct gt_result *result = shown->result;
	const char *next =
		wait->next_call < shown->trace->api_calls.count
			? gt_trace_text(shown->trace,
	                                shown->trace->api_calls.rows[wait->next_call].function)
			: "";

	switch (wait->reason) {
	case GT_WAIT_SMALL_READ:
	case GT_WAIT_PAGEABLE:
		gt_result_add_format(result, "%s for %s", gt_figure_ns(wait->blocked_ns).text,
		                     gt_figure_bytes(wait->bytes).text);
		return;
	case GT_WAIT_IDLE:
		gt_result_add_text(result, wait->outcome == GT_WAIT_NOTHING ? "nothing was given"
		                                                            : "waited for before");
		return;
	case GT_WAIT_SAME_STREAM:
	case GT_WAIT_OTHER_STREAM:
		gt_result_add_format(result, "%s %s later", next, gt_figure_ns(wait->host_ns).text);
		return;
	case GT_WAIT_NEEDED:
	case GT_WAIT_REASONS:
		break;
	}
	gt_result_add_unknown(result);
}

static void add_avoidable_row(const struct shown *shown, const struct figures *figures)
{
	const struct gt_trace *trace = shown->trace;
	struct gt_result *result = shown->result;

	gt_result_add_text(result, reasons[figures->group.reason]);
	add_function(shown, figures->group.function);
	gt_result_add_count(result, (int64_t)figures->calls);
	gt_result_add_count(result, (int64_t)figures->blocked_ns);
	gt_result_add_count_if(result, shown->has_calls, (int64_t)figures->emptied);
	gt_result_add_count_if(result, shown->has_calls, (int64_t)figures->gap_ns);
	gt_result_add_count(result, figures->max_ns);
	gt_result_add_count_if(result,
	                       figures->group.reason == GT_WAIT_SMALL_READ ||
	                               figures->group.reason == GT_WAIT_PAGEABLE,
	                       (int64_t)figures->bytes);
	gt_add_moment(result, trace, trace->syncs.rows[figures->longest->sync].start_ns);
	if (figures->group.op)
		gt_wait_places_add_op(&shown->places, shown->result, figures->group.op);
	else
		gt_wait_places_add_path(&shown->places, shown->result, figures->group.path);
	gt_wait_places_add_path(&shown->places, shown->result,
	                        gt_ranges_path(&shown->places.ranges,
	                                       figures->longest->owner.range));
	add_evidence(shown, figures);
}

static void add_avoidable(const struct shown *shown, const struct gt_host_waits *waits)
{
	struct table table;

	table_init(&table);
	gt_array_each(const struct gt_host_wait, wait, &waits->list) {
		struct group group = no_group;

		if (wait->reason == GT_WAIT_NEEDED)
			continue;
		group.function = function_of(shown, wait);
		group.reason = wait->reason;
		group.op = gt_wait_places_op(&shown->places, &wait->owner);
		if (!group.op)
			group.path = gt_ranges_path(&shown->places.ranges, wait->owner.range);
		count(&table, &group, wait);
	}
	sort(&table);
	begin(shown, "avoidable", avoidable_headings, GT_COUNT_OF(avoidable_headings));
	for (size_t i = 0; i < table.list.count && i < shown->top; i++)
		add_avoidable_row(shown, &table.list.rows[i]);
	gt_result_top(shown->result, table.list.count, shown->top);
	table_release(&table);
}

void gt_add_blocked(struct gt_result *result, const struct gt_host_waits *waits, uint64_t top)
{
	struct shown shown = {
		.trace = waits->trace, .result = result, .top = top, .has_calls = waits->has_calls};

	gt_wait_places_init(&shown.places, waits->trace);
	for (size_t i = 0; i < GT_COUNT_OF(sections); i++)
		add_section(&shown, waits, &sections[i]);
	add_devices(&shown, waits);
	add_avoidable(&shown, waits);
	gt_wait_places_release(&shown.places);
}
