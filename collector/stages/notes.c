/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "collector/stage.h"

/* Notes that were left in files of their own (collector/left_notes.h) become rows of notes. */

static int by_process(const void *a, const void *b)
{
	const struct gt_left_note *left = a;
	const struct gt_left_note *right = b;
	const int order = strcmp(left->host, right->host);

	if (order)
		return order;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return strcmp(left->text, right->text);
}

static gt_id find_process(const struct gt_trace *trace, const struct gt_left_note *note)
{
	for (gt_id row = 0; row < trace->processes.count; row++) {
		const struct gt_process *process = &trace->processes.rows[row];

		if (process->pid == note->pid &&
		    strcmp(gt_trace_text(trace, process->host), note->host) == 0)
			return row;
	}
	return GT_NONE;
}

static bool is_only_host(const struct gt_trace *trace, const char *host)
{
	gt_array_each(const struct gt_process, process, &trace->processes)
		if (strcmp(gt_trace_text(trace, process->host), host) != 0)
			return false;
	return true;
}

/* Whether a log could be read: a line that is no message. One that could not be read counts. */
static void take_state(struct gt_trace *trace, const struct gt_left_note *note)
{
	const bool is_only = is_only_host(trace, note->host);
	char text[640];

	if (strcmp(note->text, GT_KERNEL_LOG_READ) == 0) {
		if (trace->kernel_log == 0)
			trace->kernel_log = gt_strings_add(trace->strings, note->text);
		return;
	}
	snprintf(text, sizeof(text), "%s%s%s%s", is_only ? "" : "of ", is_only ? "" : note->host,
	         is_only ? "" : " ", note->text);
	trace->kernel_log = gt_strings_add(trace->strings, text);
}

/* A line of a kernel log, with the host in front. Several runs of a recording may have the same. */
static void add_of_log(struct gt_collection *collection, const struct gt_left_note *note,
                       const struct gt_left_note *before)
{
	if (note->text[0] != '[')
		take_state(collection->trace, note);
	else if (!before || by_process(note, before) != 0)
		gt_collection_note(collection, find_process(collection->trace, note), note->topic,
		                   "%s: %s", note->host, note->text);
}

static void add(struct gt_collection *collection, const struct gt_left_note *note)
{
	const gt_id process = find_process(collection->trace, note);

	if (process == GT_NONE)
		gt_collection_note(collection, GT_NONE, note->topic, "process %u: %s", note->pid,
		                   note->text);
	else
		gt_collection_note(collection, process, note->topic, "%s", note->text);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_left_notes *notes = &collection->left_notes;

	(void)err;
	if (notes->list.count)
		qsort(notes->list.rows, notes->list.count, sizeof(*notes->list.rows), by_process);
	for (size_t i = 0; i < notes->list.count; i++)
		if (strcmp(notes->list.rows[i].topic, GT_KERNEL_LOG_TOPIC) == 0)
			add_of_log(collection, &notes->list.rows[i],
			           i > 0 ? &notes->list.rows[i - 1] : NULL);
		else
			add(collection, &notes->list.rows[i]);
	return 0;
}

const struct gt_stage gt_stage_notes = {.name = "notes", .run = run};
