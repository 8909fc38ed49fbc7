/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_BUNDLE_READER_H
#define GT_MODEL_BUNDLE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "model/bundle/bundle.h"
#include "model/json/fields.h"
#include "model/json/walk.h"

/*
 * Reading of a bundle's manifest: each file read_*.c reads some of its lists and checks what they
 * say. An entry that makes no sense is refused, and nothing after it is read.
 */

/*
 * Limits of any bundle. Objects and lists bound the memory that a text takes when it is read;
 * GPUs have 57 bits of addresses at most.
 */
#define GT_BUNDLE_MOST_BYTES    ((int64_t)1 << 57)
#define GT_BUNDLE_MOST_COUNT    ((int64_t)UINT32_MAX - 1)
#define GT_BUNDLE_MOST_CLUSTERS 64 /* blocks of a cluster; GPUs have 16 at most */

/* In the order in which they are read. */
#define GT_BUNDLE_LISTS(LIST)                                                                      \
	LIST(modules, module)                                                                      \
	LIST(functions, function)                                                                  \
	LIST(memory, memory)                                                                       \
	LIST(streams, stream)                                                                      \
	LIST(steps, step)                                                                          \
	LIST(pointers, pointer)                                                                    \
	LIST(objects, object)                                                                      \
	LIST(handles, handle)                                                                      \
	LIST(missing, missing)

enum gt_bundle_list {
#define LIST(key, one) GT_BUNDLE_LIST_##key,
	GT_BUNDLE_LISTS(LIST)
#undef LIST
		GT_BUNDLE_LIST_COUNT,
};

struct gt_bundle_reader {
	struct gt_json_reading reading;
	struct gt_bundle *bundle;
	struct gt_json_slice lists[GT_BUNDLE_LIST_COUNT]; /* size 0: there is none */
	gt_array(uint32_t) parameter_bytes; /* by function: what its parameters take */
};

#define GT_BUNDLE_FIELDS(reader, object, fields, row)                                              \
	gt_json_fields(&(reader)->reading, object, fields, GT_COUNT_OF(fields), row)
#define gt_bundle_refuse(reader, ...) (void)gt_json_refuse(&(reader)->reading, __VA_ARGS__)

/* A text of gt_allocate without characters. */
char *gt_bundle_empty_text(void);

/* Contents of most bytes at most; a member that is missing has none. */
void gt_bundle_read_blob(struct gt_bundle_reader *reader, const json_t *object, const char *key,
                         int64_t most, struct gt_blob *blob);

/* Entries of the lists. */
void gt_bundle_add_module(struct gt_bundle_reader *reader, const json_t *object);
void gt_bundle_add_function(struct gt_bundle_reader *reader, const json_t *object);
void gt_bundle_add_memory(struct gt_bundle_reader *reader, const json_t *object);
void gt_bundle_add_stream(struct gt_bundle_reader *reader, const json_t *object);
void gt_bundle_add_step(struct gt_bundle_reader *reader, const json_t *object);
void gt_bundle_add_pointer(struct gt_bundle_reader *reader, const json_t *object);
void gt_bundle_add_object(struct gt_bundle_reader *reader, const json_t *entry);
void gt_bundle_add_handle(struct gt_bundle_reader *reader, const json_t *entry);
void gt_bundle_add_missing(struct gt_bundle_reader *reader, const json_t *entry);

/* Whether there is such a memory, and it is an array. */
bool gt_bundle_is_array(const struct gt_bundle *bundle, uint32_t memory);

/* Bytes of what a pointer or a handle stands in; 0: that is not there. */
uint64_t gt_bundle_bytes_around(struct gt_bundle_reader *reader, uint32_t memory, uint32_t step);

/* Checks that need all steps. */
void gt_bundle_check_events(struct gt_bundle_reader *reader);

/* The steps of a graph follow each other, and some of them are work. */
void gt_bundle_check_graphs(struct gt_bundle_reader *reader);
void gt_bundle_read_focus(struct gt_bundle_reader *reader, const json_t *root);

/* Reads a whole manifest into the bundle, which is empty. */
int gt_bundle_read_manifest(struct gt_bundle_reader *reader, const char *text, size_t size);

#endif
