/* SPDX-License-Identifier: Apache-2.0 */
#include "format/bundle/bundle.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct gt_blob_hasher), "the state has room");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(struct gt_blob_hasher), "and is aligned");

static void write_hash(XXH128_hash_t hash, char text[GT_BUNDLE_HASH_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	XXH128_canonical_t bytes;

	XXH128_canonicalFromHash(&bytes, hash);
	for (size_t i = 0; i < sizeof(bytes.digest); i++) {
		text[2 * i] = digits[bytes.digest[i] >> 4];
		text[2 * i + 1] = digits[bytes.digest[i] & 15];
	}
	text[GT_BUNDLE_HASH_BYTES - 1] = '\0';
}

void gt_blob_hash(const void *bytes, size_t size, char hash[GT_BUNDLE_HASH_BYTES])
{
	write_hash(XXH3_128bits(bytes, size), hash);
}

void gt_blob_hasher_begin(struct gt_blob_hasher *hasher)
{
	*hasher = (struct gt_blob_hasher){0};
	(void)XXH3_128bits_reset((XXH3_state_t *)(void *)hasher);
}

void gt_blob_hasher_add(struct gt_blob_hasher *hasher, const void *bytes, size_t size)
{
	(void)XXH3_128bits_update((XXH3_state_t *)(void *)hasher, bytes, size);
}

void gt_blob_hasher_end(const struct gt_blob_hasher *hasher, char hash[GT_BUNDLE_HASH_BYTES])
{
	write_hash(XXH3_128bits_digest((const XXH3_state_t *)(const void *)hasher), hash);
}

bool gt_blob_is_hash(const char *text)
{
	return strspn(text, "0123456789abcdef") == GT_BUNDLE_HASH_BYTES - 1 &&
	       text[GT_BUNDLE_HASH_BYTES - 1] == '\0';
}
