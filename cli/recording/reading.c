/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/reading.h"

#include <stdio.h>

#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "collector/collector.h"

void gt_reading_init(struct gt_reading *reading)
{
	*reading = (struct gt_reading){.clean = true};
	gt_filter_init(&reading->filter);
	gt_trace_init(&reading->trace);
}

void gt_reading_release(struct gt_reading *reading)
{
	gt_trace_release(&reading->trace);
	gt_filter_release(&reading->filter);
}

int gt_reading_choose(struct gt_reading *reading, const struct gt_filter_args *args,
                      struct gt_error *err)
{
	return gt_filter_read(args, &reading->filter, err);
}

int gt_reading_read(struct gt_reading *reading, const char *recording, enum gt_name_form names,
                    struct gt_progress *progress, struct gt_error *err)
{
	const int result =
		gt_collect_watched(recording, &reading->trace, gt_progress_watch(progress), err);

	if (result < 0)
		return result;
	reading->trace.names = names;
	snprintf(reading->condition, sizeof(reading->condition), "%s",
	         gt_trace_text(&reading->trace, reading->trace.condition));
	reading->clean =
		gt_ledger_sentence(&reading->trace, reading->ledger, sizeof(reading->ledger));
	return gt_view_cut(&reading->view, &reading->trace, &reading->filter, err);
}

int gt_reading_status(const struct gt_reading *reading, bool strict)
{
	return strict && (*reading->condition || !reading->clean) ? GT_EXIT_INCOMPLETE : GT_EXIT_OK;
}

void gt_say_condition(const char *recording, const char *condition)
{
	if (*condition)
		gt_say("%s %s", recording, condition);
}
