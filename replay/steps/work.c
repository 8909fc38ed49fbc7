/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/steps/parts.h"

#include "base/error.h"
#include "model/bundle/bundle.h"

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

/* A slice on the host lies row after row, and so does the next one. */
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

int gt_steps_work(const struct gt_steps *steps, size_t number, CUstream stream,
                  struct gt_error *err)
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
