/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/trace.h"
#include "support/check.h"

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
	fputs("# The tables of a trace\n\n"
	      "Made from model/tables.def. Times are nanoseconds of CLOCK_BOOTTIME; a row is named\n"
	      "by its number in the table that its type says. Tables by time are sorted by their first\n"
	      "two columns.\n",
	      out);
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

static char *read_document(void)
{
	static char text[65536];
	FILE *in = fopen(GT_TEST_DATA "/../docs/tables.md", "r");

	cr_assert(in != NULL);
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	return text;
}

Test(document, of_the_tables_is_current)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write_tables(out);
	fclose(out);
	if (strcmp(text, read_document()) != 0) {
		FILE *file = fopen(GT_TEST_BUILD "/tables.md", "w");

		cr_assert(file != NULL);
		fputs(text, file);
		fclose(file);
		cr_assert(false,
		          "docs/tables.md is not current: copy " GT_TEST_BUILD "/tables.md there");
	}
	free(text);
}
