/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/units.h"
#include "cli/info/tables.h"
#include "cli/recording/manifest.h"
#include "cli/recording/reading.h"
#include "model/naming/labels.h"
#include "model/view/view.h"

enum { GPUS_BYTES = 512 };

/* A text that is "" is not known. */
static void add_fact(struct gt_report_page *page, const char *name, const char *text)
{
	page->facts[page->head.fact_count++] =
		(struct gt_page_fact){name, text ? gt_result_keep(&page->texts, "%s", text) : NULL};
}

static void add_command(struct gt_report_page *page, const struct gt_trace *trace,
                        const struct gt_manifests *runs)
{
	char *command = runs->list.count > 0 ? gt_manifest_command(&runs->list.rows[0]) : NULL;

	if (runs->list.count > 1)
		add_fact(page, "command",
		         gt_result_keep(&page->texts, "%s, and %zu more runs", command,
		                        runs->list.count - 1));
	else if (command || trace->processes.count == 0)
		add_fact(page, "command", command);
	else
		add_fact(page, "command", gt_trace_text(trace, trace->processes.rows[0].command));
	free(command);
}

/* "2 x NVIDIA H200, NVIDIA H100": GPUs of one name that follow each other. */
static void add_gpus(struct gt_report_page *page, const struct gt_trace *trace)
{
	char label[GT_LABEL_BYTES];
	char next[GT_LABEL_BYTES];
	char text[GPUS_BYTES] = "";
	size_t used = 0;
	unsigned count = 0;

	for (gt_id i = 0; i < trace->devices.count && used < sizeof(text); i++) {
		char times[16] = "";

		count++;
		next[0] = '\0';
		gt_device_label(trace, i, label, sizeof(label));
		if (i + 1 < trace->devices.count)
			gt_device_label(trace, i + 1, next, sizeof(next));
		if (strcmp(label, next) == 0)
			continue;
		if (count > 1)
			snprintf(times, sizeof(times), "%u x ", count);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s",
		                         used ? ", " : "", times, label);
		count = 0;
	}
	add_fact(page, "GPUs", text);
}

static void add_facts(struct gt_report_page *page, const struct gt_reading *reading,
                      const struct gt_manifests *runs)
{
	const struct gt_trace *trace = &reading->trace;
	const struct gt_manifest sum = gt_info_sum(runs);

	add_command(page, trace, runs);
	add_fact(page, "started", sum.start.utc);
	add_fact(page, "recorded", gt_figure_ns(trace->end_ns - trace->start_ns).text);
	add_fact(page, "host", sum.host);
	add_gpus(page, trace);
	add_fact(page, "CUDA driver", gt_trace_text(trace, trace->driver));
	add_fact(page, "gputrace", gt_trace_text(trace, trace->tool_version));
	if (reading->view.restriction)
		add_fact(page, "shown", reading->view.restriction);
	if (reading->condition[0])
		add_fact(page, "files", reading->condition);
}

void gt_report_page_init(struct gt_report_page *page, const struct gt_reading *reading,
                         const char *recording)
{
	struct gt_manifests runs = {0};

	memset(page, 0, sizeof(*page));
	gt_result_init(&page->texts);
	(void)gt_manifests_load(&runs, recording, NULL); /* without one less is known */
	add_facts(page, reading, &runs);
	gt_manifests_release(&runs);
	gt_timeline_init(&page->timeline, &reading->view, GT_PAGE_PIECES);
	page->head = (struct gt_page_head){
		.title = gt_path_name(recording),
		.facts = page->facts,
		.fact_count = page->head.fact_count,
		.ledger = reading->ledger,
		.clean = reading->clean,
		.timeline = &page->timeline,
	};
}

void gt_report_page_release(struct gt_report_page *page)
{
	gt_timeline_release(&page->timeline);
	gt_result_release(&page->texts);
}
