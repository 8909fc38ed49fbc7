/* SPDX-License-Identifier: Apache-2.0 */
#include "base/demangle/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle/tree.h"

/*
 * Names, and what a mangled name is as a whole. Letters in comments are the ABI's; "5.1.3" is
 * one of its sections.
 */

gt_node gt_demangle_new(struct gt_demangler *demangler, const struct gt_node_row *row)
{
	*gt_array_push(&demangler->nodes) = *row;
	return (gt_node)demangler->nodes.count - 1;
}

gt_node gt_demangle_text(struct gt_demangler *demangler, const char *text)
{
	return gt_demangle_new(demangler, &(struct gt_node_row){.kind = GT_NODE_NAME,
	                                                        .text = text,
	                                                        .length = strlen(text)});
}

/* Adds a node to the end of a list, of which last is the last link, 0 while it is empty. */
static void append(struct gt_demangler *demangler, gt_node *list, gt_node *last, gt_node one)
{
	const gt_node link =
		gt_demangle_new(demangler, &(struct gt_node_row){.kind = GT_NODE_LIST, .a = one});

	if (*last)
		demangler->nodes.rows[*last].b = link;
	else
		*list = link;
	*last = link;
}

bool gt_demangle_list(struct gt_demangler *demangler, gt_node (*item)(struct gt_demangler *),
                      gt_node *list)
{
	gt_node last = 0;

	*list = 0;
	while (!gt_demangle_eat(demangler, 'E')) {
		const gt_node one = item(demangler);

		if (!one)
			return false;
		append(demangler, list, &last, one);
	}
	return true;
}

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

bool gt_demangle_sequence(struct gt_demangler *demangler, unsigned base, uint32_t *number)
{
	uint32_t value = 0;

	if (gt_demangle_eat(demangler, '_')) {
		*number = 0;
		return true;
	}
	for (;;) {
		const char letter = gt_demangle_look(demangler, 0);

		if (isdigit((unsigned char)letter))
			value = value * base + (uint32_t)(letter - '0');
		else if (base == 36 && letter >= 'A' && letter <= 'Z')
			value = value * base + (uint32_t)(letter - 'A') + 10;
		else
			break;
		if (value > GT_DEMANGLE_MOST_IN)
			return false;
		demangler->at++;
	}
	*number = value + 1;
	return gt_demangle_eat(demangler, '_');
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

/* <special-name>: those that have to do with functions and variables, not with calls of bases. */
static gt_node special_name(struct gt_demangler *demangler)
{
	static const struct {
		const char *letters;
		const char *text;
		bool of_type;
	} known[] = {
		{"TV", "vtable for ", true},
		{"TT", "VTT for ", true},
		{"TI", "typeinfo for ", true},
		{"TS", "typeinfo name for ", true},
		{"GV", "guard variable for ", false},
		{"TW", "TLS wrapper function for ", false},
		{"TH", "TLS init function for ", false},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (gt_demangle_eat_two(demangler, known[i].letters)) {
			struct gt_node_row row = {.kind = GT_NODE_PREFIXED,
			                          .text = known[i].text,
			                          .length = strlen(known[i].text)};

			row.a = known[i].of_type ? gt_demangle_type(demangler)
			                         : gt_demangle_name(demangler, NULL);
			return row.a ? gt_demangle_new(demangler, &row) : 0;
		}
	return 0;
}

static bool ends(const struct gt_demangler *demangler)
{
	const char letter = gt_demangle_look(demangler, 0);

	return letter == '\0' || letter == 'E' || letter == '.' || letter == '$';
}

/* The types of parameters up to the end of an encoding. */
static bool parameters(struct gt_demangler *demangler, gt_node *list)
{
	gt_node last = 0;

	*list = 0;
	if (gt_demangle_eat(demangler, 'v'))
		return true;
	while (!ends(demangler)) {
		const gt_node one = gt_demangle_type(demangler);

		if (!one)
			return false;
		append(demangler, list, &last, one);
	}
	return true;
}

/* The name and type of a function, or the name of a variable. */
static gt_node function(struct gt_demangler *demangler, bool top)
{
	struct gt_name_state state = {0};
	struct gt_node_row type = {.kind = GT_NODE_FUNCTION};
	struct gt_node_row row = {.kind = GT_NODE_ENCODING};

	if (strchr("GT", gt_demangle_look(demangler, 0)) && demangler->at < demangler->end)
		return special_name(demangler);
	row.a = gt_demangle_name(demangler, &state);
	if (!row.a || ends(demangler))
		return row.a;
	type.flags = state.flags;
	if (state.is_template && !state.no_return) {
		type.a = gt_demangle_type(demangler);
		if (!type.a)
			return 0;
		/* It says nothing where the function is the scope of something else. */
		if (!top)
			type.a = 0;
	}
	if (!parameters(demangler, &type.b))
		return 0;
	row.b = gt_demangle_new(demangler, &type);
	return gt_demangle_new(demangler, &row);
}

/* <encoding>. Meanings of template parameters inside it do not hold outside. */
gt_node gt_demangle_encoding(struct gt_demangler *demangler, bool top)
{
	gt_node node = 0;

	if (demangler->depth++ < GT_DEMANGLE_MOST_DEPTH) {
		const size_t size = demangler->arguments.count * sizeof(gt_node);
		const unsigned lambda_depth = demangler->lambda_depth;
		gt_node *outside = gt_allocate(size);

		if (size)
			memcpy(outside, demangler->arguments.rows, size);
		demangler->lambda_depth = 0;
		node = function(demangler, top);
		demangler->lambda_depth = lambda_depth;
		demangler->arguments.count = 0;
		for (size_t i = 0; i < size / sizeof(gt_node); i++)
			*gt_array_push(&demangler->arguments) = outside[i];
		free(outside);
	}
	demangler->depth--;
	return node;
}

/* A copy of a function that the compiler made: f [clone .part.0]. */
static gt_node with_clone(struct gt_demangler *demangler, gt_node node)
{
	struct gt_node_row row = {.kind = GT_NODE_SUFFIXED, .a = node};

	if (!node || demangler->at == demangler->end)
		return node;
	row.text = demangler->at;
	row.length = (size_t)(demangler->end - demangler->at);
	return *demangler->at == '.' ? gt_demangle_new(demangler, &row) : 0;
}

char *gt_demangle(const char *mangled)
{
	const size_t length = strnlen(mangled, GT_DEMANGLE_MOST_IN);
	struct gt_demangler demangler = {.at = mangled + 2, .end = mangled + length};
	size_t most = 4096 + 32 * length;
	char *text = NULL;
	gt_node root;

	if (length < 3 || length == GT_DEMANGLE_MOST_IN || strncmp(mangled, "_Z", 2) != 0)
		return NULL;
	if (most > GT_DEMANGLE_MOST_OUT)
		most = GT_DEMANGLE_MOST_OUT;
	gt_demangle_new(&demangler, &(struct gt_node_row){.kind = GT_NODE_NAME, .text = ""});
	root = with_clone(&demangler, gt_demangle_encoding(&demangler, true));
	if (root)
		text = gt_demangle_write(&demangler, root, most);
	gt_array_release(&demangler.nodes);
	gt_array_release(&demangler.substitutions);
	gt_array_release(&demangler.arguments);
	return text;
}
