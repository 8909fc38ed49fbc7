/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "base/strings.h"
#include "exporters/perfetto/wire/wire.h"
#include "exporters/perfetto/writer.h"
#include "model/ledger.h"
#include "model/view/view.h"

enum { KEY_SIZE = 96, TEXT_SIZE = 512 };

/* A fact about the recording as a whole, by name. */
struct row {
	char key[KEY_SIZE];
	char text[TEXT_SIZE]; /* "": the value is the number */
	int64_t number;
};

struct rows {
	gt_array(struct row) rows;
};

static struct row *add(struct rows *rows, const char *key)
{
	struct row *row = gt_array_push(&rows->rows);

	*row = (struct row){0};
	snprintf(row->key, sizeof(row->key), "%s", key);
	return row;
}

static void add_text(struct rows *rows, const char *key, const char *text)
{
	if (*text)
		snprintf(add(rows, key)->text, TEXT_SIZE, "%s", text);
}

static void add_number(struct rows *rows, const char *key, uint64_t number)
{
	add(rows, key)->number = number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

static void add_ledger(struct rows *rows, const struct gt_trace *trace)
{
	const size_t count = gt_strings_count(trace->strings);
	bool *seen = gt_allocate_zeroed(count, sizeof(*seen));
	uint64_t *sums = gt_ledger_sums(trace);

	gt_array_each(const struct gt_ledger, row, &trace->ledgers) {
		char key[KEY_SIZE];

		if (row->name >= count || seen[row->name])
			continue;
		seen[row->name] = true;
		snprintf(key, sizeof(key), "ledger.%s", gt_trace_text(trace, row->name));
		add_number(rows, key, sums[row->name]);
	}
	gt_array_free(seen);
	gt_array_free(sums);
}

static void add_notes(struct rows *rows, const struct gt_trace *trace)
{
	for (size_t i = 0; i < trace->notes.count; i++) {
		const struct gt_note *note = &trace->notes.rows[i];
		const char *topic = gt_trace_text(trace, note->topic);
		char key[KEY_SIZE];

		snprintf(key, sizeof(key), "note.%zu", i + 1);
		snprintf(add(rows, key)->text, TEXT_SIZE, "%.120s%s%s", topic, *topic ? ": " : "",
		         gt_trace_text(trace, note->text));
	}
}

static uint64_t count_unfinished(const struct gt_trace *trace)
{
	uint64_t count = 0;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		count += (kernel->flags & GT_UNFINISHED) != 0;
	return count;
}

static void write_rows(struct gt_perfetto *perfetto, const struct rows *rows)
{
	const size_t count = rows->rows.count;
	Perfetto__TraceAttribute *attributes = gt_allocate(count * sizeof(*attributes));
	Perfetto__TraceAttribute **list = gt_allocate(count * sizeof(Perfetto__TraceAttribute *));
	Perfetto__TraceAttributes message = PERFETTO__TRACE_ATTRIBUTES__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	for (size_t i = 0; i < count; i++) {
		struct row *row = &rows->rows.rows[i];

		attributes[i] = (Perfetto__TraceAttribute)PERFETTO__TRACE_ATTRIBUTE__INIT;
		attributes[i].key = row->key;
		attributes[i].has_long_value = !*row->text;
		attributes[i].long_value = row->number;
		attributes[i].string_value = *row->text ? row->text : NULL;
		list[i] = &attributes[i];
	}
	message.attribute = list;
	message.n_attribute = count;
	packet.trace_attributes = &message;
	gt_sequence_add(&perfetto->descriptions, &packet);
	gt_array_free(list);
	gt_array_free(attributes);
}

void gt_perfetto_write_attributes(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct rows rows = {0};

	add_text(&rows, "gputrace", GPUTRACE_VERSION);
	add_text(&rows, "gputrace.recorder", gt_trace_text(trace, trace->tool_version));
	add_text(&rows, "cupti", gt_trace_text(trace, trace->cupti));
	add_text(&rows, "driver", gt_trace_text(trace, trace->driver));
	if (trace->processes.count > 0)
		add_text(&rows, "command", gt_trace_text(trace, trace->processes.rows[0].command));
	if (perfetto->view->restriction)
		add_text(&rows, "restricted_to", perfetto->view->restriction);
	if (trace->end_ns > trace->start_ns)
		add_number(&rows, "recording_duration_ns",
		           (uint64_t)trace->end_ns - (uint64_t)trace->start_ns);
	if (trace->clocks.count > 0)
		add_number(&rows, "clock_bound_ns", gt_trace_clock_bound(trace));
	add_number(&rows, "kernels_unfinished", count_unfinished(trace));
	add_number(&rows, "rows_without_place", perfetto->counts.skipped);
	add_ledger(&rows, trace);
	add_notes(&rows, trace);
	write_rows(perfetto, &rows);
	gt_array_release(&rows.rows);
}
