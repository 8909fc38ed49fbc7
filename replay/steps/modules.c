/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/steps/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/cubin.h"
#include "format/recording.h"
#include "model/bundle/bundle.h"

#define DEFAULT_SHARED_BYTES 49152u /* of a block, that no function has to ask for */

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

/* Reads the code of the bundle's module: the contents were read once already. */
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

int gt_steps_find_functions(struct gt_steps *steps, struct gt_error *err)
{
	int result;

	choose_varied(steps);
	result = load_modules(steps, err);
	for (size_t i = 0; result == 0 && i < steps->bundle->steps.count; i++) {
		if (steps->bundle->steps.rows[i].kind != GT_BUNDLE_STEP_launch)
			continue;
		result = find_function(steps, i, err);
		if (result == 0)
			result = choose_launch(steps, i, err);
		if (result == 0)
			result = set_attributes(steps, i, err);
	}
	return result;
}
