/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/launch.h"

#include "injection/calls/parameters.h"
#include "support/check.h"

static struct gt_launch_shape shape_with(CUlaunchAttribute *attributes, unsigned count)
{
	const CUlaunchConfig config = {.gridDimX = 2,
	                               .gridDimY = 3,
	                               .gridDimZ = 4,
	                               .blockDimX = 5,
	                               .blockDimY = 6,
	                               .blockDimZ = 7,
	                               .sharedMemBytes = 8,
	                               .hStream = (CUstream)0x5000,
	                               .attrs = attributes,
	                               .numAttrs = count};
	const cuLaunchKernelEx_params params = {.config = &config, .f = (CUfunction)0x200};
	const CUpti_CallbackData data = {.functionParams = &params};
	struct gt_launch_shape shape;

	cr_assert(gt_launch_describe(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &data, &shape));
	return shape;
}

Test(launch_calls, ask_for_what_their_attributes_say)
{
	CUlaunchAttribute attributes[] = {
		{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -3},
		{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
		{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 4}},
		{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	         .value.programmaticStreamSerializationAllowed = 1},
		{.id = CU_LAUNCH_ATTRIBUTE_IGNORE},
	};
	const struct gt_launch_shape shape =
		shape_with(attributes, sizeof(attributes) / sizeof(attributes[0]));

	cr_expect(shape.has_priority);
	cr_expect(eq(i32, shape.priority, -3));
	cr_expect(shape.cooperative);
	cr_expect(eq(u32, shape.cluster[0], 2));
	cr_expect(eq(u32, shape.cluster[1], 1));
	cr_expect(eq(u32, shape.cluster[2], 4));
	cr_expect(shape.programmatic);
	cr_expect(not(shape.others));
}

/* That of the stream may be another. */
Test(launch_calls, may_ask_for_priority_0)
{
	CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};

	cr_expect(shape_with(&priority, 1).has_priority);
}

Test(launch_calls, without_attributes_ask_for_nothing_else)
{
	const struct gt_launch_shape shape = shape_with(NULL, 0);

	cr_expect(eq(ptr, (void *)shape.function, (void *)(uintptr_t)0x200));
	cr_expect(eq(ptr, (void *)shape.stream, (void *)(uintptr_t)0x5000));
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect(eq(u32, shape.grid[i], 2 + i));
		cr_expect(eq(u32, shape.block[i], 5 + i));
		cr_expect(eq(u32, shape.cluster[i], 0));
	}
	cr_expect(eq(u32, shape.shared_bytes, 8));
	cr_expect(eq(i32, shape.carveout, -2));
	cr_expect(not(shape.has_priority));
	cr_expect(not(shape.cooperative));
	cr_expect(not(shape.programmatic));
	cr_expect(not(shape.others));
}
