/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_DEMANGLE_TREE_H
#define GT_BASE_DEMANGLE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/*
 * Content of a mangled name, as a tree whose branches are shared where the name repeats itself.
 * Internal to base/demangle*.c. Nodes are numbers of rows; 0 is none, or that it cannot be read.
 * A node only names nodes that were made before it, so there are no cycles.
 */

typedef uint32_t gt_node;

enum gt_node_kind {
	GT_NODE_NAME,      /* text */
	GT_NODE_LIST,      /* first a, then the list b */
	GT_NODE_SCOPED,    /* a::b */
	GT_NODE_TEMPLATE,  /* a<list b> */
	GT_NODE_TAGGED,    /* a[abi:text] */
	GT_NODE_FUNCTION,  /* type: returns a, takes list b; flags */
	GT_NODE_ENCODING,  /* function a of type b; its return type is left out if that has none */
	GT_NODE_QUALIFIED, /* a with flags */
	GT_NODE_VENDOR,    /* a text */
	GT_NODE_INDIRECT,  /* text (*, & or &&) to a */
	GT_NODE_ARRAY,     /* of a, of size b */
	GT_NODE_MEMBER,    /* pointer to a member b of a */
	GT_NODE_ARGUMENTS, /* list a as one argument of a template */
	GT_NODE_PACK,      /* list a as what a parameter stands for */
	GT_NODE_PARAMETER, /* the parameter number, which was a; in substitutions alone */
	GT_NODE_EXPANSION, /* a once for each of the pack in it */
	GT_NODE_CONSTRUCTOR, /* of a; flags: it is the destructor */
	GT_NODE_LAMBDA,      /* that takes list a; number */
	GT_NODE_UNNAMED,     /* text#number */
	GT_NODE_LITERAL,     /* text of type a */
	GT_NODE_PREFIXED,    /* text, then a */
	GT_NODE_SUFFIXED,    /* a, then text */
	GT_NODE_ENCLOSED,    /* text ( a ) */
	GT_NODE_UNARY,       /* text applied to a; flags: after it */
	GT_NODE_BINARY,      /* a text b */
	GT_NODE_TERNARY,     /* a ? b : c */
	GT_NODE_CALL,        /* a(list b) */
	GT_NODE_CAST,        /* (a)b */
	GT_NODE_NAMED_CAST,  /* text<a>(b) */
	GT_NODE_BRACES,      /* a{list b} */
	GT_NODE_FOLD,        /* ... text a, or with flags a text ..., or with b both */
};

enum gt_node_flag {
	GT_NODE_CONST = 1,
	GT_NODE_VOLATILE = 2,
	GT_NODE_RESTRICT = 4,
	GT_NODE_LVALUE = 8,
	GT_NODE_RVALUE = 16,
	GT_NODE_NOEXCEPT = 32,
	GT_NODE_OTHER = 64, /* of the two forms of a kind, the second */
};

struct gt_node_row {
	enum gt_node_kind kind;
	uint32_t flags;
	gt_node a;
	gt_node b;
	gt_node c;
	uint32_t number;
	const char *text; /* of the mangled name, or constant */
	size_t length;
};

/* A name while it is read. */
struct gt_demangler {
	const char *at; /* never beyond the end */
	const char *end;
	unsigned depth;
	unsigned lambda_depth; /* inside of so many lists of parameters of lambdas */
	gt_array(struct gt_node_row) nodes;
	gt_array(gt_node) substitutions;
	gt_array(gt_node) arguments; /* of the template that parameters mean */
};

/* Facts about a name, found while it is read. */
struct gt_name_state {
	bool is_template; /* ends with arguments: the return type is part of the name */
	bool no_return;   /* constructor, destructor or conversion: it is not */
	uint32_t flags;   /* of the member function */
};

enum { GT_DEMANGLE_MOST_DEPTH = 512 };

/* ---- reading; all give 0 for what cannot be read ---- */

gt_node gt_demangle_new(struct gt_demangler *demangler, const struct gt_node_row *row);
gt_node gt_demangle_text(struct gt_demangler *demangler, const char *text);

/* A list of items read by item until the letter 'E' (eaten); *list may be 0 for an empty one. */
bool gt_demangle_list(struct gt_demangler *demangler, gt_node (*item)(struct gt_demangler *),
                      gt_node *list);

static inline char gt_demangle_look(const struct gt_demangler *demangler, size_t ahead)
{
	return (size_t)(demangler->end - demangler->at) > ahead ? demangler->at[ahead] : '\0';
}

static inline bool gt_demangle_eat(struct gt_demangler *demangler, char letter)
{
	if (gt_demangle_look(demangler, 0) != letter)
		return false;
	demangler->at++;
	return true;
}

static inline bool gt_demangle_eat_two(struct gt_demangler *demangler, const char *letters)
{
	if (gt_demangle_look(demangler, 0) != letters[0] ||
	    gt_demangle_look(demangler, 1) != letters[1])
		return false;
	demangler->at += 2;
	return true;
}

gt_node gt_demangle_encoding(struct gt_demangler *demangler, bool top);
gt_node gt_demangle_name(struct gt_demangler *demangler, struct gt_name_state *state);
gt_node gt_demangle_unqualified(struct gt_demangler *demangler, gt_node scope,
                                struct gt_name_state *state);
gt_node gt_demangle_type(struct gt_demangler *demangler);
gt_node gt_demangle_parameter(struct gt_demangler *demangler);

/* Keeps a node that S_, S0_, ... may repeat later; a parameter means then what it means there. */
void gt_demangle_remember(struct gt_demangler *demangler, gt_node node);
gt_node gt_demangle_remembered(struct gt_demangler *demangler);

gt_node gt_demangle_arguments(struct gt_demangler *demangler, gt_node name, bool keep);
gt_node gt_demangle_expression(struct gt_demangler *demangler);
gt_node gt_demangle_literal(struct gt_demangler *demangler);
gt_node gt_demangle_decltype(struct gt_demangler *demangler);
gt_node gt_demangle_operator(struct gt_demangler *demangler, struct gt_name_state *state);

/* [n] digits of base 10 or 36 and an underscore, as 0 for "_", 1 for "0_", ... */
bool gt_demangle_sequence(struct gt_demangler *demangler, unsigned base, uint32_t *number);

/* ---- writing ---- */

/* The text of a tree, for the caller to free; NULL when it would be longer than most. */
char *gt_demangle_write(const struct gt_demangler *demangler, gt_node root, size_t most);

#endif
