/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_OPERATIONS_H
#define GT_MODEL_NAMING_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parts that frameworks name by NVTX ranges, read from the text: modules of PyTorch and
 * optimizers as run --pytorch names them (python/gputrace_pytorch.py), PyTorch's operations as
 * emit_nvtx writes them (torch/csrc/profiler/util.cpp: "aten::mm, seq = 12, op_id = 34"), modules
 * and instructions of HLO as XLA does (xla/backends/gpu/runtime/annotation.cc:
 * "XlaModule:#hlo_module=jit_step,program_id=3#", "Thunk:#name=dot,hlo_op=custom-call.2#", in its
 * domain TSL).
 */
enum gt_operation_kind {
	GT_OPERATION_NONE, /* any other range */
	GT_OPERATION_MODULE,
	GT_OPERATION_OP,
	GT_OPERATION_HLO,
	GT_OPERATION_HLO_MODULE,
	GT_OPERATION_KINDS,
};

enum gt_direction { GT_DIRECTION_NONE, GT_DIRECTION_FORWARD, GT_DIRECTION_BACKWARD };

struct gt_operation {
	enum gt_operation_kind kind;
	enum gt_direction direction; /* by its own text. NONE: an optimizer, or HLO */
	bool engine; /* autograd's own range around that of the operation of the same name */
	bool numbered;
	uint64_t sequence; /* with numbered: what ties an operation of backward to its forward one */
	const char
		*sizes; /* in the text: sizes of the operands, "[[2, 3], []]"; NULL: it has none */
	size_t sizes_length;
	char name[512]; /* without all that, cut off where it is longer */
};

/* domain: its name, "" for the default one. */
struct gt_operation gt_operation_of(const char *domain, const char *text);

/* Whether a domain is that of a library or framework that names what it does itself. */
bool gt_domain_is_library(const char *domain);

/*
 * Takes out of a path of ranges what emit_nvtx puts behind the name of each operation: its numbers
 * and the sizes of its operands. "step/aten::mm, seq = 12, op_id = 34/x" becomes "step/aten::mm/x".
 * Returns the length that is left.
 */
size_t gt_operations_strip(char *path);

/* For people: "forward", "backward" or "". Constant. */
const char *gt_direction_name(enum gt_direction direction);

/* Category of an HLO instruction. */
enum gt_hlo_category {
#define CATEGORY(name, text) GT_HLO_##name,
#include "model/naming/hlo_categories.def"
	GT_HLO_CATEGORIES
};

/* By the patterns of hlo_categories.def from its name, and from its text where that is known. */
enum gt_hlo_category gt_hlo_category_of(const char *instruction, const char *text);

/* Category of a kernel whose instruction is not known, by its family and origin. */
enum gt_hlo_category gt_hlo_category_of_kernel(uint32_t family, uint32_t origin);

/* For people; "other" for a number that is none. Constant. */
const char *gt_hlo_category_name(uint32_t category);

#endif
