/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "collector/stage.h"

/* Notes that processes left in files of their own (collector/left_notes.h) become rows of notes. */

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

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_left_notes *notes = &collection->left_notes;

	(void)err;
	if (notes->list.count)
		qsort(notes->list.rows, notes->list.count, sizeof(*notes->list.rows), by_process);
	gt_array_each(const struct gt_left_note, note, &notes->list) {
		const gt_id process = find_process(collection->trace, note);

		if (process == GT_NONE)
			gt_collection_note(collection, GT_NONE, "python", "process %u: %s",
			                   note->pid, note->text);
		else
			gt_collection_note(collection, process, "python", "%s", note->text);
	}
	return 0;
}

const struct gt_stage gt_stage_notes = {.name = "notes", .run = run};
