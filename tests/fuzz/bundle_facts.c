/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/bundle_facts.h"

#include <stdlib.h>
#include <string.h>

#include "model/bundle/bundle.h"

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check_blob(const struct gt_blob *blob)
{
	must(*blob->hash == '\0' || gt_blob_is_hash(blob->hash));
	must(blob->size <= (uint64_t)1 << 57);
}

static void check_memory(const struct gt_bundle *bundle, size_t index)
{
	const struct gt_bundle_memory *memory = &bundle->memory.rows[index];

	must(memory->size > 0 && memory->address > 0);
	must(memory->address + memory->size > memory->address);
	must(memory->module == GT_BUNDLE_NONE || memory->module < bundle->modules.count);
	must(index == 0 || memory[-1].address + memory[-1].size <= memory->address);
	must(gt_bundle_find(bundle, memory->address) == index);
	must(gt_bundle_find(bundle, memory->address + memory->size - 1) == index);
	must(memory->name != NULL);
	check_blob(&memory->before);
	check_blob(&memory->after);
	must(*memory->before.hash == '\0' || memory->before.size == memory->size);
	must(*memory->after.hash == '\0' || memory->after.size == memory->size);
}

static void check_rows(const struct gt_bundle *bundle, const struct gt_bundle_step *step,
                       uint64_t address, uint64_t pitch, uint64_t slice_pitch)
{
	const struct gt_bundle_memory *memory;

	if (address == 0)
		return;
	must(gt_bundle_find(bundle, address) != GT_BUNDLE_NONE);
	memory = &bundle->memory.rows[gt_bundle_find(bundle, address)];
	must(memory->kind != GT_BUNDLE_MEMORY_array);
	must((__uint128_t)address + (__uint128_t)slice_pitch * (step->slices - 1) +
	             (__uint128_t)pitch * (step->rows - 1) + step->bytes <=
	     (__uint128_t)memory->address + memory->size);
	must(step->slices == 1 || (step->rows > 1 && slice_pitch % pitch == 0));
}

static void check_launch(const struct gt_bundle *bundle, const struct gt_bundle_step *step)
{
	const struct gt_bundle_function *function;

	must(step->function < bundle->functions.count);
	function = &bundle->functions.rows[step->function];
	must(function->module < bundle->modules.count && *function->name);
	gt_array_each(const struct gt_bundle_parameter, parameter, &function->parameters)
		must((uint64_t)parameter->offset + parameter->size <= step->parameters.size);
	for (int i = 0; i < 3; i++)
		must(step->grid[i] > 0 && step->block[i] > 0);
	must(step->block[0] * step->block[1] * step->block[2] <= 1024);
}

static void check_step(const struct gt_bundle *bundle, const struct gt_bundle_step *step)
{
	must(step->stream < bundle->streams.count ||
	     (step->stream == GT_BUNDLE_NONE && step->kind == GT_BUNDLE_STEP_host_wait));
	must(step->range != NULL);
	must(step->event == GT_BUNDLE_NONE || step->event < bundle->steps.count);
	check_blob(&step->parameters);
	if (step->kind == GT_BUNDLE_STEP_launch)
		check_launch(bundle, step);
	if (step->kind == GT_BUNDLE_STEP_copy || step->kind == GT_BUNDLE_STEP_fill) {
		check_rows(bundle, step, step->to, step->to_pitch, step->to_slice_pitch);
		check_rows(bundle, step, step->from, step->from_pitch, step->from_slice_pitch);
		must(step->from || step->kind == GT_BUNDLE_STEP_fill ||
		     (__uint128_t)step->bytes * step->rows * step->slices == step->parameters.size);
	}
}

/* Those of each stand together, in the order of their numbers. */
static void check_graphs(const struct gt_bundle *bundle)
{
	uint32_t graphs = 0;

	for (size_t i = 0; i < bundle->steps.count; i++) {
		const struct gt_bundle_step *step = &bundle->steps.rows[i];

		if (step->graph == 0)
			continue;
		must(step->kind != GT_BUNDLE_STEP_host_wait);
		if (gt_bundle_goes_on_with_graph(bundle, i))
			must(step->graph == graphs);
		else
			must(step->graph == ++graphs);
	}
	for (uint32_t graph = 1; graph <= graphs; graph++) {
		size_t work = 0;

		gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
			work += step->graph == graph && gt_bundle_is_work(step);
		must(work > 0);
	}
	must(bundle->focus == GT_BUNDLE_NONE ||
	     (bundle->focus < bundle->steps.count &&
	      bundle->steps.rows[bundle->focus].kind == GT_BUNDLE_STEP_launch));
}

static void check_object(const struct gt_bundle *bundle, const struct gt_bundle_object *object)
{
	const struct gt_bundle_memory *memory;
	uint64_t bytes = object->bytes;

	must(object->memory < bundle->memory.count && object->value != 0);
	memory = &bundle->memory.rows[object->memory];
	if (object->resource == GT_BUNDLE_RESOURCE_array ||
	    object->resource == GT_BUNDLE_RESOURCE_mipmap) {
		must(memory->kind == GT_BUNDLE_MEMORY_array);
		must(object->level < gt_array_levels(&memory->array));
		return;
	}
	if (object->resource == GT_BUNDLE_RESOURCE_pitch)
		bytes = object->pitch * (object->height - 1) +
		        object->width * gt_array_element_bytes(object->format, object->channels);
	must(memory->kind != GT_BUNDLE_MEMORY_array && bytes > 0);
	must(object->offset + bytes <= memory->size);
}

static void check_objects(const struct gt_bundle *bundle)
{
	gt_array_each(const struct gt_bundle_memory, memory, &bundle->memory)
		must(memory->kind != GT_BUNDLE_MEMORY_array ||
		     (gt_array_is_sound(&memory->array) &&
		      gt_array_bytes(&memory->array) == memory->size));
	gt_array_each(const struct gt_bundle_object, object, &bundle->objects)
		check_object(bundle, object);
	gt_array_each(const struct gt_bundle_handle, handle, &bundle->handles) {
		uint32_t memory;
		uint64_t offset;

		must(!gt_bundle_handle_place(bundle, handle, &memory, &offset) ||
		     (memory < bundle->memory.count &&
		      offset <= bundle->memory.rows[memory].size - 8));
		must(handle->object < bundle->objects.count);
		must(handle->offset + 8 <=
		     (handle->memory == GT_BUNDLE_NONE
		              ? bundle->steps.rows[handle->step].parameters.size
		              : bundle->memory.rows[handle->memory].size));
	}
}

void check_bundle_facts(const struct gt_bundle *bundle)
{
	gt_array_each(const struct gt_bundle_module, module, &bundle->modules) {
		must(gt_blob_is_hash(module->image.hash));
		check_blob(&module->image);
	}
	for (size_t i = 0; i < bundle->memory.count; i++)
		check_memory(bundle, i);
	must(bundle->steps.count > 0);
	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		check_step(bundle, step);
	check_graphs(bundle);
	gt_array_each(const struct gt_bundle_pointer, pointer, &bundle->pointers) {
		const uint64_t size = pointer->memory == GT_BUNDLE_NONE
		                              ? bundle->steps.rows[pointer->step].parameters.size
		                              : bundle->memory.rows[pointer->memory].size;

		must(pointer->offset + 8 <= size && pointer->target < bundle->memory.count);
	}
	check_objects(bundle);
	gt_array_each(char *, text, &bundle->missing)
		must(*text != NULL && strlen(*text) < 1u << 30);
	must(gt_bundle_memory_bytes(bundle) < (uint64_t)1 << 58);
}
