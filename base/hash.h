/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_HASH_H
#define GT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * Hashes for tables in memory, of what comes from files. Who makes a file can choose numbers and
 * texts that all have one hash, if it is known; so each depends on where the table is in memory,
 * which nobody knows who makes a file. Never for what is written anywhere.
 */

static inline uint64_t gt_hash_number(uint64_t number, const void *table)
{
	uint64_t hash = (number ^ (uintptr_t)table) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}

static inline uint64_t gt_hash_bytes(const void *bytes, size_t size, const void *table)
{
	return XXH3_64bits_withSeed(bytes, size, (uintptr_t)table);
}

#endif
