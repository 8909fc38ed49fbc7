/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/memory/restored_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define SPARE_BYTES ((uint64_t)256 << 20) /* of the GPU's memory, that copies are not made in */

/* A fixed series of numbers without a pattern: xorshift64, G. Marsaglia 2003. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Elements in another order, so that their values are those of the program. */
static void shuffle(uint8_t *bytes, size_t size, size_t element, uint64_t seed)
{
	uint64_t state = 0x9e3779b97f4a7c15U + seed;

	for (size_t i = size / element; i > 1; i--) {
		uint8_t *last = bytes + (i - 1) * element;
		uint8_t *other = bytes + next_random(&state) % i * element;
		uint8_t kept[8];

		memcpy(kept, last, element);
		memmove(last, other, element);
		memcpy(other, kept, element);
	}
}

static size_t element_bytes(const struct gt_restored *restored, size_t number, const uint8_t *bytes)
{
	const struct gt_bundle_memory *memory = &restored->bundle->memory.rows[number];

	return gt_element_size(gt_restored_is_array(restored, number)
	                               ? gt_element_of_format(memory->array.format)
	                               : gt_element_guess(bytes, memory->size));
}

/* Bytes that the program did not have there; pointers and handles stay. */
static void change_inputs(const struct gt_restored *restored, size_t number, uint8_t *bytes,
                          enum gt_inputs inputs)
{
	const size_t size = restored->bundle->memory.rows[number].size;
	uint8_t *kept;

	if (inputs == GT_INPUTS_recorded)
		return;
	kept = gt_allocate(size + 1);
	memcpy(kept, bytes, size);
	if (inputs == GT_INPUTS_zero)
		memset(bytes, 0, size);
	else
		shuffle(bytes, size, element_bytes(restored, number, bytes), number);
	gt_array_each(const struct gt_bundle_pointer, pointer, &restored->bundle->pointers)
		if (pointer->memory == number && pointer->offset <= size &&
		    size - pointer->offset >= sizeof(uint64_t))
			memcpy(bytes + pointer->offset, kept + pointer->offset, sizeof(uint64_t));
	gt_array_each(const struct gt_bundle_handle, handle, &restored->bundle->handles)
		if (handle->memory == number)
			memcpy(bytes + handle->offset, kept + handle->offset, sizeof(uint64_t));
	free(kept);
}

/* On the GPU, where there is room for a copy; else on the host. */
static int keep(struct gt_restored *restored, size_t number, uint8_t **bytes, struct gt_error *err)
{
	struct gt_restored_master *master = &restored->masters[number];
	const uint64_t size = restored->bundle->memory.rows[number].size;
	size_t free_bytes = 0;
	size_t total = 0;
	int result;

	(void)restored->gpu->cuda->memory_info(&free_bytes, &total);
	if (free_bytes >= size + SPARE_BYTES && gt_restored_is_array(restored, number) &&
	    gt_objects_keep(&restored->objects, number, NULL) == 0) {
		master->array = true;
		return 0;
	}
	if (free_bytes < size + SPARE_BYTES || gt_restored_is_array(restored, number) ||
	    gt_gpu_alloc(restored->gpu, size, &master->address, NULL) < 0) {
		master->kept = *bytes;
		master->address = gt_of_host(*bytes);
		*bytes = NULL;
		return 0;
	}
	result = gt_restored_copy(restored, master->address, gt_of_host(*bytes), size, err);
	return result < 0 ? result : gt_gpu_wait(restored->gpu, err);
}

static int load(struct gt_restored *restored, size_t number, enum gt_inputs inputs, bool all,
                struct gt_error *err)
{
	const struct gt_bundle_memory *memory = &restored->bundle->memory.rows[number];
	uint8_t *bytes = gt_allocate(memory->size + 1);
	int result = gt_restored_before(restored, number, bytes, err);

	if (result == 0) {
		change_inputs(restored, number, bytes, inputs);
		result = gt_restored_put(restored, number, bytes, err);
	}
	if (result == 0 && (all || gt_restored_changes(restored, number)))
		result = keep(restored, number, &bytes, err);
	free(bytes);
	return result;
}

int gt_restored_load(struct gt_restored *restored, enum gt_inputs inputs, bool all,
                     struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < restored->bundle->memory.count; i++)
		result = load(restored, i, inputs, all, err);
	return result;
}

static bool is_kept(const struct gt_restored *restored, size_t number)
{
	return restored->masters[number].array || restored->masters[number].address;
}

int gt_restored_initial(const struct gt_restored *restored, size_t number, enum gt_inputs inputs,
                        void *bytes, struct gt_error *err)
{
	int result;

	if (is_kept(restored, number) && !gt_restored_is_array(restored, number)) {
		result = gt_restored_copy(restored, gt_of_host(bytes),
		                          restored->masters[number].address,
		                          restored->bundle->memory.rows[number].size, err);
		return result < 0 ? result : gt_gpu_wait(restored->gpu, err);
	}
	result = gt_restored_before(restored, number, bytes, err);
	if (result == 0)
		change_inputs(restored, number, bytes, inputs);
	return result;
}

int gt_restored_keep(struct gt_restored *restored, size_t number, const void *bytes,
                     struct gt_error *err)
{
	const size_t size = restored->bundle->memory.rows[number].size;
	uint8_t *kept;
	int result;

	if (is_kept(restored, number))
		return 0;
	kept = gt_allocate(size + 1);
	memcpy(kept, bytes, size);
	result = gt_restored_put(restored, number, kept, err);
	if (result == 0)
		result = keep(restored, number, &kept, err);
	free(kept);
	return result;
}

/* From what is there now: on the GPU, where there is room for it. */
static int keep_now(struct gt_restored *restored, size_t number, struct gt_error *err)
{
	const uint64_t size = restored->bundle->memory.rows[number].size;
	size_t free_bytes = 0;
	size_t total = 0;
	uint8_t *bytes;
	int result;

	(void)restored->gpu->cuda->memory_info(&free_bytes, &total);
	if (!gt_restored_is_array(restored, number) && free_bytes >= size + SPARE_BYTES &&
	    gt_gpu_alloc(restored->gpu, size, &restored->masters[number].address, NULL) == 0)
		return gt_restored_copy(restored, restored->masters[number].address,
		                        gt_restored_address(restored, number), size, err);
	bytes = gt_allocate(size + 1);
	result = gt_restored_get(restored, number, bytes, err);
	if (result == 0)
		result = keep(restored, number, &bytes, err);
	free(bytes);
	return result;
}

int gt_restored_keep_all(struct gt_restored *restored, struct gt_error *err)
{
	uint64_t bytes = SPARE_BYTES;
	size_t free_bytes = 0;
	size_t total = 0;
	int result = 0;

	for (size_t i = 0; i < restored->bundle->memory.count; i++)
		bytes += is_kept(restored, i) ? 0 : restored->bundle->memory.rows[i].size;
	(void)restored->gpu->cuda->memory_info(&free_bytes, &total);
	if (bytes > free_bytes)
		return gt_fail(err, ENOMEM, "the GPU has no room for a copy of all memory");
	for (size_t i = 0; result == 0 && i < restored->bundle->memory.count; i++)
		if (!is_kept(restored, i))
			result = keep_now(restored, i, err);
	return result < 0 ? result : gt_gpu_wait(restored->gpu, err);
}

int gt_restored_reset_part(const struct gt_restored *restored, size_t number, uint64_t offset,
                           uint64_t bytes, struct gt_error *err)
{
	const struct gt_restored_master *master = &restored->masters[number];

	if (master->array)
		return gt_objects_reset(&restored->objects, number, err);
	if (!master->address)
		return 0;
	if (gt_restored_is_array(restored, number))
		return gt_objects_put(&restored->objects, number, master->kept, err);
	return gt_restored_copy(restored, gt_restored_address(restored, number) + offset,
	                        master->address + offset, bytes, err);
}

int gt_restored_reset(const struct gt_restored *restored, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < restored->bundle->memory.count; i++)
		result = gt_restored_reset_part(restored, i, 0,
		                                restored->bundle->memory.rows[i].size, err);
	return result;
}
