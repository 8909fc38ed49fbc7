/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/compare/profile.h"
#include "analysis/compare/profile_parts.h"
#include "base/strings.h"
#include "model/trace.h"
#include "model/whole.h"

static void add(struct gt_profile *profile, const char *name, const char *value)
{
	*gt_array_push(&profile->settings) = (struct gt_profile_setting){
		.name = gt_strings_add(profile->strings, name),
		.value = gt_strings_add(profile->strings, value),
	};
}

static void add_of_recording(struct gt_profile *profile, const char *name, const char *value)
{
	add(profile, name, value);
	profile->settings.rows[profile->settings.count - 1].of_recording = true;
}

/* "NVIDIA H200", or "8 x NVIDIA H200": the first says what they are. */
static void add_devices(struct gt_profile *profile, const struct gt_trace *trace)
{
	char text[256];

	if (trace->devices.count == 0)
		return;
	snprintf(text, sizeof(text), "%zu x %s", trace->devices.count,
	         gt_trace_text(trace, trace->devices.rows[0].name));
	add(profile, "GPUs", text);
}

/* Lines NAME=value. */
static void add_environment(struct gt_profile *profile, const char *lines)
{
	while (*lines) {
		const size_t length = strcspn(lines, "\n");
		const char *equals = memchr(lines, '=', length);

		if (equals) {
			char name[128];
			char value[512];

			snprintf(name, sizeof(name), "%.*s", (int)(equals - lines), lines);
			snprintf(value, sizeof(value), "%.*s",
			         (int)(length - (size_t)(equals - lines) - 1), equals + 1);
			add(profile, name, value);
		}
		lines += length + (lines[length] == '\n');
	}
}

static void add_machine(struct gt_profile *profile, const struct gt_trace *trace)
{
	const struct gt_process *process = &trace->processes.rows[0];
	char text[32];

	if (trace->processes.count == 0)
		return;
	add(profile, "machine", gt_trace_text(trace, process->host));
	add(profile, "kernel of the machine", gt_trace_text(trace, process->kernel_release));
	snprintf(text, sizeof(text), "%u", process->cpus);
	add(profile, "processors", process->cpus ? text : "");
	add(profile, "command", gt_trace_text(trace, process->command));
	snprintf(text, sizeof(text), "%zu", trace->processes.count);
	add(profile, "processes", text);
	add_environment(profile, gt_trace_text(trace, process->environment));
}

/* Recording costs time: runs that were recorded in another way differ by that. */
static void add_recording(struct gt_profile *profile, const struct gt_trace *trace)
{
	add_of_recording(profile, "API calls",
	                 gt_trace_has_calls(trace) ? "recorded" : "not recorded");
	add_of_recording(profile, "graphs",
	                 trace->graph_traces.count > 0 ? "as a whole" : "node by node");
	gt_array_each(const struct gt_note, note, &trace->notes)
		if (strcmp(gt_trace_text(trace, note->topic), "python") == 0)
			add_of_recording(profile, "PyTorch", gt_trace_text(trace, note->text));
}

void gt_profile_add_settings(struct gt_profile *profile, const struct gt_trace *trace)
{
	const struct gt_trace *whole = gt_whole_of(trace);

	add_devices(profile, whole);
	add(profile, "CUDA driver", gt_trace_text(whole, whole->driver));
	add(profile, "CUPTI", gt_trace_text(whole, whole->cupti));
	add(profile, "gputrace", gt_trace_text(whole, whole->tool_version));
	add_machine(profile, whole);
	add_recording(profile, whole);
}
