/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/trace_file.h"

#include <stdlib.h>

#include "analysis/ranges/steps/steps.h"
#include "base/error.h"
#include "base/sink/file.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/view/address.h"
#include "cli/view/opening.h"
#include "cli/view/serve.h"

/* Finding the steps of the view is dear: the trace takes them from here. */
static const char *write_opening(const struct gt_view *view, struct gt_steps *steps,
                                 char text[GT_OPENING_BYTES])
{
	struct gt_opening opening;

	gt_steps_init(steps, view);
	gt_opening_init(&opening, view, steps);
	gt_opening_write(&opening, text);
	return text;
}

int gt_trace_file_write(const struct gt_trace_file *file, const struct gt_view *view,
                        struct gt_progress *progress, struct gt_export_counts *counts,
                        struct gt_error *err)
{
	const struct gt_target target = {gt_progress_sink(progress, gt_file_sink(file->file)),
	                                 file->path};
	struct gt_export_options how = file->how;
	char opening[GT_OPENING_BYTES];
	struct gt_steps steps;
	int result;

	how.opening = file->exporter->keeps_opening ? write_opening(view, &steps, opening) : NULL;
	how.steps = how.opening ? &steps : NULL;
	result = file->exporter->write(view, &how, &target, counts, err);
	if (how.steps)
		gt_steps_release(&steps);
	/* An exporter does not know what the file will be called. */
	if (result < 0)
		return gt_fail(err, -result, "cannot write %s: %s", file->name,
		               gt_errno_text(-result));
	return 0;
}

void gt_trace_file_say(const char *path, const struct gt_exporter *exporter, bool at_length)
{
	/* Commands that unfold tracks are for our own traces. */
	char *address = gt_address_make(GT_ADDRESS_UI, NULL, NULL);
	const char *link;

	if (exporter->is_metrics) {
		free(address);
		return;
	}
	if (exporter->is_database) {
		gt_say("to ask it: sqlite3 %s 'select * from kernel_totals'; its table catalogue says "
		       "what each column is",
		       path);
		free(address);
		return;
	}
	link = exporter->readers ? GT_ADDRESS_UI : address;

	if (gt_serve_check(NULL) == 0)
		gt_say_link(GT_ADDRESS_UI, link,
		            "to look at it: gputrace view %s, or drop it into ", path);
	else
		gt_say_link(GT_ADDRESS_UI, link, "to look at it, drop it into ");
	if (exporter->readers)
		gt_say("%s read it too", exporter->readers);
	else if (at_length)
		gt_say("the address that also unfolds its tracks: %s", address);
	free(address);
}
