/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that gputrace run --capture-kernels is tried with, one for each thing that may be taken
 * wrong: capture_cases NAME [LIBRARY]. Without a name it lists them. LIBRARY: libcufft, for fft.
 * Prints what the check has to know, and how many elements are wrong. One that needs more GPUs than
 * there are ends with status 77.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "samples/check.h"

enum {
	COUNT = 1 << 14, /* elements of most buffers */
	THREADS = 256,
	PIECES = 3, /* of memory that are mapped side by side */
	ROUNDS = 6,
	SIGNAL = 1048583, /* a prime, for which a transform has to use other memory */
	MISSING = 77,
};

/* Element i of buffer number k is i + k * BASE: exact in a float. */
#define BASE 1000000.0f

static const char *const kinds[] = {"device",     "pool",   "managed", "pinned",
                                    "registered", "mapped", "variable"};

enum { DEVICE, POOL, MANAGED, PINNED, REGISTERED, MAPPED, VARIABLE, KINDS };

__device__ static size_t number(void)
{
	return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void fill_from(float *to, size_t count, float first)
{
	for (size_t i = number(); i < count; i += (size_t)gridDim.x * blockDim.x)
		to[i] = first + (float)i;
}

extern "C" {

__device__ float variable_memory[COUNT];

struct sources {
	const float *memory[VARIABLE];
	size_t step; /* between elements that are read of the last one */
};

__global__ void every_kind(struct sources from, float *out)
{
	const size_t i = number();
	float sum = variable_memory[i];

	for (int kind = 0; kind < MAPPED; kind++)
		sum += from.memory[kind][i] * (float)(kind + 1);
	out[i] = sum + from.memory[MAPPED][i * from.step];
}

__global__ void counted(float *out, float add)
{
	out[number()] += add;
}

__global__ void reads(const float *from, float *out)
{
	out[number()] = from[number()];
}

/* Until the host says so, or for so many seconds at most. */
__global__ void persistent(const volatile uint32_t *ended, uint64_t most_s)
{
	uint64_t begin;
	uint64_t now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (!*ended && now - begin < most_s * 1000000000);
}
}

/* ---- the host ---- */

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A function of the driver's, which is not linked. */
template <typename Function> static Function driver(const char *name, Function *function)
{
	cudaDriverEntryPointQueryResult found;

	CHECK(cudaGetDriverEntryPointByVersion(name, (void **)function, 12000, cudaEnableDefault,
	                                       &found));
	if (found != cudaDriverEntryPointSuccess) {
		fprintf(stderr, "the driver has no %s\n", name);
		exit(1);
	}
	return *function;
}

#define DRIVER(function)                                                                           \
	decltype(&function) call_##function;                                                       \
	driver(#function, &call_##function)

static void must(CUresult result, const char *what)
{
	if (result != CUDA_SUCCESS) {
		fprintf(stderr, "%s: error %d of the driver\n", what, (int)result);
		exit(1);
	}
}

static float *take(size_t count)
{
	float *memory;

	CHECK(cudaMalloc(&memory, count * sizeof(float)));
	CHECK(cudaMemset(memory, 0, count * sizeof(float)));
	CHECK(cudaDeviceSynchronize()); /* streams of their own do not wait for it */
	return memory;
}

static float *take_from(size_t count, float first)
{
	float *memory = take(count);

	fill_from<<<64, THREADS>>>(memory, count, first);
	CHECK(cudaGetLastError());
	return memory;
}

template <typename Expected>
static size_t wrong_in(const float *out, size_t count, Expected expected)
{
	std::vector<float> got(count);
	size_t wrong = 0;

	CHECK(cudaMemcpy(got.data(), out, count * sizeof(float), cudaMemcpyDefault));
	for (size_t i = 0; i < count; i++) {
		const float wanted = expected(i);

		wrong += !(std::fabs(got[i] - wanted) <= 1e-5f * (1 + std::fabs(wanted)));
	}
	return wrong;
}

/* ---- memory of every kind ---- */

static size_t mapped_bytes; /* of all pieces */

/* Pieces of physical memory, side by side. */
static float *take_mapped(void)
{
	CUmemAllocationProp place = {};
	CUmemAccessDesc access = {};
	CUdeviceptr address;
	size_t piece;

	DRIVER(cuMemGetAllocationGranularity);
	DRIVER(cuMemAddressReserve);
	DRIVER(cuMemCreate);
	DRIVER(cuMemMap);
	DRIVER(cuMemSetAccess);
	place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	place.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location = place.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	must(call_cuMemGetAllocationGranularity(&piece, &place, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
	     "cuMemGetAllocationGranularity");
	mapped_bytes = PIECES * piece;
	must(call_cuMemAddressReserve(&address, mapped_bytes, 0, 0, 0), "cuMemAddressReserve");
	for (size_t i = 0; i < PIECES; i++) {
		CUmemGenericAllocationHandle handle;

		must(call_cuMemCreate(&handle, piece, &place, 0), "cuMemCreate");
		must(call_cuMemMap(address + i * piece, piece, 0, handle, 0), "cuMemMap");
	}
	must(call_cuMemSetAccess(address, mapped_bytes, &access, 1), "cuMemSetAccess");
	return (float *)address;
}

static float *take_registered(void)
{
	void *memory = NULL;

	if (posix_memalign(&memory, 4096, COUNT * sizeof(float)) != 0)
		exit(1);
	CHECK(cudaHostRegister(memory, COUNT * sizeof(float), cudaHostRegisterMapped));
	return (float *)memory;
}

static size_t run_memory(const char *)
{
	float *all[KINDS], *out = take(COUNT);
	size_t counts[KINDS];
	struct sources from;

	CHECK(cudaMalloc(&all[DEVICE], COUNT * sizeof(float)));
	CHECK(cudaMallocAsync(&all[POOL], COUNT * sizeof(float), 0));
	CHECK(cudaMallocManaged(&all[MANAGED], COUNT * sizeof(float)));
	CHECK(cudaMallocHost(&all[PINNED], COUNT * sizeof(float)));
	all[REGISTERED] = take_registered();
	all[MAPPED] = take_mapped();
	CHECK(cudaGetSymbolAddress((void **)&all[VARIABLE], variable_memory));
	for (int kind = 0; kind < KINDS; kind++) {
		counts[kind] = kind == MAPPED ? mapped_bytes / sizeof(float) : (size_t)COUNT;
		fill_from<<<64, THREADS>>>(all[kind], counts[kind], BASE * (float)(kind + 1));
		CHECK(cudaGetLastError());
		printf("%s=%p %zu %.0f\n", kinds[kind], (void *)all[kind],
		       counts[kind] * sizeof(float), BASE * (float)(kind + 1));
	}
	CHECK(cudaDeviceSynchronize());
	memcpy(from.memory, all, sizeof(from.memory));
	from.step = counts[MAPPED] / COUNT;
	every_kind<<<COUNT / THREADS, THREADS>>>(from, out);
	CHECK(cudaDeviceSynchronize());
	return wrong_in(out, COUNT, [=](size_t i) {
		float sum = BASE * (VARIABLE + 1) + (float)i;

		for (int kind = 0; kind < MAPPED; kind++)
			sum += (BASE * (float)(kind + 1) + (float)i) * (float)(kind + 1);
		return sum + BASE * (MAPPED + 1) + (float)(i * from.step);
	});
}

/* ---- which launch, of which module ---- */

/* Launch k adds k. */
static size_t run_counted(const char *)
{
	float *out = take(COUNT);

	printf("out=%p\n", (void *)out);
	for (int round = 1; round <= ROUNDS; round++)
		counted<<<COUNT / THREADS, THREADS>>>(out, (float)round);
	CHECK(cudaDeviceSynchronize());
	return wrong_in(out, COUNT, [](size_t) { return ROUNDS * (ROUNDS + 1) / 2; });
}

static void write_twin(char *text, size_t size, int add)
{
	snprintf(text, size,
	         ".version 7.0\n.target sm_75\n.address_size 64\n"
	         ".visible .entry twin(.param .u64 out)\n{\n"
	         ".reg .b64 %%out;\n.reg .b64 %%at;\n.reg .b32 %%i;\n.reg .f32 %%value;\n"
	         "ld.param.u64 %%out, [out];\n"
	         "mov.u32 %%i, %%tid.x;\n"
	         "mul.wide.u32 %%at, %%i, 4;\n"
	         "add.u64 %%at, %%at, %%out;\n"
	         "ld.global.f32 %%value, [%%at];\n"
	         "add.f32 %%value, %%value, 0f%08x;\n"
	         "st.global.f32 [%%at], %%value;\n"
	         "ret;\n}\n",
	         add == 1 ? 0x3f800000u : 0x42c80000u); /* 1, 100 */
}

/* A kernel of one name in two modules, of which one is loaded from a file; each is launched. */
static size_t run_twins(const char *)
{
	char text[1024], path[] = "/tmp/capture_cases.XXXXXX";
	float *out = take(THREADS);
	void *parameters[] = {&out};
	CUmodule modules[2];

	DRIVER(cuModuleLoad);
	DRIVER(cuModuleLoadData);
	DRIVER(cuModuleGetFunction);
	DRIVER(cuLaunchKernel);
	const int file = mkstemp(path);

	write_twin(text, sizeof(text), 1);
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		exit(1);
	must(call_cuModuleLoad(&modules[0], path), "cuModuleLoad");
	close(file);
	unlink(path);
	write_twin(text, sizeof(text), 100);
	must(call_cuModuleLoadData(&modules[1], text), "cuModuleLoadData");
	for (CUmodule module : modules) {
		CUfunction function;

		must(call_cuModuleGetFunction(&function, module, "twin"), "cuModuleGetFunction");
		must(call_cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, parameters,
		                         NULL),
		     "cuLaunchKernel");
	}
	CHECK(cudaDeviceSynchronize());
	return wrong_in(out, THREADS, [](size_t) { return 101; });
}

/* ---- what is refused ---- */

/* Two launches become nodes of a graph, which is launched thrice. */
static size_t run_graph(const char *)
{
	float *out = take(COUNT);
	cudaStream_t stream;
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	counted<<<COUNT / THREADS, THREADS, 0, stream>>>(out, 1);
	counted<<<COUNT / THREADS, THREADS, 0, stream>>>(out, 10);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphLaunch(executable, stream));
	CHECK(cudaDeviceSynchronize());
	return wrong_in(out, COUNT, [](size_t) { return 33; });
}

static size_t run_peer(const char *)
{
	float *from, *out;
	int can = 0, devices;

	CHECK(cudaGetDeviceCount(&devices));
	if (devices > 1)
		CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
	if (!can) {
		printf("missing=a second GPU that the first one reaches\n");
		exit(MISSING);
	}
	CHECK(cudaSetDevice(1));
	from = take_from(COUNT, 5);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaSetDevice(0));
	CHECK(cudaDeviceEnablePeerAccess(1, 0));
	out = take(COUNT);
	reads<<<COUNT / THREADS, THREADS>>>(from, out);
	CHECK(cudaDeviceSynchronize());
	return wrong_in(out, COUNT, [](size_t i) { return 5 + (float)i; });
}

/* ---- memory of another process ---- */

static void pass(int from, int to, void *bytes, size_t size)
{
	const ssize_t done = from >= 0 ? read(from, bytes, size) : write(to, bytes, size);

	if (done != (ssize_t)size) {
		fprintf(stderr, "the other process is gone\n");
		exit(1);
	}
}

/* The second process, which has the memory: this program again, as CUDA does not live through fork.
 */
static size_t run_owner(const char *pipes)
{
	float *first = take_from(COUNT, 7), *second = take_from(COUNT, 5);
	cudaIpcMemHandle_t handle;
	int from, to;
	char turn;

	(void)first; /* so that the second is not where its block begins */
	if (sscanf(pipes, "%d,%d", &from, &to) != 2)
		exit(2);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaIpcGetMemHandle(&handle, second));
	pass(-1, to, &handle, sizeof(handle));
	pass(from, -1, &turn, 1);
	return 0;
}

static size_t run_ipc(const char *)
{
	cudaIpcMemHandle_t handle;
	int there[2], back[2], status;
	char words[32], turn = 0;
	float *from, *out;

	if (pipe(there) || pipe(back))
		exit(1);
	snprintf(words, sizeof(words), "%d,%d", there[0], back[1]);
	const pid_t child = fork();

	if (child == 0) {
		close(there[1]);
		close(back[0]);
		execl("/proc/self/exe", "capture_cases", "owner", words, (char *)NULL);
		_exit(1);
	}
	close(there[0]);
	close(back[1]);
	pass(back[0], -1, &handle, sizeof(handle));
	out = take(COUNT);
	CHECK(cudaIpcOpenMemHandle((void **)&from, handle, cudaIpcMemLazyEnablePeerAccess));
	reads<<<COUNT / THREADS, THREADS>>>(from, out);
	CHECK(cudaDeviceSynchronize());
	const size_t wrong = wrong_in(out, COUNT, [](size_t i) { return 5 + (float)i; });

	CHECK(cudaIpcCloseMemHandle(from));
	pass(-1, there[1], &turn, 1);
	return waitpid(child, &status, 0) == child && status == 0 ? wrong : wrong + 1;
}

/* ---- other work meanwhile ---- */

/*
 * The launch that is captured comes while a kernel runs that ends only after it: launch 2 of
 * counted. The first one has the code loaded, which would wait for that kernel, too.
 */
static size_t run_beside(const char *)
{
	uint32_t *ended;
	cudaStream_t streams[2];
	float *out = take(COUNT);
	cudaError_t ran;

	for (cudaStream_t &stream : streams)
		CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaMallocHost(&ended, sizeof(*ended)));
	*ended = 1;
	persistent<<<1, 1, 0, streams[0]>>>(ended, 1);
	counted<<<COUNT / THREADS, THREADS, 0, streams[1]>>>(out, 1);
	CHECK(cudaDeviceSynchronize());
	*(volatile uint32_t *)ended = 0;
	persistent<<<1, 1, 0, streams[0]>>>(ended, 50);
	CHECK(cudaGetLastError());
	const double began_s = now_s();

	counted<<<COUNT / THREADS, THREADS, 0, streams[1]>>>(out, 2);
	CHECK(cudaGetLastError());
	const double held_s = now_s() - began_s;

	CHECK(cudaStreamSynchronize(streams[1]));
	ran = cudaStreamQuery(streams[0]);
	*(volatile uint32_t *)ended = 1;
	CHECK(cudaDeviceSynchronize());
	counted<<<COUNT / THREADS, THREADS, 0, streams[1]>>>(out, 3);
	CHECK(cudaDeviceSynchronize());
	printf("held_s=%.2f\nended_s=%.2f\nbeside=%d\n", held_s, now_s() - began_s,
	       ran == cudaErrorNotReady);
	return wrong_in(out, COUNT, [](size_t) { return 6; });
}

/* Has the GPU until there is nothing more to read. */
static size_t run_idle(const char *)
{
	char byte;

	(void)take(COUNT);
	printf("ready=1\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

/* ---- a library with memory of its own ---- */

/* As cufft.h declares them; the library is opened at run time. */
typedef int plan_1d(int *plan, int count, int type, int batch);
typedef int get_size(int plan, size_t *bytes);
typedef int transform(int plan, float2 *from, float2 *to, int direction);

static void *symbol_of(void *library, const char *name)
{
	void *symbol = library ? dlsym(library, name) : NULL;

	if (!symbol) {
		fprintf(stderr, "libcufft cannot be used: %s\n", dlerror());
		exit(2);
	}
	return symbol;
}

/* Transform of a single one followed by zeroes: all ones. */
static size_t run_fft(const char *name)
{
	enum { COMPLEX = 0x29, FORWARD = -1 };
	void *library = dlopen(name && *name ? name : "libcufft.so", RTLD_NOW);
	plan_1d *plan = (plan_1d *)symbol_of(library, "cufftPlan1d");
	get_size *size = (get_size *)symbol_of(library, "cufftGetSize");
	transform *run = (transform *)symbol_of(library, "cufftExecC2C");
	float *signal = take(2 * SIGNAL);
	const float one = 1;
	size_t bytes = 0;
	int handle = 0, failed;

	CHECK(cudaMemcpy(signal, &one, sizeof(one), cudaMemcpyHostToDevice));
	failed = plan(&handle, SIGNAL, COMPLEX, 1) | size(handle, &bytes);
	nvtxRangePushA("transform");
	failed |= run(handle, (float2 *)signal, (float2 *)signal, FORWARD);
	nvtxRangePop();
	CHECK(cudaDeviceSynchronize());
	printf("work_bytes=%zu\n", bytes);
	return (size_t)(failed != 0) +
	       wrong_in(signal, 2 * SIGNAL, [](size_t i) { return i % 2 ? 0.0f : 1.0f; });
}

static const struct program {
	const char *name;
	size_t (*run)(const char *more);
} programs[] = {
	{"memory", run_memory}, {"counted", run_counted}, {"twins", run_twins},
	{"graph", run_graph},   {"peer", run_peer},       {"ipc", run_ipc},
	{"owner", run_owner},   {"beside", run_beside},   {"idle", run_idle},
	{"fft", run_fft},
};

int main(int argc, char **argv)
{
	for (const struct program &program : programs) {
		if (argc < 2) {
			printf("%s\n", program.name);
		} else if (strcmp(program.name, argv[1]) == 0) {
			const size_t wrong = program.run(argc > 2 ? argv[2] : "");

			/* The other process of a pair has nothing to say. */
			if (program.run != run_owner)
				printf("wrong=%zu\n", wrong);
			return wrong != 0;
		}
	}
	if (argc > 1)
		fprintf(stderr, "there is no case %s\n", argv[1]);
	return argc > 1 ? 2 : 0;
}
