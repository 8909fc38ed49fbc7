/* SPDX-License-Identifier: Apache-2.0 */
#include "base/demangle/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle/tree.h"

/*
 * A mangled name as a whole: nodes and lists of it, and encodings, which are names with their
 * types. Letters in comments are the ABI's; "5.1.3" is one of its sections.
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
