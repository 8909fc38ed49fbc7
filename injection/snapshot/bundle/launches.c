/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/launches.h"

#include "injection/snapshot/bundle/capture.h"
#include "injection/snapshot/bundle/contents.h"
#include "injection/snapshot/bundle/image.h"

static int add_variables_of(struct gt_launch_capture *capture, uint32_t module,
                            const struct gt_cubin_section *table, struct gt_error *err)
{
	struct gt_cubin_variable variable;
	uint64_t next = 0;
	int result = 0;

	while (gt_cubin_next_variable(&capture->cubin, table, &next, &variable)) {
		struct gt_reached memory = {
			.kind = GT_BUNDLE_MEMORY_variable, .name = variable.name, .module = module};
		CUdeviceptr address = 0;
		size_t size = 0;

		if (capture->driver->module_global(&address, &size, capture->function.module,
		                                   variable.name) != CUDA_SUCCESS) {
			capture->variables_left_out++;
			continue;
		}
		memory.address = address;
		memory.size = size;
		result = gt_segments_take(&capture->segments, &capture->reach, &capture->objects,
		                          &capture->writer, &memory, err);
		if (result < 0)
			return result;
		if (result == 0 && !gt_reach_add(&capture->reach, &memory))
			capture->variables_left_out++;
	}
	return 0;
}

static int add_variables(struct gt_launch_capture *capture, uint32_t module, struct gt_error *err)
{
	struct gt_cubin_section section;
	int result = 0;

	for (uint32_t i = 0; i < capture->cubin.section_count && result == 0; i++)
		if (gt_cubin_section(&capture->cubin, i, &section) && section.type == GT_ELF_SYMTAB)
			result = add_variables_of(capture, module, &section, err);
	return result == 0 ? gt_segments_settle(&capture->segments, &capture->reach,
	                                        &capture->objects, &capture->lists, err)
	                   : result;
}

static int add_parameters(struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_captured_function *function = &capture->function;
	int result = 0;

	for (uint32_t i = 0; i < function->parameter_count && result == 0; i++) {
		const uint32_t offset = function->parameters[i].offset;

		result = gt_reach_parameter(&capture->reach, function->block, offset,
		                            function->parameters[i].size, err);
	}
	if (result == 0)
		result = gt_capture_objects_add(&capture->objects, capture->lists.step_count,
		                                function, err);
	return result;
}

/* Bytes that threads need at a time: all of the launch's, but no more than the GPU holds. */
static int64_t local_bytes(const struct gt_launch_capture *capture)
{
	const struct gt_launch_shape *launch = &capture->step.launch;
	const int64_t held =
		(int64_t)gt_capture_device_attribute(capture,
	                                             CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
		gt_capture_device_attribute(capture,
	                                    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	int64_t threads = 1;

	for (size_t i = 0; i < 3; i++) {
		threads *= launch->block[i];
		threads = threads < held ? threads * launch->grid[i] : threads;
	}
	return capture->function.facts.local_bytes * (threads < held ? threads : held);
}

/* The module of the image that was found, which becomes the lists' with it. */
static int add_module(struct gt_launch_capture *capture, uint32_t *number, struct gt_error *err)
{
	struct gt_capture_module module = {
		.handle = capture->function.module,
		.hash = capture->image_hash,
		.image = capture->image,
		.size = capture->image_size,
		.arch = capture->cubin.arch,
	};
	int result;

	*number = gt_capture_find_module(&capture->lists, module.handle, module.hash);
	if (*number != GT_CAPTURE_NONE) {
		gt_capture_close_image(capture);
		return 0;
	}
	result = gt_bundle_blob(&capture->writer, module.image, module.size, module.blob, err);
	if (result == 0)
		result = gt_capture_add_module(&capture->lists, &module, err);
	if (result < 0)
		return result;
	capture->image = NULL;
	*number = (uint32_t)result;
	return add_variables(capture, *number, err);
}

static int add_function(struct gt_launch_capture *capture, struct gt_error *err)
{
	struct gt_capture_lists *lists = &capture->lists;
	struct gt_capture_step *step = &capture->step;
	struct gt_capture_code code = {.handle = capture->function.handle,
	                               .facts = capture->function.facts};
	int result;

	if (step->launch.carveout != -2)
		code.facts.carveout = step->launch.carveout;
	step->function = gt_capture_find_function(lists, code.handle, code.facts.carveout);
	if (step->function != GT_CAPTURE_NONE)
		return 0;
	result = gt_capture_find_image(capture, err);
	code.images = capture->images;
	if (result == 0)
		result = add_module(capture, &code.module, err);
	if (result == 0)
		result = gt_capture_add_function(lists, &code, capture->name, &capture->function,
		                                 err);
	if (result >= 0)
		step->function = (uint32_t)result;
	return result < 0 ? result : 0;
}

/*
 * Earlier steps may have written to memory that the launch's parameters lead to: tables of pointers
 * that are made in the sequence. Large memory is not read again; nor is any for each node of a
 * launch of a graph, as nothing runs in between.
 */
static int look_again(struct gt_launch_capture *capture, uint32_t first_pointer,
                      struct gt_error *err)
{
	struct gt_reach *reach = &capture->reach;
	const uint32_t count = reach->pointer_count; /* it grows meanwhile */
	int result = 0;

	for (uint32_t i = first_pointer; i < count && result == 0; i++) {
		const uint32_t target = reach->pointers[i].target;
		const struct gt_reached *memory = &reach->memory[target];

		if (target >= capture->kept || memory->size > GT_CAPTURE_RESCAN || memory->gone ||
		    (capture->step.graph && memory->graph == capture->step.graph))
			continue;
		reach->memory[target].graph = capture->step.graph;
		result = gt_capture_check_wanted(capture, err);
		if (result == 0)
			result = gt_capture_read_piece(capture, memory, 0, memory->size, err);
		if (result == 0)
			gt_reach_written(reach, target, capture->staging, memory->size);
		gt_capture_get_on(capture);
	}
	return result;
}

int gt_capture_add_launch(struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_captured_function *function = &capture->function;
	const int64_t local = local_bytes(capture);
	int result = add_function(capture, err);
	const uint32_t first_pointer = capture->reach.pointer_count;

	if (result == 0)
		result = add_parameters(capture, err);
	if (result == 0)
		result = look_again(capture, first_pointer, err);
	if (result == 0 && function->block_bytes)
		result = gt_bundle_blob(&capture->writer, function->block, function->block_bytes,
		                        capture->step.blob, err);
	capture->step.blob_bytes = function->block_bytes;
	capture->local_bytes = local > capture->local_bytes ? local : capture->local_bytes;
	return result;
}
