/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/recording.h"
#include "support/capture.h"

/*
 * Prints the records of a kind that a capture has, a line of JSON for each, numbers as they are:
 * show_records CAPTURE KIND.
 */

/* By hand: of a million records printf takes minutes under the sanitizers. */
static char *add_number(char *at, uint64_t value)
{
	char digits[20];
	int count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while ((value /= 10));
	while (count)
		*at++ = digits[--count];
	return at;
}

static char *add_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static void print_record(const struct gt_record_info *info, const uint8_t *record)
{
	char line[4096];
	char *at = line;

	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct gt_field *field = &info->fields[i];
		uint64_t wide = 0;
		uint32_t number = 0;

		if (field->width == sizeof(wide))
			memcpy(&wide, record + field->offset, sizeof(wide));
		else
			memcpy(&number, record + field->offset, sizeof(number));
		at = add_text(at, i ? ", \"" : "{\"");
		at = add_text(at, field->name);
		at = add_text(at, "\": ");
		at = add_number(at, wide + number);
	}
	at = add_text(at, "}\n");
	fwrite(line, 1, (size_t)(at - line), stdout);
}

static const struct gt_record_info *find(const char *name, uint32_t *kind)
{
	for (*kind = 0; *kind < 1024; (*kind)++) {
		const struct gt_record_info *info = gt_record_info(*kind);

		if (info && strcmp(info->name, name) == 0)
			return info;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct gt_content content;
	const struct gt_record_info *info;
	uint32_t kind;
	uint8_t *records;
	size_t count;

	if (argc != 3)
		return 2;
	info = find(argv[2], &kind);
	if (!info || gt_load_file(&content, argv[1], NULL) < 0)
		return 1;
	records = read_records(content.bytes, content.size, kind, &count);
	for (size_t i = 0; i < count; i++)
		print_record(info, records + i * info->size);
	free(records);
	gt_unload(&content);
	return 0;
}
