/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_INDEX_H
#define GT_MODEL_INDEX_H

#include <stddef.h>

/*
 * Numbers distinct keys 0, 1, 2, ... in the order they come first, so that what is known of
 * each can lie in an array. A key is a fixed number of bytes: a struct without padding.
 */
struct gt_index;

struct gt_index *gt_index_new(size_t key_size);
void gt_index_free(struct gt_index *index);

/* The number of the key, which is copied if it is new. */
size_t gt_index_add(struct gt_index *index, const void *key);

size_t gt_index_count(const struct gt_index *index);

/* number < gt_index_count; the key lives until the index is freed. */
const void *gt_index_key(const struct gt_index *index, size_t number);

#endif
