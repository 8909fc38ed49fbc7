/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/memory/restored.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

#define SPARE_BYTES ((uint64_t)256 << 20) /* of the GPU's memory, that copies are not made in */

/* Of the host's memory, that the GPU has at the same address. */
static void *host_address(uint64_t address)
{
	return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static int reserve_host(struct gt_restored *restored, uint32_t number, struct gt_error *err)
{
	const struct gt_layout_range *range = &restored->layout.ranges.rows[number];
	void *mapped = mmap(host_address(range->address), range->size, PROT_NONE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	                            (range->address ? MAP_FIXED_NOREPLACE : 0),
	                    -1, 0);

	if (mapped == MAP_FAILED)
		return gt_fail(err, errno == EEXIST ? EADDRINUSE : errno,
		               "memory of the host cannot be had at 0x%" PRIx64 ": %s",
		               range->address, gt_errno_text(errno));
	*gt_array_push(&restored->hosts) =
		(struct gt_gpu_range){(CUdeviceptr)(uintptr_t)mapped, range->size};
	if (!range->address)
		gt_layout_move(&restored->layout, number, (uint64_t)(uintptr_t)mapped);
	return 0;
}

static int reserve_device(struct gt_restored *restored, uint32_t number, struct gt_error *err)
{
	const struct gt_layout_range *range = &restored->layout.ranges.rows[number];
	CUdeviceptr got = 0;
	const int result = gt_gpu_reserve(restored->gpu, range->address, range->size, &got, err);

	if (result == 0 && !range->address)
		gt_layout_move(&restored->layout, number, got);
	return result;
}

static void unreserve(struct gt_restored *restored)
{
	gt_gpu_free_all(restored->gpu);
	gt_array_each(struct gt_gpu_range, range, &restored->hosts)
		(void)munmap(host_address(range->address), range->bytes);
	gt_array_release(&restored->hosts);
}

static int reserve(struct gt_restored *restored, struct gt_error *err)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < restored->layout.ranges.count; i++)
		result = restored->layout.ranges.rows[i].host ? reserve_host(restored, i, err)
		                                              : reserve_device(restored, i, err);
	return result;
}

/* Of the host's: what the GPU sees has the same addresses. */
static int map_host(struct gt_restored *restored, const struct gt_layout_piece *piece,
                    struct gt_error *err)
{
	void *address = host_address(piece->address);

	if (mprotect(address, piece->size, PROT_READ | PROT_WRITE) != 0)
		return gt_fail(err, errno, "memory of the host cannot be had: %s",
		               gt_errno_text(errno));
	return gt_gpu_register(restored->gpu, address, piece->size, err);
}

static int map_all(struct gt_restored *restored, struct gt_error *err)
{
	int result = 0;

	gt_array_each(const struct gt_layout_piece, piece, &restored->layout.pieces) {
		if (result < 0)
			break;
		result = restored->layout.ranges.rows[piece->range].host
		                 ? map_host(restored, piece, err)
		                 : gt_gpu_map(restored->gpu, piece->address, piece->size, err);
	}
	return result;
}

static struct gt_layout_options layout_options(const struct gt_restored *restored,
                                               const struct gt_replay_options *options)
{
	size_t free_bytes = 0;
	size_t total = 0;

	(void)restored->gpu->cuda->memory_info(&free_bytes, &total);
	return (struct gt_layout_options){
		.granularity = gt_gpu_granularity(restored->gpu),
		.host_granularity = (uint64_t)sysconf(_SC_PAGESIZE),
		.zone_bytes = options->zone_bytes,
		.guards = options->zone_bytes > 0,
		.most_bytes = free_bytes,
	};
}

static int plan_and_reserve(struct gt_restored *restored, const struct gt_layout_options *options,
                            bool relocate, struct gt_error *err)
{
	int result = relocate ? gt_layout_plan_anywhere(&restored->layout, restored->bundle,
	                                                options, err)
	                      : gt_layout_plan(&restored->layout, restored->bundle, options, err);

	if (result < 0)
		return result;
	restored->layouts++;
	result = reserve(restored, err);
	if (result < 0) {
		unreserve(restored);
		gt_layout_release(&restored->layout);
	}
	return result;
}

/* Another layout while addresses are taken. */
static int place(struct gt_restored *restored, const struct gt_replay_options *options,
                 struct gt_error *err)
{
	struct gt_layout_options wanted = layout_options(restored, options);
	int result;

	do
		result = plan_and_reserve(restored, &wanted, options->relocate, err);
	while (result == -EADDRINUSE && !options->relocate &&
	       ++wanted.attempt < GT_LAYOUT_ATTEMPTS);
	return result < 0 ? result : map_all(restored, err);
}

static int place_variable(struct gt_restored *restored, size_t number, const CUmodule *modules,
                          struct gt_error *err)
{
	const struct gt_bundle_memory *memory = &restored->bundle->memory.rows[number];
	const struct gt_cuda *cuda = restored->gpu->cuda;
	CUdeviceptr address = 0;
	size_t bytes = 0;
	char what[256];
	int result;

	snprintf(what, sizeof(what), "the module has no variable %s", memory->name);
	result = gt_cuda_check(
		cuda, cuda->module_global(&address, &bytes, modules[memory->module], memory->name),
		err, what);
	if (result == 0 && bytes != memory->size)
		result = gt_fail(err, EINVAL,
		                 "the variable %s has %zu bytes in this module, and had %" PRIu64
		                 " in the program's",
		                 memory->name, bytes, memory->size);
	if (result == 0)
		gt_layout_put(&restored->layout, (uint32_t)number, address);
	return result;
}

static int make_objects(struct gt_restored *restored, struct gt_error *err)
{
	struct gt_objects *objects = &restored->objects;
	int result = gt_objects_open(objects, restored->bundle, restored->gpu, err);

	if (result == 0)
		result = gt_objects_make(objects, &restored->layout, err);
	if (result == 0)
		gt_objects_say(objects, restored->handles, sizeof(restored->handles));
	return result;
}

int gt_restored_open(struct gt_restored *restored, const struct gt_bundle *bundle,
                     struct gt_gpu *gpu, const CUmodule *modules,
                     const struct gt_replay_options *options, struct gt_error *err)
{
	int result;

	*restored = (struct gt_restored){.bundle = bundle, .gpu = gpu};
	restored->masters = gt_allocate_zeroed(bundle->memory.count, sizeof(*restored->masters));
	gt_relocation_init(&restored->relocation, bundle);
	result = place(restored, options, err);
	for (size_t i = 0; result == 0 && i < bundle->memory.count; i++)
		if (bundle->memory.rows[i].kind == GT_BUNDLE_MEMORY_variable)
			result = place_variable(restored, i, modules, err);
	if (result == 0)
		result = make_objects(restored, err);
	if (result == 0)
		result = gt_relocation_trust(&restored->relocation, &restored->layout,
		                             restored->guessed, sizeof(restored->guessed), err);
	if (result < 0)
		gt_restored_close(restored);
	return result < 0 ? result : 0;
}

void gt_restored_close(struct gt_restored *restored)
{
	for (size_t i = 0; restored->masters && i < restored->bundle->memory.count; i++)
		free(restored->masters[i].kept);
	free(restored->masters);
	restored->masters = NULL;
	gt_objects_close(&restored->objects);
	unreserve(restored);
	gt_relocation_release(&restored->relocation);
	gt_layout_release(&restored->layout);
}

bool gt_restored_changes(const struct gt_restored *restored, size_t number)
{
	return !restored->bundle->memory.rows[number].same;
}

static bool is_array(const struct gt_restored *restored, size_t number)
{
	return restored->bundle->memory.rows[number].kind == GT_BUNDLE_MEMORY_array;
}

static CUdeviceptr address_of(const struct gt_restored *restored, size_t number)
{
	return restored->layout.places.rows[number].address;
}

static int copy(const struct gt_restored *restored, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                struct gt_error *err)
{
	const struct gt_gpu *gpu = restored->gpu;

	return gt_cuda_check(gpu->cuda, gpu->cuda->copy(to, from, bytes, gpu->stream), err,
	                     "memory cannot be copied");
}

static CUdeviceptr of_host(const void *bytes)
{
	return (CUdeviceptr)(uintptr_t)bytes;
}

int gt_restored_put(const struct gt_restored *restored, size_t number, const void *bytes,
                    struct gt_error *err)
{
	int result;

	if (is_array(restored, number))
		return gt_objects_put(&restored->objects, number, bytes, err);
	result = copy(restored, address_of(restored, number), of_host(bytes),
	              restored->bundle->memory.rows[number].size, err);
	return result < 0 ? result : gt_gpu_wait(restored->gpu, err);
}

int gt_restored_get(const struct gt_restored *restored, size_t number, void *bytes,
                    struct gt_error *err)
{
	int result;

	if (is_array(restored, number))
		return gt_objects_get(&restored->objects, number, bytes, err);
	result = copy(restored, of_host(bytes), address_of(restored, number),
	              restored->bundle->memory.rows[number].size, err);
	return result < 0 ? result : gt_gpu_wait(restored->gpu, err);
}

int gt_restored_put_part(const struct gt_restored *restored, size_t number, uint64_t offset,
                         const void *bytes, uint64_t size, struct gt_error *err)
{
	const int result =
		copy(restored, address_of(restored, number) + offset, of_host(bytes), size, err);

	return result < 0 ? result : gt_gpu_wait(restored->gpu, err);
}

static int relocate(const struct gt_restored *restored, uint32_t memory, uint32_t step, void *bytes,
                    uint64_t size, struct gt_error *err)
{
	struct gt_relocated contents = {bytes, size};
	const int64_t changed = gt_relocation_apply(&restored->relocation, &restored->layout,
	                                            memory, step, &contents, err);

	return changed < 0 ? (int)changed : 0;
}

int gt_restored_before(const struct gt_restored *restored, size_t number, void *bytes,
                       struct gt_error *err)
{
	const struct gt_bundle_memory *memory = &restored->bundle->memory.rows[number];
	int result = 0;

	if (memory->before.hash[0])
		result = gt_bundle_read(restored->bundle, &memory->before, bytes, err);
	else
		memset(bytes, 0, memory->size);
	if (result == 0)
		result = relocate(restored, (uint32_t)number, 0, bytes, memory->size, err);
	/* What was not kept has no handles. */
	if (result == 0 && memory->before.hash[0])
		result = gt_objects_apply(&restored->objects, (uint32_t)number, 0, bytes, err);
	return result;
}

int gt_restored_after(const struct gt_restored *restored, size_t number, void *bytes,
                      struct gt_error *err)
{
	const struct gt_bundle_memory *memory = &restored->bundle->memory.rows[number];
	struct gt_relocated contents = {bytes, memory->size};
	const int result = gt_bundle_read(restored->bundle, &memory->after, bytes, err);

	if (result < 0)
		return result;
	(void)gt_relocation_apply_after(&restored->relocation, &restored->layout, (uint32_t)number,
	                                &contents);
	gt_objects_apply_after(&restored->objects, (uint32_t)number, bytes);
	return 0;
}

void gt_restored_recorded(const struct gt_restored *restored, size_t number, void *bytes)
{
	struct gt_relocated contents = {bytes, restored->bundle->memory.rows[number].size};

	(void)gt_relocation_undo(&restored->relocation, &restored->layout, (uint32_t)number,
	                         &contents);
	gt_objects_undo(&restored->objects, (uint32_t)number, bytes);
}

int gt_restored_parameters(const struct gt_restored *restored, uint32_t step, void *bytes,
                           struct gt_error *err)
{
	const struct gt_blob *blob = &restored->bundle->steps.rows[step].parameters;
	int result = gt_bundle_read(restored->bundle, blob, bytes, err);

	if (result == 0)
		result = relocate(restored, GT_BUNDLE_NONE, step, bytes, blob->size, err);
	return result < 0 ? result
	                  : gt_objects_apply(&restored->objects, GT_BUNDLE_NONE, step, bytes, err);
}

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

	return gt_element_size(is_array(restored, number)
	                               ? gt_element_of_format(memory->array.format)
	                               : gt_element_guess(bytes, memory->size));
}

/* What the program did not have there; pointers and handles stay. */
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
	if (free_bytes >= size + SPARE_BYTES && is_array(restored, number) &&
	    gt_objects_keep(&restored->objects, number, NULL) == 0) {
		master->array = true;
		return 0;
	}
	if (free_bytes < size + SPARE_BYTES || is_array(restored, number) ||
	    gt_gpu_alloc(restored->gpu, size, &master->address, NULL) < 0) {
		master->kept = *bytes;
		master->address = of_host(*bytes);
		*bytes = NULL;
		return 0;
	}
	result = copy(restored, master->address, of_host(*bytes), size, err);
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

	if (is_kept(restored, number) && !is_array(restored, number)) {
		result = copy(restored, of_host(bytes), restored->masters[number].address,
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
	if (!is_array(restored, number) && free_bytes >= size + SPARE_BYTES &&
	    gt_gpu_alloc(restored->gpu, size, &restored->masters[number].address, NULL) == 0)
		return copy(restored, restored->masters[number].address,
		            address_of(restored, number), size, err);
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
	if (is_array(restored, number))
		return gt_objects_put(&restored->objects, number, master->kept, err);
	return copy(restored, address_of(restored, number) + offset, master->address + offset,
	            bytes, err);
}

int gt_restored_reset(const struct gt_restored *restored, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < restored->bundle->memory.count; i++)
		result = gt_restored_reset_part(restored, i, 0,
		                                restored->bundle->memory.rows[i].size, err);
	return result;
}

/* ---- red zones ---- */

struct zone {
	CUdeviceptr address;
	size_t size;
	uint64_t seed;
};

static struct zone zone_of(const struct gt_restored *restored, size_t number, bool after)
{
	const struct gt_layout_place *at = &restored->layout.places.rows[number];
	const uint64_t size = restored->bundle->memory.rows[number].size;

	if (after)
		return (struct zone){at->address + size, at->behind, 2 * number + 1};
	return (struct zone){at->address - at->before, at->before, 2 * number};
}

static int fill_zone(const struct gt_restored *restored, struct zone zone, struct gt_error *err)
{
	uint8_t *bytes;
	int result;

	if (zone.size == 0)
		return 0;
	bytes = gt_allocate(zone.size);
	gt_zone_fill(bytes, zone.size, zone.seed);
	result = copy(restored, zone.address, of_host(bytes), zone.size, err);
	if (result == 0)
		result = gt_gpu_wait(restored->gpu, err);
	free(bytes);
	return result;
}

int gt_restored_fill_zones(const struct gt_restored *restored, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < restored->bundle->memory.count; i++) {
		result = fill_zone(restored, zone_of(restored, i, false), err);
		if (result == 0)
			result = fill_zone(restored, zone_of(restored, i, true), err);
	}
	return result;
}

static int check_zone(const struct gt_restored *restored, struct zone zone, uint64_t *changed,
                      uint64_t *first, struct gt_error *err)
{
	uint64_t last = 0;
	uint8_t *bytes;
	int result;

	*changed = 0;
	if (zone.size == 0)
		return 0;
	bytes = gt_allocate(zone.size);
	result = copy(restored, of_host(bytes), zone.address, zone.size, err);
	if (result == 0)
		result = gt_gpu_wait(restored->gpu, err);
	if (result == 0)
		*changed = gt_zone_changed(bytes, zone.size, zone.seed, first, &last);
	free(bytes);
	return result;
}

int gt_restored_check_zones(const struct gt_restored *restored, size_t number, uint64_t *changed,
                            int64_t *first, struct gt_error *err)
{
	const uint64_t size = restored->bundle->memory.rows[number].size;
	uint64_t before = 0;
	uint64_t after = 0;
	uint64_t first_before = 0;
	uint64_t first_after = 0;
	int result =
		check_zone(restored, zone_of(restored, number, false), &before, &first_before, err);

	if (result == 0)
		result = check_zone(restored, zone_of(restored, number, true), &after, &first_after,
		                    err);
	if (result < 0)
		return result;
	*changed = before + after;
	*first = before ? (int64_t)(first_before - restored->layout.places.rows[number].before)
	                : (int64_t)(size + first_after);
	return 0;
}
