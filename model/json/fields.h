/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_JSON_FIELDS_H
#define GT_MODEL_JSON_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_error;
struct json_t;

/*
 * Members of JSON objects into members of structs, by a table that says what each may be. A file
 * that says something else is refused in a sentence: where it is, and what was expected there.
 * Where that is taken for not known: json_values.h.
 */

enum gt_json_type {
	GT_JSON_U32,
	GT_JSON_I32,
	GT_JSON_U64,
	GT_JSON_I64,
	GT_JSON_FLAG,
	GT_JSON_ADDRESS, /* uint64_t, from "0x..." */
	GT_JSON_TEXT,    /* char *, of gt_allocate */
	GT_JSON_CHARS,   /* char [], as much as fits */
	GT_JSON_WORD,    /* uint32_t: which one of words it is */
	GT_JSON_TRIPLE,  /* uint32_t [3], of a list of as many numbers */
};

struct gt_json_field {
	const char *key;
	enum gt_json_type type;
	bool needed;   /* otherwise what is missing leaves the member as it was */
	size_t offset; /* of the member */
	size_t size;
	int64_t least; /* of numbers */
	int64_t most;
	const char *const *words; /* the last is NULL */
};

/* Lines of such tables. */
#define GT_JSON_NUMBER(s, name, kind, low, high)                                                   \
	{                                                                                          \
		.key = #name, .type = GT_JSON_##kind, .offset = offsetof(s, name), .least = (low), \
		.most = (high)                                                                     \
	}
#define GT_JSON_NEEDED(s, name, kind, low, high)                                                   \
	{                                                                                          \
		.key = #name, .type = GT_JSON_##kind, .needed = true, .offset = offsetof(s, name), \
		.least = (low), .most = (high)                                                     \
	}
#define GT_JSON_OTHER(s, name, kind)                                                               \
	{                                                                                          \
		.key = #name, .type = GT_JSON_##kind, .offset = offsetof(s, name),                 \
		.size = sizeof(((s *)NULL)->name)                                                  \
	}
#define GT_JSON_KIND(s, name, list)                                                                \
	{                                                                                          \
		.key = #name, .type = GT_JSON_WORD, .needed = true, .offset = offsetof(s, name),   \
		.words = (list)                                                                    \
	}

/* The place that is being read, and the first error. */
struct gt_json_reading {
	const char *file;
	const char *list; /* whose entry is being read; NULL: none */
	size_t number;
	struct gt_error *err;
	int result; /* 0, or -EBADMSG from the first failure on */
};

/* Notes that something is wrong, where the reading is; only the first time. Returns -EBADMSG. */
__attribute__((format(printf, 2, 3))) int gt_json_refuse(struct gt_json_reading *reading,
                                                         const char *fmt, ...);

/* Reads an object by the table into a struct of the caller's; texts are allocated. */
void gt_json_fields(struct gt_json_reading *reading, const struct json_t *object,
                    const struct gt_json_field *fields, size_t count, void *to);

#endif
