/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens libcuda at run time, as programs do that also run without a GPU, and asks it for its
 * functions with cuGetProcAddress. Usage: app_dlopen [LAUNCHES]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>

#undef cuGetProcAddress

typedef CUresult (*get_function)(const char *symbol, void **function, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status);

static get_function get;

static void *function(const char *name)
{
	void *found = NULL;

	if (get(name, &found, 13000, 0, NULL) != CUDA_SUCCESS || !found) {
		(void)fprintf(stderr, "app_dlopen: no %s\n", name);
		exit(99);
	}
	return found;
}

static void check(const char *what, CUresult result)
{
	if (result == CUDA_SUCCESS)
		return;
	(void)fprintf(stderr, "app_dlopen: %s: %d\n", what, (int)result);
	exit(99);
}

#define CALL(type, name, ...)                                                                      \
	do {                                                                                       \
		type call_;                                                                        \
		*(void **)&call_ = function(name);                                                 \
		check(name, call_(__VA_ARGS__));                                                   \
	} while (0)

typedef CUresult (*init_function)(unsigned flags);
typedef CUresult (*create_function)(CUcontext *context, CUctxCreateParams *create, unsigned flags,
                                    CUdevice device);
typedef CUresult (*load_function)(CUmodule *module, const void *image);
typedef CUresult (*find_function)(CUfunction *kernel, CUmodule module, const char *name);
typedef CUresult (*launch_function)(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz,
                                    unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                    CUstream stream, void **arguments, void **extra);
typedef CUresult (*wait_function)(void);

int main(int argc, char **argv)
{
	const unsigned long launches = argc > 1 ? strtoul(argv[1], NULL, 10) : 3;
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	CUcontext context;
	CUmodule module;
	CUfunction kernel;

	if (cuda)
		*(void **)&get = dlsym(cuda, "cuGetProcAddress_v2");
	if (!get) {
		(void)fputs("app_dlopen: no libcuda\n", stderr);
		return 1;
	}
	CALL(init_function, "cuInit", 0);
	CALL(create_function, "cuCtxCreate", &context, NULL, 0, 0);
	CALL(load_function, "cuModuleLoadData", &module, "fake image");
	CALL(find_function, "cuModuleGetFunction", &kernel, module, "opened_late");
	for (unsigned long i = 0; i < launches; i++)
		CALL(launch_function, "cuLaunchKernel", kernel, 4, 1, 1, 32, 1, 1, 0, NULL, NULL,
		     NULL);
	CALL(wait_function, "cuCtxSynchronize");
	printf("{\"launches\":%lu,\"kernels\":{\"opened_late\":%lu}}\n", launches, launches);
	return 0;
}
