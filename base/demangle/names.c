/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "base/demangle/demangle.h"
#include "base/demangle/tree.h"

/* Names: their scopes, the arguments of their templates, and what stands for a name. */

static bool read_number(struct gt_demangler *demangler, uint32_t *number)
{
	const char *start = demangler->at;

	*number = 0;
	while (isdigit((unsigned char)gt_demangle_look(demangler, 0))) {
		*number = *number * 10 + (uint32_t)(*demangler->at++ - '0');
		if (*number > GT_DEMANGLE_MOST_IN)
			return false;
	}
	return demangler->at > start;
}

/* <source-name>: its length, then the letters. */
static gt_node source_name(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_NAME};
	uint32_t length;

	if (!read_number(demangler, &length) || length == 0 ||
	    length > (size_t)(demangler->end - demangler->at))
		return 0;
	row.text = demangler->at;
	row.length = length;
	demangler->at += length;
	if (length >= 10 && memcmp(row.text, "_GLOBAL_", 8) == 0 && row.text[9] == 'N' &&
	    strchr("._$", row.text[8]))
		return gt_demangle_text(demangler, "(anonymous namespace)");
	return gt_demangle_new(demangler, &row);
}

/* <unnamed-type-name>, after its "U". */
static gt_node unnamed(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_UNNAMED, .text = "unnamed type"};

	if (gt_demangle_eat(demangler, 'l')) {
		bool read;

		row.kind = GT_NODE_LAMBDA;
		demangler->lambda_depth++;
		if (gt_demangle_eat(demangler, 'v'))
			read = gt_demangle_eat(demangler, 'E');
		else
			read = gt_demangle_list(demangler, gt_demangle_type, &row.a);
		demangler->lambda_depth--;
		if (!read)
			return 0;
	} else if (!gt_demangle_eat(demangler, 't')) {
		return 0;
	}
	if (!gt_demangle_sequence(demangler, 10, &row.number))
		return 0;
	row.number++;
	return gt_demangle_new(demangler, &row);
}

static gt_node constructor(struct gt_demangler *demangler, gt_node scope,
                           struct gt_name_state *state)
{
	const bool destroys = gt_demangle_look(demangler, 0) == 'D';
	const bool inherits = gt_demangle_look(demangler, 1) == 'I';

	if (!scope)
		return 0;
	demangler->at += inherits ? 2 : 1;
	if (!isdigit((unsigned char)gt_demangle_look(demangler, 0)))
		return 0;
	demangler->at++;
	if (inherits && !gt_demangle_type(demangler))
		return 0;
	if (state)
		state->no_return = true;
	return gt_demangle_new(demangler,
	                       &(struct gt_node_row){.kind = GT_NODE_CONSTRUCTOR,
	                                             .a = scope,
	                                             .flags = destroys ? GT_NODE_OTHER : 0});
}

/* <abi-tags>: B <source-name>, any number of them. */
static gt_node tagged(struct gt_demangler *demangler, gt_node name)
{
	while (name && gt_demangle_eat(demangler, 'B')) {
		const gt_node tag = source_name(demangler);
		struct gt_node_row row = {.kind = GT_NODE_TAGGED, .a = name};

		if (!tag)
			return 0;
		row.text = demangler->nodes.rows[tag].text;
		row.length = demangler->nodes.rows[tag].length;
		name = gt_demangle_new(demangler, &row);
	}
	return name;
}

gt_node gt_demangle_unqualified(struct gt_demangler *demangler, gt_node scope,
                                struct gt_name_state *state)
{
	const char letter = gt_demangle_look(demangler, 0);
	gt_node name;

	if (letter == 'L') {
		demangler->at++; /* of internal linkage */
		return gt_demangle_unqualified(demangler, scope, state);
	}
	if (isdigit((unsigned char)letter)) {
		name = source_name(demangler);
	} else if (letter == 'U') {
		demangler->at++;
		name = unnamed(demangler);
	} else if (letter == 'C' ||
	           (letter == 'D' && isdigit((unsigned char)gt_demangle_look(demangler, 1)))) {
		name = constructor(demangler, scope, state);
	} else {
		name = gt_demangle_operator(demangler, state);
	}
	return tagged(demangler, name);
}

static gt_node scoped(struct gt_demangler *demangler, gt_node scope, gt_node name)
{
	if (!scope || !name)
		return name;
	return gt_demangle_new(
		demangler, &(struct gt_node_row){.kind = GT_NODE_SCOPED, .a = scope, .b = name});
}

static uint32_t read_qualifiers(struct gt_demangler *demangler)
{
	uint32_t flags = 0;

	if (gt_demangle_eat(demangler, 'r'))
		flags |= GT_NODE_RESTRICT;
	if (gt_demangle_eat(demangler, 'V'))
		flags |= GT_NODE_VOLATILE;
	if (gt_demangle_eat(demangler, 'K'))
		flags |= GT_NODE_CONST;
	return flags;
}

static gt_node argument(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_ARGUMENTS};
	gt_node expression;

	switch (gt_demangle_look(demangler, 0)) {
	case 'X':
		demangler->at++;
		expression = gt_demangle_expression(demangler);
		return expression && gt_demangle_eat(demangler, 'E') ? expression : 0;
	case 'J':
		demangler->at++;
		if (!gt_demangle_list(demangler, argument, &row.a))
			return 0;
		return gt_demangle_new(demangler, &row);
	case 'L':
		return gt_demangle_literal(demangler);
	default:
		return gt_demangle_type(demangler);
	}
}

/* Arguments for parameters: a pack is not its elements side by side, but each in turn. */
static void keep_arguments(struct gt_demangler *demangler, gt_node list)
{
	demangler->arguments.count = 0;
	for (gt_node at = list; at; at = demangler->nodes.rows[at].b) {
		gt_node one = demangler->nodes.rows[at].a;

		if (demangler->nodes.rows[one].kind == GT_NODE_ARGUMENTS)
			one = gt_demangle_new(
				demangler,
				&(struct gt_node_row){.kind = GT_NODE_PACK,
			                              .a = demangler->nodes.rows[one].a});
		*gt_array_push(&demangler->arguments) = one;
	}
}

/* <template-args>; with keep they are what parameters of the function's type mean. */
gt_node gt_demangle_arguments(struct gt_demangler *demangler, gt_node name, bool keep)
{
	struct gt_node_row row = {.kind = GT_NODE_TEMPLATE, .a = name};

	if (!name || !gt_demangle_eat(demangler, 'I') ||
	    !gt_demangle_list(demangler, argument, &row.b))
		return 0;
	if (keep)
		keep_arguments(demangler, row.b);
	return gt_demangle_new(demangler, &row);
}

static gt_node arguments_of_name(struct gt_demangler *demangler, gt_node name,
                                 struct gt_name_state *state)
{
	if (state)
		state->is_template = true;
	return gt_demangle_arguments(demangler, name, state != NULL);
}

/* <substitution>, S...; "St" alone is the namespace. */
static gt_node substitution(struct gt_demangler *demangler)
{
	static const struct {
		char letter;
		const char *text;
	} known[] = {{'t', "std"},          {'a', "std::allocator"}, {'b', "std::basic_string"},
	             {'s', "std::string"},  {'i', "std::istream"},   {'o', "std::ostream"},
	             {'d', "std::iostream"}};

	if (!gt_demangle_eat(demangler, 'S'))
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (gt_demangle_eat(demangler, known[i].letter)) {
			const gt_node node = gt_demangle_text(demangler, known[i].text);
			const gt_node with_tags = tagged(demangler, node);

			if (with_tags != node)
				gt_demangle_remember(demangler, with_tags);
			return with_tags;
		}
	return gt_demangle_remembered(demangler);
}

/* One step of a <prefix>: what is named so far, one scope further. */
static gt_node step(struct gt_demangler *demangler, gt_node name, struct gt_name_state *state,
                    bool *is_new)
{
	const char letter = gt_demangle_look(demangler, 0);
	const char next = gt_demangle_look(demangler, 1);

	*is_new = true;
	if (state)
		state->is_template = false;
	if (letter == 'I')
		return arguments_of_name(demangler, name, state);
	if (letter == 'T')
		return name ? 0 : gt_demangle_parameter(demangler);
	if (letter == 'D' && (next == 't' || next == 'T'))
		return name ? 0 : gt_demangle_decltype(demangler);
	if (letter == 'S') {
		*is_new = false;
		return name ? 0 : substitution(demangler);
	}
	return scoped(demangler, name, gt_demangle_unqualified(demangler, name, state));
}

/* <nested-name>, after its "N". */
static gt_node nested_name(struct gt_demangler *demangler, struct gt_name_state *state)
{
	uint32_t flags = read_qualifiers(demangler);
	gt_node name = 0;
	bool is_new = false;

	if (gt_demangle_eat(demangler, 'O'))
		flags |= GT_NODE_RVALUE;
	else if (gt_demangle_eat(demangler, 'R'))
		flags |= GT_NODE_LVALUE;
	while (!gt_demangle_eat(demangler, 'E')) {
		gt_demangle_eat(demangler, 'M'); /* of the initializer of a member */
		name = step(demangler, name, state, &is_new);
		if (!name)
			return 0;
		if (is_new)
			gt_demangle_remember(demangler, name);
	}
	/* The whole is remembered as a type, if it is one. */
	if (!name || !is_new || demangler->substitutions.count == 0)
		return 0;
	demangler->substitutions.count--;
	if (state)
		state->flags = flags;
	return name;
}

/* <discriminator> of a name that a function has several of: it is not shown. */
static void skip_discriminator(struct gt_demangler *demangler)
{
	uint32_t number;
	const char *start = demangler->at;

	if (!gt_demangle_eat(demangler, '_'))
		return;
	if (gt_demangle_eat(demangler, '_')) {
		if (read_number(demangler, &number) && gt_demangle_eat(demangler, '_'))
			return;
	} else if (isdigit((unsigned char)gt_demangle_look(demangler, 0))) {
		demangler->at++;
		return;
	}
	demangler->at = start;
}

/* <local-name>, after its "Z". */
static gt_node local_name(struct gt_demangler *demangler, struct gt_name_state *state)
{
	const gt_node holder = gt_demangle_encoding(demangler, false);
	gt_node scope = holder;
	gt_node name;

	if (!holder || !gt_demangle_eat(demangler, 'E'))
		return 0;
	if (gt_demangle_eat(demangler, 's')) {
		skip_discriminator(demangler);
		return scoped(demangler, holder, gt_demangle_text(demangler, "string literal"));
	}
	if (gt_demangle_eat(demangler, 'd')) {
		struct gt_node_row row = {.kind = GT_NODE_UNNAMED, .text = "default arg"};

		if (!gt_demangle_sequence(demangler, 10, &row.number))
			return 0;
		row.number++;
		scope = scoped(demangler, holder, gt_demangle_new(demangler, &row));
	}
	name = gt_demangle_name(demangler, state);
	skip_discriminator(demangler);
	return name ? scoped(demangler, scope, name) : 0;
}

static gt_node unscoped_name(struct gt_demangler *demangler, struct gt_name_state *state)
{
	gt_node scope = 0;
	gt_node name;

	if (gt_demangle_look(demangler, 0) == 'S' && gt_demangle_look(demangler, 1) != 't') {
		name = substitution(demangler);
		return gt_demangle_look(demangler, 0) == 'I'
		               ? arguments_of_name(demangler, name, state)
		               : 0;
	}
	if (gt_demangle_eat_two(demangler, "St"))
		scope = gt_demangle_text(demangler, "std");
	name = scoped(demangler, scope, gt_demangle_unqualified(demangler, scope, state));
	if (name && gt_demangle_look(demangler, 0) == 'I') {
		gt_demangle_remember(demangler, name);
		name = arguments_of_name(demangler, name, state);
	}
	return name;
}

/* <name>; state NULL: that of a type. */
gt_node gt_demangle_name(struct gt_demangler *demangler, struct gt_name_state *state)
{
	gt_node name = 0;

	if (demangler->depth++ < GT_DEMANGLE_MOST_DEPTH) {
		if (gt_demangle_eat(demangler, 'N'))
			name = nested_name(demangler, state);
		else if (gt_demangle_eat(demangler, 'Z'))
			name = local_name(demangler, state);
		else
			name = unscoped_name(demangler, state);
	}
	demangler->depth--;
	return name;
}
