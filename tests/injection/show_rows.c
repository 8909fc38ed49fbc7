/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collector/collector.h"
#include "model/trace.h"

/* Prints a table of a recording, a line of JSON for each row: show_rows RECORDING TABLE. */

static void print_cell(const struct gt_trace *trace, const void *value, enum gt_column_type type)
{
	switch (type) {
	case GT_COLUMN_time:
	case GT_COLUMN_size:
	case GT_COLUMN_wide:
		printf("%" PRIu64, *(const uint64_t *)value);
		break;
	case GT_COLUMN_real:
		if (isnan(*(const gt_real *)value))
			printf("null");
		else
			printf("%.17g", *(const gt_real *)value);
		break;
	case GT_COLUMN_code:
		printf("%" PRId32, *(const gt_code *)value);
		break;
	case GT_COLUMN_string:
		printf("\"%s\"", gt_trace_text(trace, *(const gt_string *)value));
		break;
	case GT_COLUMN_id:
		if (*(const gt_id *)value == GT_NONE)
			printf("null");
		else
			printf("%" PRIu32, *(const gt_id *)value);
		break;
	case GT_COLUMN_count:
		printf("%" PRIu32, *(const uint32_t *)value);
		break;
	}
}

static void print_row(const struct gt_trace *trace, const struct gt_table *table, size_t row)
{
	const uint8_t *at = (const uint8_t *)table->rows + row * table->row_size;

	for (size_t i = 0; i < table->column_count; i++) {
		printf("%s\"%s\": ", i ? ", " : "{", table->columns[i].name);
		print_cell(trace, at + table->columns[i].offset, table->columns[i].type);
	}
	printf("}\n");
}

static int print_table(const struct gt_trace *trace, const char *name)
{
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table table = gt_trace_table(trace, i);

		if (strcmp(table.name, name) != 0)
			continue;
		for (size_t row = 0; row < table.row_count; row++)
			print_row(trace, &table, row);
		return 0;
	}
	(void)fprintf(stderr, "show_rows: no table %s\n", name);
	return 1;
}

int main(int argc, char **argv)
{
	struct gt_error err = {0};
	struct gt_trace trace;
	int result;

	if (argc != 3)
		return 2;
	gt_trace_init(&trace);
	if (gt_collect(argv[1], &trace, &err) < 0) {
		(void)fprintf(stderr, "show_rows: %s\n", err.text);
		return 1;
	}
	result = print_table(&trace, argv[2]);
	gt_trace_release(&trace);
	return result;
}
