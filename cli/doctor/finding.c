/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDING(name) extern const struct gt_finder gt_finder_##name;
#include "cli/doctor/findings.def"

static const struct {
	const char *id;
	const struct gt_finder *finder;
} finders[] = {
#define FINDING(name) {#name, &gt_finder_##name},
#include "cli/doctor/findings.def"
};

__attribute__((format(printf, 1, 0))) static char *print(const char *fmt, va_list values)
{
	char text[2048];

	(void)vsnprintf(text, sizeof(text), fmt, values);

	const size_t size = strlen(text) + 1;

	return memcpy(gt_allocate(size), text, size);
}

void gt_found(struct gt_findings *findings, enum gt_severity severity, const char *fmt, ...)
{
	char *text;
	va_list values;

	va_start(values, fmt);
	text = print(fmt, values);
	va_end(values);
	*gt_array_push(&findings->list) = (struct gt_finding){
		.id = findings->id,
		.severity = severity,
		.found = text,
	};
	findings->errors += severity == GT_SEVERITY_ERROR;
	findings->warnings += severity == GT_SEVERITY_WARNING;
}

static struct gt_finding *last(struct gt_findings *findings)
{
	return &findings->list.rows[findings->list.count - 1];
}

void gt_costs(struct gt_findings *findings, const char *fmt, ...)
{
	va_list values;

	va_start(values, fmt);
	last(findings)->costs = print(fmt, values);
	va_end(values);
}

void gt_mend(struct gt_findings *findings, const char *fmt, ...)
{
	va_list values;

	va_start(values, fmt);
	last(findings)->mend = print(fmt, values);
	va_end(values);
}

static void look(struct gt_findings *findings, const struct gt_world *world, bool to_explain)
{
	for (size_t i = 0; i < GT_COUNT_OF(finders); i++) {
		findings->id = finders[i].id;
		if (!to_explain || finders[i].finder->explains)
			finders[i].finder->find(findings, world);
	}
}

static void release(struct gt_finding *finding)
{
	free(finding->found);
	free(finding->costs);
	free(finding->mend);
}

/* The worst first: one pass for each severity keeps the order of equals. */
static void sort(struct gt_findings *findings, enum gt_severity least)
{
	struct gt_findings sorted = *findings;

	memset(&sorted.list, 0, sizeof(sorted.list));
	for (enum gt_severity severity = GT_SEVERITY_ERROR; severity <= least; severity++)
		gt_array_each(const struct gt_finding, finding, &findings->list)
			if (finding->severity == severity)
				*gt_array_push(&sorted.list) = *finding;
	gt_array_each(struct gt_finding, finding, &findings->list)
		if (finding->severity > least)
			release(finding);
	gt_array_release(&findings->list);
	*findings = sorted;
}

void gt_findings_look(struct gt_findings *findings, const struct gt_world *world)
{
	look(findings, world, false);
	sort(findings, GT_SEVERITY_OK);
}

void gt_findings_explain(struct gt_findings *findings, const struct gt_world *world)
{
	look(findings, world, true);
	sort(findings, GT_SEVERITY_WARNING);
}

void gt_findings_release(struct gt_findings *findings)
{
	gt_array_each(struct gt_finding, finding, &findings->list)
		release(finding);
	gt_array_release(&findings->list);
}
