/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_NAME_PARTS_H
#define GT_MODEL_NAMING_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A C++ name taken apart: which bracket belongs to which, where its scopes, arguments and
 * parameters are. Parts are ranges of the name's text; each step through a part takes time in
 * proportion to what it steps over at most.
 */

enum {
	GT_NAME_MOST = 1 << 16, /* bytes of a name that is taken apart */
	GT_NAME_DEPTH = 512,    /* brackets inside each other */
};

struct gt_name {
	const char *text;
	size_t length;
	uint32_t *partner; /* of each opening bracket: where it closes */
};

/* From first up to but without end. */
struct gt_name_part {
	size_t first;
	size_t end;
};

/* Whether a text is a name whose brackets match; the text must outlive it. */
bool gt_name_init(struct gt_name *name, const char *text);
void gt_name_release(struct gt_name *name);

/* Without blanks at its ends. */
struct gt_name_part gt_name_trim(const struct gt_name *name, struct gt_name_part part);

bool gt_name_is(const struct gt_name *name, struct gt_name_part part, const char *text);

/* The next piece between commas; *rest is what is left, which must not be empty. */
struct gt_name_part gt_name_argument(const struct gt_name *name, struct gt_name_part *rest);

/* One scope of a name: base<arguments>(parameters). */
struct gt_name_scope {
	struct gt_name_part whole;
	struct gt_name_part base;
	struct gt_name_part arguments;  /* inside the brackets; empty: none */
	struct gt_name_part parameters; /* likewise */
	bool is_template;
	bool is_function;
};

/* The last scope of a part; *rest is what stands before it. False when nothing is left. */
bool gt_name_last_scope(const struct gt_name *name, struct gt_name_part *rest,
                        struct gt_name_scope *scope);

/* A function's name alone: without return type and parameters. */
struct gt_name_part gt_name_function(const struct gt_name *name);

#endif
