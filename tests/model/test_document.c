/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/bundle/bundle.h"
#include "model/trace.h"
#include "support/check.h"
#include "support/document.h"

/* docs/tables.md is made of the descriptions that come from tables.def. */
static void write_tables(FILE *out)
{
	static const char *const types[] = {
		[GT_COLUMN_time] = "time, ns",
		[GT_COLUMN_size] = "bytes",
		[GT_COLUMN_id] = "row",
		[GT_COLUMN_string] = "text",
		[GT_COLUMN_count] = "count",
		[GT_COLUMN_code] = "code, signed",
		[GT_COLUMN_wide] = "count, 64 bit",
		[GT_COLUMN_real] = "real",
	};
	struct gt_trace trace;

	gt_trace_init(&trace);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table table = gt_trace_table(&trace, i);

		fprintf(out, "\n## %s\n\n%s%s.\n\n| column | type | what |\n| --- | --- | --- |\n",
		        table.name, table.help, table.order == GT_ORDER_by_time ? "; by time" : "");
		for (size_t c = 0; c < table.column_count; c++) {
			const struct gt_column *column = &table.columns[c];
			const bool refers = column->target < GT_TABLE_NONE;

			fprintf(out, "| %s | %s%s%s | %s |\n", column->name, types[column->type],
			        refers ? " of " : "",
			        refers ? gt_trace_table(&trace, (size_t)column->target).name : "",
			        column->help);
		}
	}
	gt_trace_release(&trace);
}

Test(document, of_the_tables_is_current)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write_tables(out);
	fputs("\n", out);
	fclose(out);
	expect_document("tables.md", "tables", text);
	free(text);
}

/* docs/bundles.md has the words of the lists of kinds. */
Test(document, of_kinds_in_bundles_is_current)
{
#define KIND(name, help) "| `" #name "` | " help " |\n"
	expect_document("bundles.md", "memory kinds",
	                "\n| kind | what |\n| --- | --- |\n" GT_BUNDLE_MEMORY_KINDS(KIND) "\n");
	expect_document("bundles.md", "object kinds",
	                "\n| kind | what |\n| --- | --- |\n" GT_BUNDLE_OBJECT_KINDS(KIND) "\n");
	expect_document("bundles.md", "resources",
	                "\n| kind | what |\n| --- | --- |\n" GT_BUNDLE_RESOURCES(KIND) "\n");
	expect_document("bundles.md", "step kinds",
	                "\n| kind | what |\n| --- | --- |\n" GT_BUNDLE_STEP_KINDS(KIND) "\n");
#undef KIND
}
