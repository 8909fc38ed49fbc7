/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collector/collector.h"
#include "model/trace.h"

/* Prints a table of a recording, a line of JSON for each row: show_rows RECORDING TABLE. */

static void print_cell(const struct gt_trace *trace, const struct gt_column *column,
                       const uint8_t *at)
{
	uint64_t wide = 0;
	uint32_t number = 0;
	int32_t code = 0;
	double real = 0;

	switch (column->type) {
	case GT_COLUMN_time:
	case GT_COLUMN_size:
	case GT_COLUMN_wide:
		memcpy(&wide, at, sizeof(wide));
		printf("%" PRIu64, wide);
		return;
	case GT_COLUMN_real:
		memcpy(&real, at, sizeof(real));
		if (isnan(real))
			printf("null");
		else
			printf("%.17g", real);
		return;
	case GT_COLUMN_code:
		memcpy(&code, at, sizeof(code));
		printf("%" PRId32, code);
		return;
	case GT_COLUMN_string:
		memcpy(&number, at, sizeof(number));
		printf("\"%s\"", gt_trace_text(trace, number));
		return;
	case GT_COLUMN_id:
	case GT_COLUMN_count:
		break;
	}
	memcpy(&number, at, sizeof(number));
	if (column->type == GT_COLUMN_id && number == GT_NONE)
		printf("null");
	else
		printf("%" PRIu32, number);
}

static void print_row(const struct gt_trace *trace, const struct gt_table *table, size_t row)
{
	const uint8_t *at = (const uint8_t *)table->rows + row * table->row_size;

	for (size_t i = 0; i < table->column_count; i++) {
		printf("%s\"%s\": ", i ? ", " : "{", table->columns[i].name);
		print_cell(trace, &table->columns[i], at + table->columns[i].offset);
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
