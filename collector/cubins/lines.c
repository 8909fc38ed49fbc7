/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "collector/cubins/cubin.h"

/*
 * Which file and line each function of a cubin begins at: the table of lines of DWARF 2 to 4, as
 * -lineinfo and Triton have it written. An address in it stands for a function by a relocation.
 * Code that was inlined from elsewhere is marked by an extension of NVIDIA's and passed over.
 */

/* Opcodes of the program (DWARF 4, chapter 6.2.5). */
enum {
	EXTENDED = 0,
	COPY = 1,
	ADVANCE_LINE = 3,
	SET_FILE = 4,
	FIXED_ADDRESS = 9,

	END_SEQUENCE = 1,
	SET_ADDRESS = 2,
	INLINED_CALL = 0x90, /* NVIDIA: the call it was inlined at, 0: it was not */
};

enum { RELOCATION_BYTES = 16, RELOCATION_WITH_ADDEND_BYTES = 24 };

/* Bytes that are left; what goes beyond them ends the reading. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static uint64_t left(const struct cursor *cursor)
{
	return (uint64_t)(cursor->end - cursor->at);
}

static const uint8_t *take(struct cursor *cursor, uint64_t size)
{
	const uint8_t *at = cursor->at;

	if (cursor->failed || size > left(cursor)) {
		cursor->failed = true;
		cursor->at = cursor->end;
		return NULL;
	}
	cursor->at += size;
	return at;
}

static uint8_t take_u8(struct cursor *cursor)
{
	const uint8_t *at = take(cursor, 1);

	return at ? *at : 0;
}

static uint32_t take_u32(struct cursor *cursor)
{
	const uint8_t *at = take(cursor, 4);

	return at ? gt_get_u32(at) : 0;
}

static uint64_t take_unsigned(struct cursor *cursor)
{
	uint64_t value = 0;
	const uint8_t *next =
		cursor->failed ? NULL : gt_get_varint(cursor->at, cursor->end, &value);

	if (!next) {
		cursor->failed = true;
		cursor->at = cursor->end;
		return 0;
	}
	cursor->at = next;
	return value;
}

/* The sign is that of the last of seven bits. */
static int64_t take_signed(struct cursor *cursor)
{
	const uint8_t *begin = cursor->at;
	const uint64_t value = take_unsigned(cursor);
	const unsigned bits = 7 * (unsigned)(cursor->at - begin);

	if (cursor->failed || bits == 0 || bits >= 64 || !(value >> (bits - 1) & 1))
		return (int64_t)value;
	return (int64_t)(value | ~(uint64_t)0 << bits);
}

static struct gt_cubin_text take_text(struct cursor *cursor)
{
	const char *begin = (const char *)cursor->at;
	const size_t size = cursor->failed ? 0 : strnlen(begin, left(cursor));

	if (!take(cursor, size + 1))
		return (struct gt_cubin_text){0};
	return (struct gt_cubin_text){begin, size};
}

struct file {
	struct gt_cubin_text name;
	uint64_t folder; /* from 1; 0: the one it was compiled in, which the table does not say */
};

/* Where a function's address stands in the section of lines. */
struct address {
	uint64_t offset;
	struct gt_cubin_function *function;
};

struct lines {
	const uint8_t *begin; /* of the section */
	gt_array(struct address) addresses;
	gt_array(struct gt_cubin_text) folders; /* of the unit at hand */
	gt_array(struct file) files;
	uint8_t operands[256]; /* how many each opcode has */
	uint8_t opcode_base;
	int8_t line_base;
	uint8_t line_range;
	/* State of the program as it runs. */
	struct gt_cubin_function *function; /* NULL: its beginning is known, or it is none */
	uint64_t file;
	int64_t line;
	uint64_t inlined;
};

/* Takes the first row of a sequence that is the function's own. */
static void add_row(struct lines *lines)
{
	struct gt_cubin_function *function = lines->function;
	const struct file *file;

	if (!function || lines->inlined || lines->line <= 0 || lines->line > INT32_MAX ||
	    lines->file == 0 || lines->file > lines->files.count)
		return;
	lines->function = NULL;
	if (function->line)
		return;
	file = &lines->files.rows[lines->file - 1];
	function->line = (uint32_t)lines->line;
	function->file = file->name;
	if (file->folder && file->folder <= lines->folders.count)
		function->folder = lines->folders.rows[file->folder - 1];
}

static void begin_sequence(struct lines *lines)
{
	lines->function = NULL;
	lines->file = 1;
	lines->line = 1;
	lines->inlined = 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct address *left_one = a;
	const struct address *right_one = b;

	return (left_one->offset > right_one->offset) - (left_one->offset < right_one->offset);
}

/* Relocations are few, one a function. */
static void set_address(struct lines *lines, uint64_t offset)
{
	const struct address wanted = {.offset = offset};
	const size_t place = gt_count_before(&lines->addresses, &wanted, by_offset);

	lines->function = NULL;
	if (place < lines->addresses.count && lines->addresses.rows[place].offset == offset)
		lines->function = lines->addresses.rows[place].function;
}

static void run_extended(struct lines *lines, struct cursor *cursor)
{
	const uint64_t size = take_unsigned(cursor);
	const uint8_t *at = take(cursor, size);
	struct cursor inside = {at, at ? at + size : NULL, !at};
	const uint8_t opcode = at && size ? take_u8(&inside) : 0;

	if (opcode == END_SEQUENCE)
		begin_sequence(lines);
	else if (opcode == SET_ADDRESS)
		set_address(lines, (uint64_t)(inside.at - lines->begin));
	else if (opcode == INLINED_CALL)
		lines->inlined = take_unsigned(&inside);
}

static void advance_line(struct lines *lines, int64_t by)
{
	/* No file has as many lines: sums stay in range whatever stands there. */
	if (by > -INT32_MAX && by < INT32_MAX && lines->line < INT32_MAX &&
	    lines->line > -INT32_MAX)
		lines->line += by;
}

static void run_opcode(struct lines *lines, struct cursor *cursor)
{
	const uint8_t opcode = take_u8(cursor);

	if (opcode >= lines->opcode_base) {
		advance_line(lines,
		             lines->line_base + (opcode - lines->opcode_base) % lines->line_range);
		add_row(lines);
	} else if (opcode == EXTENDED) {
		run_extended(lines, cursor);
	} else if (opcode == COPY) {
		add_row(lines);
	} else if (opcode == ADVANCE_LINE) {
		advance_line(lines, take_signed(cursor));
	} else if (opcode == SET_FILE) {
		lines->file = take_unsigned(cursor);
	} else if (opcode == FIXED_ADDRESS) {
		(void)take(cursor, 2);
	} else {
		for (uint8_t i = 0; i < lines->operands[opcode]; i++)
			(void)take_unsigned(cursor);
	}
}

static void read_files(struct lines *lines, struct cursor *cursor)
{
	struct gt_cubin_text text;

	lines->folders.count = lines->files.count = 0;
	while ((text = take_text(cursor)).size > 0)
		*gt_array_push(&lines->folders) = text;
	while ((text = take_text(cursor)).size > 0) {
		*gt_array_push(&lines->files) = (struct file){text, take_unsigned(cursor)};
		(void)take_unsigned(cursor); /* when it was changed */
		(void)take_unsigned(cursor); /* its size */
	}
}

/* False: of a version or with values that are not read. */
static bool read_header(struct lines *lines, struct cursor *cursor)
{
	const uint8_t *version = take(cursor, 2);
	const uint16_t number = version ? gt_get_u16(version) : 0;
	const uint8_t *header = take(cursor, take_u32(cursor));
	struct cursor inside = {header, cursor->at, !header};

	if (number < 2 || number > 4 || !header)
		return false;
	(void)take_u8(&inside); /* bytes of the smallest instruction */
	if (number == 4)
		(void)take_u8(&inside); /* operations of one */
	(void)take_u8(&inside);         /* whether rows are statements by themselves */
	lines->line_base = (int8_t)take_u8(&inside);
	lines->line_range = take_u8(&inside);
	lines->opcode_base = take_u8(&inside);
	memset(lines->operands, 0, sizeof(lines->operands));
	for (uint8_t i = 1; i < lines->opcode_base; i++)
		lines->operands[i] = take_u8(&inside);
	read_files(lines, &inside);
	return lines->line_range > 0 && lines->opcode_base > 0;
}

static void read_units(struct lines *lines, const struct gt_cubin_section *section)
{
	struct cursor all = {section->bytes, section->bytes + section->size, false};

	while (left(&all) > 4) {
		const uint32_t size = take_u32(&all);
		const uint8_t *unit = take(&all, size);
		struct cursor cursor = {unit, all.at, !unit};

		if (!unit || !read_header(lines, &cursor))
			continue;
		begin_sequence(lines);
		while (!cursor.failed && left(&cursor) > 0)
			run_opcode(lines, &cursor);
	}
}

static void read_relocations(struct lines *lines, const struct gt_cubin_facts *facts,
                             const struct gt_cubin *cubin, const struct gt_cubin_section *section)
{
	const uint64_t size =
		section->type == GT_ELF_RELA ? RELOCATION_WITH_ADDEND_BYTES : RELOCATION_BYTES;
	struct gt_cubin_section symbols;

	if (!section->bytes || section->link >= cubin->section_count ||
	    !gt_cubin_section(cubin, section->link, &symbols) || symbols.type != GT_ELF_SYMTAB)
		return;
	for (uint64_t i = 0; i < section->size / size; i++) {
		const uint8_t *at = section->bytes + i * size;
		struct gt_cubin_function *function = gt_cubin_function_of(
			facts, cubin, &symbols, (uint32_t)(gt_get_u64(at + 8) >> 32));

		if (function)
			*gt_array_push(&lines->addresses) =
				(struct address){gt_get_u64(at), function};
	}
	if (lines->addresses.count > 1)
		qsort(lines->addresses.rows, lines->addresses.count, sizeof(*lines->addresses.rows),
		      by_offset);
}

void gt_cubin_lines_read(struct gt_cubin_facts *facts, const struct gt_cubin *cubin)
{
	struct gt_cubin_section table = {0};
	struct gt_cubin_section relocations = {0};
	struct gt_cubin_section section;
	struct lines lines = {0};

	for (uint32_t i = 0; i < cubin->section_count; i++) {
		if (!gt_cubin_section(cubin, i, &section))
			continue;
		if (strcmp(section.name, ".debug_line") == 0)
			table = section;
		else if (strcmp(section.name, ".rela.debug_line") == 0 ||
		         strcmp(section.name, ".rel.debug_line") == 0)
			relocations = section;
	}
	if (!table.bytes || !relocations.bytes)
		return;
	lines.begin = table.bytes;
	read_relocations(&lines, facts, cubin, &relocations);
	read_units(&lines, &table);
	gt_array_release(&lines.addresses);
	gt_array_release(&lines.folders);
	gt_array_release(&lines.files);
}
