/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/table.h"
#include "cli/output/columns.h"

enum { INDENT = 9 };

static const char *const words[] = {
	[GT_SEVERITY_ERROR] = "error",
	[GT_SEVERITY_WARNING] = "warning",
	[GT_SEVERITY_OK] = "ok",
};

/* Paths in it may hold anything. */
static void print_sentence(const char *sentence, size_t width, FILE *out)
{
	char *text = gt_printable(sentence);

	gt_print_wrapped(text, width, INDENT, out);
	(void)fputc('\n', out);
	free(text);
}

static void print_more(const char *word, const char *sentence, size_t width, FILE *out)
{
	if (!sentence)
		return;
	fprintf(out, "%*s", INDENT, word);
	print_sentence(sentence, width, out);
}

static void print_verdict(const struct gt_findings *findings, FILE *out)
{
	const size_t warnings = findings->warnings;

	if (findings->errors > 0)
		fprintf(out, "Nothing can be recorded: %zu error%s, %zu warning%s.\n",
		        findings->errors, findings->errors == 1 ? "" : "s", warnings,
		        warnings == 1 ? "" : "s");
	else if (warnings > 0)
		fprintf(out, "A recording can be made; %zu warning%s what it lacks.\n", warnings,
		        warnings == 1 ? " says" : "s say");
	else
		fprintf(out, "A recording can be made.\n");
}

void gt_doctor_print(const struct gt_findings *findings, size_t width, FILE *out)
{
	gt_array_each(const struct gt_finding, finding, &findings->list) {
		fprintf(out, "%-*s", INDENT, words[finding->severity]);
		print_sentence(finding->found, width, out);
		print_more("", finding->costs, width, out);
		print_more("mend:  ", finding->mend, width, out);
	}
	(void)fputc('\n', out);
	print_verdict(findings, out);
}
