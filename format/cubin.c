/* SPDX-License-Identifier: Apache-2.0 */
#include "format/cubin.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "base/error.h"

/* Offsets in the headers of ELF64 (gABI, chapter 4). */
enum {
	HEADER_BYTES = 64,
	AT_CLASS = 4,
	AT_DATA = 5,
	AT_ABI_VERSION = 8,
	AT_MACHINE = 18,
	AT_SECTIONS = 40,
	AT_FLAGS = 48,
	AT_SECTION_BYTES = 58,
	AT_SECTION_COUNT = 60,
	AT_NAMES_SECTION = 62,

	SECTION_BYTES = 64,
	AT_NAME = 0,
	AT_TYPE = 4,
	AT_OFFSET = 24,
	AT_SIZE = 32,
	AT_LINK = 40,
	AT_INFO = 44,

	SYMBOL_BYTES = 24,
	AT_SYMBOL_TYPE = 4, /* in its lower half */
	AT_SYMBOL_SECTION = 6,
	AT_SYMBOL_SIZE = 16,
	SYMBOL_OBJECT = 1,
};

enum { CLASS_64 = 2, LITTLE_ENDIAN_DATA = 1, MACHINE_CUDA = 190, NAMES_ELSEWHERE = 0xffff };

/*
 * From this version of the ABI on (CUDA 13's compiler) the architecture stands in other bits. LLVM
 * calls the bits of what is for one architecture alone EF_CUDA_ACCELERATORS_V1 and
 * EF_CUDA_ACCELERATORS.
 */
enum { ABI_WIDE_FLAGS = 8, ONE_ARCH = 0x800, ONE_ARCH_WIDE = 0x8 };

/* Attributes of the section .nv.compat. Compared for sm_75 to sm_121f. */
enum { ATTRIBUTE_ARCHITECTURES = 9, ARCHITECTURES_ONE = 1, MOST_BYTES = 256 };

static bool is_inside(const struct gt_cubin *cubin, uint64_t offset, uint64_t size)
{
	return offset <= cubin->size && size <= cubin->size - offset;
}

static const uint8_t *header_of(const struct gt_cubin *cubin, uint32_t number)
{
	return cubin->bytes + cubin->sections + (uint64_t)number * cubin->header_bytes;
}

/* A number that does not fit into 16 bits stands in the first section's header. */
static int find_names(struct gt_cubin *cubin, struct gt_error *err)
{
	uint32_t names = gt_get_u16(cubin->bytes + AT_NAMES_SECTION);
	const uint8_t *header;

	if (names == NAMES_ELSEWHERE)
		names = gt_get_u32(header_of(cubin, 0) + AT_LINK);
	if (names >= cubin->section_count)
		return gt_fail(err, EBADMSG, "its sections have no names");
	header = header_of(cubin, names);
	cubin->names = gt_get_u64(header + AT_OFFSET);
	cubin->names_size = gt_get_u64(header + AT_SIZE);
	if (!is_inside(cubin, cubin->names, cubin->names_size) || cubin->names_size == 0 ||
	    cubin->bytes[cubin->names + cubin->names_size - 1] != 0)
		return gt_fail(err, EBADMSG, "the names of its sections lie outside of it");
	return 0;
}

static int find_sections(struct gt_cubin *cubin, struct gt_error *err)
{
	uint64_t count = gt_get_u16(cubin->bytes + AT_SECTION_COUNT);

	cubin->sections = gt_get_u64(cubin->bytes + AT_SECTIONS);
	cubin->header_bytes = gt_get_u16(cubin->bytes + AT_SECTION_BYTES);
	if (cubin->header_bytes < SECTION_BYTES ||
	    !is_inside(cubin, cubin->sections, cubin->header_bytes))
		return gt_fail(err, EBADMSG, "its section headers lie outside of it");
	if (count == 0)
		count = gt_get_u64(header_of(cubin, 0) + AT_SIZE);
	if (count > (cubin->size - cubin->sections) / cubin->header_bytes)
		return gt_fail(err, EBADMSG, "its section headers lie outside of it");
	cubin->section_count = (uint32_t)count;
	return find_names(cubin, err);
}

int gt_cubin_open(struct gt_cubin *cubin, const void *bytes, size_t size, struct gt_error *err)
{
	uint32_t flags;
	bool is_wide;

	*cubin = (struct gt_cubin){.bytes = bytes, .size = size};
	if (size < HEADER_BYTES || memcmp(bytes, "\177ELF", 4) != 0 ||
	    cubin->bytes[AT_CLASS] != CLASS_64 || cubin->bytes[AT_DATA] != LITTLE_ENDIAN_DATA ||
	    gt_get_u16(cubin->bytes + AT_MACHINE) != MACHINE_CUDA)
		return gt_fail(err, EBADMSG, "it is no cubin");
	flags = gt_get_u32(cubin->bytes + AT_FLAGS);
	is_wide = cubin->bytes[AT_ABI_VERSION] >= ABI_WIDE_FLAGS;
	cubin->arch = is_wide ? flags >> 8 & 0xff : flags & 0xff;
	cubin->one_arch = flags & (is_wide ? ONE_ARCH_WIDE : ONE_ARCH);
	return find_sections(cubin, err);
}

bool gt_cubin_section(const struct gt_cubin *cubin, uint32_t number,
                      struct gt_cubin_section *section)
{
	const uint8_t *header = header_of(cubin, number);
	const uint64_t name = gt_get_u32(header + AT_NAME);
	const uint64_t offset = gt_get_u64(header + AT_OFFSET);

	*section = (struct gt_cubin_section){
		.name = "",
		.size = gt_get_u64(header + AT_SIZE),
		.type = gt_get_u32(header + AT_TYPE),
		.link = gt_get_u32(header + AT_LINK),
		.info = gt_get_u32(header + AT_INFO),
	};
	if (name >= cubin->names_size)
		return false;
	/* The last byte of the names is 0. */
	section->name = (const char *)cubin->bytes + cubin->names + name;
	section->name_size = strnlen(section->name, GT_CUBIN_MAX_NAME + 1);
	if (section->name_size > GT_CUBIN_MAX_NAME)
		return false;
	if (section->type == GT_ELF_NOBITS)
		return true;
	if (!is_inside(cubin, offset, section->size))
		return false;
	section->bytes = cubin->bytes + offset;
	return true;
}

bool gt_cubin_function(const struct gt_cubin_section *section, const char **name, size_t *size)
{
	const size_t before = sizeof(GT_CUBIN_TEXT) - 1;

	if (section->name_size <= before || memcmp(section->name, GT_CUBIN_TEXT, before) != 0)
		return false;
	*name = section->name + before;
	*size = section->name_size - before;
	return true;
}

bool gt_cubin_attribute_next(const uint8_t **at, uint64_t *left,
                             struct gt_cubin_attribute *attribute)
{
	const uint8_t *from = *at;
	const bool sized = *left >= 4 && from[0] == GT_CUBIN_SIZED;
	const uint32_t size = sized ? gt_get_u16(from + 2) : 0;

	if (*left < 4 || size > *left - 4)
		return false;
	*attribute = (struct gt_cubin_attribute){
		.format = from[0],
		.number = from[1],
		.bytes = sized ? from + 4 : from + 2,
		.size = sized ? size : 2,
	};
	*at = from + 4 + size;
	*left -= 4 + (uint64_t)size;
	return true;
}

bool gt_cubin_says_one_arch(const struct gt_cubin_section *section)
{
	const uint8_t *at = section->bytes;
	uint64_t left = section->size < MOST_BYTES ? section->size : MOST_BYTES;
	struct gt_cubin_attribute attribute;

	if (!at || strcmp(section->name, ".nv.compat") != 0)
		return false;
	while (gt_cubin_attribute_next(&at, &left, &attribute))
		if (attribute.number == ATTRIBUTE_ARCHITECTURES &&
		    attribute.format != GT_CUBIN_SIZED)
			return attribute.bytes[0] == ARCHITECTURES_ONE;
	return false;
}

/* Variables are in these sections; what else is in .nv.constantN belongs to functions. */
static bool holds_variables(const struct gt_cubin_section *section, bool *constant)
{
	*constant = strcmp(section->name, ".nv.constant3") == 0;
	return *constant || strcmp(section->name, ".nv.global") == 0 ||
	       strcmp(section->name, ".nv.global.init") == 0;
}

static bool read_variable(const struct gt_cubin *cubin, const struct gt_cubin_section *names,
                          const uint8_t *symbol, struct gt_cubin_variable *variable)
{
	const uint32_t name = gt_get_u32(symbol);
	const uint32_t number = gt_get_u16(symbol + AT_SYMBOL_SECTION);
	struct gt_cubin_section section;

	variable->size = gt_get_u64(symbol + AT_SYMBOL_SIZE);
	if ((symbol[AT_SYMBOL_TYPE] & 0xf) != SYMBOL_OBJECT || variable->size == 0 ||
	    number >= cubin->section_count || name >= names->size ||
	    !memchr(names->bytes + name, '\0', names->size - name) ||
	    !gt_cubin_section(cubin, number, &section))
		return false;
	variable->name = (const char *)names->bytes + name;
	return *variable->name && holds_variables(&section, &variable->constant);
}

bool gt_cubin_next_variable(const struct gt_cubin *cubin, const struct gt_cubin_section *table,
                            uint64_t *next, struct gt_cubin_variable *variable)
{
	struct gt_cubin_section names;

	if (!table->bytes || table->link >= cubin->section_count ||
	    !gt_cubin_section(cubin, table->link, &names) || !names.bytes)
		return false;
	while (*next < table->size / SYMBOL_BYTES)
		if (read_variable(cubin, &names, table->bytes + (*next)++ * SYMBOL_BYTES, variable))
			return true;
	return false;
}

uint64_t gt_content_hash(const void *bytes, size_t size)
{
	return XXH3_64bits(bytes, size);
}
