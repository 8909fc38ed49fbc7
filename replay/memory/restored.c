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
#include "replay/memory/restored_parts.h"

/* Host memory, which the GPU has at the same address. */
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

/* For host memory: the GPU sees it at the same addresses. */
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

int gt_restored_copy(const struct gt_restored *restored, CUdeviceptr to, CUdeviceptr from,
                     size_t bytes, struct gt_error *err)
{
	const struct gt_gpu *gpu = restored->gpu;

	return gt_cuda_check(gpu->cuda, gpu->cuda->copy(to, from, bytes, gpu->stream), err,
	                     "memory cannot be copied");
}

int gt_restored_put(const struct gt_restored *restored, size_t number, const void *bytes,
                    struct gt_error *err)
{
	int result;

	if (gt_restored_is_array(restored, number))
		return gt_objects_put(&restored->objects, number, bytes, err);
	result =
		gt_restored_copy(restored, gt_restored_address(restored, number), gt_of_host(bytes),
	                         restored->bundle->memory.rows[number].size, err);
	return result < 0 ? result : gt_gpu_wait(restored->gpu, err);
}

int gt_restored_get(const struct gt_restored *restored, size_t number, void *bytes,
                    struct gt_error *err)
{
	int result;

	if (gt_restored_is_array(restored, number))
		return gt_objects_get(&restored->objects, number, bytes, err);
	result =
		gt_restored_copy(restored, gt_of_host(bytes), gt_restored_address(restored, number),
	                         restored->bundle->memory.rows[number].size, err);
	return result < 0 ? result : gt_gpu_wait(restored->gpu, err);
}

int gt_restored_put_part(const struct gt_restored *restored, size_t number, uint64_t offset,
                         const void *bytes, uint64_t size, struct gt_error *err)
{
	const int result =
		gt_restored_copy(restored, gt_restored_address(restored, number) + offset,
	                         gt_of_host(bytes), size, err);

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
	/* Contents not kept have no handles. */
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
