/* SPDX-License-Identifier: Apache-2.0 */
#include "model/index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define HASH_FUNCTION(key, size, hash) (hash) = (unsigned)gt_hash_bytes(key, size, index)
#define uthash_fatal(msg)              abort()
#include <uthash.h>

struct entry {
	UT_hash_handle hh;
	size_t number;
	_Alignas(max_align_t) char key[];
};

struct gt_index {
	size_t key_size;
	struct entry *by_key;
	struct entry *latest; /* rows of one kind often come in a row */
	gt_array(struct entry *) by_number;
};

struct gt_index *gt_index_new(size_t key_size)
{
	struct gt_index *index = gt_allocate(sizeof(*index));

	*index = (struct gt_index){.key_size = key_size};
	return index;
}

void gt_index_free(struct gt_index *index)
{
	if (!index)
		return;
	HASH_CLEAR(hh, index->by_key);
	gt_array_each(struct entry *, entry, &index->by_number)
		free(*entry);
	gt_array_release(&index->by_number);
	free(index);
}

static struct entry *new_entry(struct gt_index *index, const void *key)
{
	struct entry *entry = gt_allocate(sizeof(*entry) + index->key_size);

	*entry = (struct entry){.number = index->by_number.count};
	memcpy(entry->key, key, index->key_size);
	*gt_array_push(&index->by_number) = entry;
	HASH_ADD_KEYPTR(hh, index->by_key, entry->key, index->key_size, entry);
	return entry;
}

size_t gt_index_add(struct gt_index *index, const void *key)
{
	struct entry *entry = index->latest;

	if (entry && memcmp(entry->key, key, index->key_size) == 0)
		return entry->number;
	HASH_FIND(hh, index->by_key, key, index->key_size, entry);
	if (!entry)
		entry = new_entry(index, key);
	index->latest = entry;
	return entry->number;
}

size_t gt_index_count(const struct gt_index *index)
{
	return index->by_number.count;
}

const void *gt_index_key(const struct gt_index *index, size_t number)
{
	assert(number < index->by_number.count);
	return index->by_number.rows[number]->key;
}
