/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "base/demangle/tree.h"

/* Operators, literals and expressions of mangled names: Itanium C++ ABI, 5.1.3.3, 5.1.6. */

enum shape { UNARY, POSTFIX, BINARY, TERNARY, NEVER };

static const struct operation {
	const char *letters;
	const char *text;
	enum shape shape; /* in an expression; NEVER: only a name */
} operations[] = {
	{"nw", " new", NEVER},      {"na", " new[]", NEVER},    {"dl", " delete", NEVER},
	{"da", " delete[]", NEVER}, {"aw", " co_await", NEVER}, {"ps", "+", UNARY},
	{"ng", "-", UNARY},         {"ad", "&", UNARY},         {"de", "*", UNARY},
	{"co", "~", UNARY},         {"nt", "!", UNARY},         {"pl", "+", BINARY},
	{"mi", "-", BINARY},        {"ml", "*", BINARY},        {"dv", "/", BINARY},
	{"rm", "%", BINARY},        {"an", "&", BINARY},        {"or", "|", BINARY},
	{"eo", "^", BINARY},        {"aS", "=", BINARY},        {"pL", "+=", BINARY},
	{"mI", "-=", BINARY},       {"mL", "*=", BINARY},       {"dV", "/=", BINARY},
	{"rM", "%=", BINARY},       {"aN", "&=", BINARY},       {"oR", "|=", BINARY},
	{"eO", "^=", BINARY},       {"ls", "<<", BINARY},       {"rs", ">>", BINARY},
	{"lS", "<<=", BINARY},      {"rS", ">>=", BINARY},      {"eq", "==", BINARY},
	{"ne", "!=", BINARY},       {"lt", "<", BINARY},        {"gt", ">", BINARY},
	{"le", "<=", BINARY},       {"ge", ">=", BINARY},       {"ss", "<=>", BINARY},
	{"aa", "&&", BINARY},       {"oo", "||", BINARY},       {"cm", ",", BINARY},
	{"pm", "->*", BINARY},      {"dt", ".", BINARY},        {"pt", "->", BINARY},
	{"ds", ".*", BINARY},       {"pp", "++", POSTFIX},      {"mm", "--", POSTFIX},
	{"cl", "()", NEVER},        {"ix", "[]", NEVER},        {"qu", "?", TERNARY},
};

static const struct operation *eat_operation(struct gt_demangler *demangler)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (gt_demangle_eat_two(demangler, operations[i].letters))
			return &operations[i];
	return NULL;
}

/* <operator-name> of a function. */
gt_node gt_demangle_operator(struct gt_demangler *demangler, struct gt_name_state *state)
{
	struct gt_node_row row = {.kind = GT_NODE_PREFIXED, .text = "operator", .length = 8};
	const struct operation *operation;
	struct gt_node_row literal = {
		.kind = GT_NODE_PREFIXED, .text = "operator\"\" ", .length = 11};

	if (gt_demangle_eat_two(demangler, "cv")) {
		if (state)
			state->no_return = true;
		row.text = "operator ";
		row.length = strlen(row.text);
		row.a = gt_demangle_type(demangler);
		return row.a ? gt_demangle_new(demangler, &row) : 0;
	}
	if (gt_demangle_eat_two(demangler, "li")) {
		literal.a = gt_demangle_unqualified(demangler, 0, NULL);
		return literal.a ? gt_demangle_new(demangler, &literal) : 0;
	}
	operation = eat_operation(demangler);
	if (!operation)
		return 0;
	row.a = gt_demangle_text(demangler, operation->text);
	return gt_demangle_new(demangler, &row);
}

/* <expr-primary>, with its "L". */
gt_node gt_demangle_literal(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_LITERAL};

	if (!gt_demangle_eat(demangler, 'L'))
		return 0;
	if (gt_demangle_eat_two(demangler, "_Z") || gt_demangle_eat(demangler, 'Z')) {
		row.a = gt_demangle_encoding(demangler, true);
		return row.a && gt_demangle_eat(demangler, 'E') ? row.a : 0;
	}
	row.a = gt_demangle_type(demangler);
	row.text = demangler->at;
	while (gt_demangle_look(demangler, 0) && gt_demangle_look(demangler, 0) != 'E')
		demangler->at++;
	row.length = (size_t)(demangler->at - row.text);
	return row.a && gt_demangle_eat(demangler, 'E') ? gt_demangle_new(demangler, &row) : 0;
}

/* A name in an expression, with arguments. */
static gt_node simple_name(struct gt_demangler *demangler)
{
	gt_node name = 0;

	gt_demangle_eat_two(demangler, "on");
	name = gt_demangle_unqualified(demangler, 0, NULL);
	if (name && gt_demangle_look(demangler, 0) == 'I')
		name = gt_demangle_arguments(demangler, name, false);
	return name;
}

static gt_node scope_in(struct gt_demangler *demangler, gt_node scope, gt_node name)
{
	const struct gt_node_row row = {.kind = GT_NODE_SCOPED, .a = scope, .b = name};

	return scope && name ? gt_demangle_new(demangler, &row) : 0;
}

/*
 * Scopes by their source names, an "E" and a name; compilers before 2011 wrote a type and a name.
 * The text that follows tells which it was.
 */
static gt_node unresolved_scopes(struct gt_demangler *demangler)
{
	gt_node name = simple_name(demangler);

	while (name && isdigit((unsigned char)gt_demangle_look(demangler, 0)))
		name = scope_in(demangler, name, simple_name(demangler));
	if (name && gt_demangle_look(demangler, 0) == 'E' &&
	    (isdigit((unsigned char)gt_demangle_look(demangler, 1)) ||
	     (gt_demangle_look(demangler, 1) == 'o' && gt_demangle_look(demangler, 2) == 'n'))) {
		demangler->at++;
		name = scope_in(demangler, name, simple_name(demangler));
	}
	return name;
}

/* <unresolved-name>, after its "sr". */
static gt_node unresolved(struct gt_demangler *demangler)
{
	gt_node name;

	if (isdigit((unsigned char)gt_demangle_look(demangler, 0)))
		return unresolved_scopes(demangler);
	if (gt_demangle_eat(demangler, 'N')) {
		name = gt_demangle_type(demangler);
		while (name && !gt_demangle_eat(demangler, 'E'))
			name = scope_in(demangler, name, simple_name(demangler));
	} else {
		name = gt_demangle_type(demangler);
	}
	return name ? scope_in(demangler, name, simple_name(demangler)) : 0;
}

/* fp_, fp0_, fL0p_, ...: a parameter of the function; fpT: this. */
static gt_node function_parameter(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_UNNAMED, .text = "parm"};

	if (gt_demangle_eat(demangler, 'T'))
		return gt_demangle_text(demangler, "this");
	while (strchr("rVK", gt_demangle_look(demangler, 0)) && gt_demangle_look(demangler, 0))
		demangler->at++;
	if (!gt_demangle_sequence(demangler, 10, &row.number))
		return 0;
	row.number++;
	return gt_demangle_new(demangler, &row);
}

static gt_node fold(struct gt_demangler *demangler, bool left, bool both)
{
	const struct operation *operation = eat_operation(demangler);
	struct gt_node_row row = {.kind = GT_NODE_FOLD, .flags = left ? 0 : GT_NODE_OTHER};

	if (!operation)
		return 0;
	row.text = operation->text;
	row.length = strlen(row.text);
	row.a = gt_demangle_expression(demangler);
	if (row.a && both)
		row.b = gt_demangle_expression(demangler);
	return row.a && (row.b || !both) ? gt_demangle_new(demangler, &row) : 0;
}

static gt_node call(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_CALL};

	row.a = gt_demangle_expression(demangler);
	return row.a && gt_demangle_list(demangler, gt_demangle_expression, &row.b)
	               ? gt_demangle_new(demangler, &row)
	               : 0;
}

static gt_node cast(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_CAST};

	row.a = gt_demangle_type(demangler);
	if (!row.a)
		return 0;
	if (gt_demangle_eat(demangler, '_')) {
		row.kind = GT_NODE_CALL;
		return gt_demangle_list(demangler, gt_demangle_expression, &row.b)
		               ? gt_demangle_new(demangler, &row)
		               : 0;
	}
	row.b = gt_demangle_expression(demangler);
	return row.b ? gt_demangle_new(demangler, &row) : 0;
}

static gt_node braces(struct gt_demangler *demangler, bool typed)
{
	struct gt_node_row row = {.kind = GT_NODE_BRACES};

	if (typed) {
		row.a = gt_demangle_type(demangler);
		if (!row.a)
			return 0;
	}
	return gt_demangle_list(demangler, gt_demangle_expression, &row.b)
	               ? gt_demangle_new(demangler, &row)
	               : 0;
}

static gt_node enclosed(struct gt_demangler *demangler, const char *text,
                        gt_node (*inner)(struct gt_demangler *))
{
	struct gt_node_row row = {.kind = GT_NODE_ENCLOSED, .text = text, .length = strlen(text)};

	row.a = inner(demangler);
	return row.a ? gt_demangle_new(demangler, &row) : 0;
}

static gt_node named_cast(struct gt_demangler *demangler, const char *text)
{
	struct gt_node_row row = {.kind = GT_NODE_NAMED_CAST, .text = text, .length = strlen(text)};

	row.a = gt_demangle_type(demangler);
	row.b = row.a ? gt_demangle_expression(demangler) : 0;
	return row.b ? gt_demangle_new(demangler, &row) : 0;
}

static gt_node expansion(struct gt_demangler *demangler)
{
	struct gt_node_row row = {.kind = GT_NODE_EXPANSION};

	row.a = gt_demangle_expression(demangler);
	return row.a ? gt_demangle_new(demangler, &row) : 0;
}

/* sizeof and its like: letters, what is written before the brackets, and whether a type is in them.
 */
static const struct {
	const char *letters;
	const char *text;
	bool of_type;
} enclosings[] = {
	{"st", "sizeof ", true},   {"sz", "sizeof ", false},  {"at", "alignof ", true},
	{"az", "alignof ", false}, {"nx", "noexcept", false}, {"sZ", "sizeof...", true},
};

static const struct {
	const char *letters;
	const char *text;
} named_casts[] = {
	{"sc", "static_cast"},
	{"rc", "reinterpret_cast"},
	{"cc", "const_cast"},
	{"dc", "dynamic_cast"},
};

static gt_node any_enclosed(struct gt_demangler *demangler)
{
	for (size_t i = 0; i < sizeof(enclosings) / sizeof(enclosings[0]); i++)
		if (gt_demangle_eat_two(demangler, enclosings[i].letters))
			return enclosed(demangler, enclosings[i].text,
			                enclosings[i].of_type ? gt_demangle_type
			                                      : gt_demangle_expression);
	for (size_t i = 0; i < sizeof(named_casts) / sizeof(named_casts[0]); i++)
		if (gt_demangle_eat_two(demangler, named_casts[i].letters))
			return named_cast(demangler, named_casts[i].text);
	return 0;
}

/* fL0p_ is a parameter of a function further out, fLpl... a fold. */
static gt_node outer_parameter(struct gt_demangler *demangler)
{
	demangler->at += 2;
	while (isdigit((unsigned char)gt_demangle_look(demangler, 0)))
		demangler->at++;
	return gt_demangle_eat(demangler, 'p') ? function_parameter(demangler) : 0;
}

static gt_node any_fold(struct gt_demangler *demangler)
{
	const char kind = gt_demangle_look(demangler, 1);

	if (!kind || !strchr("lrLR", kind))
		return 0;
	demangler->at += 2;
	return fold(demangler, kind == 'l' || kind == 'L', kind == 'L' || kind == 'R');
}

/* Expressions that are neither names nor operators; 0, with nothing read, for others. */
static gt_node special(struct gt_demangler *demangler)
{
	gt_demangle_eat_two(demangler, "gs");
	if (gt_demangle_eat_two(demangler, "sr"))
		return unresolved(demangler);
	if (gt_demangle_eat_two(demangler, "fp"))
		return function_parameter(demangler);
	if (gt_demangle_look(demangler, 0) == 'f')
		return isdigit((unsigned char)gt_demangle_look(demangler, 2))
		               ? outer_parameter(demangler)
		               : any_fold(demangler);
	if (gt_demangle_eat_two(demangler, "cl"))
		return call(demangler);
	if (gt_demangle_eat_two(demangler, "cv"))
		return cast(demangler);
	if (gt_demangle_eat_two(demangler, "tl"))
		return braces(demangler, true);
	if (gt_demangle_eat_two(demangler, "il"))
		return braces(demangler, false);
	if (gt_demangle_eat_two(demangler, "sp"))
		return expansion(demangler);
	return any_enclosed(demangler);
}

static gt_node operated(struct gt_demangler *demangler)
{
	const struct operation *operation = eat_operation(demangler);
	struct gt_node_row row = {.kind = GT_NODE_UNARY};

	if (!operation || operation->shape == NEVER)
		return 0;
	row.text = operation->text;
	row.length = strlen(operation->text);
	if (operation->shape == POSTFIX && !gt_demangle_eat(demangler, '_'))
		row.flags = GT_NODE_OTHER;
	row.a = gt_demangle_expression(demangler);
	if (operation->shape == BINARY || operation->shape == TERNARY) {
		row.kind = operation->shape == BINARY ? GT_NODE_BINARY : GT_NODE_TERNARY;
		row.b = row.a ? gt_demangle_expression(demangler) : 0;
	}
	if (operation->shape == TERNARY)
		row.c = row.b ? gt_demangle_expression(demangler) : 0;
	if (!row.a || (operation->shape >= BINARY && !row.b) ||
	    (operation->shape == TERNARY && !row.c))
		return 0;
	return gt_demangle_new(demangler, &row);
}

static gt_node any_expression(struct gt_demangler *demangler)
{
	const char letter = gt_demangle_look(demangler, 0);
	const char *start = demangler->at;
	gt_node node;

	if (letter == 'L')
		return gt_demangle_literal(demangler);
	if (letter == 'T')
		return gt_demangle_parameter(demangler);
	if (isdigit((unsigned char)letter) ||
	    (letter == 'o' && gt_demangle_look(demangler, 1) == 'n'))
		return simple_name(demangler);
	node = special(demangler);
	return node || demangler->at != start ? node : operated(demangler);
}

gt_node gt_demangle_expression(struct gt_demangler *demangler)
{
	gt_node node = 0;

	if (demangler->depth++ < GT_DEMANGLE_MOST_DEPTH)
		node = any_expression(demangler);
	demangler->depth--;
	return node;
}
