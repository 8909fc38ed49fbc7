/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cubins/cubin.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

#define NO_FUNCTION UINT32_MAX

/*
 * Blocks have so much shared memory of the system's in front of their own from sm_90 on; sections
 * count it where the cubin has one for it.
 */
#define RESERVED_SHARED_BYTES 1024

/* Symbols of ELF64 (gABI, chapter 4). */
enum { SYMBOL_BYTES = 24, AT_SYMBOL_INFO = 4, AT_SYMBOL_SECTION = 6, AT_SYMBOL_VALUE = 8 };
enum { SYMBOL_TYPE = 0xf, TYPE_FUNCTION = 2 };

/* Attributes in the sections .nv.info. NVIDIA's own tools show names for them (EIATTR_...). */
enum {
	ATTRIBUTE_MAX_THREADS = 0x05,    /* x, y, z */
	ATTRIBUTE_WANTED_THREADS = 0x10, /* x, y, z of __cluster and reqntid */
	ATTRIBUTE_MIN_STACK = 0x12,      /* symbol, bytes */
	ATTRIBUTE_REGISTERS = 0x2f,      /* symbol, count */
	ATTRIBUTE_BARRIERS = 0x4c,       /* of blocks */
};

struct reading {
	const struct gt_cubin *cubin;
	struct gt_cubin_facts *facts;
	bool has_reserved;
	/* Sections that overlap would make a small file say as much as a large one. */
	uint64_t attributes_left; /* bytes */
	uint64_t names_left;
	struct gt_cubin_section symbols; /* bytes NULL: there are none */
};

static bool has_name(const struct gt_cubin_section *section, const char *name)
{
	return strcmp(section->name, name) == 0;
}

static bool begins_with(const struct gt_cubin_section *section, const char *prefix)
{
	return strncmp(section->name, prefix, strlen(prefix)) == 0;
}

static struct gt_cubin_function *function_at(const struct gt_cubin_facts *facts,
                                             const struct gt_cubin *cubin, uint32_t section)
{
	const uint32_t function =
		section < cubin->section_count ? facts->by_section[section] : NO_FUNCTION;

	return function == NO_FUNCTION ? NULL : &facts->functions.rows[function];
}

struct gt_cubin_function *gt_cubin_function_of(const struct gt_cubin_facts *facts,
                                               const struct gt_cubin *cubin,
                                               const struct gt_cubin_section *symbols,
                                               uint32_t symbol)
{
	const uint8_t *at;

	if (!symbols->bytes || symbol >= symbols->size / SYMBOL_BYTES)
		return NULL;
	at = symbols->bytes + (uint64_t)symbol * SYMBOL_BYTES;
	/* The callees of a function may stand in the same section, behind it. */
	if ((at[AT_SYMBOL_INFO] & SYMBOL_TYPE) != TYPE_FUNCTION ||
	    gt_get_u64(at + AT_SYMBOL_VALUE) != 0)
		return NULL;
	return function_at(facts, cubin, gt_get_u16(at + AT_SYMBOL_SECTION));
}

/* An attribute of the whole cubin: about the function of a symbol. */
static void take_symbol_attribute(struct reading *reading, uint32_t attribute, const uint8_t *at)
{
	struct gt_cubin_function *function = gt_cubin_function_of(
		reading->facts, reading->cubin, &reading->symbols, gt_get_u32(at));

	if (!function)
		return;
	if (attribute == ATTRIBUTE_REGISTERS)
		function->registers = gt_get_u32(at + 4);
	else if (attribute == ATTRIBUTE_MIN_STACK)
		function->local_bytes = gt_get_u32(at + 4);
}

static void take_attribute(struct reading *reading, struct gt_cubin_function *function,
                           const struct gt_cubin_attribute *attribute)
{
	const uint8_t *at = attribute->bytes;
	uint64_t threads;

	if (!function) {
		if (attribute->size >= 8)
			take_symbol_attribute(reading, attribute->number, at);
		return;
	}
	if ((attribute->number != ATTRIBUTE_MAX_THREADS &&
	     attribute->number != ATTRIBUTE_WANTED_THREADS) ||
	    attribute->size < 12)
		return;
	threads = (uint64_t)gt_get_u32(at) * gt_get_u32(at + 4);
	if (threads && threads <= UINT32_MAX && gt_get_u32(at + 8) <= UINT32_MAX / threads)
		function->max_threads = (uint32_t)threads * gt_get_u32(at + 8);
}

/* function NULL: the section is about the whole cubin. */
static void read_attributes(struct reading *reading, const struct gt_cubin_section *section,
                            struct gt_cubin_function *function)
{
	const uint8_t *at = section->bytes;
	uint64_t left = at && section->size <= reading->attributes_left ? section->size : 0;
	struct gt_cubin_attribute attribute;

	reading->attributes_left -= left;
	while (gt_cubin_attribute_next(&at, &left, &attribute)) {
		if (attribute.format == GT_CUBIN_SIZED)
			take_attribute(reading, function, &attribute);
		else if (attribute.format == GT_CUBIN_BYTE &&
		         attribute.number == ATTRIBUTE_BARRIERS && function)
			function->barriers = attribute.bytes[0];
	}
}

/* A text of a note's; the last byte need not be 0. */
static struct gt_cubin_text text_at(const uint8_t *bytes, uint64_t size, uint64_t at)
{
	if (at >= size)
		return (struct gt_cubin_text){0};
	return (struct gt_cubin_text){(const char *)bytes + at,
	                              strnlen((const char *)bytes + at, size - at)};
}

/* Contents of a note, behind its owner's name; NULL: less than so many bytes. */
static const uint8_t *note_of(const struct gt_cubin_section *section, uint64_t least,
                              uint64_t *size)
{
	enum { NOTE_HEADER = 12 };
	uint64_t owner;

	if (!section->bytes || section->size < NOTE_HEADER)
		return NULL;
	owner = ((uint64_t)gt_get_u32(section->bytes) + 3) & ~(uint64_t)3;
	*size = gt_get_u32(section->bytes + 4);
	if (owner > section->size - NOTE_HEADER || *size > section->size - NOTE_HEADER - owner ||
	    *size < least)
		return NULL;
	return section->bytes + NOTE_HEADER + owner;
}

/*
 * Which tool made it: five numbers, of which four say where its name, release, build and options
 * stand behind them. The options are the last text.
 */
static void read_tool(struct gt_cubin_facts *facts, const struct gt_cubin_section *section)
{
	enum { AT_TEXTS = 24, AT_RELEASE = 12, AT_OPTIONS = 20 };
	uint64_t size;
	const uint8_t *note = note_of(section, AT_TEXTS, &size);

	if (!note)
		return;
	facts->compiler = text_at(note, size, (uint64_t)AT_TEXTS + gt_get_u32(note + AT_RELEASE));
	facts->options = text_at(note, size, (uint64_t)AT_TEXTS + gt_get_u32(note + AT_OPTIONS));
}

/* A version, then what the PTX was written for, then the toolkit's number; 16 bits each. */
static void read_target(struct gt_cubin_facts *facts, const struct gt_cubin_section *section)
{
	uint64_t size;
	const uint8_t *note = note_of(section, 4, &size);

	if (note)
		facts->ptx_arch = gt_get_u16(note + 2);
}

/* A section that belongs to a function names the function's section. */
static void read_section(struct reading *reading, const struct gt_cubin_section *section)
{
	struct gt_cubin_facts *facts = reading->facts;
	struct gt_cubin_function *function = function_at(facts, reading->cubin, section->info);

	if (has_name(section, ".nv.info"))
		read_attributes(reading, section, NULL);
	else if (has_name(section, ".note.nv.tkinfo"))
		read_tool(facts, section);
	else if (has_name(section, ".note.nv.cuinfo"))
		read_target(facts, section);
	else if (gt_cubin_says_one_arch(section))
		facts->one_arch = true;
	else if (has_name(section, ".nv_debug_ptx_txt"))
		facts->ptx_bytes = section->size;
	else if (function && begins_with(section, ".nv.info."))
		read_attributes(reading, section, function);
	else if (function && begins_with(section, ".nv.constant"))
		function->constant_bytes += section->size;
	else if (function && begins_with(section, ".nv.shared."))
		function->shared_bytes =
			section->size -
			(reading->has_reserved && section->size >= RESERVED_SHARED_BYTES
		                 ? RESERVED_SHARED_BYTES
		                 : 0);
}

static void add_function(struct reading *reading, const struct gt_cubin_section *section,
                         uint32_t number)
{
	struct gt_cubin_function function = {.code_bytes = section->size};
	struct gt_cubin_facts *facts = reading->facts;

	if (!gt_cubin_function(section, &function.name.text, &function.name.size) ||
	    function.name.size > reading->names_left)
		return;
	reading->names_left -= function.name.size;
	facts->by_section[number] = (uint32_t)facts->functions.count;
	*gt_array_push(&facts->functions) = function;
}

void gt_cubin_facts_read(struct gt_cubin_facts *facts, const struct gt_cubin *cubin)
{
	struct reading reading = {
		.cubin = cubin,
		.facts = facts,
		.attributes_left = cubin->size,
		.names_left = cubin->names_size,
	};
	struct gt_cubin_section section;

	*facts = (struct gt_cubin_facts){
		.one_arch = cubin->one_arch,
		.by_section = gt_allocate((cubin->section_count + (size_t)1) *
	                                  sizeof(*facts->by_section)),
	};
	memset(facts->by_section, 0xff, cubin->section_count * sizeof(*facts->by_section));
	for (uint32_t i = 0; i < cubin->section_count; i++) {
		if (!gt_cubin_section(cubin, i, &section))
			continue;
		add_function(&reading, &section, i);
		if (section.type == GT_ELF_SYMTAB)
			reading.symbols = section;
		reading.has_reserved |= has_name(&section, ".nv.shared.reserved.0");
	}
	for (uint32_t i = 0; i < cubin->section_count; i++)
		if (gt_cubin_section(cubin, i, &section))
			read_section(&reading, &section);
	gt_cubin_lines_read(facts, cubin);
}

void gt_cubin_facts_release(struct gt_cubin_facts *facts)
{
	gt_array_release(&facts->functions);
	gt_array_free(facts->by_section);
	facts->by_section = NULL;
}
