/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/meta.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "format/records.h"

void gt_meta_add_bytes(struct gt_meta *meta, const char *key, const void *value, size_t size)
{
	const size_t key_size = strlen(key);
	unsigned char *at = meta->bytes + meta->size;

	if (meta->capacity - meta->size < key_size + size + 2 * (size_t)GT_VARINT_MAX)
		return;
	at = gt_put_varint(at, key_size);
	memcpy(at, key, key_size);
	at = gt_put_varint(at + key_size, size);
	memcpy(at, value, size);
	meta->size = (size_t)(at + size - meta->bytes);
	meta->count++;
}

void gt_meta_add(struct gt_meta *meta, const char *key, const char *value)
{
	gt_meta_add_bytes(meta, key, value, strlen(value));
}

void gt_meta_add_number(struct gt_meta *meta, const char *key, unsigned long long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	gt_meta_add(meta, key, text);
}

int gt_meta_write(struct gt_writer *writer, const struct gt_meta *meta)
{
	return gt_writer_payload(writer, GT_RECORD_META, meta->bytes, meta->size, meta->count);
}

int gt_meta_write_one(struct gt_writer *writer, const char *key, const char *value)
{
	unsigned char bytes[512];
	struct gt_meta meta = {.bytes = bytes, .capacity = sizeof(bytes)};

	gt_meta_add(&meta, key, value);
	return gt_meta_write(writer, &meta);
}
