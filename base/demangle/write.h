/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_DEMANGLE_WRITE_H
#define GT_BASE_DEMANGLE_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/demangle/tree.h"

/* The text of a tree while it is written: nodes append to it, until it fails. */

struct gt_tree_writer {
	const struct gt_node_row *nodes;
	char *text;
	size_t length;
	size_t most;
	size_t steps;
	unsigned depth;
	long at_pack;   /* which element of packs is written, -1: all */
	long pack_size; /* of the first pack that was met, -1: none yet */
	bool failed;
};

void gt_tree_put_bytes(struct gt_tree_writer *writer, const char *text, size_t length);
void gt_tree_put(struct gt_tree_writer *writer, const char *text);

/* The text of a row alone, a node as a whole, and a list with commas between its elements. */
void gt_tree_write_text(struct gt_tree_writer *writer, const struct gt_node_row *row);
void gt_tree_write_node(struct gt_tree_writer *writer, gt_node node);
void gt_tree_write_list(struct gt_tree_writer *writer, gt_node list);

/* A row that is an expression: GT_NODE_LITERAL, and the kinds from GT_NODE_UNARY to GT_NODE_FOLD. */
void gt_tree_write_expression(struct gt_tree_writer *writer, const struct gt_node_row *row);

#endif
