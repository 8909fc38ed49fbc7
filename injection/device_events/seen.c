/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/seen.h"

#include <stddef.h>

#define MOST_KEPT (GT_DEVICE_SEEN / 4 * 3)

/* Mixes all bits of a number into all others (the end of MurmurHash3, 64 bits; one to one). */
static uint64_t mix(uint64_t number)
{
	number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
	number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return number ^ number >> 33;
}

/* Never 0. Two pairs with one key would take 2^32 functions to be likely. */
static uint64_t key_of(const void *function, const void *context)
{
	return mix(mix((uintptr_t)function) + (uintptr_t)context) | 1;
}

static size_t place_of(uint64_t key)
{
	return key >> 32 & (GT_DEVICE_SEEN - 1);
}

/* Ends at a free place: a quarter of them is, but for what threads add at the same time. */
bool gt_device_functions_has(const struct gt_device_functions *functions, const void *function,
                             const void *context)
{
	const uint64_t key = key_of(function, context);
	size_t at = place_of(key);

	for (size_t i = 0; i < GT_DEVICE_SEEN; i++) {
		const uint64_t there =
			atomic_load_explicit(&functions->keys[at], memory_order_relaxed);

		if (there == key)
			return true;
		if (there == 0)
			return false;
		at = (at + 1) & (GT_DEVICE_SEEN - 1);
	}
	return false;
}

void gt_device_functions_add(struct gt_device_functions *functions, const void *function,
                             const void *context)
{
	const uint64_t key = key_of(function, context);
	size_t at = place_of(key);

	if (atomic_fetch_add_explicit(&functions->count, 1, memory_order_relaxed) >= MOST_KEPT)
		gt_device_functions_forget(functions);
	for (size_t i = 0; i < GT_DEVICE_SEEN; i++) {
		uint64_t free_one = 0;

		if (atomic_compare_exchange_strong_explicit(&functions->keys[at], &free_one, key,
		                                            memory_order_relaxed,
		                                            memory_order_relaxed) ||
		    free_one == key)
			return;
		at = (at + 1) & (GT_DEVICE_SEEN - 1);
	}
}

void gt_device_functions_forget(struct gt_device_functions *functions)
{
	for (size_t i = 0; i < GT_DEVICE_SEEN; i++)
		atomic_store_explicit(&functions->keys[i], 0, memory_order_relaxed);
	atomic_store_explicit(&functions->count, 0, memory_order_relaxed);
}
