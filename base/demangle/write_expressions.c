/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/demangle/write.h"

/* Expressions as C++ writes them: arguments of templates that are values, and what decltype holds. */

/* 4, 4u, true; of any other type: (type)4. The ABI writes the minus sign as "n". */
static void write_literal(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	static const struct {
		const char *type;
		const char *suffix;
	} plain[] = {{"int", ""},         {"unsigned int", "u"},
	             {"long", "l"},       {"unsigned long", "ul"},
	             {"long long", "ll"}, {"unsigned long long", "ull"}};
	const struct gt_node_row *type = &writer->nodes[row->a];
	const bool negative = row->length && row->text[0] == 'n';
	const char *suffix = NULL;

	if (type->kind == GT_NODE_NAME && type->length == 4 && memcmp(type->text, "bool", 4) == 0 &&
	    row->length == 1 && strchr("01", row->text[0])) {
		gt_tree_put(writer, row->text[0] == '1' ? "true" : "false");
		return;
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (type->kind == GT_NODE_NAME && type->length == strlen(plain[i].type) &&
		    memcmp(type->text, plain[i].type, type->length) == 0)
			suffix = plain[i].suffix;
	if (!suffix) {
		gt_tree_put(writer, "(");
		gt_tree_write_node(writer, row->a);
		gt_tree_put(writer, ")");
	}
	gt_tree_put(writer, negative ? "-" : "");
	gt_tree_put_bytes(writer, row->text + negative, row->length - negative);
	gt_tree_put(writer, suffix ? suffix : "");
}

static void write_operand(struct gt_tree_writer *writer, gt_node node)
{
	const enum gt_node_kind kind = writer->nodes[node].kind;
	const bool simple = kind == GT_NODE_NAME || kind == GT_NODE_SCOPED ||
	                    kind == GT_NODE_UNNAMED || kind == GT_NODE_BRACES;

	gt_tree_put(writer, simple ? "" : "(");
	gt_tree_write_node(writer, node);
	gt_tree_put(writer, simple ? "" : ")");
}

static void write_binary(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	/* ">" would end the arguments of a template. */
	const bool greater = row->text[0] == '>' && row->length == 1;

	gt_tree_put(writer, greater ? "(" : "");
	write_operand(writer, row->a);
	gt_tree_write_text(writer, row);
	write_operand(writer, row->b);
	gt_tree_put(writer, greater ? ")" : "");
}

static void write_fold(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const bool right = row->flags & GT_NODE_OTHER;

	gt_tree_put(writer, "(");
	if (row->b || right)
		write_operand(writer, row->a);
	else
		gt_tree_put(writer, "...");
	gt_tree_write_text(writer, row);
	if (row->b) {
		gt_tree_put(writer, "...");
		gt_tree_write_text(writer, row);
		write_operand(writer, row->b);
	} else if (right) {
		gt_tree_put(writer, "...");
	} else {
		write_operand(writer, row->a);
	}
	gt_tree_put(writer, ")");
}

static void write_unary(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const struct gt_node_row *operand = &writer->nodes[row->a];

	/* The address of a function needs no parameters. */
	if (row->text[0] == '&' && operand->kind == GT_NODE_ENCODING &&
	    writer->nodes[operand->a].kind == GT_NODE_SCOPED) {
		gt_tree_write_text(writer, row);
		gt_tree_write_node(writer, operand->a);
		return;
	}
	if (!(row->flags & GT_NODE_OTHER))
		gt_tree_write_text(writer, row);
	write_operand(writer, row->a);
	if (row->flags & GT_NODE_OTHER)
		gt_tree_write_text(writer, row);
}

static void write_ternary(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	write_operand(writer, row->a);
	gt_tree_put(writer, "?");
	write_operand(writer, row->b);
	gt_tree_put(writer, " : ");
	write_operand(writer, row->c);
}

static void write_call(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	const bool calls = row->kind == GT_NODE_CALL;

	if (row->a && calls)
		write_operand(writer, row->a);
	else if (row->a)
		gt_tree_write_node(writer, row->a);
	gt_tree_put(writer, calls ? "(" : "{");
	gt_tree_write_list(writer, row->b);
	gt_tree_put(writer, calls ? ")" : "}");
}

static void write_cast(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_put(writer, "(");
	gt_tree_write_node(writer, row->a);
	gt_tree_put(writer, ")");
	write_operand(writer, row->b);
}

static void write_named_cast(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	gt_tree_write_text(writer, row);
	gt_tree_put(writer, "<");
	gt_tree_write_node(writer, row->a);
	gt_tree_put(writer, ">(");
	gt_tree_write_node(writer, row->b);
	gt_tree_put(writer, ")");
}

static void (*const writers[])(struct gt_tree_writer *writer, const struct gt_node_row *row) = {
	[GT_NODE_LITERAL] = write_literal,
	[GT_NODE_UNARY] = write_unary,
	[GT_NODE_BINARY] = write_binary,
	[GT_NODE_TERNARY] = write_ternary,
	[GT_NODE_CALL] = write_call,
	[GT_NODE_CAST] = write_cast,
	[GT_NODE_NAMED_CAST] = write_named_cast,
	[GT_NODE_BRACES] = write_call,
	[GT_NODE_FOLD] = write_fold,
};

void gt_tree_write_expression(struct gt_tree_writer *writer, const struct gt_node_row *row)
{
	writers[row->kind](writer, row);
}
