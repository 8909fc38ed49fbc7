/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/prometheus/exposition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const struct {
	const char *name;
	const char *type;
	const char *help;
} metrics[] = {
#define METRIC(name, type, help) {"gputrace_" #name, #type, help},
#include "exporters/prometheus/metrics.def"
};

static void add(struct gt_exposition *exposition, const char *text)
{
	gt_written_add(&exposition->written, text, strlen(text));
}

void gt_exposition_metric(struct gt_exposition *exposition, enum gt_metric_id metric)
{
	exposition->metric = metric;
	exposition->described = false;
}

static void describe(struct gt_exposition *exposition)
{
	const char *name = metrics[exposition->metric].name;
	char text[512];

	snprintf(text, sizeof(text), "# HELP %s %s\n# TYPE %s %s\n", name,
	         metrics[exposition->metric].help, name, metrics[exposition->metric].type);
	add(exposition, text);
	exposition->described = true;
}

void gt_exposition_series(struct gt_exposition *exposition)
{
	if (!exposition->described)
		describe(exposition);
	add(exposition, metrics[exposition->metric].name);
	exposition->labelled = false;
	exposition->series++;
}

/* Returns how many bytes of the value that was. */
static size_t add_character(struct gt_exposition *exposition, const char *value)
{
	const size_t size = gt_utf8_size(value);

	if (size == 0)
		add(exposition, GT_UTF8_REPLACEMENT);
	else if (*value == '\n')
		add(exposition, "\\n");
	else if (*value == '\\' || *value == '"')
		gt_written_add(&exposition->written, *value == '"' ? "\\\"" : "\\\\", 2);
	else
		gt_written_add(&exposition->written, value, size);
	return size ? size : 1;
}

void gt_exposition_label(struct gt_exposition *exposition, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	add(exposition, exposition->labelled ? "," : "{");
	add(exposition, name);
	add(exposition, "=\"");
	while (*value)
		value += add_character(exposition, value);
	add(exposition, "\"");
	exposition->labelled = true;
}

static void end(struct gt_exposition *exposition, const char *value)
{
	add(exposition, exposition->labelled ? "} " : " ");
	add(exposition, value);
	add(exposition, "\n");
}

void gt_exposition_count(struct gt_exposition *exposition, uint64_t count)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, count);
	end(exposition, text);
}

void gt_exposition_seconds(struct gt_exposition *exposition, uint64_t ns)
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	end(exposition, text);
}

void gt_exposition_real(struct gt_exposition *exposition, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.9g", value);
	end(exposition, text);
}
