/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/operations.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "model/naming/kernel_names.h"
#include "model/naming/name_patterns.h"

#define MODULE    "nn.Module: "
#define BACKWARD  " backward"
#define OPTIMIZER "Optimizer: "
#define STEP      "Optimizer."
#define ENGINE    "autograd::engine::evaluate_function: "
#define SEQUENCE  ", seq = "
#define HLO       "Thunk:#"
#define HLO_SET   "XlaModule:#"

static bool begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static void name(struct gt_operation *operation, const char *text, size_t length)
{
	snprintf(operation->name, sizeof(operation->name), "%.*s",
	         length < sizeof(operation->name) ? (int)length : (int)sizeof(operation->name),
	         text);
}

static bool read_module(struct gt_operation *operation, const char *text)
{
	const size_t ending = strlen(BACKWARD);
	size_t length;

	if (begins(text, OPTIMIZER)) {
		operation->kind = GT_OPERATION_MODULE;
		name(operation, text + strlen(OPTIMIZER), strlen(text));
		return true;
	}
	if (!begins(text, MODULE))
		return false;
	text += strlen(MODULE);
	length = strlen(text);
	operation->kind = GT_OPERATION_MODULE;
	operation->direction = GT_DIRECTION_FORWARD;
	if (length > ending && strcmp(text + length - ending, BACKWARD) == 0) {
		operation->direction = GT_DIRECTION_BACKWARD;
		length -= ending;
	}
	name(operation, text, length);
	return true;
}

/* MmBackward0, AddmmBackward0, and those of functions that were written in Python. */
static bool is_backward(const char *text, size_t length)
{
	static const char word[] = "Backward";

	while (length > 0 && isdigit((unsigned char)text[length - 1]))
		length--;
	return length > sizeof(word) - 1 &&
	       strncmp(text + length - (sizeof(word) - 1), word, sizeof(word) - 1) == 0;
}

static void read_sequence(struct gt_operation *operation, const char *at)
{
	operation->numbered = isdigit((unsigned char)*at);
	for (int i = 0; i < 18 && isdigit((unsigned char)*at); i++)
		operation->sequence = operation->sequence * 10 + (uint64_t)(*at++ - '0');
}

/* Behind them may come the numbers of the operations that made the operands. */
static void read_sizes(struct gt_operation *operation, const char *text)
{
	static const char word[] = ", sizes = ";
	const char *sizes = strstr(text, word);
	const char *end = sizes ? strstr(sizes, ", input_op_ids = ") : NULL;

	if (!sizes)
		return;
	operation->sizes = sizes + strlen(word);
	operation->sizes_length = end ? (size_t)(end - operation->sizes) : strlen(operation->sizes);
}

/* Each has an op_id; seq is only there where gradients are kept. */
size_t gt_operations_strip(char *path)
{
	static const char *const words[] = {", seq = ", ", op_id = ", ", sizes = "};
	char *to = path;

	for (const char *from = path; *from;) {
		const char *end = from + strcspn(from, "/");
		const char *name_end = end;

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			const char *at = strstr(from, words[i]);

			if (at && at < name_end)
				name_end = at;
		}
		memmove(to, from, (size_t)(name_end - from));
		to += name_end - from;
		if (*end)
			*to++ = *end++;
		from = end;
	}
	*to = '\0';
	return (size_t)(to - path);
}

static bool read_op(struct gt_operation *operation, const char *text)
{
	const char *sequence = strstr(text, SEQUENCE);
	const char *number = strstr(text, ", op_id = ");
	const char *end = sequence ? sequence : number;
	const bool engine = begins(text, ENGINE);

	if (!end)
		return false;
	if (engine)
		text += strlen(ENGINE);
	if (end <= text)
		return false;
	operation->kind = GT_OPERATION_OP;
	operation->engine = engine;
	if (engine || is_backward(text, (size_t)(end - text)))
		operation->direction = GT_DIRECTION_BACKWARD;
	else if (!begins(text, STEP))
		operation->direction = GT_DIRECTION_FORWARD;
	if (sequence)
		read_sequence(operation, sequence + strlen(SEQUENCE));
	read_sizes(operation, end);
	name(operation, text, (size_t)(end - text));
	return true;
}

/* The value of a key between "#" and "#", as "#name=dot,hlo_op=custom-call.2#". */
static bool read_key(struct gt_operation *operation, const char *text, const char *key)
{
	const size_t length = strlen(key);

	while ((text = strpbrk(text, "#,")) != NULL) {
		text++;
		if (strncmp(text, key, length) == 0 && text[length] == '=') {
			text += length + 1;
			name(operation, text, strcspn(text, ",#"));
			return *operation->name != '\0';
		}
	}
	return false;
}

static bool read_hlo(struct gt_operation *operation, const char *text)
{
	if (begins(text, HLO) && read_key(operation, text, "hlo_op"))
		operation->kind = GT_OPERATION_HLO;
	else if (begins(text, HLO_SET) && read_key(operation, text, "hlo_module"))
		operation->kind = GT_OPERATION_HLO_MODULE;
	return operation->kind != GT_OPERATION_NONE;
}

struct gt_operation gt_operation_of(const char *domain, const char *text)
{
	struct gt_operation operation = {.kind = GT_OPERATION_NONE};

	if (strcmp(domain, "TSL") == 0)
		(void)read_hlo(&operation, text);
	else if (!*domain && !read_module(&operation, text))
		(void)read_op(&operation, text);
	return operation;
}

const char *gt_direction_name(enum gt_direction direction)
{
	switch (direction) {
	case GT_DIRECTION_FORWARD:
		return "forward";
	case GT_DIRECTION_BACKWARD:
		return "backward";
	case GT_DIRECTION_NONE:
		break;
	}
	return "";
}

bool gt_domain_is_library(const char *domain)
{
	static const char *const libraries[] = {"TSL", "NCCL", "CCCL"};

	for (size_t i = 0; i < GT_COUNT_OF(libraries); i++)
		if (strcmp(domain, libraries[i]) == 0)
			return true;
	return false;
}

static const char *const categories[] = {
#define CATEGORY(name, text) [GT_HLO_##name] = (text),
#include "model/naming/hlo_categories.def"
};

static const struct {
	const char *piece;
	enum gt_hlo_category category;
} targets[] = {
#define TARGET(category, piece) {piece, GT_HLO_##category},
#include "model/naming/hlo_categories.def"
};

static const struct gt_name_pattern patterns[] = {
#define PATTERN(category, pattern) {pattern, GT_HLO_##category},
#include "model/naming/hlo_categories.def"
};

enum gt_hlo_category gt_hlo_category_of(const char *instruction, const char *text)
{
	for (size_t i = 0; i < GT_COUNT_OF(targets); i++)
		if (strstr(text, targets[i].piece))
			return targets[i].category;
	return (enum gt_hlo_category)gt_name_match(patterns, GT_COUNT_OF(patterns), instruction,
	                                           GT_HLO_other);
}

enum gt_hlo_category gt_hlo_category_of_kernel(uint32_t family, uint32_t origin)
{
	if (origin == GT_ORIGIN_xla)
		return GT_HLO_fusion;
	if (origin == GT_ORIGIN_nccl)
		return GT_HLO_collective;
	if (origin == GT_ORIGIN_cublas || family == GT_FAMILY_gemm)
		return GT_HLO_gemm_call;
	return GT_HLO_custom_call;
}

const char *gt_hlo_category_name(uint32_t category)
{
	return categories[category < GT_HLO_CATEGORIES ? category : (uint32_t)GT_HLO_other];
}
