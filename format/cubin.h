/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_CUBIN_H
#define GT_FORMAT_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_error;

/*
 * The sections of a cubin: an ELF file of 64 bits that holds machine code for one architecture of
 * GPUs. It is read where it lies, in the traced program as in the collector: nothing is allocated,
 * no byte outside is touched whatever stands in it, and numbers are decoded one by one.
 */
struct gt_cubin {
	const uint8_t *bytes;
	size_t size;
	uint64_t sections; /* where their headers begin */
	uint32_t section_count;
	uint32_t header_bytes; /* of one section */
	uint64_t names;        /* where the names of sections stand, */
	uint64_t names_size;   /* and how many bytes they take */
	uint32_t arch;         /* 90 for sm_90 and sm_90a */
	bool one_arch;         /* sm_90a, where its header says so: gt_cubin_says_one_arch */
};

struct gt_cubin_section {
	const char *name; /* terminated; "" where there is none */
	size_t name_size;
	const uint8_t *bytes; /* NULL: it takes no bytes in the file */
	uint64_t size;        /* also of what takes none */
	uint32_t type;
	uint32_t link; /* another section's number: of a symbol table its strings */
	uint32_t info; /* of what belongs to a function the number of its .text section */
};

/* Section types (gABI) and machine that are looked at. */
enum { GT_ELF_SYMTAB = 2, GT_ELF_RELA = 4, GT_ELF_NOBITS = 8, GT_ELF_REL = 9 };

#define GT_CUBIN_TEXT ".text." /* before the name of a function */

/* A section with a longer name is none: the compiler's longest are a tenth of it. */
#define GT_CUBIN_MAX_NAME 65535

/* 0, or -EBADMSG with a sentence: it is no cubin, or its headers lie outside of it. */
int gt_cubin_open(struct gt_cubin *cubin, const void *bytes, size_t size, struct gt_error *err);

/* Section with a number below section_count; false where what it says lies outside of the file. */
bool gt_cubin_section(const struct gt_cubin *cubin, uint32_t number,
                      struct gt_cubin_section *section);

/* Whether the section is the code of a function, whose name and its size are then set. */
bool gt_cubin_function(const struct gt_cubin_section *section, const char **name, size_t *size);

/*
 * One attribute of a list as .nv.info and .nv.compat hold: a format, a number, and 2 bytes that are
 * a value or, with GT_CUBIN_SIZED, the size of what follows.
 */
struct gt_cubin_attribute {
	uint32_t format;
	uint32_t number;
	const uint8_t *bytes; /* of its value */
	uint32_t size;
};

enum { GT_CUBIN_BYTE = 2 /* the first of the 2 bytes is the value */, GT_CUBIN_SIZED = 4 };

/* The next one, of which *at and *left are then past; false: the list ends, or is cut there. */
bool gt_cubin_attribute_next(const uint8_t **at, uint64_t *left,
                             struct gt_cubin_attribute *attribute);

/*
 * Whether the section says that the code runs on its very architecture alone, as sm_90a does: from
 * CUDA 13 on no flag in the header does. Code for a family (sm_100f) is as code for all.
 */
bool gt_cubin_says_one_arch(const struct gt_cubin_section *section);

/* A __device__ or __constant__ variable, as its symbol says. */
struct gt_cubin_variable {
	const char *name; /* mangled, terminated */
	uint64_t size;
	bool constant;
};

/*
 * The variables of a module, of a section that is a symbol table: next counts its symbols, from 0.
 * False: there are no more.
 */
bool gt_cubin_next_variable(const struct gt_cubin *cubin, const struct gt_cubin_section *table,
                            uint64_t *next, struct gt_cubin_variable *variable);

/* The hash by which a cubin is kept and compared, and by which functions are noted: XXH3. */
uint64_t gt_content_hash(const void *bytes, size_t size);

#endif
