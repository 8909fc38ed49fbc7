/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_recording RECORDING CAPTURE...
 * Prints all that is in a recording: every table of the model that has rows, what was sampled, and
 * the records of its captures as they stand there, each kind as a table "raw KIND". A line for each
 * table and each row, with tabs between cells:
 *
 *     = TABLE  COLUMN:TYPE:TARGET ...
 *     CELL ...
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collector/collector.h"
#include "format/file/chunk.h"
#include "format/file/reader.h"
#include "format/recording.h"
#include "format/records.h"
#include "model/trace.h"
#include "support/capture.h"

enum { MOST_TEXTS = 1 << 20, SIGNIFICANT = 9 };

static void print_bytes(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] == '\\')
			printf("\\\\");
		else if ((unsigned char)bytes[i] < ' ')
			printf("\\%03o", (unsigned char)bytes[i]);
		else
			putchar(bytes[i]);
}

static void print_text(const char *text)
{
	print_bytes(text, strlen(text));
}

static void print_real(double real)
{
	if (isnan(real))
		printf("-");
	else
		printf("%.*g", SIGNIFICANT, real);
}

static void print_id(uint32_t id)
{
	if (id == GT_NONE)
		printf("-");
	else
		printf("%" PRIu32, id);
}

static void print_cell(const struct gt_trace *trace, const void *value, enum gt_column_type type)
{
	switch (type) {
	case GT_COLUMN_time:
		printf("%" PRId64, *(const gt_time *)value);
		break;
	case GT_COLUMN_size:
	case GT_COLUMN_wide:
		printf("%" PRIu64, *(const uint64_t *)value);
		break;
	case GT_COLUMN_code:
		printf("%" PRId32, *(const gt_code *)value);
		break;
	case GT_COLUMN_count:
		printf("%" PRIu32, *(const uint32_t *)value);
		break;
	case GT_COLUMN_id:
		print_id(*(const gt_id *)value);
		break;
	case GT_COLUMN_string:
		print_text(gt_trace_text(trace, *(const gt_string *)value));
		break;
	case GT_COLUMN_real:
		print_real(*(const gt_real *)value);
		break;
	}
}

static const char *const types[] = {
	[GT_COLUMN_time] = "time",   [GT_COLUMN_size] = "size",   [GT_COLUMN_id] = "id",
	[GT_COLUMN_string] = "text", [GT_COLUMN_count] = "count", [GT_COLUMN_code] = "code",
	[GT_COLUMN_wide] = "wide",   [GT_COLUMN_real] = "real",
};

static void print_heading(const struct gt_trace *trace, const struct gt_table *table)
{
	printf("= %s", table->name);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct gt_column *column = &table->columns[i];
		const char *target = column->type == GT_COLUMN_id && column->target >= 0 &&
		                                     column->target < GT_TABLE_COUNT
		                             ? gt_trace_table(trace, (size_t)column->target).name
		                             : "";

		printf("\t%s:%s:%s", column->name, types[column->type], target);
	}
	printf("\n");
}

static void print_table(const struct gt_trace *trace, const struct gt_table *table)
{
	print_heading(trace, table);
	for (size_t row = 0; row < table->row_count; row++) {
		const char *bytes = (const char *)table->rows + row * table->row_size;

		for (size_t i = 0; i < table->column_count; i++) {
			print_cell(trace, bytes + table->columns[i].offset, table->columns[i].type);
			putchar(i + 1 < table->column_count ? '\t' : '\n');
		}
	}
}

/* Number of samples of each counter, and its first and last values. */
static void print_samples(const struct gt_trace *trace)
{
	printf("= samples\tcounter:id:counters\tsamples:count:\tfirst:real:\tlast:real:\n");
	for (size_t i = 0; i < trace->counters.count; i++) {
		const struct gt_counter *counter = &trace->counters.rows[i];
		const struct gt_series *series = &trace->series.rows[counter->series];
		const double *values = series->columns[counter->place];

		printf("%zu\t%zu\t", i, series->count);
		print_real(series->count ? values[0] : NAN);
		printf("\t");
		print_real(series->count ? values[series->count - 1] : NAN);
		printf("\n");
	}
}

static int print_tables(const char *recording)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	gt_trace_init(&trace);
	if (gt_collect(recording, &trace, &err) < 0) {
		(void)fprintf(stderr, "show_recording: %s\n", err.text);
		gt_trace_release(&trace);
		return 1;
	}
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table table = gt_trace_table(&trace, i);

		if (table.row_count)
			print_table(&trace, &table);
	}
	if (trace.counters.count)
		print_samples(&trace);
	gt_trace_release(&trace);
	return 0;
}

/* Texts of a capture, by id, and the kinds of records that it has. */
struct texts {
	char *bytes[MOST_TEXTS];
	uint32_t sizes[MOST_TEXTS];
	uint32_t count; /* no id is larger */
	bool kinds[GT_RECORD_KIND_COUNT];
};

static void read_texts(struct texts *texts, const struct gt_chunk *chunk)
{
	struct gt_text text;
	size_t offset = 0;

	while (gt_chunk_next_string(chunk, &offset, &text) > 0) {
		if (text.id >= MOST_TEXTS || texts->bytes[text.id])
			continue;
		texts->bytes[text.id] = malloc(text.size + 1);
		memcpy(texts->bytes[text.id], text.bytes, text.size);
		texts->sizes[text.id] = text.size;
		if (text.id >= texts->count)
			texts->count = text.id + 1;
	}
}

static void print_facts(const struct gt_chunk *chunk)
{
	struct gt_text key, value;
	size_t offset = 0;

	printf("= raw meta\tname:text:\tvalue:text:\n");
	while (gt_chunk_next_pair(chunk, &offset, &key, &value) > 0) {
		print_bytes(key.bytes, key.size);
		printf("\t");
		print_bytes(value.bytes, value.size);
		printf("\n");
	}
}

static struct texts *read_capture_texts(const struct gt_content *content)
{
	struct texts *texts = calloc(1, sizeof(*texts));
	void *scratch = malloc(GT_CHUNK_MAX_RAW);
	struct gt_reader reader;
	struct gt_chunk chunk;

	if (!texts || !scratch || capture_read(&reader, content->bytes, content->size, scratch) < 0)
		abort();
	while (gt_reader_next(&reader, &chunk) > 0)
		if (chunk.header.kind == GT_RECORD_STRINGS)
			read_texts(texts, &chunk);
		else if (chunk.header.kind == GT_RECORD_META)
			print_facts(&chunk);
		else if (chunk.header.kind < GT_RECORD_KIND_COUNT)
			texts->kinds[chunk.header.kind] = true;
	free(scratch);
	return texts;
}

static const char *type_of(const struct gt_field *field)
{
	switch (field->role) {
	case GT_ROLE_cupti_time:
	case GT_ROLE_host_time:
	case GT_ROLE_mono_time:
	case GT_ROLE_boot_time:
	case GT_ROLE_real_time:
		return "time";
	case GT_ROLE_string:
		return "text";
	case GT_ROLE_real:
		return "real";
	case GT_ROLE_thread:
	case GT_ROLE_event_handle:
	case GT_ROLE_stream_handle:
		return "handle";
	default:
		return field->width == sizeof(uint64_t) ? "wide" : "count";
	}
}

static void print_field(const struct texts *texts, const struct gt_field *field,
                        const uint8_t *record)
{
	uint64_t wide = 0;
	uint32_t number = 0;
	double real;

	if (field->width == sizeof(wide))
		memcpy(&wide, record + field->offset, sizeof(wide));
	else
		memcpy(&number, record + field->offset, sizeof(number));
	memcpy(&real, &wide, sizeof(real));
	if (field->role == GT_ROLE_real)
		print_real(real);
	else if (field->role == GT_ROLE_code)
		printf("%" PRId32, (int32_t)number);
	else if (field->role != GT_ROLE_string)
		printf("%" PRIu64, wide + number);
	else if (number < texts->count && texts->bytes[number])
		print_bytes(texts->bytes[number], texts->sizes[number]);
}

static void print_records(const struct gt_content *content, const struct texts *texts,
                          uint32_t kind)
{
	const struct gt_record_info *info = gt_record_info(kind);
	size_t count;
	uint8_t *records = read_records(content->bytes, content->size, kind, &count);

	if (count) {
		printf("= raw %s", info->name);
		for (uint32_t i = 0; i < info->field_count; i++)
			printf("\t%s:%s:", info->fields[i].name, type_of(&info->fields[i]));
		printf("\n");
	}
	for (size_t row = 0; row < count; row++)
		for (uint32_t i = 0; i < info->field_count; i++) {
			print_field(texts, &info->fields[i], records + row * info->size);
			putchar(i + 1 < info->field_count ? '\t' : '\n');
		}
	free(records);
}

static int print_capture(const char *path)
{
	struct gt_error err = {0};
	struct gt_content content = {0};
	struct texts *texts;

	if (gt_load_file(&content, path, &err) < 0) {
		(void)fprintf(stderr, "show_recording: %s\n", err.text);
		return 1;
	}
	texts = read_capture_texts(&content);
	for (uint32_t kind = 1; kind < GT_RECORD_KIND_COUNT; kind++)
		if (texts->kinds[kind] && gt_record_info(kind))
			print_records(&content, texts, kind);
	for (size_t i = 0; i < texts->count; i++)
		free(texts->bytes[i]);
	free(texts);
	gt_unload(&content);
	return 0;
}

int main(int argc, char **argv)
{
	int result;

	if (argc < 2)
		return 2;
	result = print_tables(argv[1]);
	for (int i = 2; i < argc && result == 0; i++)
		result = print_capture(argv[i]);
	return result;
}
