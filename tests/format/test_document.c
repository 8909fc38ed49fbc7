/* SPDX-License-Identifier: Apache-2.0 */
/* docs/capture-format.md says what the code does, and its example is one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/arena/arena.h"
#include "format/file/columns.h"
#include "format/file/meta.h"
#include "support/capture.h"
#include "support/check.h"
#include "support/document.h"

static uint8_t scratch[GT_CHUNK_MAX_RAW];
static char *document;
static char text[1 << 16]; /* what a part of it should be */

static void load(void)
{
	document = document_read("capture-format.md");
}

static void unload(void)
{
	free(document);
}

TestSuite(document, .init = load, .fini = unload);

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, sizeof(text) - used, format, arguments);
	va_end(arguments);
}

static void add_record(uint32_t kind, const struct gt_record_info *info)
{
	static const char *const codings[] = {"plain", "delta", "span", "real"};
	static const char *const roles[] = {
#define ROLE(name, type) #name,
		GT_ROLES
#undef ROLE
	};

	add("### %u %s\n\n%s.\n\n| field | name | type | coding | what |\n"
	    "| --- | --- | --- | --- | --- |\n",
	    kind, info->name, info->help);
	for (uint32_t f = 0; f < info->field_count; f++) {
		const struct gt_field *field = &info->fields[f];

		add("| %u | %s | %s | %s | %s |\n", field->number, field->name, roles[field->role],
		    codings[field->coding], field->help);
	}
	add("\n");
}

Test(document, lists_every_record_and_field)
{
	add("\n");
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (gt_record_info(kind))
			add_record(kind, gt_record_info(kind));
	expect_document("capture-format.md", "records", text);
}

Test(document, lists_every_class_of_the_ledger)
{
	add("\n| name | what |\n| --- | --- |\n");
#define LEDGER(name, help) add("| %s | %s |\n", #name, help);
#include "format/ledger.def"
	add("\n");
	expect_document("capture-format.md", "ledger", text);
}

Test(document, names_every_flag)
{
	static const struct {
		uint32_t value;
		const char *name;
	} flags[] = {
		{GT_RECORD_UNFINISHED, "unfinished"},
		{GT_RECORD_SALVAGED, "salvaged"},
		{GT_RECORD_ASYNC, "async"},
		{GT_RECORD_DRIVER_API, "driver_api"},
		{GT_RECORD_NESTED, "nested"},
		{GT_RECORD_DEVICE_LAUNCHED, "device_launched"},
		{GT_RECORD_GRAPH_NODE, "graph_node"},
	};

	for (uint32_t bit = 0; bit < sizeof(flags) / sizeof(flags[0]); bit++) {
		char row[64];

		cr_expect(eq(u32, flags[bit].value, 1u << bit));
		snprintf(row, sizeof(row), "\n| %u | %u | %s |", bit, 1u << bit, flags[bit].name);
		cr_expect(ne(ptr, strstr(document, row), NULL), "%s", row);
	}
	cr_expect(ne(ptr, strstr(document, "bit 0: the payload is compressed; bit 1: salvaged"),
	             NULL));
	cr_expect(eq(int, GT_CHUNK_COMPRESSED, 1));
	cr_expect(eq(int, GT_CHUNK_SALVAGED, 2));
}

Test(document, names_every_meta_key)
{
	static const char *const keys[] = {
		GT_META_TOOL,       GT_META_HOST,          GT_META_BOOT_ID,  GT_META_PID,
		GT_META_KERNEL,     GT_META_MACHINE,       GT_META_CPUS,     GT_META_PPID,
		GT_META_STARTED,    GT_META_PROGRAM,       GT_META_COMMAND,  GT_META_DRIVER,
		GT_META_CUPTI_PATH, GT_META_CUPTI_VERSION, GT_META_SETTINGS, GT_META_API,
		GT_META_END,        GT_META_END_CLEAN,     GT_META_END_DIED, GT_META_ENVIRONMENT,
	};
	const char *const begin = strstr(document, "<!-- meta keys -->");

	cr_assert(begin != NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char quoted[64];
		const char *found;

		snprintf(quoted, sizeof(quoted), "`%s`", keys[i]);
		found = strstr(begin, quoted);
		cr_expect(found && found < strstr(begin, "<!-- end -->"), "%s", quoted);
	}
}

Test(document, has_the_limits_of_the_code)
{
	static const struct {
		const char *sentence;
		uint32_t value;
	} limits[] = {
		{"in the file, at most 2,114,560 |", GT_CHUNK_MAX_STORED},
		{"after decompression, at most 2,097,152 |", GT_CHUNK_MAX_RAW},
		{"at most 4,096 records |", GT_CHUNK_MAX_RECORDS},
		{"format version, this page: 1 |", GT_FORMAT_VERSION},
		{"bytes of the file header, 16;", GT_FILE_HEADER_SIZE},
		{"a header of 64 bytes", GT_CHUNK_HEADER_SIZE},
		{"the last 64 clock readings", GT_ARENA_CLOCKS},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const char *at = strstr(document, limits[i].sentence);
		uint32_t value = 0;

		cr_assert(at != NULL, "%s", limits[i].sentence);
		at += strcspn(at, "0123456789");
		for (; *at == ',' || (*at >= '0' && *at <= '9'); at++)
			value = *at == ',' ? value : value * 10 + (uint32_t)(*at - '0');
		cr_expect(eq(u32, value, limits[i].value), "%s", limits[i].sentence);
	}
}

/* The bytes of the hex block; every line begins with where its bytes stand. */
static size_t read_example(uint8_t *bytes, size_t capacity)
{
	const char *line = strstr(document, "```hex\n");
	size_t size = 0;

	cr_assert(line != NULL);
	for (line = strchr(line, '\n') + 1; *line != '`'; line = strchr(line, '\n') + 1) {
		const char *const comment = strchr(line, ';');
		char *at;

		cr_assert(comment && comment < strchr(line, '\n'), "every byte is explained");
		cr_expect(eq(sz, strtoul(line, &at, 16), size), "%.4s", line);
		for (at += strspn(at, " "); at < comment; at += strspn(at, " ")) {
			cr_assert(lt(sz, size, capacity));
			bytes[size++] = (uint8_t)strtoul(at, &at, 16);
		}
	}
	return size;
}

/* A row of the table below the example. */
static void expect_call(size_t number, const struct gt_record_api_call *call)
{
	char row[256];

	snprintf(row, sizeof(row),
	         "\n| %zu | %" PRIu64 " | %" PRIu64 " | %u | cuInit | %u | %u | %u |\n", number,
	         call->start_ns, call->end_ns, call->correlation, call->result, call->thread,
	         call->flags);
	cr_expect(ne(ptr, strstr(document, row), NULL), "%s", row);
	cr_expect(eq(u32, call->function, 1));
}

Test(document, example_is_what_the_text_says)
{
	uint8_t bytes[1024];
	const size_t size = read_example(bytes, sizeof(bytes));
	struct gt_record_api_call calls[2];
	struct gt_reader reader;
	struct gt_chunk chunk;
	struct gt_text key;
	struct gt_text value;
	size_t offset = 0;

	cr_assert(eq(int, capture_read(&reader, bytes, size, scratch), 0));
	cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
	cr_expect(eq(u16, chunk.header.kind, GT_RECORD_META));
	cr_expect(eq(u32, chunk.header.count, 1));
	cr_assert(eq(int, gt_chunk_next_pair(&chunk, &offset, &key, &value), 1));
	cr_expect(key.size == 3 && memcmp(key.bytes, "pid", 3) == 0);
	cr_expect(value.size == 2 && memcmp(value.bytes, "42", 2) == 0);
	cr_expect(eq(sz, offset, chunk.header.raw));

	cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
	cr_expect(eq(u16, chunk.header.kind, GT_RECORD_STRINGS));
	offset = 0;
	cr_assert(eq(int, gt_chunk_next_string(&chunk, &offset, &key), 1));
	cr_expect(key.id == 1 && key.size == 6 && memcmp(key.bytes, "cuInit", 6) == 0);
	cr_expect(eq(sz, offset, chunk.header.raw));

	cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
	cr_expect(eq(u16, chunk.header.kind, GT_RECORD_api_call));
	cr_expect(eq(u64, chunk.header.source, 5));
	cr_expect(eq(u64, chunk.header.first, 1000));
	cr_expect(eq(u64, chunk.header.last, 1250));
	cr_assert(eq(u32, chunk.header.count, 2));
	cr_assert(eq(int,
	             gt_columns_decode(gt_record_info(GT_RECORD_api_call), chunk.payload,
	                               chunk.header.raw, calls, 2),
	             0));
	expect_call(0, &calls[0]);
	expect_call(1, &calls[1]);

	cr_expect(eq(int, gt_reader_next(&reader, &chunk), 0));
	cr_expect(not(reader.torn));
	cr_expect(eq(u64, reader.skipped, 0));
}

Test(document, example_is_what_the_writer_writes)
{
	static const uint8_t strings[] = {1, 6, 'c', 'u', 'I', 'n', 'i', 't'};
	const struct gt_record_api_call calls[] = {
		{.start_ns = 1000,
	         .end_ns = 1250,
	         .correlation = 7,
	         .function = 1,
	         .result = 100,
	         .thread = 42,
	         .flags = GT_RECORD_DRIVER_API},
		{.start_ns = 2000,
	         .correlation = 8,
	         .function = 1,
	         .thread = 42,
	         .flags = GT_RECORD_DRIVER_API | GT_RECORD_UNFINISHED},
	};
	uint8_t bytes[1024];
	const size_t size = read_example(bytes, sizeof(bytes));
	struct capture capture;

	capture_begin(&capture, CAPTURE_UNLIMITED);
	gt_meta_write_one(&capture.writer, GT_META_PID, "42");
	gt_writer_payload(&capture.writer, GT_RECORD_STRINGS, strings, sizeof(strings), 1);
	gt_writer_records(&capture.writer, GT_RECORD_api_call, calls, 2,
	                  (struct gt_origin){.source = 5});
	cr_assert(eq(sz, size, capture.size));
	for (size_t i = 0; i < size; i++)
		cr_expect(eq(u8, bytes[i], capture.bytes[i]), "byte %zx", i);
	capture_release(&capture);
}
