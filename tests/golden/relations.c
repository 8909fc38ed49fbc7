/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/relations.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "collector/collector.h"
#include "golden/digest.h"
#include "golden/digests.h"
#include "model/trace.h"
#include "model/view/filter.h"
#include "model/view/view.h"

enum { MOST_FIGURES = 1000, MOST_TOLD = 40 };

#define NEAR_NS      4.0
#define INSIDE_SHARE 1e-4 /* calls inside are a nanosecond shorter on both sides */

/* Counts from when a pool was made on, where the window begins with the recording. */
#define SINCE_MADE "memory pools"

/* A part of a filter, as it is typed. */
struct word {
	enum gt_filter_part part;
	char value[160];
};

struct words {
	struct word list[3];
	size_t count;
};

/* What is made of a recording with a filter, a text each. */
struct figures {
	size_t count;
	struct {
		char name[NAME_BYTES];
		char *text;
	} list[MOST_FIGURES];
	char error[512];                 /* "": there is none */
	size_t rows[GT_TABLE_COUNT + 1]; /* the last: samples */
};

/* ---- a filter ---- */

__attribute__((format(printf, 3, 4))) static void
add_word(struct words *words, enum gt_filter_part part, const char *format, ...)
{
	struct word *word = &words->list[words->count++];
	va_list list;

	word->part = part;
	va_start(list, format);
	vsnprintf(word->value, sizeof(word->value), format, list);
	va_end(list);
}

static const char *text_of(const struct words *words, char text[512])
{
	static const char *const options[GT_FILTER_PARTS] = {
		[GT_FILTER_FROM] = "from",   [GT_FILTER_TO] = "to",
		[GT_FILTER_RANGE] = "range", [GT_FILTER_SKIP] = "skip",
		[GT_FILTER_TAKE] = "take",   [GT_FILTER_INSTANCE] = "instance",
	};

	*text = '\0';
	for (size_t i = 0; i < words->count; i++)
		snprintf(text + strlen(text), 512 - strlen(text), " --%s %s",
		         options[words->list[i].part], words->list[i].value);
	return text;
}

/* ---- what is made with it ---- */

/* Begins a figure: its text is what is digested until it ends. */
static struct digest begin_figure(struct figures *figures, const char *what, const char *which,
                                  size_t *size)
{
	must(figures->count < MOST_FIGURES, "figures");
	snprintf(figures->list[figures->count].name, NAME_BYTES, "%s %s", what, which);
	return (struct digest){.shown = open_memstream(&figures->list[figures->count].text, size)};
}

static void end_figure(struct figures *figures, struct digest *digest)
{
	must(digest->shown && fclose(digest->shown) == 0, "figure");
	figures->count++;
}

static void release(struct figures *figures)
{
	while (figures->count > 0)
		free(figures->list[--figures->count].text);
}

/* But for the one that has the filter's words. */
static void add_remarks(struct digest *digest, const struct gt_result *result, const char *words)
{
	gt_array_each(const struct gt_remark, remark, &result->remarks) {
		if (words && strstr(remark->text, words))
			continue;
		digest_add_text(digest, remark->text);
		digest_add_text(digest, "\n");
	}
}

static void add_report(struct figures *figures, const struct gt_view *view,
                       const struct gt_report *report, const char *words)
{
	struct gt_result result;
	struct gt_error err = {0};
	struct digest digest;
	size_t size;
	int ran;

	gt_result_init(&result);
	ran = gt_report_run(report, view, NULL, &result, &err);
	gt_array_each(const struct gt_section, section, &result.sections) {
		digest = begin_figure(figures, report->name, section->title, &size);
		digest_add_section(&digest, section);
		end_figure(figures, &digest);
	}
	digest = begin_figure(figures, report->name, "remarks and charts", &size);
	digest_add_text(&digest, ran < 0 ? err.text : "");
	add_remarks(&digest, &result, words);
	digest_add_charts(&digest, &result);
	end_figure(figures, &digest);
	gt_result_release(&result);
}

static void count_rows(struct figures *figures, const struct gt_trace *trace)
{
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		figures->rows[i] = gt_trace_table(trace, i).row_count;
	gt_array_each(const struct gt_series, series, &trace->series)
		figures->rows[GT_TABLE_COUNT] += series->count;
}

static void read_with(const char *folder, const struct words *words, bool reports,
                      struct figures *figures)
{
	struct gt_trace trace;
	struct gt_view view;
	struct gt_filter filter;
	struct gt_error err = {0};

	*figures = (struct figures){.count = 0};
	gt_trace_init(&trace);
	gt_filter_init(&filter);
	for (size_t i = 0; i < words->count; i++)
		must(gt_filter_add(&filter, words->list[i].part, words->list[i].value, &err) == 0,
		     words->list[i].value);
	must(gt_collect(folder, &trace, &err) == 0, folder);
	if (gt_view_cut(&view, &trace, &filter, &err) < 0) {
		snprintf(figures->error, sizeof(figures->error), "%s", err.text);
	} else {
		count_rows(figures, &trace);
		for (size_t i = 0; reports && i < gt_report_count; i++)
			add_report(figures, &view, gt_reports[i], filter.text);
	}
	gt_filter_release(&filter);
	gt_trace_release(&trace);
}

/* ---- the same in other words ---- */

static void tell(struct relations *relations, const char *folder, const char *name,
                 const struct words *one, const struct words *other)
{
	char text[2][512];

	if (++relations->differ <= MOST_TOLD)
		printf("%s: %s differs with%s and%s\n", folder, name, text_of(one, text[0]),
		       text_of(other, text[1]));
}

/* Numbers that a nanosecond of the window may change, in a table's cell or in a sentence. */
static bool is_near(double one, double other, double share)
{
	const double larger = fabs(one) > fabs(other) ? fabs(one) : fabs(other);

	return fabs(one - other) <= NEAR_NS + larger * share;
}

/* Goes on in both texts to where they differ in more than numbers near each other, or to the end. */
static bool skip_same(const char *at[2], double share)
{
	while (*at[0] && *at[1]) {
		char *end[2];
		const double values[2] = {strtod(at[0], &end[0]), strtod(at[1], &end[1])};

		if (end[0] > at[0] && end[1] > at[1] && is_near(values[0], values[1], share)) {
			at[0] = end[0];
			at[1] = end[1];
		} else if (*at[0] != *at[1]) {
			return false;
		} else {
			at[0]++;
			at[1]++;
		}
	}
	return *at[0] == *at[1];
}

static void compare_figures(struct relations *relations, const char *folder,
                            const struct words words[2], const struct figures figures[2],
                            int64_t lasts_ns)
{
	if (!*figures[0].error != !*figures[1].error || figures[0].count != figures[1].count) {
		tell(relations, folder, "whether there is anything", &words[0], &words[1]);
		return;
	}
	for (size_t i = 0; i < figures[0].count; i++) {
		const char *at[2] = {figures[0].list[i].text, figures[1].list[i].text};

		if (skip_same(at, 100 * NEAR_NS / (double)lasts_ns) ||
		    strcmp(figures[0].list[i].name, SINCE_MADE) == 0)
			continue;
		tell(relations, folder, figures[0].list[i].name, &words[0], &words[1]);
		if (relations->differ <= MOST_TOLD)
			printf("  %.40s\n  %.40s\n", at[0], at[1]);
	}
}

/*
 * Filters that choose the same rows, of a window that lasts so long. lasts_ns INT64_MAX: there is
 * none, and they may not choose other rows.
 */
static void compare(struct relations *relations, const char *folder, const struct words words[2],
                    int64_t lasts_ns)
{
	static struct figures figures[2];

	for (size_t i = 0; i < 2; i++)
		read_with(folder, &words[i], true, &figures[i]);
	if (lasts_ns == INT64_MAX ||
	    memcmp(figures[0].rows, figures[1].rows, sizeof(figures[0].rows)) == 0) {
		relations->compared++;
		compare_figures(relations, folder, words, figures, lasts_ns);
	}
	release(&figures[0]);
	release(&figures[1]);
}

/* A side that is open, and one that leaves out a nanosecond in which nothing begins. */
static void check_open_windows(struct relations *relations, const char *folder, int64_t at_ns,
                               int64_t duration_ns)
{
	struct words words[2] = {{.count = 0}};

	add_word(&words[0], GT_FILTER_TO, "%" PRId64 "ns", at_ns);
	add_word(&words[1], GT_FILTER_FROM, "1ns");
	add_word(&words[1], GT_FILTER_TO, "%" PRId64 "ns", at_ns);
	compare(relations, folder, words, at_ns);
	words[0].count = words[1].count = 0;
	add_word(&words[0], GT_FILTER_FROM, "-%" PRId64 "ns", duration_ns - at_ns);
	add_word(&words[1], GT_FILTER_FROM, "%" PRId64 "ns", at_ns);
	add_word(&words[1], GT_FILTER_TO, "-1ns");
	compare(relations, folder, words, duration_ns - at_ns);
}

static void check_instances(struct relations *relations, const char *folder, const char *range)
{
	struct words words[2] = {{.count = 0}};

	if (strlen(range) >= sizeof(words[0].list[0].value))
		return;
	add_word(&words[0], GT_FILTER_RANGE, "%s", range);
	add_word(&words[0], GT_FILTER_INSTANCE, "2");
	add_word(&words[1], GT_FILTER_RANGE, "%s", range);
	add_word(&words[1], GT_FILTER_SKIP, "1");
	add_word(&words[1], GT_FILTER_TAKE, "1");
	compare(relations, folder, words, INT64_MAX);
}

/* ---- parts of all ---- */

/* Tables of things that happen at one time, of each of which it is that time which counts. */
static const char *const happen[] = {"kernels", "copies",    "fills",
                                     "marks",   "api_calls", "memory_calls"};

static bool happens(const char *table)
{
	for (size_t i = 0; i < sizeof(happen) / sizeof(happen[0]); i++)
		if (strcmp(happen[i], table) == 0)
			return true;
	return false;
}

static void check_halves(struct relations *relations, const char *folder, int64_t at_ns)
{
	static struct figures figures[3];
	struct words words[3] = {{.count = 0}};
	struct gt_trace none;

	add_word(&words[0], GT_FILTER_FROM, "0ns");
	add_word(&words[1], GT_FILTER_TO, "%" PRId64 "ns", at_ns);
	add_word(&words[2], GT_FILTER_FROM, "%" PRId64 "ns", at_ns);
	for (size_t i = 0; i < 3; i++)
		read_with(folder, &words[i], false, &figures[i]);
	if (*figures[0].error || *figures[1].error || *figures[2].error)
		return;
	gt_trace_init(&none);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		if (happens(gt_trace_table(&none, i).name) &&
		    figures[0].rows[i] != figures[1].rows[i] + figures[2].rows[i])
			tell(relations, folder, gt_trace_table(&none, i).name, &words[1],
			     &words[2]);
	gt_trace_release(&none);
}

/* ---- all recordings ---- */

/* Between the kernels in the middle, as far as there are any. */
static int64_t middle_of(const struct gt_trace *trace)
{
	if (trace->kernels.count > 1)
		return trace->kernels.rows[trace->kernels.count / 2].start_ns - trace->start_ns;
	return (trace->end_ns - trace->start_ns) / 2;
}

void relations_check(struct relations *relations, const char *folder)
{
	struct gt_trace trace;
	struct gt_error err = {0};
	int64_t at_ns;
	int64_t duration_ns;
	bool begins_with_range = false; /* which stays, as one around others */
	char *range = NULL;

	gt_trace_init(&trace);
	if (gt_collect(folder, &trace, &err) < 0) {
		gt_trace_release(&trace);
		return;
	}
	at_ns = middle_of(&trace);
	duration_ns = trace.end_ns - trace.start_ns;
	gt_array_each(const struct gt_range, row, &trace.ranges)
		begins_with_range |= row->start_ns <= trace.start_ns;
	if (trace.ranges.count > 0)
		range = strdup(
			gt_trace_text(&trace, trace.ranges.rows[trace.ranges.count / 2].text));
	gt_trace_release(&trace);
	if (at_ns > 0 && at_ns < duration_ns && !begins_with_range) {
		check_open_windows(relations, folder, at_ns, duration_ns);
		check_halves(relations, folder, at_ns);
	}
	if (range && *range)
		check_instances(relations, folder, range);
	free(range);
}

/* ---- calls that change nothing ---- */

/* Tables that are about calls as such: they count those inside of others, and those that failed. */
static const char *const of_calls[] = {
	"api ",
	"advice ",
	"waits ",
	"errors remarks",
	"summary overview",
	"summary recording",
	"summary notes",
	"summary stands_out",
	"summary top_api_calls",
	"memory devices",
	"memory failures",
	"memory at_failure",
	"memory placed",
	"graphs execs",
};

static bool is_of_calls(const char *figure)
{
	for (size_t i = 0; i < GT_COUNT_OF(of_calls); i++)
		if (strncmp(figure, of_calls[i], strlen(of_calls[i])) == 0)
			return true;
	return false;
}

void relations_check_copy(struct relations *relations, const char *folder, const char *copy)
{
	const struct words none = {.count = 0};
	static struct figures figures[2];

	read_with(folder, &none, true, &figures[0]);
	read_with(copy, &none, true, &figures[1]);
	relations->compared++;
	must(figures[0].count == figures[1].count, copy);
	for (size_t i = 0; i < figures[0].count; i++) {
		const char *at[2] = {figures[0].list[i].text, figures[1].list[i].text};

		if (is_of_calls(figures[0].list[i].name) || skip_same(at, INSIDE_SHARE))
			continue;
		if (++relations->differ <= MOST_TOLD)
			printf("%s: %s differs\n  %.60s\n  %.60s\n", copy, figures[0].list[i].name,
			       at[0], at[1]);
	}
	release(&figures[0]);
	release(&figures[1]);
}
