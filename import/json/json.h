/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_JSON_JSON_H
#define GT_IMPORT_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A reader of JSON, token by token, in memory that does not grow with the file. It takes what
 * profilers write in fact: NaN and Infinity, raw control characters, a comma too many, members that
 * come twice. Numbers stay texts, as times in a double lose their last digits.
 */

enum gt_json_token {
	GT_TOKEN_OBJECT,
	GT_TOKEN_OBJECT_END,
	GT_TOKEN_ARRAY,
	GT_TOKEN_ARRAY_END,
	GT_TOKEN_KEY,
	GT_TOKEN_TEXT,
	GT_TOKEN_NUMBER,
	GT_TOKEN_WORD,   /* true, false, null, NaN, ... */
	GT_TOKEN_END,    /* the value is over */
	GT_TOKEN_BROKEN, /* cut, or no JSON from here on: problem has the end of a sentence */
};

/* Bytes into memory: how many, 0 at the end, negative: the file cannot be read further. */
struct gt_json_input {
	int (*read)(void *context, void *bytes, unsigned size);
	void *context;
};

enum {
	GT_JSON_BUFFER = 1 << 16,
	GT_JSON_MOST_TEXT = 1 << 16, /* of a longer one the first so many bytes are there */
	GT_JSON_MOST_DEPTH = 64,
};

struct gt_json {
	struct gt_json_input input;
	const char *problem; /* NULL: there is none */
	uint64_t offset;     /* bytes that were read before the buffer */
	unsigned at;
	unsigned filled;
	unsigned depth;
	uint64_t objects; /* a bit for each level: it is an object */
	bool has_key;     /* of the member whose value comes next */
	bool has_value;   /* one stands before in this level */
	char *text;       /* of the last key, text, number or word, with a zero behind it */
	size_t size;
	char *buffer;
};

void gt_json_init(struct gt_json *json, struct gt_json_input input);
void gt_json_release(struct gt_json *json);

enum gt_json_token gt_json_next(struct gt_json *json);

/* Passes over the rest of a value whose first token was just read. False: it is broken. */
bool gt_json_skip(struct gt_json *json, enum gt_json_token first);

/* Byte of the file at which the next token begins, counted from 0. */
uint64_t gt_json_offset(const struct gt_json *json);

/*
 * The next member of an object that was entered: its key is in key, and the first token of its
 * value is returned. GT_TOKEN_OBJECT_END and GT_TOKEN_BROKEN: there is none.
 */
enum gt_json_token gt_json_member(struct gt_json *json, char *key, size_t size);

#endif
