/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with textures and surfaces that are captured and run again: replay_textures NAME
 * [LAUNCHES]. Without a name it lists them. Each is launched so often on the same inputs; sequence:
 * in a range of NVTX that is called step. Prints the kernel's name, which is one of C, and how many
 * elements are wrong.
 */
#include <nvtx3/nvToolsExt.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "samples/check.h"

enum { EDGE = 512, COUNT = EDGE * EDGE, THREADS = 256, LAYERS = 5, DEPTH = 8, LEVELS = 4 };
enum { FACES = 6, LINE = 16384 };

/* Whole numbers: what is between two of them is exact in a filter too. */
static float value_of(size_t i)
{
	return (float)(i * 2654435761u >> 7 & 1023);
}

__device__ static int column(void)
{
	return (int)(blockIdx.x * blockDim.x + threadIdx.x) % EDGE;
}

__device__ static int row(void)
{
	return (int)(blockIdx.x * blockDim.x + threadIdx.x) / EDGE;
}

/* A handle inside of a struct, beside numbers that may look like one. */
struct layer {
	int one;
	int none;
	cudaTextureObject_t texture;
	size_t number;
};

extern "C" {

/* Half way between two elements of a row. */
__global__ void filtered(cudaTextureObject_t picture, float *out)
{
	out[row() * EDGE + column()] = tex2D<float>(picture, column() + 1.0f, row() + 0.5f);
}

__global__ void fetched(cudaTextureObject_t values, float *out)
{
	out[row() * EDGE + column()] = 2 * tex1Dfetch<float>(values, row() * EDGE + column());
}

__global__ void pitched(cudaTextureObject_t rows, float *out)
{
	out[row() * EDGE + column()] = 3 * tex2D<float>(rows, column() + 0.5f, row() + 0.5f);
}

/* Writes an array and nothing else, and changes what it reads there. */
__global__ void painted(cudaTextureObject_t picture, cudaSurfaceObject_t canvas)
{
	const float before = surf2Dread<float>(canvas, column() * 4, row());

	surf2Dwrite(before + tex2D<float>(picture, column() + 0.5f, row() + 0.5f), canvas,
	            column() * 4, row());
}

/* Between levels 1 and 2, in the middle of an element of the second one. */
__global__ void mipmapped(cudaTextureObject_t levels, float *out)
{
	const float x = (column() / 4 * 4 + 2.0f) / EDGE;
	const float y = (row() / 4 * 4 + 2.0f) / EDGE;

	out[row() * EDGE + column()] = tex2DLod<float>(levels, x, y, 2.0f);
}

/* A surface of a level whose mipmapped array a texture is of. */
__global__ void reduced(cudaTextureObject_t levels, cudaSurfaceObject_t second)
{
	if (column() < EDGE / 2 && row() < EDGE / 2)
		surf2Dwrite(tex2DLod<float>(levels, (2 * column() + 0.5f) / EDGE,
		                            (2 * row() + 0.5f) / EDGE, 0),
		            second, column() * 4, row());
}

__global__ void layered(layer from, float *out)
{
	const int last = (int)from.number;

	out[row() * EDGE + column()] =
		255 * tex2DLayered<float>(from.texture, column() + 0.5f, row() + 0.5f, last) +
		from.one;
}

/* Through handles that only memory has. */
__global__ void looked_up(const cudaTextureObject_t *table, float *out)
{
	out[row() * EDGE + column()] =
		tex2D<float>(table[row() % 2], column() + 0.5f, row() + 0.5f);
}

/* The middle of a face each. */
__global__ void cubed(cudaTextureObject_t cube, float *out)
{
	const int face = (row() * EDGE + column()) % FACES;
	const float way = face % 2 ? -1 : 1;

	out[row() * EDGE + column()] = texCubemap<float>(
		cube, face / 2 == 0 ? way : 0, face / 2 == 1 ? way : 0, face / 2 == 2 ? way : 0);
}

/* An array of one dimension. */
__global__ void lined(cudaTextureObject_t line, float *out)
{
	const int i = row() * EDGE + column();

	out[i] = tex1D<float>(line, i % LINE + 0.5f);
}

/* Through a texture that says itself how its array is looked at. */
__global__ void viewed(cudaTextureObject_t picture, float *out)
{
	out[row() * EDGE + column()] = tex2D<float>(picture, column() + 0.5f, row() + 0.5f) - 1;
}

/* Beyond the border, of which every other element is. */
__global__ void bordered(cudaTextureObject_t picture, float *out)
{
	out[row() * EDGE + column()] =
		tex2D<float>(picture, column() + 0.5f, row() + 0.5f - column() % 2 * EDGE);
}

__global__ void volume(cudaTextureObject_t from, cudaSurfaceObject_t to, size_t one)
{
	for (int z = 0; z < DEPTH; z++)
		surf3Dwrite(tex3D<float>(from, column() + 0.5f, row() + 0.5f, z + 0.5f) + one, to,
		            column() * 4, row(), z);
}
}

static float *make_memory(float value)
{
	const std::vector<float> values(COUNT, value);
	float *made;

	CHECK(cudaMalloc(&made, COUNT * sizeof(*made)));
	CHECK(cudaMemcpy(made, values.data(), COUNT * sizeof(*made), cudaMemcpyHostToDevice));
	return made;
}

static cudaArray_t make_array(unsigned flags, const std::vector<float> &values)
{
	const cudaChannelFormatDesc element = cudaCreateChannelDesc<float>();
	cudaArray_t array;

	CHECK(cudaMallocArray(&array, &element, EDGE, EDGE, flags));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), EDGE * 4, EDGE * 4, EDGE,
	                          cudaMemcpyHostToDevice));
	return array;
}

static std::vector<float> picture_values(void)
{
	std::vector<float> values(COUNT);

	for (size_t i = 0; i < COUNT; i++)
		values[i] = value_of(i);
	return values;
}

static cudaResourceDesc resource_of(cudaArray_t array)
{
	cudaResourceDesc resource = {};

	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	return resource;
}

static cudaTextureObject_t make_texture(const cudaResourceDesc &resource,
                                        cudaTextureFilterMode filter = cudaFilterModePoint,
                                        bool normalised = false,
                                        cudaTextureReadMode mode = cudaReadModeElementType)
{
	cudaTextureDesc description = {};
	cudaTextureObject_t texture;

	for (cudaTextureAddressMode &address : description.addressMode)
		address = cudaAddressModeClamp;
	description.filterMode = filter;
	description.readMode = mode;
	description.normalizedCoords = normalised;
	description.maxMipmapLevelClamp = LEVELS - 1;
	CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
	return texture;
}

static cudaSurfaceObject_t make_surface(cudaArray_t array)
{
	const cudaResourceDesc resource = resource_of(array);
	cudaSurfaceObject_t surface;

	CHECK(cudaCreateSurfaceObject(&surface, &resource));
	return surface;
}

template <typename Expected>
static size_t wrong_in(const std::vector<float> &values, Expected expected)
{
	size_t wrong = 0;

	for (size_t i = 0; i < values.size(); i++)
		wrong += !(std::fabs(values[i] - expected(i)) <= 1e-3f);
	return wrong;
}

static std::vector<float> read_memory(const float *memory)
{
	std::vector<float> values(COUNT);

	CHECK(cudaMemcpy(values.data(), memory, COUNT * sizeof(*memory), cudaMemcpyDeviceToHost));
	return values;
}

static std::vector<float> read_array(cudaArray_t array, size_t edge)
{
	std::vector<float> values(edge * edge);

	CHECK(cudaMemcpy2DFromArray(values.data(), edge * 4, array, 0, 0, edge * 4, edge,
	                            cudaMemcpyDeviceToHost));
	return values;
}

/* So often, in ranges. */
static void launch_all(size_t launches, const std::function<void()> &launch)
{
	for (size_t i = 0; i < launches; i++) {
		nvtxRangePushA("step");
		launch();
		CHECK(cudaGetLastError());
		nvtxRangePop();
	}
	CHECK(cudaDeviceSynchronize());
}

static size_t run_filtered(size_t launches)
{
	const std::vector<float> values = picture_values();
	const cudaTextureObject_t picture =
		make_texture(resource_of(make_array(0, values)), cudaFilterModeLinear);
	float *out = make_memory(-1);

	launch_all(launches, [&] { filtered<<<COUNT / THREADS, THREADS>>>(picture, out); });
	return wrong_in(read_memory(out), [&](size_t i) {
		const size_t next = i % EDGE + 1 < EDGE ? i + 1 : i;

		return (values[i] + values[next]) / 2;
	});
}

static size_t run_fetched(size_t launches)
{
	const std::vector<float> values = picture_values();
	cudaResourceDesc resource = {};
	float *from = make_memory(0), *out = make_memory(-1);

	CHECK(cudaMemcpy(from, values.data(), COUNT * sizeof(*from), cudaMemcpyHostToDevice));
	resource.resType = cudaResourceTypeLinear;
	resource.res.linear.devPtr = from;
	resource.res.linear.desc = cudaCreateChannelDesc<float>();
	resource.res.linear.sizeInBytes = COUNT * sizeof(*from);

	const cudaTextureObject_t texture = make_texture(resource);

	launch_all(launches, [&] { fetched<<<COUNT / THREADS, THREADS>>>(texture, out); });
	return wrong_in(read_memory(out), [&](size_t i) { return 2 * values[i]; });
}

static size_t run_pitched(size_t launches)
{
	const std::vector<float> values = picture_values();
	cudaResourceDesc resource = {};
	float *out = make_memory(-1);
	size_t pitch;
	void *rows;

	CHECK(cudaMallocPitch(&rows, &pitch, EDGE * 4, EDGE));
	CHECK(cudaMemcpy2D(rows, pitch, values.data(), EDGE * 4, EDGE * 4, EDGE,
	                   cudaMemcpyHostToDevice));
	resource.resType = cudaResourceTypePitch2D;
	resource.res.pitch2D.devPtr = rows;
	resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
	resource.res.pitch2D.width = EDGE;
	resource.res.pitch2D.height = EDGE;
	resource.res.pitch2D.pitchInBytes = pitch;

	const cudaTextureObject_t texture = make_texture(resource);

	launch_all(launches, [&] { pitched<<<COUNT / THREADS, THREADS>>>(texture, out); });
	return wrong_in(read_memory(out), [&](size_t i) { return 3 * values[i]; });
}

static size_t run_painted(size_t launches)
{
	const std::vector<float> values = picture_values();
	const cudaTextureObject_t picture = make_texture(resource_of(make_array(0, values)));
	const cudaArray_t canvas =
		make_array(cudaArraySurfaceLoadStore, std::vector<float>(COUNT, 1));
	const cudaSurfaceObject_t surface = make_surface(canvas);

	launch_all(launches, [&] { painted<<<COUNT / THREADS, THREADS>>>(picture, surface); });
	return wrong_in(read_array(canvas, EDGE),
	                [&](size_t i) { return 1 + (float)launches * values[i]; });
}

/* Each element of a level is of the level's number, plus that of the element's place. */
static cudaMipmappedArray_t make_levels(unsigned flags)
{
	const cudaChannelFormatDesc element = cudaCreateChannelDesc<float>();
	cudaMipmappedArray_t mipmap;

	CHECK(cudaMallocMipmappedArray(&mipmap, &element, make_cudaExtent(EDGE, EDGE, 0), LEVELS,
	                               flags));
	for (unsigned i = 0; i < LEVELS; i++) {
		const size_t edge = EDGE >> i;
		std::vector<float> values(edge * edge);
		cudaArray_t level;

		for (size_t j = 0; j < values.size(); j++)
			values[j] = value_of(j + i);
		CHECK(cudaGetMipmappedArrayLevel(&level, mipmap, i));
		CHECK(cudaMemcpy2DToArray(level, 0, 0, values.data(), edge * 4, edge * 4, edge,
		                          cudaMemcpyHostToDevice));
	}
	return mipmap;
}

static cudaTextureObject_t make_mipmap_texture(cudaMipmappedArray_t mipmap)
{
	cudaResourceDesc resource = {};

	resource.resType = cudaResourceTypeMipmappedArray;
	resource.res.mipmap.mipmap = mipmap;
	return make_texture(resource, cudaFilterModePoint, true);
}

static size_t run_mipmapped(size_t launches)
{
	const cudaTextureObject_t levels = make_mipmap_texture(make_levels(0));
	float *out = make_memory(-1);

	launch_all(launches, [&] { mipmapped<<<COUNT / THREADS, THREADS>>>(levels, out); });
	return wrong_in(read_memory(out), [](size_t i) {
		return value_of(i / EDGE / 4 * (EDGE / 4) + i % EDGE / 4 + 2);
	});
}

static size_t run_reduced(size_t launches)
{
	const cudaMipmappedArray_t mipmap = make_levels(cudaArraySurfaceLoadStore);
	const cudaTextureObject_t levels = make_mipmap_texture(mipmap);
	cudaArray_t second;

	CHECK(cudaGetMipmappedArrayLevel(&second, mipmap, 1));

	const cudaSurfaceObject_t surface = make_surface(second);

	launch_all(launches, [&] { reduced<<<COUNT / THREADS, THREADS>>>(levels, surface); });
	return wrong_in(read_array(second, EDGE / 2), [](size_t i) {
		return value_of(2 * (i / (EDGE / 2)) * EDGE + 2 * (i % (EDGE / 2)));
	});
}

static size_t run_layered(size_t launches)
{
	const cudaChannelFormatDesc element = cudaCreateChannelDesc<unsigned char>();
	std::vector<unsigned char> values(COUNT * LAYERS);
	float *out = make_memory(-1);
	cudaMemcpy3DParms copy = {};
	cudaArray_t array;

	for (size_t i = 0; i < values.size(); i++)
		values[i] = (unsigned char)(i * 7 + i / COUNT);
	CHECK(cudaMalloc3DArray(&array, &element, make_cudaExtent(EDGE, EDGE, LAYERS),
	                        cudaArrayLayered));
	copy.srcPtr = make_cudaPitchedPtr(values.data(), EDGE, EDGE, EDGE);
	copy.dstArray = array;
	copy.extent = make_cudaExtent(EDGE, EDGE, LAYERS);
	copy.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&copy));

	const layer from = {1, 0,
	                    make_texture(resource_of(array), cudaFilterModePoint, false,
	                                 cudaReadModeNormalizedFloat),
	                    LAYERS - 1};

	launch_all(launches, [&] { layered<<<COUNT / THREADS, THREADS>>>(from, out); });
	return wrong_in(read_memory(out),
	                [&](size_t i) { return 1 + (float)values[COUNT * (LAYERS - 1) + i]; });
}

static size_t run_looked_up(size_t launches)
{
	const std::vector<float> values = picture_values();
	const cudaTextureObject_t handles[2] = {
		make_texture(resource_of(make_array(0, values))),
		make_texture(resource_of(make_array(0, std::vector<float>(COUNT, 5)))),
	};
	float *out = make_memory(-1);
	cudaTextureObject_t *table;

	CHECK(cudaMalloc(&table, sizeof(handles)));
	CHECK(cudaMemcpy(table, handles, sizeof(handles), cudaMemcpyHostToDevice));
	launch_all(launches, [&] { looked_up<<<COUNT / THREADS, THREADS>>>(table, out); });
	return wrong_in(read_memory(out),
	                [&](size_t i) { return i / EDGE % 2 ? 5.0f : values[i]; });
}

static cudaArray_t make_volume(unsigned flags, float value)
{
	const cudaChannelFormatDesc element = cudaCreateChannelDesc<float>();
	std::vector<float> values(COUNT * DEPTH);
	cudaMemcpy3DParms copy = {};
	cudaArray_t array;

	for (size_t i = 0; i < values.size(); i++)
		values[i] = value < 0 ? value_of(i) : value;
	CHECK(cudaMalloc3DArray(&array, &element, make_cudaExtent(EDGE, EDGE, DEPTH), flags));
	copy.srcPtr = make_cudaPitchedPtr(values.data(), EDGE * 4, EDGE, EDGE);
	copy.dstArray = array;
	copy.extent = make_cudaExtent(EDGE, EDGE, DEPTH);
	copy.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&copy));
	return array;
}

static size_t run_volume(size_t launches)
{
	const cudaTextureObject_t from = make_texture(resource_of(make_volume(0, -1)));
	const cudaArray_t array = make_volume(cudaArraySurfaceLoadStore, 0);
	const cudaSurfaceObject_t to = make_surface(array);
	std::vector<float> values(COUNT * DEPTH);
	cudaMemcpy3DParms copy = {};

	launch_all(launches, [&] { volume<<<COUNT / THREADS, THREADS>>>(from, to, 1); });
	copy.srcArray = array;
	copy.dstPtr = make_cudaPitchedPtr(values.data(), EDGE * 4, EDGE, EDGE);
	copy.extent = make_cudaExtent(EDGE, EDGE, DEPTH);
	copy.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&copy));
	return wrong_in(values, [](size_t i) { return value_of(i) + 1; });
}

static size_t run_cubed(size_t launches)
{
	const cudaChannelFormatDesc element = cudaCreateChannelDesc<float>();
	std::vector<float> values(COUNT * FACES);
	float *out = make_memory(-1);
	cudaMemcpy3DParms copy = {};
	cudaArray_t array;

	for (size_t i = 0; i < values.size(); i++)
		values[i] = (float)(i / COUNT * 10 + 1);
	CHECK(cudaMalloc3DArray(&array, &element, make_cudaExtent(EDGE, EDGE, FACES),
	                        cudaArrayCubemap));
	copy.srcPtr = make_cudaPitchedPtr(values.data(), EDGE * 4, EDGE, EDGE);
	copy.dstArray = array;
	copy.extent = make_cudaExtent(EDGE, EDGE, FACES);
	copy.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&copy));

	const cudaTextureObject_t cube =
		make_texture(resource_of(array), cudaFilterModePoint, true);

	launch_all(launches, [&] { cubed<<<COUNT / THREADS, THREADS>>>(cube, out); });
	return wrong_in(read_memory(out), [](size_t i) { return (float)(i % FACES * 10 + 1); });
}

static size_t run_lined(size_t launches)
{
	const cudaChannelFormatDesc element = cudaCreateChannelDesc<float>();
	const std::vector<float> values = picture_values();
	float *out = make_memory(-1);
	cudaArray_t array;

	CHECK(cudaMallocArray(&array, &element, LINE, 0));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), LINE * 4, LINE * 4, 1,
	                          cudaMemcpyHostToDevice));

	const cudaTextureObject_t line = make_texture(resource_of(array));

	launch_all(launches, [&] { lined<<<COUNT / THREADS, THREADS>>>(line, out); });
	return wrong_in(read_memory(out), [&](size_t i) { return values[i % LINE]; });
}

static size_t run_viewed(size_t launches)
{
	const std::vector<float> values = picture_values();
	const cudaResourceDesc resource = resource_of(make_array(0, values));
	float *out = make_memory(-1);
	cudaTextureDesc description = {};
	cudaResourceViewDesc view = {};
	cudaTextureObject_t texture;

	for (cudaTextureAddressMode &address : description.addressMode)
		address = cudaAddressModeClamp;
	view.format = cudaResViewFormatFloat1;
	view.width = EDGE;
	view.height = EDGE;
	CHECK(cudaCreateTextureObject(&texture, &resource, &description, &view));
	launch_all(launches, [&] { viewed<<<COUNT / THREADS, THREADS>>>(texture, out); });
	return wrong_in(read_memory(out), [&](size_t i) { return values[i] - 1; });
}

static size_t run_bordered(size_t launches)
{
	const std::vector<float> values = picture_values();
	const cudaResourceDesc resource = resource_of(make_array(0, values));
	float *out = make_memory(-1);
	cudaTextureDesc description = {};
	cudaTextureObject_t texture;

	for (cudaTextureAddressMode &address : description.addressMode)
		address = cudaAddressModeBorder;
	description.borderColor[0] = 2.5f;
	CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
	launch_all(launches, [&] { bordered<<<COUNT / THREADS, THREADS>>>(texture, out); });
	return wrong_in(read_memory(out), [&](size_t i) { return i % 2 ? 2.5f : values[i]; });
}

static const struct program {
	const char *name;
	size_t (*run)(size_t launches);
} programs[] = {
	{"filtered", run_filtered}, {"fetched", run_fetched},     {"pitched", run_pitched},
	{"painted", run_painted},   {"mipmapped", run_mipmapped}, {"reduced", run_reduced},
	{"layered", run_layered},   {"volume", run_volume},       {"looked_up", run_looked_up},
	{"cubed", run_cubed},       {"lined", run_lined},         {"viewed", run_viewed},
	{"bordered", run_bordered},
};

int main(int argc, char **argv)
{
	for (const struct program &program : programs) {
		if (argc < 2) {
			printf("%s\n", program.name);
		} else if (strcmp(program.name, argv[1]) == 0) {
			const size_t wrong = program.run(argument(argc, argv, 2, 3));

			printf("kernel=%s\nwrong=%zu\n", program.name, wrong);
			return wrong != 0;
		}
	}
	if (argc > 1)
		fprintf(stderr, "there is no case %s\n", argv[1]);
	return argc > 1 ? 2 : 0;
}
