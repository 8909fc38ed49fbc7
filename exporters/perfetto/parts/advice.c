/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/findings.h"
#include "base/array.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/view/view.h"

/*
 * The findings that report summary says first, each as a slice over the stretch that it is about.
 * It is called by its first words; its arguments are all of it, its worth, and the figures as
 * reports have them. The track stays in view above others: it must be low.
 */

enum { MOST = 4, ANNOTATIONS = 12, TEXT_BYTES = 1200 };

struct said {
	struct gt_names *names;
	struct gt_annotation list[ANNOTATIONS];
	size_t count;
};

static void say(struct said *said, const char *name, const char *text)
{
	if (said->count < ANNOTATIONS && *text)
		said->list[said->count++] = (struct gt_annotation){
			.type = GT_VALUE_TEXT,
			.name = gt_names_add(said->names, name),
			.number = gt_names_add(said->names, text),
		};
}

/* The figures, called "report/table/column". */
static void say_evidence(struct said *said, const struct gt_advice_row *row)
{
	char name[160];

	gt_array_each(const struct gt_evidence, evidence, &row->evidence) {
		snprintf(name, sizeof(name), "%s/%s/%s", evidence->report, evidence->table,
		         evidence->column);
		say(said, name, evidence->value);
	}
}

static void put(struct gt_lanes *lanes, const struct gt_advice_row *row)
{
	struct said said = {.names = &lanes->perfetto->names};
	struct gt_slice slice = {.start_ns = row->when.start_ns, .end_ns = row->when.end_ns};
	char text[TEXT_BYTES];

	if (!gt_ids_time_is_sound(slice.start_ns))
		return;
	snprintf(text, sizeof(text), "%s%s%s", row->text, row->hint ? " " : "",
	         row->hint ? row->hint : "");
	say(&said, "finding", text);
	say(&said, "worth", gt_advice_worth(row).text);
	say(&said, "kind", gt_advice_kind_name(row->kind));
	say(&said, "report", row->report);
	say_evidence(&said, row);
	slice.name = gt_names_add(said.names, gt_advice_brief(row).text);
	slice.annotations = said.list;
	slice.annotation_count = said.count;
	gt_lanes_put(lanes, &slice);
}

/* The longest first of those that begin together. */
static int by_begin(const void *a, const void *b)
{
	const struct gt_advice_row *left = *(const struct gt_advice_row *const *)a;
	const struct gt_advice_row *right = *(const struct gt_advice_row *const *)b;

	if (left->when.start_ns != right->when.start_ns)
		return left->when.start_ns < right->when.start_ns ? -1 : 1;
	if (left->when.end_ns != right->when.end_ns)
		return left->when.end_ns > right->when.end_ns ? -1 : 1;
	return (left->asked > right->asked) - (left->asked < right->asked);
}

static void put_findings(struct gt_perfetto *perfetto, const struct gt_advice *advice)
{
	const struct gt_trace *trace = perfetto->trace;
	size_t *numbers = gt_allocate((advice->rows.count + 1) * sizeof(*numbers));
	size_t count = gt_findings_choose(advice, numbers);
	const struct gt_advice_row *rows[MOST] = {NULL};
	struct gt_lanes lanes;

	if (count > MOST)
		count = MOST;
	for (size_t i = 0; i < count; i++)
		rows[i] = &advice->rows.rows[numbers[i]];
	qsort(rows, count, sizeof(*rows), by_begin);
	/* Findings are of the recording: they stand beside several processes. */
	gt_lanes_init(&lanes, perfetto,
	              trace->processes.count == 1 ? perfetto->ids.process_uuids[0] : 0, "advice",
	              "Advice");
	for (size_t i = 0; i < count; i++)
		put(&lanes, rows[i]);
	gt_lanes_finish(&lanes);
	gt_array_free(numbers);
}

void gt_perfetto_write_advice(struct gt_perfetto *perfetto)
{
	struct gt_facts facts;
	struct gt_advice advice;

	gt_facts_init(&facts, perfetto->view);
	gt_advice_init(&advice, &facts);
	put_findings(perfetto, &advice);
	gt_advice_release(&advice);
	gt_facts_release(&facts);
}
