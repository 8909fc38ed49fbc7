/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assumptions of captures and replay on arrays, textures and surfaces, asked of the driver:
 * a line for each, which ends in ok or no, and lines on what numbers handles are. The fake driver
 * of the tests gets the same questions. Exits with how many answers are no.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

/* Functions of libcuda by the names that it has, as no library is linked. */
#define CALLS                                                                                      \
	CALL(init, cuInit, "cuInit")                                                               \
	CALL(retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                         \
	CALL(use, cuCtxSetCurrent, "cuCtxSetCurrent")                                              \
	CALL(allocate, cuMemAlloc, "cuMemAlloc_v2")                                                \
	CALL(copy, cuMemcpy3D, "cuMemcpy3D_v2")                                                    \
	CALL(array, cuArray3DCreate, "cuArray3DCreate_v2")                                         \
	CALL(shape, cuArray3DGetDescriptor, "cuArray3DGetDescriptor_v2")                           \
	CALL(drop_array, cuArrayDestroy, "cuArrayDestroy")                                         \
	CALL(mipmap, cuMipmappedArrayCreate, "cuMipmappedArrayCreate")                             \
	CALL(level, cuMipmappedArrayGetLevel, "cuMipmappedArrayGetLevel")                          \
	CALL(texture, cuTexObjectCreate, "cuTexObjectCreate")                                      \
	CALL(drop_texture, cuTexObjectDestroy, "cuTexObjectDestroy")                               \
	CALL(texture_resource, cuTexObjectGetResourceDesc, "cuTexObjectGetResourceDesc")           \
	CALL(texture_texture, cuTexObjectGetTextureDesc, "cuTexObjectGetTextureDesc")              \
	CALL(texture_view, cuTexObjectGetResourceViewDesc, "cuTexObjectGetResourceViewDesc")       \
	CALL(surface, cuSurfObjectCreate, "cuSurfObjectCreate")                                    \
	CALL(surface_resource, cuSurfObjectGetResourceDesc, "cuSurfObjectGetResourceDesc")

static struct driver {
#define CALL(name, function, symbol) decltype(&function) name;
	CALLS
#undef CALL
} driver;

static int refused;

static void check(const std::string &what, bool holds)
{
	printf("%s=%s\n", what.c_str(), holds ? "ok" : "no");
	refused += !holds;
}

static void must(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "array_facts: %s: error %d\n", what, (int)result);
	exit(125);
}

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	CUcontext context;

	if (!library) {
		fprintf(stderr, "array_facts: no libcuda\n");
		exit(125);
	}
#define CALL(name, function, symbol)                                                               \
	driver.name = (decltype(&function))dlsym(library, symbol);                                 \
	if (!driver.name) {                                                                        \
		fprintf(stderr, "array_facts: no " symbol "\n");                                   \
		exit(125);                                                                         \
	}
	CALLS
#undef CALL
	must(driver.init(0), "cuInit");
	must(driver.retain(&context, 0), "cuDevicePrimaryCtxRetain");
	must(driver.use(context), "cuCtxSetCurrent");
}

/* ---- arrays ---- */

static const struct kind {
	const char *name;
	CUDA_ARRAY3D_DESCRIPTOR shape;
} kinds[] = {
	{"1d", {24, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}},
	{"2d", {24, 20, 0, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_SURFACE_LDST}},
	{"gather", {24, 20, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER}},
	{"3d", {24, 20, 6, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_SURFACE_LDST}},
	{"1d_layered", {24, 0, 5, CU_AD_FORMAT_SIGNED_INT16, 2, CUDA_ARRAY3D_LAYERED}},
	{"2d_layered", {24, 20, 5, CU_AD_FORMAT_FLOAT, 2, CUDA_ARRAY3D_LAYERED}},
	{"cubemap", {16, 16, 6, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_CUBEMAP}},
	{"cubemaps",
         {16, 16, 12, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED}},
	{"unorm", {24, 20, 0, CU_AD_FORMAT_UNORM_INT8X4, 4, 0}},
};

static size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR &shape)
{
	switch (shape.Format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_UNORM_INT8X4:
		return shape.NumChannels;
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2 * shape.NumChannels;
	default:
		return 4 * shape.NumChannels;
	}
}

static bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR &shape)
{
	return shape.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

static size_t at_least_one(size_t length)
{
	return length ? length : 1;
}

static bool is_same(const CUDA_ARRAY3D_DESCRIPTOR &one, const CUDA_ARRAY3D_DESCRIPTOR &other)
{
	return one.Width == other.Width && one.Height == other.Height && one.Depth == other.Depth &&
	       one.Format == other.Format && one.NumChannels == other.NumChannels &&
	       one.Flags == other.Flags;
}

static void expect_shape(const std::string &what, CUarray array,
                         const CUDA_ARRAY3D_DESCRIPTOR &wanted)
{
	CUDA_ARRAY3D_DESCRIPTOR told = {};

	must(driver.shape(&told, array), "cuArray3DGetDescriptor");
	check(what, is_same(told, wanted));
	if (!is_same(told, wanted))
		printf("told=%zu x %zu x %zu, format 0x%x, %u channels, flags 0x%x\n", told.Width,
		       told.Height, told.Depth, (unsigned)told.Format, told.NumChannels,
		       told.Flags);
}

/* Rows of slices of an array, from one on, out of or into packed memory. */
static CUresult move(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR &shape, bool in,
                     unsigned char *bytes, size_t row, size_t rows, size_t slice, size_t slices)
{
	CUDA_MEMCPY3D copy = {};

	copy.WidthInBytes = shape.Width * element_bytes(shape);
	copy.Height = rows;
	copy.Depth = slices;
	copy.srcMemoryType = in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
	copy.dstMemoryType = in ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
	(in ? copy.srcPitch : copy.dstPitch) = copy.WidthInBytes;
	(in ? copy.srcHeight : copy.dstHeight) = rows;
	(in ? copy.dstArray : copy.srcArray) = array;
	(in ? copy.dstY : copy.srcY) = row;
	(in ? copy.dstZ : copy.srcZ) = slice;
	copy.srcHost = in ? bytes : NULL;
	copy.dstHost = in ? NULL : bytes;
	return driver.copy(&copy);
}

/* All of it there and back, and its last row of the last slice alone. */
static void check_contents(const std::string &what, CUarray array,
                           const CUDA_ARRAY3D_DESCRIPTOR &shape)
{
	const size_t rows = at_least_one(shape.Height), slices = at_least_one(shape.Depth);
	const size_t row_bytes = shape.Width * element_bytes(shape);
	std::vector<unsigned char> values(row_bytes * rows * slices);
	std::vector<unsigned char> all(values.size(), 0), last(row_bytes, 0);

	for (size_t i = 0; i < values.size(); i++)
		values[i] = (unsigned char)(i * 7 + i / 251);
	check(what + "_copies",
	      move(array, shape, true, values.data(), 0, rows, 0, slices) == CUDA_SUCCESS &&
	              move(array, shape, false, all.data(), 0, rows, 0, slices) == CUDA_SUCCESS &&
	              all == values);
	check(what + "_pieces",
	      move(array, shape, false, last.data(), rows - 1, 1, slices - 1, 1) == CUDA_SUCCESS &&
	              memcmp(last.data(), &values[values.size() - row_bytes], row_bytes) == 0);
}

static void check_arrays(void)
{
	for (const kind &kind : kinds) {
		CUarray array = NULL;

		must(driver.array(&array, &kind.shape), kind.name);
		expect_shape(std::string("array_") + kind.name, array, kind.shape);
		check_contents(std::string("array_") + kind.name, array, kind.shape);
		must(driver.drop_array(array), "cuArrayDestroy");
	}
}

static CUDA_ARRAY3D_DESCRIPTOR level_of(CUDA_ARRAY3D_DESCRIPTOR shape, unsigned level)
{
	for (unsigned i = 0; i < level; i++) {
		shape.Width = shape.Width > 1 ? shape.Width / 2 : shape.Width;
		shape.Height = shape.Height > 1 ? shape.Height / 2 : shape.Height;
		if (!has_layers(shape))
			shape.Depth = shape.Depth > 1 ? shape.Depth / 2 : shape.Depth;
	}
	return shape;
}

/* Levels are as large as they are thought to be, and have one handle each. */
static void check_levels(void)
{
	for (const kind &kind : kinds) {
		const std::string name = std::string("mipmap_") + kind.name;
		CUarray level = NULL, again = NULL;
		CUmipmappedArray mipmap = NULL;
		unsigned count = 0;

		must(driver.mipmap(&mipmap, &kind.shape, 3), kind.name);
		while (driver.level(&level, mipmap, count) == CUDA_SUCCESS && count < 32) {
			const std::string of = name + "_" + std::to_string(count);

			expect_shape(of, level, level_of(kind.shape, count));
			check_contents(of, level, level_of(kind.shape, count));
			must(driver.level(&again, mipmap, count), "cuMipmappedArrayGetLevel");
			check(of + "_has_one_handle", level == again);
			count++;
		}
		check(name + "_has_as_many_levels", count == 3);
	}
}

/* ---- objects ---- */

static CUDA_RESOURCE_DESC linear_of(CUdeviceptr address)
{
	CUDA_RESOURCE_DESC resource = {};

	resource.resType = CU_RESOURCE_TYPE_LINEAR;
	resource.res.linear.devPtr = address;
	resource.res.linear.format = CU_AD_FORMAT_FLOAT;
	resource.res.linear.numChannels = 1;
	resource.res.linear.sizeInBytes = 4096;
	return resource;
}

static CUDA_RESOURCE_DESC array_of(const CUDA_ARRAY3D_DESCRIPTOR &shape)
{
	CUDA_RESOURCE_DESC resource = {};

	resource.resType = CU_RESOURCE_TYPE_ARRAY;
	must(driver.array(&resource.res.array.hArray, &shape), "cuArray3DCreate");
	return resource;
}

static CUDA_TEXTURE_DESC description(void)
{
	CUDA_TEXTURE_DESC texture = {};

	for (CUaddress_mode &mode : texture.addressMode)
		mode = CU_TR_ADDRESS_MODE_BORDER;
	texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
	texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
	texture.maxAnisotropy = 4;
	texture.mipmapLevelBias = 0.5f;
	texture.maxMipmapLevelClamp = 2;
	texture.borderColor[2] = 0.25f;
	return texture;
}

static void check_told(void)
{
	const CUDA_RESOURCE_DESC resource = array_of(kinds[1].shape);
	const CUDA_TEXTURE_DESC texture = description();
	CUDA_RESOURCE_VIEW_DESC view = {}, told_view = {};
	CUDA_RESOURCE_DESC told_resource = {};
	CUDA_TEXTURE_DESC told = {};
	CUtexObject plain = 0, viewed = 0;
	CUsurfObject surface = 0;

	must(driver.texture(&plain, &resource, &texture, NULL), "cuTexObjectCreate");
	check("texture_without_view_has_zeros",
	      driver.texture_view(&told_view, plain) == CUDA_SUCCESS &&
	              memcmp(&told_view, &view, sizeof(view)) == 0);
	check("texture_is_of_its_array",
	      driver.texture_resource(&told_resource, plain) == CUDA_SUCCESS &&
	              told_resource.resType == CU_RESOURCE_TYPE_ARRAY &&
	              told_resource.res.array.hArray == resource.res.array.hArray);
	check("texture_is_described", driver.texture_texture(&told, plain) == CUDA_SUCCESS);
	printf("border_is_told=%s\n",
	       told.borderColor[2] == texture.borderColor[2] ? "yes" : "never");
	memcpy(told.borderColor, texture.borderColor, sizeof(told.borderColor));
	check("texture_is_as_described_but_for_its_border",
	      memcmp(&told, &texture, sizeof(told)) == 0);
	view.format = CU_RES_VIEW_FORMAT_FLOAT_4X16;
	view.width = kinds[1].shape.Width;
	view.height = kinds[1].shape.Height;
	must(driver.texture(&viewed, &resource, &texture, &view), "cuTexObjectCreate, a view");
	check("texture_has_its_view",
	      driver.texture_view(&told_view, viewed) == CUDA_SUCCESS &&
	              told_view.format == view.format && told_view.width == view.width &&
	              told_view.height == view.height && told_view.depth == view.depth);
	must(driver.surface(&surface, &resource), "cuSurfObjectCreate");
	memset(&told_resource, 0, sizeof(told_resource));
	check("surface_is_of_its_array",
	      driver.surface_resource(&told_resource, surface) == CUDA_SUCCESS &&
	              told_resource.res.array.hArray == resource.res.array.hArray);
	must(driver.drop_texture(viewed), "cuTexObjectDestroy");
	check("texture_that_was_destroyed_is_not_known",
	      driver.texture_resource(&told_resource, viewed) != CUDA_SUCCESS);
}

static void check_memory(void)
{
	CUDA_TEXTURE_DESC texture = {};
	CUDA_RESOURCE_DESC resource;
	CUdeviceptr address = 0;
	CUtexObject made = 0;

	must(driver.allocate(&address, 1 << 20), "cuMemAlloc");
	resource = linear_of(address + 512);
	check("linear_at_512", driver.texture(&made, &resource, &texture, NULL) == CUDA_SUCCESS);
	resource = linear_of(address + 16);
	check("linear_at_16_is_refused",
	      driver.texture(&made, &resource, &texture, NULL) != CUDA_SUCCESS);
	resource = {};
	resource.resType = CU_RESOURCE_TYPE_PITCH2D;
	resource.res.pitch2D.devPtr = address;
	resource.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
	resource.res.pitch2D.numChannels = 1;
	resource.res.pitch2D.width = 8;
	resource.res.pitch2D.height = 4;
	resource.res.pitch2D.pitchInBytes = 64;
	check("rows_64_apart", driver.texture(&made, &resource, &texture, NULL) == CUDA_SUCCESS);
}

/* Numbers, of which replay wants the lowest that is free; nothing here is wrong with others. */
static void tell_handles(void)
{
	const CUDA_RESOURCE_DESC array = array_of(kinds[1].shape);
	const CUDA_TEXTURE_DESC texture = description();
	CUtexObject textures[4] = {}, again = 0;
	CUsurfObject surfaces[2] = {};

	for (CUtexObject &made : textures)
		must(driver.texture(&made, &array, &texture, NULL), "cuTexObjectCreate");
	for (CUsurfObject &made : surfaces)
		must(driver.surface(&made, &array), "cuSurfObjectCreate");
	printf("textures=%llu,%llu,%llu,%llu\n", textures[0], textures[1], textures[2],
	       textures[3]);
	printf("surfaces=%llu,%llu\n", surfaces[0], surfaces[1]);
	must(driver.drop_texture(textures[2]), "cuTexObjectDestroy");
	must(driver.drop_texture(textures[1]), "cuTexObjectDestroy");
	must(driver.texture(&again, &array, &texture, NULL), "cuTexObjectCreate");
	printf("freed=%llu,%llu\nmade=%llu\n", textures[2], textures[1], again);
	check("handles_are_not_0", textures[0] != 0 && surfaces[0] != 0);
}

int main(void)
{
	open_driver();
	tell_handles();
	check_arrays();
	check_levels();
	check_told();
	check_memory();
	return refused < 100 ? refused : 100;
}
