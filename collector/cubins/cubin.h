/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_CUBINS_CUBIN_H
#define GT_COLLECTOR_CUBINS_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "format/cubin.h"

/*
 * Facts about a kept cubin's functions. NVIDIA describes its sections nowhere: what is read here
 * was compared with what ptxas says of the same code, and what does not fit is left unknown. The
 * file may be an attacker's: lists are bounded by its size, each byte is read a few times.
 */
struct gt_cubin_text {
	const char *text; /* in the cubin, not terminated; NULL: none */
	size_t size;
};

struct gt_cubin_function {
	struct gt_cubin_text name;   /* mangled */
	struct gt_cubin_text folder; /* of the file it was written in */
	struct gt_cubin_text file;
	uint64_t code_bytes;
	uint64_t shared_bytes;
	uint64_t local_bytes;    /* of its stack, and of what it calls */
	uint64_t constant_bytes; /* banks of its own, parameters included */
	uint32_t line;           /* 0: not known */
	uint32_t registers;      /* 0: not known */
	uint32_t max_threads;    /* of a block; 0: does not say */
	uint32_t barriers;       /* of a block; 0: none, or does not say */
};

struct gt_cubin_facts {
	gt_array(struct gt_cubin_function) functions;
	uint32_t *by_section; /* functions by the number of their section; UINT32_MAX: none */
	struct gt_cubin_text compiler; /* its name and release, */
	struct gt_cubin_text options;  /* and what it was called with */
	uint64_t ptx_bytes;
	uint32_t ptx_arch; /* 90 for compute_90; 0: not known */
	bool one_arch;     /* its code is for sm_90a, not for sm_90 */
};

/* Whatever the cubin holds; the texts live as long as its bytes. */
void gt_cubin_facts_read(struct gt_cubin_facts *facts, const struct gt_cubin *cubin);
void gt_cubin_facts_release(struct gt_cubin_facts *facts);

/* The function whose code begins where a symbol is; NULL: the symbol is of something else. */
struct gt_cubin_function *gt_cubin_function_of(const struct gt_cubin_facts *facts,
                                               const struct gt_cubin *cubin,
                                               const struct gt_cubin_section *symbols,
                                               uint32_t symbol);

/* Fills in the files and lines that functions begin at, from the table of lines. */
void gt_cubin_lines_read(struct gt_cubin_facts *facts, const struct gt_cubin *cubin);

#endif
