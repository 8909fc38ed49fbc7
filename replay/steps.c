/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/cubin.h"
#include "format/recording.h"
#include "model/bundle/bundle.h"
#include "replay/restored.h"
#include "replay/variant.h"

#define DEFAULT_SHARED_BYTES 49152u /* of a block, that no function has to ask for */
#define LEGACY_STREAM        7u     /* CUPTI's number of the first context's default stream */

struct gt_step_ready {
	struct gt_variant_launch launch;
	uint8_t *bytes; /* parameters, or what a copy has from the host or gives to it */
	uint64_t to;
	uint64_t from;
	bool unrecorded; /* a wait for an event that no step before recorded: it holds nothing back */
};

/* A launch of a CUDA graph: steps that are put on the GPU by one call. */
struct gt_step_graph {
	size_t first;
	size_t end;
	struct gt_commands commands;
};

/* ---- modules ---- */

static unsigned capability_of(const struct gt_gpu *gpu)
{
	return (unsigned)(10 * gt_gpu_attribute(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
	                  gt_gpu_attribute(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

/* A driver reads as far as the headers say: what they say has to be inside of the image. */
static int check_cubin(const struct gt_gpu *gpu, const uint8_t *image, size_t size,
                       struct gt_error *err)
{
	const unsigned here = capability_of(gpu);
	struct gt_cubin cubin;
	int result = gt_cubin_open(&cubin, image, size, err);

	for (uint32_t i = 0; result == 0 && i < cubin.section_count; i++) {
		struct gt_cubin_section section;

		if (!gt_cubin_section(&cubin, i, &section))
			result = gt_fail(err, EBADMSG, "section %u of a module lies outside of it",
			                 i);
	}
	if (result == 0 && cubin.arch &&
	    (cubin.arch / 10 != here / 10 || cubin.arch % 10 > here % 10))
		result = gt_fail(err, ENOTSUP,
		                 "the kernel was compiled for sm_%u, and this GPU is sm_%u: replay "
		                 "it on a GPU of the same architecture",
		                 cubin.arch, here);
	return result;
}

/* sm_90 of ".target sm_90a", 0: there is none. */
static unsigned target_of(const char *ptx)
{
	const char *target = strstr(ptx, ".target sm_");

	return target ? (unsigned)strtoul(target + strlen(".target sm_"), NULL, 10) : 0;
}

static int check_ptx(const struct gt_gpu *gpu, const char *image, struct gt_error *err)
{
	const unsigned here = capability_of(gpu);
	const unsigned target = target_of(image);

	if (target > here)
		return gt_fail(err, ENOTSUP,
		               "the kernel's PTX is for sm_%u on, and this GPU is sm_%u", target,
		               here);
	return 0;
}

static int load_image(struct gt_steps *steps, uint32_t number, const uint8_t *image, size_t size,
                      struct gt_error *err)
{
	const bool ptx = size < 4 || memcmp(image, "\177ELF", 4) != 0;
	const bool varied = steps->varied != GT_BUNDLE_NONE &&
	                    steps->bundle->functions.rows[steps->varied].module == number;
	const uint32_t registers = varied ? steps->options->variant.max_registers : 0;
	int result = ptx ? check_ptx(steps->gpu, (const char *)image, err)
	                 : check_cubin(steps->gpu, image, size, err);

	if (result == 0 && registers && !ptx)
		return gt_fail(err, ENOTSUP,
		               "the number of registers can be limited where PTX is compiled, and "
		               "this module is machine code: give its PTX with --module");
	return result < 0 ? result
	                  : gt_gpu_load_with(steps->gpu, image, registers,
	                                     "the driver does not take the kernel's module",
	                                     &steps->modules[number], err);
}

static int load_blob(struct gt_steps *steps, uint32_t number, struct gt_error *err)
{
	const struct gt_blob *blob = &steps->bundle->modules.rows[number].image;
	uint8_t *image = gt_allocate(blob->size + 1);
	int result = gt_bundle_read(steps->bundle, blob, image, err);

	image[blob->size] = '\0';
	if (result == 0)
		result = load_image(steps, number, image, blob->size, err);
	free(image);
	return result;
}

static int load_file(struct gt_steps *steps, uint32_t number, const char *path,
                     struct gt_error *err)
{
	struct gt_content content = {0};
	int result = gt_load_file(&content, path, err);
	uint8_t *image;

	if (result < 0)
		return result;
	image = gt_allocate(content.size + 1);
	if (content.size)
		memcpy(image, content.bytes, content.size);
	image[content.size] = '\0';
	result = load_image(steps, number, image, content.size, err);
	free(image);
	gt_unload(&content);
	return result;
}

static int load_modules(struct gt_steps *steps, struct gt_error *err)
{
	const char *path = steps->options->variant.module;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < steps->bundle->modules.count; i++) {
		const bool other = path && steps->varied != GT_BUNDLE_NONE &&
		                   steps->bundle->functions.rows[steps->varied].module == i;

		result = other ? load_file(steps, i, path, err) : load_blob(steps, i, err);
	}
	return result;
}

/* ---- functions ---- */

static bool is_varied(const struct gt_steps *steps, size_t number)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];

	return step->kind == GT_BUNDLE_STEP_launch && step->function == steps->varied;
}

static uint32_t limit(const struct gt_steps *steps, CUdevice_attribute attribute)
{
	const int value = gt_gpu_attribute(steps->gpu, attribute);

	return value > 0 ? (uint32_t)value : 0;
}

static struct gt_variant_limits limits_of(const struct gt_steps *steps)
{
	return (struct gt_variant_limits){
		.cc_major = capability_of(steps->gpu) / 10,
		.threads = limit(steps, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
		.block = {limit(steps, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
	                  limit(steps, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
	                  limit(steps, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
		.grid = {limit(steps, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
	                 limit(steps, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
	                 limit(steps, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
		.shared_bytes = limit(steps, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
	};
}

/* What the code says, of the bundle's module: the contents were read once already. */
static int read_code(const struct gt_steps *steps, uint32_t function, struct gt_variant_code *code,
                     struct gt_error *err)
{
	const struct gt_bundle_function *row = &steps->bundle->functions.rows[function];
	const struct gt_blob *blob = &steps->bundle->modules.rows[row->module].image;
	uint8_t *image = gt_allocate(blob->size + 1);
	const int result = gt_bundle_read(steps->bundle, blob, image, err);

	if (result == 0)
		gt_variant_code_read(code, image, blob->size, row->name);
	if (steps->options->variant.module)
		code->ptx = true; /* whether it is was looked at when it was loaded */
	free(image);
	return result;
}

static int choose_launch(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];
	const struct gt_bundle_function *function = &steps->bundle->functions.rows[step->function];
	const struct gt_variant recorded = gt_variant_recorded();
	const struct gt_variant_limits limits = limits_of(steps);
	const bool varied =
		is_varied(steps, number) && gt_variant_changes(&steps->options->variant);
	struct gt_variant_code code = {0};
	const struct gt_variant_subject subject = {function, &code, step, &limits};
	const int result = varied ? read_code(steps, step->function, &code, err) : 0;

	return result < 0 ? result
	                  : gt_variant_launch(varied ? &steps->options->variant : &recorded,
	                                      &subject, &steps->ready[number].launch, err);
}

static int set_attribute(const struct gt_steps *steps, uint32_t function,
                         CUfunction_attribute attribute, int value, const char *what,
                         struct gt_error *err)
{
	const struct gt_cuda *cuda = steps->gpu->cuda;

	return gt_cuda_check(cuda, cuda->function_set(steps->functions[function], attribute, value),
	                     err, what);
}

static int set_attributes(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	const uint32_t function = steps->bundle->steps.rows[number].function;
	const struct gt_bundle_function *row = &steps->bundle->functions.rows[function];
	const struct gt_variant_launch *wanted = &steps->ready[number].launch;
	const uint32_t most = row->max_dynamic_bytes > wanted->shared_bytes ? row->max_dynamic_bytes
	                                                                    : wanted->shared_bytes;
	int result = 0;

	if (most + row->shared_bytes > DEFAULT_SHARED_BYTES)
		result = set_attribute(steps, function,
		                       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)most,
		                       "the GPU does not have so much shared memory", err);
	if (result == 0 && wanted->carveout != GT_CARVEOUT_DEFAULT)
		result = set_attribute(steps, function,
		                       CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
		                       wanted->carveout, "shared memory cannot be divided so", err);
	if (result == 0 && row->cluster_other)
		result = set_attribute(steps, function,
		                       CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
		                       "clusters of any size cannot be had", err);
	return result;
}

static int find_function(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	const uint32_t function = steps->bundle->steps.rows[number].function;
	const struct gt_bundle_function *row = &steps->bundle->functions.rows[function];
	const struct gt_cuda *cuda = steps->gpu->cuda;
	char what[256];

	snprintf(what, sizeof(what), "the module has no kernel %s", row->name);
	return gt_cuda_check(cuda,
	                     cuda->module_function(&steps->functions[function],
	                                           steps->modules[row->module], row->name),
	                     err, what);
}

static void choose_varied(struct gt_steps *steps)
{
	steps->varied = GT_BUNDLE_NONE;
	gt_array_each(const struct gt_bundle_step, step, &steps->bundle->steps)
		if (step->kind == GT_BUNDLE_STEP_launch && steps->varied == GT_BUNDLE_NONE)
			steps->varied = step->function;
}

static void *zeroed(size_t count, size_t size)
{
	return memset(gt_allocate((count + 1) * size), 0, (count + 1) * size);
}

int gt_steps_load(struct gt_steps *steps, const struct gt_bundle *bundle, struct gt_gpu *gpu,
                  const struct gt_replay_options *options, struct gt_error *err)
{
	int result;

	*steps = (struct gt_steps){
		.bundle = bundle,
		.gpu = gpu,
		.options = options,
		.modules = zeroed(bundle->modules.count, sizeof(*steps->modules)),
		.functions = zeroed(bundle->functions.count, sizeof(*steps->functions)),
		.streams = zeroed(bundle->streams.count, sizeof(*steps->streams)),
		.ready = zeroed(bundle->steps.count, sizeof(*steps->ready)),
	};
	choose_varied(steps);
	result = load_modules(steps, err);
	for (size_t i = 0; result == 0 && i < bundle->steps.count; i++) {
		if (bundle->steps.rows[i].kind != GT_BUNDLE_STEP_launch)
			continue;
		result = find_function(steps, i, err);
		if (result == 0)
			result = choose_launch(steps, i, err);
		if (result == 0)
			result = set_attributes(steps, i, err);
	}
	if (result < 0)
		gt_steps_close(steps);
	return result;
}

/* ---- what each step needs ---- */

static int priority_of(const struct gt_steps *steps, size_t stream)
{
	const struct gt_bundle_stream *row = &steps->bundle->streams.rows[stream];
	const struct gt_replay_options *options = steps->options;

	for (size_t i = 0; options->form == GT_SEQUENCE_priorities && i < options->priority_count;
	     i++)
		if (options->priorities[i].stream == row->number)
			return options->priorities[i].priority;
	return row->priority;
}

static int make_streams(struct gt_steps *steps, struct gt_error *err)
{
	const bool one = steps->options->form == GT_SEQUENCE_one_stream;
	int result = 0;

	for (size_t i = 0; result == 0 && i < steps->bundle->streams.count; i++) {
		if (one || steps->bundle->streams.count == 1)
			steps->streams[i] = steps->gpu->stream;
		else
			result = gt_gpu_add_stream(steps->gpu, priority_of(steps, i),
			                           &steps->streams[i], err);
	}
	return result;
}

static int make_events(struct gt_steps *steps, struct gt_error *err)
{
	int result = 0;

	gt_array_each(const struct gt_bundle_step, step, &steps->bundle->steps)
		if (step->event != GT_BUNDLE_NONE && step->event >= steps->event_count)
			steps->event_count = (size_t)step->event + 1;
	steps->events = zeroed(steps->event_count, sizeof(*steps->events));
	for (size_t i = 0; result == 0 && i < steps->event_count; i++)
		result = gt_gpu_take_event(steps->gpu, &steps->events[i], err);
	return result;
}

/*
 * What the host has, in pinned memory where the program had it there: copies take another way from
 * and to other memory, and several times as long.
 */
static int make_bytes(struct gt_steps *steps, const struct gt_bundle_step *step, size_t size,
                      uint8_t **bytes, struct gt_error *err)
{
	void *pinned = NULL;
	int result;

	if (!step->pinned) {
		*bytes = zeroed(size, 1);
		return 0;
	}
	result = gt_gpu_alloc_pinned(steps->gpu, size, &pinned, err);
	*bytes = pinned;
	if (result == 0)
		memset(pinned, 0, size);
	return result;
}

static int make_ready(struct gt_steps *steps, const struct gt_restored *restored, size_t number,
                      struct gt_error *err)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];
	struct gt_step_ready *ready = &steps->ready[number];
	int result = 0;

	steps->work += gt_bundle_is_work(step);
	ready->to = gt_layout_translate(&restored->layout, steps->bundle, step->to);
	ready->from = gt_layout_translate(&restored->layout, steps->bundle, step->from);
	if (step->kind == GT_BUNDLE_STEP_copy && step->to == 0)
		result = make_bytes(steps, step, step->slices * step->rows * step->bytes,
		                    &ready->bytes, err);
	else if (step->parameters.hash[0])
		result = make_bytes(steps, step, step->parameters.size, &ready->bytes, err);
	if (result < 0 || !step->parameters.hash[0])
		return result;
	return gt_restored_parameters(restored, (uint32_t)number, ready->bytes, err);
}

static void find_unrecorded(struct gt_steps *steps)
{
	bool *recorded = zeroed(steps->event_count, sizeof(*recorded));

	for (size_t i = 0; i < steps->bundle->steps.count; i++) {
		const struct gt_bundle_step *step = &steps->bundle->steps.rows[i];

		if (step->event == GT_BUNDLE_NONE)
			continue;
		if (step->kind == GT_BUNDLE_STEP_record)
			recorded[step->event] = true;
		else
			steps->ready[i].unrecorded = !recorded[step->event];
	}
	free(recorded);
}

static int make_graph(struct gt_steps *steps, struct gt_error *err);
static int make_graphs(struct gt_steps *steps, struct gt_error *err);

int gt_steps_prepare(struct gt_steps *steps, const struct gt_restored *restored,
                     struct gt_error *err)
{
	int result = make_streams(steps, err);

	if (result == 0)
		result = make_events(steps, err);
	for (size_t i = 0; result == 0 && i < steps->bundle->steps.count; i++)
		result = make_ready(steps, restored, i, err);
	find_unrecorded(steps);
	if (result == 0)
		result = make_graphs(steps, err);
	if (result == 0 && steps->options->form == GT_SEQUENCE_graph)
		result = make_graph(steps, err);
	return result;
}

/*
 * A GPU that was given up may get on later, and read and write what copies were asked for: it stays
 * as long as the process does.
 */
static void leave_bytes(struct gt_steps *steps)
{
	static gt_array(struct gt_step_ready *) left;

	*gt_array_push(&left) = steps->ready;
	steps->ready = NULL;
}

void gt_steps_close(struct gt_steps *steps)
{
	if (steps->ready && !steps->gpu->context)
		leave_bytes(steps);
	gt_commands_close(&steps->graph);
	for (size_t i = 0; i < steps->graph_count; i++)
		gt_commands_close(&steps->graphs[i].commands);
	free(steps->graphs);
	free(steps->inside);
	for (size_t i = 0; steps->ready && i < steps->bundle->steps.count; i++)
		if (!steps->bundle->steps.rows[i].pinned) /* the GPU's, until it is closed */
			free(steps->ready[i].bytes);
	for (size_t i = 0; steps->events && i < steps->event_count; i++)
		gt_gpu_give_event(steps->gpu, steps->events[i]);
	free(steps->modules);
	free(steps->functions);
	free(steps->streams);
	free(steps->events);
	free(steps->ready);
	*steps = (struct gt_steps){0};
}

/* ---- work ---- */

enum { MOST_ATTRIBUTES = 4 };

static unsigned launch_attributes(const struct gt_bundle_step *step,
                                  const struct gt_variant_launch *launch,
                                  CUlaunchAttribute attributes[MOST_ATTRIBUTES])
{
	unsigned count = 0;

	if (launch->cluster[0]) {
		attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		attributes[count].value.clusterDim.x = launch->cluster[0];
		attributes[count].value.clusterDim.y = launch->cluster[1];
		attributes[count++].value.clusterDim.z = launch->cluster[2];
	}
	if (step->cooperative) {
		attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		attributes[count++].value.cooperative = 1;
	}
	if (step->programmatic) {
		attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
		attributes[count++].value.programmaticStreamSerializationAllowed = 1;
	}
	if (step->has_priority) {
		attributes[count].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
		attributes[count++].value.priority = step->priority;
	}
	return count;
}

static CUresult launch(const struct gt_steps *steps, size_t number, CUstream stream)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];
	const struct gt_step_ready *ready = &steps->ready[number];
	CUlaunchAttribute attributes[MOST_ATTRIBUTES] = {0};
	size_t size = step->parameters.size;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, ready->bytes, CU_LAUNCH_PARAM_BUFFER_SIZE,
	                 &size, CU_LAUNCH_PARAM_END};
	const CUlaunchConfig config = {
		.gridDimX = ready->launch.grid[0],
		.gridDimY = ready->launch.grid[1],
		.gridDimZ = ready->launch.grid[2],
		.blockDimX = ready->launch.block[0],
		.blockDimY = ready->launch.block[1],
		.blockDimZ = ready->launch.block[2],
		.sharedMemBytes = ready->launch.shared_bytes,
		.hStream = stream,
		.attrs = attributes,
		.numAttrs = launch_attributes(step, &ready->launch, attributes),
	};

	return steps->gpu->cuda->launch_with(&config, steps->functions[step->function], NULL,
	                                     size ? extra : NULL);
}

/* What the host has of a slice lies row after row, and so does the next one. */
static size_t rows_apart(uint64_t slice_pitch, uint64_t pitch, const struct gt_bundle_step *step)
{
	return slice_pitch ? slice_pitch / pitch : step->rows;
}

/* rows: what the first slice is. */
static CUresult copy_slices(const struct gt_steps *steps, const struct gt_bundle_step *step,
                            const CUDA_MEMCPY2D *rows, CUstream stream)
{
	const CUDA_MEMCPY3D slices = {
		.srcMemoryType = rows->srcMemoryType,
		.srcDevice = rows->srcDevice,
		.srcPitch = rows->srcPitch,
		.srcHeight =
			rows_apart(step->from ? step->from_slice_pitch : 0, rows->srcPitch, step),
		.dstMemoryType = rows->dstMemoryType,
		.dstDevice = rows->dstDevice,
		.dstPitch = rows->dstPitch,
		.dstHeight = rows_apart(step->to ? step->to_slice_pitch : 0, rows->dstPitch, step),
		.WidthInBytes = rows->WidthInBytes,
		.Height = rows->Height,
		.Depth = step->slices,
	};

	return steps->gpu->cuda->copy_3d(&slices, stream);
}

static CUresult copy(const struct gt_steps *steps, size_t number, CUstream stream)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];
	const struct gt_step_ready *ready = &steps->ready[number];
	const CUdeviceptr host = (CUdeviceptr)(uintptr_t)ready->bytes;
	const CUDA_MEMCPY2D rows = {
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
		.srcDevice = step->from ? ready->from : host,
		.srcPitch = step->from ? step->from_pitch : step->bytes,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
		.dstDevice = step->to ? ready->to : host,
		.dstPitch = step->to ? step->to_pitch : step->bytes,
		.WidthInBytes = step->bytes,
		.Height = step->rows,
	};

	if (step->slices > 1)
		return copy_slices(steps, step, &rows, stream);
	if (step->rows > 1)
		return steps->gpu->cuda->copy_rows(&rows, stream);
	return steps->gpu->cuda->copy(rows.dstDevice, rows.srcDevice, step->bytes, stream);
}

static CUresult fill_row(const struct gt_cuda *cuda, const struct gt_bundle_step *step,
                         CUdeviceptr to, CUstream stream)
{
	if (step->value_bytes == 4)
		return cuda->set_words(to, step->value, step->bytes / 4, stream);
	if (step->value_bytes == 2)
		return cuda->set_halves(to, (unsigned short)step->value, step->bytes / 2, stream);
	return cuda->set_bytes(to, (unsigned char)step->value, step->bytes, stream);
}

static CUresult fill_rows(const struct gt_cuda *cuda, const struct gt_bundle_step *step,
                          CUdeviceptr to, CUstream stream)
{
	const size_t pitch = step->to_pitch;
	const size_t width = step->bytes / step->value_bytes;

	if (step->rows == 1)
		return fill_row(cuda, step, to, stream);
	if (step->value_bytes == 4)
		return cuda->set_word_rows(to, pitch, step->value, width, step->rows, stream);
	if (step->value_bytes == 2)
		return cuda->set_half_rows(to, pitch, (unsigned short)step->value, width,
		                           step->rows, stream);
	return cuda->set_byte_rows(to, pitch, (unsigned char)step->value, width, step->rows,
	                           stream);
}

static CUresult fill(const struct gt_steps *steps, size_t number, CUstream stream)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];
	CUresult code = CUDA_SUCCESS;

	for (uint64_t slice = 0; code == CUDA_SUCCESS && slice < step->slices; slice++)
		code = fill_rows(steps->gpu->cuda, step,
		                 steps->ready[number].to + slice * step->to_slice_pitch, stream);
	return code;
}

static int work(const struct gt_steps *steps, size_t number, CUstream stream, struct gt_error *err)
{
	const struct gt_cuda *cuda = steps->gpu->cuda;

	switch (steps->bundle->steps.rows[number].kind) {
	case GT_BUNDLE_STEP_launch:
		return gt_cuda_check(cuda, launch(steps, number, stream), err,
		                     "the kernel cannot be launched");
	case GT_BUNDLE_STEP_copy:
		return gt_cuda_check(cuda, copy(steps, number, stream), err,
		                     "memory cannot be copied");
	case GT_BUNDLE_STEP_fill:
		return gt_cuda_check(cuda, fill(steps, number, stream), err,
		                     "memory cannot be filled");
	case GT_BUNDLE_STEP_record:
	case GT_BUNDLE_STEP_wait:
	case GT_BUNDLE_STEP_host_wait:
		return 0;
	}
	return 0;
}

/* ---- order ---- */

/* What the default stream is to streams that do not say that they are not blocking. */
static bool is_legacy(const struct gt_steps *steps, size_t stream)
{
	return steps->bundle->streams.rows[stream].number == LEGACY_STREAM &&
	       !steps->bundle->streams.rows[stream].nonblocking;
}

/* Whether anything is put into the stream: not where all that is in it is in graphs. */
static bool is_used(const struct gt_steps *steps, size_t stream)
{
	return !steps->inside || !steps->inside[stream];
}

/* Every stream goes on when the one has come so far; GT_BUNDLE_NONE: when all have. */
static int join(struct gt_steps *steps, uint32_t waited, struct gt_error *err)
{
	const size_t count = steps->bundle->streams.count;
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++)
		if (is_used(steps, i) && (i == waited || waited == GT_BUNDLE_NONE))
			result = gt_gpu_order(steps->gpu, steps->streams[i], steps->gpu->stream,
			                      err);
	for (size_t i = 0; result == 0 && i < count; i++)
		if (is_used(steps, i) && i != waited)
			result = gt_gpu_order(steps->gpu, steps->gpu->stream, steps->streams[i],
			                      err);
	return result;
}

/* Work of the default stream and of blocking streams waits for each other. */
static int order_legacy(struct gt_steps *steps, uint32_t stream, bool before, struct gt_error *err)
{
	const size_t count = steps->bundle->streams.count;
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++) {
		const bool bound = i != stream && is_used(steps, i) &&
		                   !steps->bundle->streams.rows[i].nonblocking &&
		                   (is_legacy(steps, stream) || is_legacy(steps, i));

		if (bound && before)
			result = gt_gpu_order(steps->gpu, steps->streams[i], steps->streams[stream],
			                      err);
		else if (bound && is_legacy(steps, stream))
			result = gt_gpu_order(steps->gpu, steps->streams[stream], steps->streams[i],
			                      err);
	}
	return result;
}

/* Whether calls come when the program made them, and the host waits where it did. */
static bool keeps_gaps(const struct gt_steps *steps)
{
	return steps->options->form == GT_SEQUENCE_recorded ||
	       steps->options->form == GT_SEQUENCE_priorities ||
	       steps->options->form == GT_SEQUENCE_nodes;
}

/* The host does. GT_BUNDLE_NONE: for all streams. */
static CUresult wait_for_streams(const struct gt_steps *steps, uint32_t stream)
{
	CUresult code = CUDA_SUCCESS;

	for (size_t i = 0; code == CUDA_SUCCESS && i < steps->bundle->streams.count; i++)
		if (is_used(steps, i) && (i == stream || stream == GT_BUNDLE_NONE))
			code = steps->gpu->cuda->stream_wait(steps->streams[i]);
	return code;
}

static CUresult let_streams_wait(const struct gt_steps *steps, uint32_t event)
{
	CUresult code = CUDA_SUCCESS;

	for (size_t i = 0; code == CUDA_SUCCESS && i < steps->bundle->streams.count; i++)
		if (is_used(steps, i))
			code = steps->gpu->cuda->stream_wait_event(steps->streams[i],
			                                           steps->events[event], 0);
	return code;
}

/* What the program waited for, on the host or, where it is not to be waited for, by the streams. */
static int host_wait(struct gt_steps *steps, const struct gt_bundle_step *step,
                     struct gt_error *err)
{
	const struct gt_cuda *cuda = steps->gpu->cuda;
	const bool of_event = step->event != GT_BUNDLE_NONE;
	const bool waits = keeps_gaps(steps) && !steps->bounded;
	CUresult code;

	if (!waits && !of_event)
		return join(steps, step->stream, err);
	if (!waits)
		code = let_streams_wait(steps, step->event);
	else if (of_event)
		code = cuda->event_wait(steps->events[step->event]);
	else
		code = wait_for_streams(steps, step->stream);
	return gt_cuda_check(cuda, code, err, "the GPU's work failed");
}

static int order(struct gt_steps *steps, const struct gt_bundle_step *step, struct gt_error *err)
{
	const struct gt_cuda *cuda = steps->gpu->cuda;

	if (step->kind == GT_BUNDLE_STEP_host_wait)
		return host_wait(steps, step, err);
	if (step->event == GT_BUNDLE_NONE)
		return 0;
	if (step->kind == GT_BUNDLE_STEP_record)
		return gt_cuda_check(cuda,
		                     cuda->event_record(steps->events[step->event],
		                                        steps->streams[step->stream]),
		                     err, "an event cannot be recorded");
	return gt_cuda_check(cuda,
	                     cuda->stream_wait_event(steps->streams[step->stream],
	                                             steps->events[step->event], 0),
	                     err, "a stream cannot wait for an event");
}

/* When the program made the first call of which that is known; negative: it is of none. */
static int64_t first_call(const struct gt_bundle *bundle)
{
	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		if (step->call_ns >= 0)
			return step->call_ns;
	return -1;
}

/* When the program made the call of a step; of a graph's that of the first one that is known. */
static int64_t call_of(const struct gt_bundle *bundle, size_t number)
{
	const struct gt_bundle_step *rows = bundle->steps.rows;
	size_t i = number;

	while (rows[number].graph != 0 && rows[i].call_ns < 0 && i + 1 < bundle->steps.count &&
	       gt_bundle_goes_on_with_graph(bundle, i + 1))
		i++;
	return rows[i].call_ns;
}

/* Until the program made that call, counted from its first: a graph's steps have one. */
static void wait_for_call(const struct gt_steps *steps, size_t number, int64_t begun_ns)
{
	const int64_t first_ns = first_call(steps->bundle);
	int64_t call_ns;

	if (!keeps_gaps(steps) || first_ns < 0 ||
	    gt_bundle_goes_on_with_graph(steps->bundle, number))
		return;
	call_ns = call_of(steps->bundle, number);
	while (call_ns >= 0 && gt_gpu_now_ns() - begun_ns < call_ns - first_ns)
		;
}

static int run_step(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];
	int result;

	if (!gt_bundle_is_work(step))
		return steps->ready[number].unrecorded ? 0 : order(steps, step, err);
	result = order_legacy(steps, step->stream, true, err);
	if (result == 0)
		result = work(steps, number, steps->streams[step->stream], err);
	if (result == 0)
		result = order_legacy(steps, step->stream, false, err);
	return result;
}

/* In the stream of its first step. */
static int run_graph(struct gt_steps *steps, const struct gt_step_graph *graph,
                     struct gt_error *err)
{
	const uint32_t stream = steps->bundle->steps.rows[graph->first].stream;
	int result = order_legacy(steps, stream, true, err);

	if (result == 0)
		result = gt_commands_run(&graph->commands, steps->streams[stream], err);
	if (result == 0)
		result = order_legacy(steps, stream, false, err);
	return result;
}

/* All streams begin after the GPU's own, which goes on after all of them. */
static int run_all(struct gt_steps *steps, struct gt_error *err)
{
	const int64_t begun_ns = gt_gpu_now_ns();
	size_t graphs = 0; /* that were launched */
	int result = 0;

	for (size_t i = 0; result == 0 && i < steps->bundle->streams.count; i++)
		if (is_used(steps, i))
			result = gt_gpu_order(steps->gpu, steps->gpu->stream, steps->streams[i],
			                      err);
	for (size_t i = 0; result == 0 && i < steps->bundle->steps.count; i++) {
		const struct gt_step_graph *graph =
			graphs < steps->graph_count ? &steps->graphs[graphs] : NULL;

		wait_for_call(steps, i, begun_ns);
		if (graph && graph->first == i) {
			result = run_graph(steps, graph, err);
			i = graph->end - 1;
			graphs++;
		} else {
			result = run_step(steps, i, err);
		}
	}
	for (size_t i = 0; result == 0 && i < steps->bundle->streams.count; i++)
		if (is_used(steps, i))
			result = gt_gpu_order(steps->gpu, steps->streams[i], steps->gpu->stream,
			                      err);
	return result;
}

/* ---- launches of graphs ---- */

/* Whether a launch of a graph is one again: not where all steps are put in order otherwise. */
static bool launches_graphs(const struct gt_steps *steps)
{
	return steps->options->form == GT_SEQUENCE_recorded ||
	       steps->options->form == GT_SEQUENCE_priorities ||
	       steps->options->form == GT_SEQUENCE_back_to_back;
}

/*
 * Whether nothing in the graph waits for an event from outside of it, nor the reverse. What is
 * captured cannot: such steps, of nodes that record and wait for the program's events, are run one
 * by one.
 */
static bool *find_closed(const struct gt_steps *steps, uint32_t graph_count)
{
	uint32_t *recorded = zeroed(steps->event_count, sizeof(*recorded));
	bool *closed = zeroed(graph_count, sizeof(*closed));

	memset(closed, true, graph_count + 1);
	for (size_t i = 0; i < steps->bundle->steps.count; i++) {
		const struct gt_bundle_step *step = &steps->bundle->steps.rows[i];

		if (step->event == GT_BUNDLE_NONE)
			continue;
		if (step->kind == GT_BUNDLE_STEP_record) {
			recorded[step->event] = step->graph;
		} else if (!steps->ready[i].unrecorded && recorded[step->event] != step->graph) {
			closed[step->graph] = false;
			closed[recorded[step->event]] = false;
		}
	}
	free(recorded);
	return closed;
}

/* Numbers of graphs are counted from 1, and their steps follow each other. */
static void list_graphs(struct gt_steps *steps)
{
	const struct gt_bundle *bundle = steps->bundle;
	uint32_t count = 0;
	bool *closed;

	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		count = step->graph > count ? step->graph : count;
	closed = find_closed(steps, count);
	steps->graphs = zeroed(count, sizeof(*steps->graphs));
	for (size_t i = 0; i < bundle->steps.count; i++) {
		const uint32_t graph = bundle->steps.rows[i].graph;

		if (graph == 0 || !closed[graph])
			continue;
		if (!gt_bundle_goes_on_with_graph(bundle, i))
			steps->graphs[steps->graph_count++].first = i;
		steps->graphs[steps->graph_count - 1].end = i + 1;
	}
	free(closed);
}

/* Streams in which nothing is but what is inside of graphs, behind their first steps. */
static void find_inside(struct gt_steps *steps)
{
	const struct gt_bundle *bundle = steps->bundle;

	steps->inside = zeroed(bundle->streams.count, sizeof(*steps->inside));
	for (size_t i = 0; i < steps->graph_count; i++)
		for (size_t j = steps->graphs[i].first + 1; j < steps->graphs[i].end; j++)
			steps->inside[bundle->steps.rows[j].stream] = true;
	for (size_t i = 0, graphs = 0; i < bundle->steps.count; i++) {
		const uint32_t stream = bundle->steps.rows[i].stream;

		if (stream != GT_BUNDLE_NONE)
			steps->inside[stream] = false;
		if (graphs < steps->graph_count && steps->graphs[graphs].first == i)
			i = steps->graphs[graphs++].end - 1;
	}
}

/* The streams of a graph begin when it is launched, and it ends when all of them have. */
static int order_inside(struct gt_steps *steps, const struct gt_step_graph *graph, bool begin,
                        struct gt_error *err)
{
	const struct gt_bundle_step *rows = steps->bundle->steps.rows;
	const uint32_t own = rows[graph->first].stream;
	bool *ordered = zeroed(steps->bundle->streams.count, sizeof(*ordered));
	int result = 0;

	ordered[own] = true;
	for (size_t i = graph->first; result == 0 && i < graph->end; i++) {
		const uint32_t other = rows[i].stream;

		if (!ordered[other])
			result = gt_gpu_order(steps->gpu, steps->streams[begin ? own : other],
			                      steps->streams[begin ? other : own], err);
		ordered[other] = true;
	}
	free(ordered);
	return result;
}

/* What the default stream waits for is outside. */
static int put_inside(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];

	if (gt_bundle_is_work(step))
		return work(steps, number, steps->streams[step->stream], err);
	return steps->ready[number].unrecorded ? 0 : order(steps, step, err);
}

static int capture_graph(struct gt_steps *steps, struct gt_step_graph *graph, struct gt_error *err)
{
	const uint32_t own = steps->bundle->steps.rows[graph->first].stream;
	int result = gt_commands_begin(&graph->commands, steps->gpu, steps->streams[own], err);
	int ended;

	if (result < 0)
		return result;
	result = order_inside(steps, graph, true, err);
	for (size_t i = graph->first; result == 0 && i < graph->end; i++)
		result = put_inside(steps, i, err);
	if (result == 0)
		result = order_inside(steps, graph, false, err);
	ended = gt_commands_end(&graph->commands, result < 0, err);
	return result < 0 ? result : ended;
}

static int make_graphs(struct gt_steps *steps, struct gt_error *err)
{
	int result = 0;

	if (!launches_graphs(steps))
		return 0;
	list_graphs(steps);
	find_inside(steps);
	for (size_t i = 0; result == 0 && i < steps->graph_count; i++)
		result = capture_graph(steps, &steps->graphs[i], err);
	return result;
}

static int make_graph(struct gt_steps *steps, struct gt_error *err)
{
	int result = gt_commands_begin(&steps->graph, steps->gpu, steps->gpu->stream, err);
	int ended;

	if (result < 0)
		return result;
	result = run_all(steps, err);
	ended = gt_commands_end(&steps->graph, result < 0, err);
	return result < 0 ? result : ended;
}

int gt_steps_run(struct gt_steps *steps, struct gt_error *err)
{
	return steps->graph.exec ? gt_commands_run(&steps->graph, steps->gpu->stream, err)
	                         : run_all(steps, err);
}

int gt_steps_run_one(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	return work(steps, number, steps->gpu->stream, err);
}
