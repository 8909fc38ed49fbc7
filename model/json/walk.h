/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_JSON_WALK_H
#define GT_MODEL_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>

struct gt_json_reading;
struct json_t;

/*
 * Reads a large file of JSON one entry at a time, so that it takes the memory of its largest entry
 * and not thirty times its own size. The text outlives all that is here.
 */

/* A value that is not parsed yet. */
struct gt_json_slice {
	const char *text;
	size_t size;
	unsigned line; /* of the file, from 1 on */
};

/* The entries of a list, or the members of an object. */
struct gt_json_walk {
	const char *at;
	const char *end;
	unsigned line;
	char closing; /* ']' or '}' */
	bool begun;
};

/* False: the value is neither a list nor an object. */
bool gt_json_walk_begin(struct gt_json_walk *walk, const struct gt_json_slice *value);

/*
 * The next entry. key: of members, the slice of its quoted name; NULL for lists. False: there is
 * none, or the text is no JSON up to there, which reading->result tells apart.
 */
bool gt_json_walk_next(struct gt_json_walk *walk, struct gt_json_reading *reading,
                       struct gt_json_slice *key, struct gt_json_slice *value);

/* The caller gives the value back (json_decref). NULL: refused. */
struct json_t *gt_json_parse(struct gt_json_reading *reading, const struct gt_json_slice *value);

#endif
