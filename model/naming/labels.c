/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/labels.h"

#include <stdio.h>

enum { MOST_NAME = 128 }; /* bytes shown of a name that a program gave */

static void label(char *text, size_t size, gt_count number, const char *name)
{
	if (*name)
		snprintf(text, size, "%u: %.*s", number, MOST_NAME, name);
	else
		snprintf(text, size, "%u", number);
}

void gt_stream_label(const struct gt_trace *trace, gt_id stream, char *text, size_t size)
{
	const struct gt_stream *row = &trace->streams.rows[stream];

	label(text, size, row->number, gt_trace_text(trace, row->name));
}

void gt_context_label(const struct gt_trace *trace, gt_id context, char *text, size_t size)
{
	const struct gt_context *row = &trace->contexts.rows[context];

	label(text, size, row->number, gt_trace_text(trace, row->name));
}

void gt_device_label(const struct gt_trace *trace, gt_id device, char *text, size_t size)
{
	const struct gt_device *row = &trace->devices.rows[device];
	const char *given = gt_trace_text(trace, row->label);
	const char *name = gt_trace_text(trace, row->name);

	if (*given)
		snprintf(text, size, "%.*s (%.*s)", MOST_NAME / 2, name, MOST_NAME / 2, given);
	else
		snprintf(text, size, "%.*s", MOST_NAME, name);
}

void gt_graph_exec_label(const struct gt_trace *trace, gt_id exec, char *text, size_t size)
{
	const struct gt_graph_exec *row =
		exec < trace->graph_execs.count ? &trace->graph_execs.rows[exec] : NULL;

	if (row && row->graph < trace->graphs.count)
		snprintf(text, size, "graph %u", trace->graphs.rows[row->graph].number);
	else if (row && row->number)
		snprintf(text, size, "graph exec %u", row->number);
	else
		snprintf(text, size, "graph");
}
