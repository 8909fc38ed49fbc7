/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that launches the kernels of tests/cubins/textures.cu in ranges that are called "step":
 * blend, which reads a picture and weights through textures and writes a surface, and pick_texel,
 * which reads a column of it; told so table, which reads weights through handles in memory. Element
 * x, y of the picture is x + 100 y, weight x is 1 + x % 4, and what is written is -1 before. Says
 * in one line of JSON what its handles are.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "fakes/apps/app_calls.h"
#include "fakes/apps/captured/app_steps.h"
#include "fakes/fake.h"

enum { WIDTH = 40, HEIGHT = 30, PITCH = 512, LEVELS = 3, EXTRA = 3 };

/* More than is looked at in one piece, in rows of which each is little. */
enum { ROWS = 200, ROW_WORDS = 6144, ROW_PITCH = 8 * ROW_WORDS + 512 };

static CUfunction blend;
static CUfunction pick;
static CUmipmappedArray mipmap; /* of the picture; NULL: it is none */
static CUarray picture_array;
static CUarray out_array;
static CUtexObject picture;
static CUtexObject weights;
static CUsurfObject out;
static CUfunction look_up;
static CUdeviceptr column;
static CUdeviceptr table;
static CUtexObject handles[2]; /* in it */
static CUtexObject leaked;     /* of an array that is gone; 0: there is none */
static CUdeviceptr rows;       /* that are copied */
static uint64_t brought[ROWS][ROW_WORDS];
static int width = WIDTH;
static int height = HEIGHT;

static int has_levels(void)
{
	return is("mipmap") || is("drop") || is("part");
}

static CUtexObject make_texture(const CUDA_RESOURCE_DESC *resource)
{
	const CUaddress_mode mode =
		is("border") ? CU_TR_ADDRESS_MODE_BORDER : CU_TR_ADDRESS_MODE_CLAMP;
	const CUDA_TEXTURE_DESC description = {
		.addressMode = {mode, mode},
		.borderColor = {7.5F, 1, 2, 3},
		.flags = resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
	                         ? CU_TRSF_NORMALIZED_COORDINATES
	                         : 0,
		.maxMipmapLevelClamp = LEVELS - 1,
	};
	CUtexObject texture = 0;

	MUST(cuTexObjectCreate, &texture, resource, &description, NULL);
	return texture;
}

static void fill_array(CUarray array, const float *values, size_t array_width, size_t array_height)
{
	const CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST,
		.srcHost = values,
		.srcPitch = array_width * sizeof(*values),
		.dstMemoryType = CU_MEMORYTYPE_ARRAY,
		.dstArray = array,
		.WidthInBytes = array_width * sizeof(*values),
		.Height = array_height,
		.Depth = 1,
	};

	MUST(cuMemcpy3D, &copy);
}

static CUDA_ARRAY3D_DESCRIPTOR shape_of(unsigned flags)
{
	return (CUDA_ARRAY3D_DESCRIPTOR){.Width = WIDTH,
	                                 .Height = HEIGHT,
	                                 .Format = CU_AD_FORMAT_FLOAT,
	                                 .NumChannels = 1,
	                                 .Flags = flags};
}

/* The array of the picture, or its first level. */
static CUDA_RESOURCE_DESC make_picture(void)
{
	const CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(is("sparse")   ? CUDA_ARRAY3D_SPARSE
	                                               : has_levels() ? CUDA_ARRAY3D_SURFACE_LDST
	                                                              : 0);
	const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC imported = {.arrayDesc = shape,
	                                                            .numLevels = 1};
	CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};

	if (is("external"))
		MUST(cuExternalMemoryGetMappedMipmappedArray, &mipmap, NULL, &imported);
	else if (has_levels())
		MUST(cuMipmappedArrayCreate, &mipmap, &shape, LEVELS);
	else
		MUST(cuArray3DCreate, &picture_array, &shape);
	if (mipmap)
		MUST(cuMipmappedArrayGetLevel, &picture_array, mipmap, 0);
	resource.res.array.hArray = picture_array;
	if (has_levels() && !is("part")) {
		resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
		resource.res.mipmap.hMipmappedArray = mipmap;
	}
	return resource;
}

/* The same in rows of memory. */
static CUDA_RESOURCE_DESC make_rows(const float *values)
{
	CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D,
	                               .res.pitch2D = {.format = CU_AD_FORMAT_FLOAT,
	                                               .numChannels = 1,
	                                               .width = WIDTH,
	                                               .height = HEIGHT,
	                                               .pitchInBytes = PITCH}};

	MUST(cuMemAlloc, &resource.res.pitch2D.devPtr, (size_t)PITCH * HEIGHT);
	for (size_t y = 0; y < HEIGHT; y++)
		MUST(cuMemcpyHtoD, resource.res.pitch2D.devPtr + y * PITCH, values + y * WIDTH,
		     WIDTH * sizeof(*values));
	return resource;
}

static CUDA_RESOURCE_DESC make_weights(void)
{
	CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
	                               .res.linear = {.format = CU_AD_FORMAT_FLOAT,
	                                              .numChannels = 1,
	                                              .sizeInBytes = WIDTH * sizeof(float)}};
	float values[WIDTH];

	for (int i = 0; i < WIDTH; i++)
		values[i] = (float)(1 + i % 4);
	MUST(cuMemAlloc, &resource.res.linear.devPtr, sizeof(values));
	MUST(cuMemcpyHtoD, resource.res.linear.devPtr, values, sizeof(values));
	return resource;
}

static void make_out(void)
{
	const CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(CUDA_ARRAY3D_SURFACE_LDST);
	CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
	float values[WIDTH * HEIGHT];

	for (size_t i = 0; i < WIDTH * HEIGHT; i++)
		values[i] = -1;
	if (has_levels()) {
		width = WIDTH / 2;
		height = HEIGHT / 2;
		MUST(cuMipmappedArrayGetLevel, &out_array, mipmap, 1);
	} else {
		MUST(cuArray3DCreate, &out_array, &shape);
	}
	fill_array(out_array, values, (size_t)width, (size_t)height);
	resource.res.array.hArray = out_array;
	MUST(cuSurfObjectCreate, &out, &resource);
}

static void make_table(const CUDA_RESOURCE_DESC *resource)
{
	if (!is("table") && !is("managed"))
		return;
	handles[0] = weights;
	handles[1] = make_texture(resource);
	if (is("managed"))
		MUST(cuMemAllocManaged, &table, sizeof(handles), CU_MEM_ATTACH_GLOBAL);
	else
		MUST(cuMemAlloc, &table, sizeof(handles));
}

/* A texture that is not destroyed with its array. */
static void make_leak(void)
{
	const CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(0);
	CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};

	if (!is("leak"))
		return;
	MUST(cuArray3DCreate, &resource.res.array.hArray, &shape);
	leaked = make_texture(&resource);
	MUST(cuArrayDestroy, resource.res.array.hArray);
}

static void make_rows_to_copy(void)
{
	if (!is("rows"))
		return;
	MUST(cuMemAlloc, &rows, (size_t)ROWS * ROW_PITCH);
	brought[ROWS - 1][0] = weights;
}

static void prepare(void)
{
	CUDA_RESOURCE_DESC resource = make_weights();
	float values[WIDTH * HEIGHT];

	/* Numbers that another process does not begin with. */
	for (int i = 0; is("extra") && i < EXTRA; i++)
		(void)make_texture(&resource);
	weights = make_texture(&resource);
	make_table(&resource);
	for (size_t i = 0; i < WIDTH * HEIGHT; i++)
		values[i] = (float)(i % WIDTH + 100 * (i / WIDTH));
	if (is("pitch")) {
		resource = make_rows(values);
	} else {
		resource = make_picture();
		fill_array(picture_array, values, WIDTH, HEIGHT);
	}
	picture = make_texture(&resource);
	make_leak();
	make_rows_to_copy();
	make_out();
	MUST(cuMemAlloc, &column, HEIGHT * sizeof(float));
	MUST(cuMemsetD8, column, 0, HEIGHT * sizeof(float));
}

/* The same weights through two objects, whose handles are in memory alone. */
static void launch_table(void)
{
	int tables = 2;
	int count = HEIGHT;
	void *arguments[] = {&table, &column, &tables, &count};

	if (is("table"))
		MUST(cuMemcpyHtoD, table, handles, sizeof(handles));
	MUST(cuLaunchKernel, look_up, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
}

/* The host writes the handles of the second launch without a call. */
static void launch_managed(void)
{
	CUtexObject *of_host = (CUtexObject *)(uintptr_t)table;

	of_host[0] = of_host[1] = handles[0];
	launch_table();
	MUST(cuCtxSynchronize, );
	of_host[1] = handles[1];
	launch_table();
}

static void copy_rows(void)
{
	const CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST,
		.srcHost = brought,
		.srcPitch = sizeof(brought[0]),
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = rows,
		.dstPitch = ROW_PITCH,
		.WidthInBytes = sizeof(brought[0]),
		.Height = ROWS,
	};

	MUST(cuMemcpy2D, &copy);
}

static void step(void)
{
	/* One that is no handle has the value of the weights' one. */
	struct {
		int unused;
		int column;
		CUtexObject picture;
	} from = {leaked ? (int)leaked : (int)weights, is("border") ? WIDTH : 0, picture};
	size_t count = leaked ? leaked : HEIGHT;
	void *for_blend[] = {&picture, &weights, &out, &width, &height};
	void *for_pick[] = {&from, &column, &count};

	nvtxRangePushA("step");
	MUST(cuLaunchKernel, blend, 10, 1, 1, 128, 1, 1, 0, NULL, for_blend, NULL);
	MUST(cuLaunchKernel, pick, 1, 1, 1, 32, 1, 1, 0, NULL, for_pick, NULL);
	if (is("table"))
		launch_table();
	if (is("managed"))
		launch_managed();
	if (is("rows"))
		copy_rows();
	if (is("destroy"))
		MUST(cuArrayDestroy, out_array);
	if (is("drop") || is("part"))
		MUST(cuMipmappedArrayDestroy, mipmap);
	nvtxRangePop();
	MUST(cuCtxSynchronize, );
}

/* By its address: the headers of today say that it is deprecated. */
static void ask_for_reference(CUmodule module)
{
	CUresult (*ask)(CUtexref * reference, CUmodule of, const char *name);
	CUtexref reference;

	if (!is("reference"))
		return;
	*(void **)&ask = dlsym(RTLD_DEFAULT, "cuModuleGetTexRef");
	if (!ask || ask(&reference, module, "picture") != CUDA_SUCCESS)
		app_fail("cuModuleGetTexRef", 0);
}

int main(int argc, char **argv)
{
	CUcontext context;
	CUmodule module;

	app_read_words(argc, argv);
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuModuleLoadData, &module, image);
	MUST(cuModuleGetFunction, &blend, module, "replay_blend");
	MUST(cuModuleGetFunction, &pick, module, "replay_pick_texel");
	MUST(cuModuleGetFunction, &look_up, module, "replay_table");
	ask_for_reference(module);
	prepare();
	for (uint64_t i = 0; i < steps; i++)
		step();
	printf("{\"pid\":%d,\"picture\":%llu,\"weights\":%llu,\"out\":%llu,", (int)getpid(),
	       picture, weights, out);
	app_print_calls();
	printf("}\n");
	return 0;
}
