/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that is loaded in four ways: with the program (at the first launch, unless
 * CUDA_MODULE_LOADING=EAGER), from PTX that the driver has to compile, from the same PTX again,
 * which it then has in its cache, and as a cubin that NVRTC makes, where there is NVRTC. Says how
 * many launches it made of each, and whether they counted right.
 * Usage: modules [LAUNCHES]
 */
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <time.h>
#include <unistd.h>

#include "samples/check.h"

enum { PTX_BYTES = 2048 };

__global__ void counts(unsigned long long *counter)
{
	atomicAdd(counter, 1ull);
}

/* A shared array and a block size, for what the report says of functions. */
__global__ void __launch_bounds__(64) shares(unsigned long long *counter)
{
	__shared__ unsigned long long tile[64];

	tile[threadIdx.x] = 1;
	__syncthreads();
	atomicAdd(counter, tile[63 - threadIdx.x]);
}

/* The salt makes it code that no cache has. */
static void write_ptx(char *text, size_t size, unsigned salt)
{
	snprintf(text, size,
	         ".version 7.0\n.target sm_75\n.address_size 64\n"
	         ".visible .entry jitted(.param .u64 counter)\n{\n"
	         ".reg .b64 %%address;\n.reg .b64 %%old;\n.reg .b32 %%salt;\n"
	         "ld.param.u64 %%address, [counter];\n"
	         "mov.u32 %%salt, %u;\n"
	         "st.volatile.global.u32 [%%address + 8], %%salt;\n"
	         "atom.global.add.u64 %%old, [%%address], 1;\n"
	         "ret;\n}\n",
	         salt);
}

/* The driver's functions, without linking it. */
struct driver {
	CUresult (*load)(CUmodule *, const void *);
	CUresult (*find)(CUfunction *, CUmodule, const char *);
	CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
	                   unsigned, CUstream, void **, void **);
	CUresult (*unload)(CUmodule);
};

static void *function_of(const char *name)
{
	cudaDriverEntryPointQueryResult found;
	void *function = NULL;

	CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
	return function;
}

static void open_driver(struct driver *driver)
{
	*(void **)&driver->load = function_of("cuModuleLoadData");
	*(void **)&driver->find = function_of("cuModuleGetFunction");
	*(void **)&driver->launch = function_of("cuLaunchKernel");
	*(void **)&driver->unload = function_of("cuModuleUnload");
}

static void must(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s fails with %d\n", what, (int)result);
	exit(1);
}

static void launch_image(const struct driver *driver, const void *image, const char *name,
                         size_t launches, unsigned long long *counter)
{
	void *arguments[] = {&counter};
	CUfunction function;
	CUmodule module;

	must(driver->load(&module, image), "cuModuleLoadData");
	must(driver->find(&function, module, name), "cuModuleGetFunction");
	for (size_t i = 0; i < launches; i++)
		must(driver->launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL),
		     "cuLaunchKernel");
	CHECK(cudaDeviceSynchronize());
	must(driver->unload(module), "cuModuleUnload");
}

/* NVRTC, without linking it: not every machine that runs this has it. */
#define NVRTC(name) decltype(&name) name##_ = (decltype(&name))dlsym(library, #name)

/* The cubin of a kernel "made", which the caller frees; NULL: there is no NVRTC. */
static char *make_cubin(void)
{
	static const char source[] =
		"extern \"C\" __global__ void made(unsigned long long *counter)\n"
		"{\n"
		"\tatomicAdd(counter, 1ull);\n"
		"}\n";
	static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
	void *library = NULL;
	nvrtcProgram program;
	cudaDeviceProp device;
	char arch[64];
	size_t size = 0;
	char *cubin;

	for (size_t i = 0; i < 3 && !library; i++)
		library = dlopen(names[i], RTLD_NOW);
	if (!library)
		return NULL;
	NVRTC(nvrtcCreateProgram);
	NVRTC(nvrtcCompileProgram);
	NVRTC(nvrtcGetCUBINSize);
	NVRTC(nvrtcGetCUBIN);
	CHECK(cudaGetDeviceProperties(&device, 0));
	snprintf(arch, sizeof(arch), "--gpu-architecture=sm_%d%d", device.major, device.minor);
	const char *options[] = {arch, "-lineinfo"};
	if (nvrtcCreateProgram_(&program, source, "made.cu", 0, NULL, NULL) != NVRTC_SUCCESS ||
	    nvrtcCompileProgram_(program, 2, options) != NVRTC_SUCCESS ||
	    nvrtcGetCUBINSize_(program, &size) != NVRTC_SUCCESS)
		return NULL;
	cubin = (char *)malloc(size);
	if (nvrtcGetCUBIN_(program, cubin) == NVRTC_SUCCESS)
		return cubin;
	free(cubin);
	return NULL;
}

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 10);
	unsigned long long *counter;
	unsigned long long seen = 0;
	unsigned long long wanted;
	char ptx[PTX_BYTES];
	struct driver driver;
	char *cubin;

	CHECK(cudaMalloc((void **)&counter, 2 * sizeof(*counter)));
	CHECK(cudaMemset(counter, 0, 2 * sizeof(*counter)));
	for (size_t i = 0; i < launches; i++) {
		counts<<<1, 1>>>(counter);
		shares<<<1, 64>>>(counter);
		CHECK(cudaGetLastError());
	}
	open_driver(&driver);
	write_ptx(ptx, sizeof(ptx), (unsigned)time(NULL) ^ (unsigned)getpid() << 16);
	for (int i = 0; i < 2; i++)
		launch_image(&driver, ptx, "jitted", launches, counter);
	cubin = make_cubin();
	if (cubin)
		launch_image(&driver, cubin, "made", launches, counter);
	CHECK(cudaMemcpy(&seen, counter, sizeof(seen), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(counter));
	wanted = (1 + 64 + 2 + (cubin ? 1 : 0)) * launches;
	printf("launches=%zu\nmade=%zu\nimages=%d\nwrong=%d\n", launches, cubin ? launches : 0,
	       cubin ? 3 : 2, seen != wanted);
	free(cubin);
	return seen != wanted;
}
