/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/demangle/write.h"

/*
 * A tree as C++ writes it. A declarator stands in the middle of its type, so that each type has a
 * left and a right part: int (*)[3]. Branches are shared: what a small tree says may be longer
 * than any memory, and writing ends when it has taken too many steps or characters.
 */

enum { STEPS_PER_CHARACTER = 16, NO_PACK = -1 };

static void write_left(struct gt_tree_writer *writer, gt_node node);
static void write_right(struct gt_tree_writer *writer, gt_node node);

void gt_tree_write_node(struct gt_tree_writer *writer, gt_node node)
{
	write_left(writer, node);
	write_right(writer, node);
}

void gt_tree_put_bytes(struct gt_tree_writer *writer, const char *text, size_t length)
{
	if (length > writer->most - writer->length) {
		writer->failed = true;
		return;
	}
	memcpy(writer->text + writer->length, text, length);
	writer->length += length;
}

void gt_tree_put(struct gt_tree_writer *writer, const char *text)
{
	gt_tree_put_bytes(writer, text, strlen(text));
}

static void put_number(struct gt_tree_writer *writer, uint32_t number)
{
	char digits[12];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	gt_tree_put_bytes(writer, digits + at, sizeof(digits) - at);
}

static char last_of(const struct gt_tree_writer *writer)
{
	return (char)(writer->length ? writer->text[writer->length - 1] : '\0');
}

void gt_tree_write_text(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_put_bytes(writer, row->text, row->length);
}

/* An element that writes nothing, as an empty pack, takes no comma. */
void gt_tree_write_list(struct gt_tree_writer *writer, gt_node list)
{
	const size_t start = writer->length;

	for (gt_node at = list; at && !writer->failed; at = writer->nodes[at].b) {
		const size_t before = writer->length;

		if (before > start)
			gt_tree_put(writer, ", ");

		const size_t after = writer->length;

		gt_tree_write_node(writer, writer->nodes[at].a);
		if (writer->length == after)
			writer->length = before;
	}
}

static void write_arguments(struct gt_tree_writer *writer, gt_node list)
{
	const long at_pack = writer->at_pack;

	if (last_of(writer) == '<')
		gt_tree_put(writer, " ");
	gt_tree_put(writer, "<");
	writer->at_pack = at_pack;
	gt_tree_write_list(writer, list);
	if (last_of(writer) == '>')
		gt_tree_put(writer, " ");
	gt_tree_put(writer, ">");
}

static void write_flags(struct gt_tree_writer *writer, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} words[] = {{GT_NODE_CONST, " const"},         {GT_NODE_VOLATILE, " volatile"},
	             {GT_NODE_RESTRICT, " __restrict"}, {GT_NODE_LVALUE, " &"},
	             {GT_NODE_RVALUE, " &&"},           {GT_NODE_NOEXCEPT, " noexcept"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (flags & words[i].flag)
			gt_tree_put(writer, words[i].text);
}

/* The element of a pack that is being written; 0 for all or none of them. */
static gt_node element_of(struct gt_tree_writer *writer, gt_node pack)
{
	gt_node at = writer->nodes[pack].a;

	if (writer->pack_size == NO_PACK) {
		long size = 0;

		for (gt_node link = at; link; link = writer->nodes[link].b)
			size++;
		writer->pack_size = size;
		writer->steps += (size_t)size;
	}
	if (writer->at_pack == NO_PACK)
		return 0;
	for (long i = 0; at && i < writer->at_pack; i++, writer->steps++)
		at = writer->nodes[at].b;
	return at ? writer->nodes[at].a : 0;
}

/* The node whose declarator a type has: what a parameter stands for just now. */
static gt_node meant(struct gt_tree_writer *writer, gt_node node)
{
	for (;; writer->steps++) {
		if (writer->nodes[node].kind == GT_NODE_PARAMETER)
			node = writer->nodes[node].a;
		else if (writer->nodes[node].kind == GT_NODE_PACK && writer->at_pack != NO_PACK)
			node = element_of(writer, node);
		else
			return node;
	}
}

static void write_expansion(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const long at_pack = writer->at_pack;
	const long pack_size = writer->pack_size;
	const size_t start = writer->length;

	writer->at_pack = 0;
	writer->pack_size = NO_PACK;
	gt_tree_write_node(writer, row->a);
	if (writer->pack_size == NO_PACK)
		gt_tree_put(writer, "...");
	else if (writer->pack_size == 0)
		writer->length = start;
	for (long i = 1; i < writer->pack_size && !writer->failed; i++) {
		gt_tree_put(writer, ", ");
		writer->at_pack = i;
		gt_tree_write_node(writer, row->a);
	}
	writer->at_pack = at_pack;
	writer->pack_size = pack_size;
}

/* The kind of declarator of a type, which may be const. */
static enum gt_node_kind declarator_of(struct gt_tree_writer *writer, gt_node node)
{
	for (;;) {
		node = meant(writer, node);
		if (writer->nodes[node].kind != GT_NODE_QUALIFIED)
			return writer->nodes[node].kind;
		node = writer->nodes[node].a;
		writer->steps++;
	}
}

static bool needs_brackets(struct gt_tree_writer *writer, gt_node node)
{
	const enum gt_node_kind kind = declarator_of(writer, node);

	return kind == GT_NODE_ARRAY || kind == GT_NODE_FUNCTION;
}

/* References to references collapse to the weaker one. */
static void write_indirect_left(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const gt_node target = meant(writer, row->a);
	const struct gt_node_row *inner = &writer->nodes[target];

	if (inner->kind == GT_NODE_INDIRECT && inner->text[0] == '&' && row->text[0] == '&') {
		const bool rvalue = inner->length == 2 && row->length == 2;
		const struct gt_node_row one = {.kind = GT_NODE_INDIRECT,
		                                .a = inner->a,
		                                .text = rvalue ? "&&" : "&",
		                                .length = rvalue ? 2 : 1};

		write_indirect_left(writer, &one);
		return;
	}
	write_left(writer, target);
	if (declarator_of(writer, target) == GT_NODE_ARRAY)
		gt_tree_put(writer, " ");
	if (needs_brackets(writer, target))
		gt_tree_put(writer, "(");
	gt_tree_write_text(writer, row);
}

static void write_indirect_right(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const gt_node target = meant(writer, row->a);
	const struct gt_node_row *inner = &writer->nodes[target];

	if (!(inner->kind == GT_NODE_INDIRECT && inner->text[0] == '&' && row->text[0] == '&') &&
	    needs_brackets(writer, target))
		gt_tree_put(writer, ")");
	write_right(writer, target);
}

static void write_member_left(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	write_left(writer, row->b);
	if (declarator_of(writer, row->b) == GT_NODE_ARRAY)
		gt_tree_put(writer, " ");
	gt_tree_put(writer, needs_brackets(writer, row->b) ? "(" : " ");
	gt_tree_write_node(writer, row->a);
	gt_tree_put(writer, "::*");
}

static void write_function_right(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_put(writer, "(");
	gt_tree_write_list(writer, row->b);
	gt_tree_put(writer, ")");
	write_flags(writer, row->flags);
	if (row->a)
		write_right(writer, row->a);
}

static void write_encoding(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const struct gt_node_row *type = &writer->nodes[row->b];

	if (type->a) {
		write_left(writer, type->a);
		if (!needs_brackets(writer, type->a))
			gt_tree_put(writer, " ");
	}
	gt_tree_write_node(writer, row->a);
	gt_tree_put(writer, "(");
	gt_tree_write_list(writer, type->b);
	gt_tree_put(writer, ")");
	if (type->a)
		write_right(writer, type->a);
	write_flags(writer, type->flags);
}

/* The name of a class without its scopes and arguments. */
static void write_base_name(struct gt_tree_writer *writer, gt_node node)
{
	for (;;) {
		const struct gt_node_row *row = &writer->nodes[node];

		if (row->kind == GT_NODE_SCOPED)
			node = row->b;
		else if (row->kind == GT_NODE_TEMPLATE || row->kind == GT_NODE_TAGGED)
			node = row->a;
		else
			break;
	}

	const struct gt_node_row *row = &writer->nodes[node];

	if (row->kind == GT_NODE_NAME && row->length > 5 && memcmp(row->text, "std::", 5) == 0)
		gt_tree_put_bytes(writer, row->text + 5, row->length - 5);
	else
		gt_tree_write_node(writer, node);
}

static void write_lambda(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_put(writer, "{lambda(");
	gt_tree_write_list(writer, row->a);
	gt_tree_put(writer, ")#");
	put_number(writer, row->number);
	gt_tree_put(writer, "}");
}

/* {unnamed type#1}, {parm#1}; auto:1 has no brackets. */
static void write_unnamed(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const bool automatic = strcmp(row->text, "auto") == 0;

	gt_tree_put(writer, automatic ? "" : "{");
	gt_tree_put(writer, row->text);
	gt_tree_put(writer, automatic ? ":" : "#");
	put_number(writer, row->number);
	gt_tree_put(writer, automatic ? "" : "}");
}

static void write_pack(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const gt_node element = element_of(writer, (gt_node)(row - writer->nodes));

	if (writer->at_pack == NO_PACK)
		gt_tree_write_list(writer, row->a);
	else if (element)
		write_left(writer, element);
}

static void write_scoped(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_write_node(writer, row->a);
	gt_tree_put(writer, "::");
	gt_tree_write_node(writer, row->b);
}

/* A text on one side of a node, or around it. */
static void write_with_text(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const bool clone = row->kind == GT_NODE_SUFFIXED && row->text[0] == '.';

	if (row->kind == GT_NODE_TAGGED || row->kind == GT_NODE_SUFFIXED) {
		gt_tree_write_node(writer, row->a);
		gt_tree_put(writer, row->kind == GT_NODE_TAGGED ? "[abi:"
		                    : clone                     ? " [clone "
		                                                : "");
		gt_tree_write_text(writer, row);
		gt_tree_put(writer, row->kind == GT_NODE_TAGGED || clone ? "]" : "");
		return;
	}
	gt_tree_write_text(writer, row);
	gt_tree_put(writer, row->kind == GT_NODE_ENCLOSED ? "(" : "");
	gt_tree_write_node(writer, row->a);
	gt_tree_put(writer, row->kind == GT_NODE_ENCLOSED ? ")" : "");
}

static void write_list_of(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_write_list(writer, (gt_node)(row - writer->nodes));
}

static void write_template(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_write_node(writer, row->a);
	write_arguments(writer, row->b);
}

static void write_all_arguments(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_write_list(writer, row->a);
}

static void write_constructor(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_put(writer, row->flags ? "~" : "");
	write_base_name(writer, row->a);
}

/* Writers of nodes that have no right part; types are not here. */
static void (*const writers[])(struct gt_tree_writer *writer, const struct gt_node_row *row) = {
	[GT_NODE_NAME] = gt_tree_write_text,
	[GT_NODE_LIST] = write_list_of,
	[GT_NODE_SCOPED] = write_scoped,
	[GT_NODE_TEMPLATE] = write_template,
	[GT_NODE_TAGGED] = write_with_text,
	[GT_NODE_ENCODING] = write_encoding,
	[GT_NODE_ARGUMENTS] = write_all_arguments,
	[GT_NODE_PACK] = write_pack,
	[GT_NODE_EXPANSION] = write_expansion,
	[GT_NODE_CONSTRUCTOR] = write_constructor,
	[GT_NODE_LAMBDA] = write_lambda,
	[GT_NODE_UNNAMED] = write_unnamed,
	[GT_NODE_LITERAL] = gt_tree_write_expression,
	[GT_NODE_PREFIXED] = write_with_text,
	[GT_NODE_SUFFIXED] = write_with_text,
	[GT_NODE_ENCLOSED] = write_with_text,
	[GT_NODE_UNARY] = gt_tree_write_expression,
	[GT_NODE_BINARY] = gt_tree_write_expression,
	[GT_NODE_TERNARY] = gt_tree_write_expression,
	[GT_NODE_CALL] = gt_tree_write_expression,
	[GT_NODE_CAST] = gt_tree_write_expression,
	[GT_NODE_NAMED_CAST] = gt_tree_write_expression,
	[GT_NODE_BRACES] = gt_tree_write_expression,
	[GT_NODE_FOLD] = gt_tree_write_expression,
};

static void write_type_left(struct gt_tree_writer *writer, gt_node type)
{
	const gt_node node =
		writer->nodes[type].kind == GT_NODE_PARAMETER ? meant(writer, type) : type;
	const struct gt_node_row *row = &writer->nodes[node];

	if (row->kind == GT_NODE_FUNCTION) {
		if (row->a) {
			write_left(writer, row->a);
			gt_tree_put(writer, " ");
		}
	} else if (row->kind == GT_NODE_INDIRECT) {
		write_indirect_left(writer, row);
	} else if (row->kind == GT_NODE_MEMBER) {
		write_member_left(writer, row);
	} else if (row->kind == GT_NODE_ARRAY) {
		write_left(writer, row->a);
	} else if (row->kind == GT_NODE_QUALIFIED) {
		const struct gt_node_row *inner = &writer->nodes[meant(writer, row->a)];
		const bool twice = inner->kind == GT_NODE_QUALIFIED;

		write_left(writer, row->a);
		write_flags(writer, row->flags & ~(twice ? inner->flags : 0));
	} else if (row->kind == GT_NODE_VENDOR) {
		write_left(writer, row->a);
		gt_tree_put(writer, row->flags ? " __vector(" : " ");
		gt_tree_write_text(writer, row);
		gt_tree_put(writer, row->flags ? ")" : "");
	} else {
		writers[row->kind](writer, row);
	}
}

static void write_type_right(struct gt_tree_writer *writer, gt_node type)
{
	const gt_node node =
		writer->nodes[type].kind == GT_NODE_PARAMETER ? meant(writer, type) : type;
	const struct gt_node_row *row = &writer->nodes[node];

	if (row->kind == GT_NODE_FUNCTION) {
		write_function_right(writer, row);
	} else if (row->kind == GT_NODE_INDIRECT) {
		write_indirect_right(writer, row);
	} else if (row->kind == GT_NODE_MEMBER) {
		gt_tree_put(writer, needs_brackets(writer, row->b) ? ")" : "");
		write_right(writer, row->b);
	} else if (row->kind == GT_NODE_ARRAY) {
		if (last_of(writer) != ']')
			gt_tree_put(writer, " ");
		gt_tree_put(writer, "[");
		if (row->b)
			gt_tree_write_node(writer, row->b);
		gt_tree_put(writer, "]");
		write_right(writer, row->a);
	} else if (row->kind == GT_NODE_QUALIFIED || row->kind == GT_NODE_VENDOR) {
		write_right(writer, row->a);
	} else if (row->kind == GT_NODE_PACK && writer->at_pack != NO_PACK) {
		const gt_node element = element_of(writer, node);

		if (element)
			write_right(writer, element);
	}
}

static void write_part(struct gt_tree_writer *writer, gt_node node,
                       void (*part)(struct gt_tree_writer *writer, gt_node node))
{
	if (writer->failed || writer->depth > 2 * GT_DEMANGLE_MOST_DEPTH ||
	    ++writer->steps > STEPS_PER_CHARACTER * writer->most) {
		writer->failed = true;
		return;
	}
	writer->depth++;
	part(writer, node);
	writer->depth--;
}

static void write_left(struct gt_tree_writer *writer, gt_node node)
{
	write_part(writer, node, write_type_left);
}

static void write_right(struct gt_tree_writer *writer, gt_node node)
{
	write_part(writer, node, write_type_right);
}

char *gt_demangle_write(const struct gt_demangler *demangler, gt_node root, size_t most)
{
	struct gt_tree_writer writer = {
		.nodes = demangler->nodes.rows,
		.text = gt_allocate(most + 1),
		.most = most,
		.at_pack = NO_PACK,
		.pack_size = NO_PACK,
	};

	gt_tree_write_node(&writer, root);
	writer.text[writer.length] = '\0';
	if (!writer.failed)
		return writer.text;
	free(writer.text);
	return NULL;
}
