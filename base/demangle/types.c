/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "base/demangle/tree.h"

/* Types of mangled names: Itanium C++ ABI, 5.1.5. */

static const struct {
	char letter;
	const char *text;
} builtin[] = {
	{'v', "void"},        {'w', "wchar_t"},
	{'b', "bool"},        {'c', "char"},
	{'a', "signed char"}, {'h', "unsigned char"},
	{'s', "short"},       {'t', "unsigned short"},
	{'i', "int"},         {'j', "unsigned int"},
	{'l', "long"},        {'m', "unsigned long"},
	{'x', "long long"},   {'y', "unsigned long long"},
	{'n', "__int128"},    {'o', "unsigned __int128"},
	{'f', "float"},       {'d', "double"},
	{'e', "long double"}, {'g', "__float128"},
	{'z', "..."},
};

static const struct {
	char letter;
	const char *text;
} builtin_d[] = {
	{'d', "decimal64"},      {'e', "decimal128"},        {'f', "decimal32"}, {'h', "half"},
	{'i', "char32_t"},       {'s', "char16_t"},          {'u', "char8_t"},   {'a', "auto"},
	{'c', "decltype(auto)"}, {'n', "decltype(nullptr)"},
};

/* In the parameters of a lambda they are those of the lambda. */
static gt_node parameter(struct gt_demangler *demangler, uint32_t number)
{
	if (demangler->lambda_depth)
		return gt_demangle_new(demangler, &(struct gt_node_row){.kind = GT_NODE_UNNAMED,
		                                                        .text = "auto",
		                                                        .number = number + 1});
	return number < demangler->arguments.count ? demangler->arguments.rows[number] : 0;
}

/* T_, T0_, ... */
gt_node gt_demangle_parameter(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_PARAMETER};

	if (!gt_demangle_eat(demangler, 'T') || !gt_demangle_sequence(demangler, 10, &row.number))
		return 0;
	row.a = parameter(demangler, row.number);
	return row.a ? gt_demangle_new(demangler, &row) : 0;
}

void gt_demangle_remember(struct gt_demangler *demangler, gt_node node)
{
	if (node)
		*gt_array_push(&demangler->substitutions) = node;
}

gt_node gt_demangle_remembered(struct gt_demangler *demangler)
{
	struct gt_node_row *row;
	uint32_t number;
	gt_node again;

	if (!gt_demangle_sequence(demangler, 36, &number) ||
	    number >= demangler->substitutions.count)
		return 0;
	row = &demangler->nodes.rows[demangler->substitutions.rows[number]];
	if (row->kind != GT_NODE_PARAMETER)
		return demangler->substitutions.rows[number];
	again = row->a;
	number = row->number;
	if (demangler->lambda_depth || number < demangler->arguments.count)
		again = parameter(demangler, number);
	return again;
}

gt_node gt_demangle_decltype(struct gt_demangler *demangler)
{
	struct gt_node_row row = {
		.kind = GT_NODE_ENCLOSED, .text = "decltype ", .length = strlen("decltype ")};

	demangler->at += 2;
	row.a = gt_demangle_expression(demangler);
	return row.a && gt_demangle_eat(demangler, 'E') ? gt_demangle_new(demangler, &row) : 0;
}

/* <function-type>, after its "F". */
static gt_node function_type(struct gt_demangler *demangler, uint32_t flags)
{
	struct gt_node_row row = {.kind = GT_NODE_FUNCTION, .flags = flags};
	gt_node last = 0;

	gt_demangle_eat(demangler, 'Y'); /* extern "C" */
	row.a = gt_demangle_type(demangler);
	if (!row.a)
		return 0;
	while (!gt_demangle_eat(demangler, 'E')) {
		struct gt_node_row link = {.kind = GT_NODE_LIST};
		gt_node number;

		if (gt_demangle_eat_two(demangler, "RE") || gt_demangle_eat_two(demangler, "OE")) {
			row.flags |= demangler->at[-2] == 'R' ? GT_NODE_LVALUE : GT_NODE_RVALUE;
			break;
		}
		if (gt_demangle_eat_two(demangler, "vE"))
			break;
		link.a = gt_demangle_type(demangler);
		if (!link.a)
			return 0;
		number = gt_demangle_new(demangler, &link);
		if (last)
			demangler->nodes.rows[last].b = number;
		else
			row.b = number;
		last = number;
	}
	return gt_demangle_new(demangler, &row);
}

/* <array-type>, after its "A". */
static gt_node array_type(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_ARRAY};
	struct gt_node_row size = {.kind = GT_NODE_NAME, .text = demangler->at};

	if (isdigit((unsigned char)gt_demangle_look(demangler, 0))) {
		while (isdigit((unsigned char)gt_demangle_look(demangler, 0)))
			demangler->at++;
		size.length = (size_t)(demangler->at - size.text);
		row.b = gt_demangle_new(demangler, &size);
	} else if (gt_demangle_look(demangler, 0) != '_') {
		row.b = gt_demangle_expression(demangler);
		if (!row.b)
			return 0;
	}
	if (!gt_demangle_eat(demangler, '_'))
		return 0;
	row.a = gt_demangle_type(demangler);
	return row.a ? gt_demangle_new(demangler, &row) : 0;
}

static gt_node of_kind(struct gt_demangler *demangler, enum gt_node_kind kind, const char *text)
{
	struct gt_node_row row = {.kind = kind, .text = text, .length = strlen(text)};

	row.a = gt_demangle_type(demangler);
	return row.a ? gt_demangle_new(demangler, &row) : 0;
}

static gt_node member_pointer(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_MEMBER};

	row.a = gt_demangle_type(demangler);
	row.b = row.a ? gt_demangle_type(demangler) : 0;
	return row.b ? gt_demangle_new(demangler, &row) : 0;
}

/* Dv 4_ f: float __vector(4). */
static gt_node vector_type(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_VENDOR};

	row.text = demangler->at;
	while (isdigit((unsigned char)gt_demangle_look(demangler, 0)))
		demangler->at++;
	row.length = (size_t)(demangler->at - row.text);
	if (!row.length || !gt_demangle_eat(demangler, '_'))
		return 0;
	row.flags = GT_NODE_OTHER;
	row.a = gt_demangle_type(demangler);
	return row.a ? gt_demangle_new(demangler, &row) : 0;
}

/* DF16_, DF32_, DF16b, ...: _Float16, std::bfloat16_t. */
static gt_node float_type(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_PREFIXED, .text = "_Float", .length = 6};
	struct gt_node_row size = {.kind = GT_NODE_NAME, .text = demangler->at};

	while (isdigit((unsigned char)gt_demangle_look(demangler, 0)))
		demangler->at++;
	size.length = (size_t)(demangler->at - size.text);
	if (size.length == 2 && gt_demangle_eat(demangler, 'b'))
		return gt_demangle_text(demangler, "std::bfloat16_t");
	if (!size.length || !(gt_demangle_eat(demangler, '_') || gt_demangle_eat(demangler, 'x')))
		return 0;
	row.a = gt_demangle_new(demangler, &size);
	return gt_demangle_new(demangler, &row);
}

/* Types that begin with "D". *is_known: one that has a letter of its own, and no substitution. */
static gt_node type_with_d(struct gt_demangler *demangler, bool *is_known)
{
	const char letter = gt_demangle_look(demangler, 1);
	gt_node node;

	if (letter == 't' || letter == 'T')
		return gt_demangle_decltype(demangler);
	if (!letter)
		return 0;
	demangler->at += 2;
	for (size_t i = 0; i < sizeof(builtin_d) / sizeof(builtin_d[0]); i++)
		if (builtin_d[i].letter == letter) {
			*is_known = true;
			return gt_demangle_text(demangler, builtin_d[i].text);
		}
	switch (letter) {
	case 'F':
		*is_known = true;
		return float_type(demangler);
	case 'p':
		return of_kind(demangler, GT_NODE_EXPANSION, "");
	case 'v':
		return vector_type(demangler);
	case 'o':
		return gt_demangle_eat(demangler, 'F') ? function_type(demangler, GT_NODE_NOEXCEPT)
		                                       : 0;
	case 'O':
		node = gt_demangle_expression(demangler);
		return node && gt_demangle_eat_two(demangler, "EF")
		               ? function_type(demangler, GT_NODE_NOEXCEPT)
		               : 0;
	default:
		return 0;
	}
}

/* Qualifiers of a function type are the function's: void (A::*)() const. */
static gt_node qualified_type(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_QUALIFIED};

	for (;;) {
		if (gt_demangle_eat(demangler, 'r'))
			row.flags |= GT_NODE_RESTRICT;
		else if (gt_demangle_eat(demangler, 'V'))
			row.flags |= GT_NODE_VOLATILE;
		else if (gt_demangle_eat(demangler, 'K'))
			row.flags |= GT_NODE_CONST;
		else
			break;
	}
	if (gt_demangle_eat(demangler, 'F'))
		return function_type(demangler, row.flags);
	row.a = gt_demangle_type(demangler);
	return row.a ? gt_demangle_new(demangler, &row) : 0;
}

/* U <source-name> [<template-args>] <type> */
static gt_node vendor_type(struct gt_demangler *demangler)
{
	const gt_node name = gt_demangle_unqualified(demangler, 0, NULL);
	struct gt_node_row row = {.kind = GT_NODE_VENDOR};

	if (!name || demangler->nodes.rows[name].kind != GT_NODE_NAME)
		return 0;
	row.text = demangler->nodes.rows[name].text;
	row.length = demangler->nodes.rows[name].length;
	row.a = gt_demangle_type(demangler);
	return row.a ? gt_demangle_new(demangler, &row) : 0;
}

/* With the arguments that may follow what is a template itself; that is remembered alone, too. */
static gt_node with_arguments(struct gt_demangler *demangler, gt_node type, bool is_new)
{
	if (type && gt_demangle_look(demangler, 0) == 'I') {
		if (is_new)
			gt_demangle_remember(demangler, type);
		return gt_demangle_arguments(demangler, type, false);
	}
	return type;
}

/* A type of a name, or one that stood before. *is_known: the latter. */
static gt_node named_type(struct gt_demangler *demangler, bool *is_known)
{
	const char *start = demangler->at;
	gt_node type;

	if (gt_demangle_look(demangler, 0) != 'S' || gt_demangle_look(demangler, 1) == 't')
		return gt_demangle_name(demangler, NULL);
	demangler->at++;
	if (islower((unsigned char)gt_demangle_look(demangler, 0))) {
		static const char *const texts[] = {"std::allocator", "std::basic_string",
		                                    "std::string",    "std::istream",
		                                    "std::ostream",   "std::iostream"};
		static const char letters[] = "absiod";
		const char *letter = strchr(letters, *demangler->at);

		if (!letter || gt_demangle_look(demangler, 1) == 'B') {
			demangler->at = start;
			return gt_demangle_name(demangler, NULL);
		}
		demangler->at++;
		type = gt_demangle_text(demangler, texts[letter - letters]);
	} else {
		type = gt_demangle_remembered(demangler);
	}
	*is_known = gt_demangle_look(demangler, 0) != 'I';
	return with_arguments(demangler, type, false);
}

static gt_node compound_type(struct gt_demangler *demangler, bool *is_known)
{
	const char letter = gt_demangle_look(demangler, 0);

	if (letter == 'T' && strchr("sue", gt_demangle_look(demangler, 1)) &&
	    gt_demangle_look(demangler, 1))
		demangler->at += 2; /* struct, union, enum before a name */
	switch (gt_demangle_look(demangler, 0)) {
	case 'r':
	case 'V':
	case 'K':
		return qualified_type(demangler);
	case 'D':
		if (isdigit((unsigned char)gt_demangle_look(demangler, 1)))
			return 0;
		return type_with_d(demangler, is_known);
	case 'T':
		return with_arguments(demangler, gt_demangle_parameter(demangler), true);
	case 'S':
		return named_type(demangler, is_known);
	default:
		break;
	}
	if (demangler->at == demangler->end)
		return 0;
	switch (*demangler->at++) {
	case 'P':
		return of_kind(demangler, GT_NODE_INDIRECT, "*");
	case 'R':
		return of_kind(demangler, GT_NODE_INDIRECT, "&");
	case 'O':
		return of_kind(demangler, GT_NODE_INDIRECT, "&&");
	case 'C':
		return of_kind(demangler, GT_NODE_SUFFIXED, " _Complex");
	case 'G':
		return of_kind(demangler, GT_NODE_SUFFIXED, " _Imaginary");
	case 'F':
		return function_type(demangler, 0);
	case 'A':
		return array_type(demangler);
	case 'M':
		return member_pointer(demangler);
	case 'U':
		return isdigit((unsigned char)gt_demangle_look(demangler, 0))
		               ? vendor_type(demangler)
		               : (demangler->at--, gt_demangle_name(demangler, NULL));
	case 'u':
		return gt_demangle_unqualified(demangler, 0, NULL);
	default:
		demangler->at--;
		return gt_demangle_name(demangler, NULL);
	}
}

gt_node gt_demangle_type(struct gt_demangler *demangler)
{
	const char letter = gt_demangle_look(demangler, 0);
	bool is_known = false;
	gt_node type = 0;

	if (!letter)
		return 0;
	for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++)
		if (builtin[i].letter == letter) {
			demangler->at++;
			return gt_demangle_text(demangler, builtin[i].text);
		}
	if (demangler->depth++ < GT_DEMANGLE_MOST_DEPTH)
		type = compound_type(demangler, &is_known);
	demangler->depth--;
	if (!is_known)
		gt_demangle_remember(demangler, type);
	return type;
}
