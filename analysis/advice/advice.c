/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/advice/facts.h"
#include "model/view/view.h"
#include "model/whole.h"

enum {
	TEXT_BYTES = 800,
	VALUE_BYTES = 200,
	MOST_DEVICES = 256, /* that rules are asked for, each of which looks at all there is */
};

#define ADVICE(name) extern const struct gt_advice_rule gt_advice_##name;
#include "analysis/advice/advice.def"

#define ADVICE(name) &gt_advice_##name,
const struct gt_advice_rule *const gt_advice_rules[] = {
#include "analysis/advice/advice.def"
};
const size_t gt_advice_rule_count = GT_COUNT_OF(gt_advice_rules);

const char *gt_advice_kind_name(enum gt_advice_kind kind)
{
	static const char *const names[] = {
		[GT_ADVICE_WRONG] = "wrong",
		[GT_ADVICE_CHANGE] = "change",
		[GT_ADVICE_KNOW] = "know",
		[GT_ADVICE_MEASURE] = "measure",
	};

	return names[kind];
}

const char *gt_gain_bound_name(enum gt_gain_bound bound)
{
	static const char *const names[] = {
		[GT_GAIN_UNKNOWN] = "",
		[GT_GAIN_AT_MOST] = "at most",
		[GT_GAIN_ABOUT] = "about",
	};

	return names[bound];
}

/* Text of so many bytes at most. The caller frees it with gt_array_free. */
__attribute__((format(printf, 2, 0))) static char *written(size_t most, const char *fmt,
                                                           va_list args)
{
	char *text = gt_allocate(most);

	vsnprintf(text, most, fmt, args);
	return gt_array_resize(text, strlen(text) + 1, 1);
}

static gt_time earlier(gt_time a, gt_time b)
{
	return a < b ? a : b;
}

/* The time in which the GPU that is asked about was in use, or the window. */
static struct gt_interval place_of(const struct gt_advice *advice)
{
	const struct gt_view *view = advice->facts->view;
	const struct gt_interval window = {view->start_ns, view->end_ns};
	struct gt_interval in_use;

	if (advice->device >= view->trace->devices.count)
		return window;
	in_use = advice->facts->busy[advice->device].in_use;
	in_use.end_ns = earlier(in_use.end_ns, window.end_ns);
	if (in_use.start_ns < window.start_ns)
		in_use.start_ns = window.start_ns;
	return in_use.start_ns < in_use.end_ns ? in_use : window;
}

void gt_advice_when(struct gt_advice_row *row, gt_time start_ns, gt_time end_ns)
{
	if (start_ns > 0 && end_ns >= start_ns && end_ns < INT64_MAX)
		row->when = (struct gt_interval){start_ns, end_ns};
}

struct gt_advice_brief gt_advice_brief(const struct gt_advice_row *row)
{
	static const char *const stops[] = {": ", "; ", ". "};
	struct gt_advice_brief brief;
	size_t length = strlen(row->text);

	if (length > 0 && row->text[length - 1] == '.')
		length--;
	for (size_t i = 0; i < GT_COUNT_OF(stops); i++) {
		const char *stop = strstr(row->text, stops[i]);

		if (stop && (size_t)(stop - row->text) < length)
			length = (size_t)(stop - row->text);
	}
	snprintf(brief.text, sizeof(brief.text), "%.*s", (int)length, row->text);
	return brief;
}

struct gt_advice_worth gt_advice_worth(const struct gt_advice_row *row)
{
	struct gt_advice_worth worth = {""};

	if (row->gain.bound != GT_GAIN_UNKNOWN)
		snprintf(worth.text, sizeof(worth.text), "%s %s (%s)",
		         gt_gain_bound_name(row->gain.bound), gt_advice_ns(row->gain.saved.ns).text,
		         gt_advice_percent(&row->gain.saved).text);
	return worth;
}

struct gt_advice_row *gt_advise(struct gt_advice *advice, enum gt_advice_kind kind, const char *fmt,
                                ...)
{
	const size_t before = advice->rows.count;
	struct gt_advice_row *row = gt_array_push(&advice->rows);
	va_list args;

	*row = (struct gt_advice_row){
		.rule = advice->rule,
		.kind = kind,
		.report = advice->rule->report,
		.device = advice->device,
		.when = place_of(advice),
		.asked = before,
	};
	va_start(args, fmt);
	row->text = written(TEXT_BYTES, fmt, args);
	va_end(args);
	return row;
}

void gt_advice_cite(struct gt_advice_row *row, const char *report, const char *table,
                    const char *column, double figure, const char *fmt, ...)
{
	struct gt_evidence *evidence = gt_array_push(&row->evidence);
	va_list args;

	*evidence = (struct gt_evidence){
		.report = report, .table = table, .column = column, .figure = figure};
	va_start(args, fmt);
	evidence->value = written(VALUE_BYTES, fmt, args);
	va_end(args);
}

void gt_advice_gain(struct gt_advice_row *row, enum gt_gain_bound bound, struct gt_share saved,
                    const char *how)
{
	row->gain = (struct gt_gain){bound, saved, how};
}

void gt_advice_gain_apart(struct gt_advice_row *row, const struct gt_facts *facts, uint64_t ns,
                          const char *how)
{
	gt_advice_gain(row, GT_GAIN_AT_MOST,
	               gt_share_of_apart(&facts->wall, ns, GT_OF_GPU, row->device), how);
}

void gt_advice_unasked(struct gt_advice *advice, const char *why)
{
	gt_array_each(const struct gt_unasked, unasked, &advice->unasked)
		if (unasked->rule == advice->rule)
			return;
	*gt_array_push(&advice->unasked) = (struct gt_unasked){advice->rule, why};
}

bool gt_is_share(uint64_t part, uint64_t whole, unsigned percent)
{
	return whole > 0 && (double)part * 100 >= (double)whole * percent;
}

struct gt_figure gt_advice_ns(uint64_t duration_ns)
{
	return gt_figure_ns((int64_t)duration_ns);
}

struct gt_figure gt_advice_share(uint64_t part, uint64_t whole)
{
	return gt_figure_percent(gt_percent((double)part, (double)whole));
}

struct gt_figure gt_advice_percent(const struct gt_share *share)
{
	return gt_figure_percent(gt_share_percent(share));
}

struct gt_unit_name gt_advice_whose(const struct gt_facts *facts, const struct gt_unit_times *times,
                                    const struct gt_share *most)
{
	const struct gt_unit_name unit = gt_share_unit(most, facts->view->trace);
	struct gt_unit_name whose = {""};

	if (gt_unit_times_used(times) > 1)
		snprintf(whose.text, sizeof(whose.text), " of %.200s", unit.text);
	return whose;
}

struct gt_unit_name gt_advice_most_of(const struct gt_unit_times *times)
{
	const size_t used = gt_unit_times_used(times);
	struct gt_unit_name most = {""};

	if (used > 1)
		snprintf(most.text, sizeof(most.text), ", most of %s %s", gt_grouped(used).text,
		         times->whose == GT_OF_PROCESS  ? "processes"
		         : times->whose == GT_OF_THREAD ? "threads"
		                                        : "GPUs");
	return most;
}

long long gt_advice_gpu(const struct gt_facts *facts, gt_id device)
{
	return (long long)gt_device_number(&facts->view->trace->devices.rows[device]);
}

static void ask(struct gt_advice *advice, const struct gt_advice_rule *rule)
{
	const size_t devices = advice->facts->view->trace->devices.count;

	advice->rule = rule;
	advice->device = GT_NONE;
	if (rule->undisturbed && advice->facts->shapes.has_profiled) {
		gt_advice_unasked(advice, "launches were profiled, and time passed otherwise: "
		                          "record without --kernel-counters");
		return;
	}
	if (rule->of_recording) {
		rule->of_recording(advice->facts, advice);
		return;
	}
	if (devices > MOST_DEVICES)
		gt_advice_unasked(advice, "there are more GPUs than are looked at: choose some");
	for (size_t i = 0; i < devices && i < MOST_DEVICES; i++) {
		if (!gt_whole_has_rows(advice->facts->view->trace, (gt_id)i))
			continue;
		advice->device = (gt_id)i;
		rule->of_device(advice->facts, (gt_id)i, advice);
	}
}

static int by_worth(const void *a, const void *b)
{
	const struct gt_advice_row *left = a;
	const struct gt_advice_row *right = b;
	const bool left_wrong = left->kind == GT_ADVICE_WRONG;
	const bool right_wrong = right->kind == GT_ADVICE_WRONG;

	if (left_wrong != right_wrong)
		return left_wrong ? -1 : 1;
	if (left->gain.saved.ns != right->gain.saved.ns)
		return left->gain.saved.ns > right->gain.saved.ns ? -1 : 1;
	return left->asked < right->asked ? -1 : 1;
}

void gt_advice_init(struct gt_advice *advice, const struct gt_facts *facts)
{
	*advice = (struct gt_advice){.facts = facts};
	for (size_t i = 0; i < gt_advice_rule_count; i++)
		ask(advice, gt_advice_rules[i]);
	if (advice->rows.count > 1)
		qsort(advice->rows.rows, advice->rows.count, sizeof(*advice->rows.rows), by_worth);
}

void gt_advice_release(struct gt_advice *advice)
{
	gt_array_each(struct gt_advice_row, row, &advice->rows) {
		gt_array_each(struct gt_evidence, evidence, &row->evidence)
			gt_array_free(evidence->value);
		gt_array_release(&row->evidence);
		gt_array_free(row->text);
	}
	gt_array_release(&advice->rows);
	gt_array_release(&advice->unasked);
}
