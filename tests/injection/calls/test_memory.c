/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/memory.h"

#include <string.h>

#include "injection/calls/api.h"
#include "injection/calls/parameters.h"
#include "support/check.h"

static CUstream const stream = (CUstream)0x5000;
static CUmemoryPool const pool = (CUmemoryPool)0x9000;
static const int ok = 0;
static const int failed = 2;

static struct gt_memory_facts read_call(bool driver, CUpti_CallbackId id, const void *params,
                                        const int *result)
{
	const struct gt_memory_call *call = gt_memory_call_find(driver, id);
	const CUpti_CallbackData data = {.callbackSite = result ? CUPTI_API_EXIT : CUPTI_API_ENTER,
	                                 .functionReturnValue = (void *)(uintptr_t)result,
	                                 .functionParams = params};
	struct gt_memory_facts facts;

	memset(&facts, 0xaa, sizeof(facts));
	cr_assert(ne(ptr, (void *)(uintptr_t)call, NULL), "callback id %u", id);
	gt_memory_call_read(call, &data, &facts);
	return facts;
}

#define RUNTIME_FACTS(call, result, ...)                                                           \
	read_call(false, CUPTI_RUNTIME_TRACE_CBID_##call, &(call##_params){__VA_ARGS__}, result)
#define DRIVER_FACTS(call, result, ...)                                                            \
	read_call(true, CUPTI_DRIVER_TRACE_CBID_##call, &(call##_params){__VA_ARGS__}, result)

/* Names of callback ids, from CUPTI's own headers. */
static const char *const runtime_names[1024] = {
#include "fakes/runtime_names.inc"
};
static const char *const driver_names[1024] = {
#include "fakes/driver_names.inc"
};

static bool has_one_of(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

/* By their names: what is about memory, without what only asks. */
static bool is_about_memory(const char *name)
{
	static const char *const words[] = {"Malloc",
	                                    "cudaFree",
	                                    "HostAlloc",
	                                    "HostRegister",
	                                    "HostUnregister",
	                                    "cuMemAlloc",
	                                    "cuMemFree",
	                                    "ArrayCreate",
	                                    "cuArray3DCreate",
	                                    "ArrayDestroy",
	                                    "cuMemCreate",
	                                    "cuMemRelease",
	                                    "AddressReserve",
	                                    "AddressFree",
	                                    "IpcOpenMem",
	                                    "IpcCloseMem",
	                                    "PoolCreate",
	                                    "PoolDestroy",
	                                    "PoolSetAttr",
	                                    "PoolTrim",
	                                    "PoolImport",
	                                    "cuMemUnmap",
	                                    "SetMemPool",
	                                    "MulticastCreate",
	                                    "MulticastBind",
	                                    "MappedBuffer",
	                                    "PeerAccess",
	                                    "MemImport",
	                                    "MemRetain",
	                                    "ImportExternal",
	                                    "DestroyExternalMemory",
	                                    "SetAccess",
	                                    "MemAdvise",
	                                    "MemPrefetch",
	                                    "MemDiscard",
	                                    "GraphAddNode",
	                                    "GraphAddMemAlloc",
	                                    "GraphAddMemFree",
	                                    "GraphMemTrim",
	                                    "MulticastUnbind",
	                                    NULL};
	static const char *const others[] = {
		"NodeGetParams", "cu64", "CanAccess", "CompressibleMem", "ExternalSemaphore", NULL};
	static const char *const replaced[] = {
		"cuMemAlloc",    "cuMemAllocPitch", "cuMemFree", "cuMemAllocHost",
		"cuArrayCreate", "cuArray3DCreate", NULL};

	for (const char *const *it = replaced; *it; it++)
		if (strcmp(name, *it) == 0)
			return false;
	return has_one_of(name, words) && !has_one_of(name, others);
}

static unsigned expect_all_known(bool driver, const char *const *names)
{
	unsigned found = 0;

	for (CUpti_CallbackId id = 1; id < 1024; id++) {
		const char *name = names[id] ? names[id] : "";

		if (!is_about_memory(name))
			continue;
		cr_expect(ne(ptr, (void *)(uintptr_t)gt_memory_call_find(driver, id), NULL), "%s",
		          name);
		found++;
	}
	return found;
}

Test(memory_calls, knows_every_call_about_memory_by_its_name)
{
	cr_expect(ge(uint, expect_all_known(false, runtime_names), 30));
	cr_expect(ge(uint, expect_all_known(true, driver_names), 45));
}

/* So that what was allocated has the ranges around its call. */
Test(memory_calls, that_make_or_end_something_are_api_calls_of_that_kind)
{
	for (CUpti_CallbackId id = 1; id < 2048; id++) {
		const char *name = id >= 1024 ? driver_names[id % 1024] : runtime_names[id];
		const struct gt_memory_call *call = gt_memory_call_find(id >= 1024, id % 1024);
		const struct gt_api_call_line *line = call ? gt_api_call_find(name) : NULL;

		if (!call || call->kind >= GT_MEMORY_CALL_SET_POOL ||
		    call->kind == GT_MEMORY_CALL_ALLOCATE_NODE ||
		    call->kind == GT_MEMORY_CALL_FREE_NODE) /* calls about graphs */
			continue;
		cr_assert(line != NULL, "%s is no API call that is recorded", name);
		expect_text(line->kind, call->kind >= GT_MEMORY_CALL_FREE ? "FREE" : "ALLOCATE");
	}
}

Test(memory_calls, knows_nothing_of_other_calls)
{
	cr_expect(gt_memory_call_find(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) == NULL);
	cr_expect(gt_memory_call_find(false, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020) == NULL);
	cr_expect(gt_memory_call_find(true, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc) == NULL, "32 bits");
	cr_expect(gt_memory_call_find(true, UINT32_MAX) == NULL);
}

Test(memory_calls, tell_an_address_only_when_there_is_one)
{
	CUdeviceptr made = 0x7000;
	struct gt_memory_facts facts = DRIVER_FACTS(cuMemAlloc_v2, NULL, &made, 4096);

	cr_expect(eq(u64, facts.address, 0));
	cr_expect(eq(u64, facts.size_bytes, 4096));
	cr_expect(eq(u64, facts.stream, GT_STREAM_NONE));
	facts = DRIVER_FACTS(cuMemAlloc_v2, &failed, &made, 4096);
	cr_expect(eq(u64, facts.address, 0));
	facts = DRIVER_FACTS(cuMemAlloc_v2, &ok, &made, 4096);
	cr_expect(eq(u64, facts.address, 0x7000));
	facts = DRIVER_FACTS(cuMemAlloc_v2, &failed, NULL, 4096);
	cr_expect(eq(u64, facts.address, 0));
}

Test(memory_calls, tell_the_pool_and_the_stream_of_what_is_ordered)
{
	void *made = (void *)0x7000;
	struct gt_memory_facts facts =
		RUNTIME_FACTS(cudaMallocFromPoolAsync_v11020, &ok, &made, 512, pool, stream);

	cr_expect(eq(u64, facts.address, 0x7000));
	cr_expect(eq(u64, facts.handle, 0x9000));
	cr_expect(eq(u64, facts.size_bytes, 512));
	cr_expect(eq(u64, facts.stream, 0x5000));
	facts = DRIVER_FACTS(cuMemFreeAsync, NULL, 0x7000, NULL);
	cr_expect(eq(u64, facts.address, 0x7000));
	cr_expect(eq(u64, facts.stream, GT_STREAM_LEGACY));
	facts = DRIVER_FACTS(cuMemFreeAsync_ptsz, NULL, 0x7000, NULL);
	cr_expect(eq(u64, facts.stream, GT_STREAM_PER_THREAD));
}

Test(memory_calls, count_padded_rows_as_they_were_made)
{
	void *made = (void *)0x7000;
	size_t pitch = 512;
	struct cudaPitchedPtr pitched = {.ptr = made, .pitch = 1024};
	struct gt_memory_facts facts =
		RUNTIME_FACTS(cudaMallocPitch_v3020, NULL, &made, &pitch, 100, 10);

	cr_expect(eq(u64, facts.size_bytes, 1000), "before it is known");
	facts = RUNTIME_FACTS(cudaMallocPitch_v3020, &ok, &made, &pitch, 100, 10);
	cr_expect(eq(u64, facts.size_bytes, 5120));
	facts = RUNTIME_FACTS(cudaMalloc3D_v3020, &ok, &pitched, {100, 10, 3});
	cr_expect(eq(u64, facts.size_bytes, 30720));
	cr_expect(eq(u64, facts.address, 0x7000));
}

Test(memory_calls, count_the_elements_of_arrays)
{
	const struct cudaChannelFormatDesc half4 = {16, 16, 16, 16, cudaChannelFormatKindFloat};
	const CUDA_ARRAY3D_DESCRIPTOR mipmap = {
		.Width = 8, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
	const CUDA_ARRAY_DESCRIPTOR blocks = {
		.Width = 8, .Height = 8, .Format = CU_AD_FORMAT_BC1_UNORM, .NumChannels = 4};
	CUarray made = (CUarray)0xa000;
	CUmipmappedArray mipmapped = (CUmipmappedArray)0xa100;
	cudaArray_t array = (cudaArray_t)0xa200;
	struct gt_memory_facts facts =
		RUNTIME_FACTS(cudaMallocArray_v3020, &ok, &array, &half4, 100, 0, 0);

	cr_expect(eq(u64, facts.handle, 0xa200));
	cr_expect(eq(u64, facts.address, 0));
	cr_expect(eq(u64, facts.size_bytes, 800));
	facts = DRIVER_FACTS(cuMipmappedArrayCreate, &ok, &mipmapped, &mipmap, 3);
	/* 8 x 4, 4 x 2 and 2 x 1 of 8 bytes. */
	cr_expect(eq(u64, facts.size_bytes, (32 + 8 + 2) * 8));
	facts = DRIVER_FACTS(cuMipmappedArrayCreate, &ok, &mipmapped, &mipmap, UINT32_MAX);
	cr_expect(eq(u64, facts.size_bytes, (32 + 8 + 2 + 29) * 8),
	          "as many levels as there can be");
	facts = DRIVER_FACTS(cuArrayCreate_v2, &ok, &made, &blocks);
	cr_expect(eq(u64, facts.size_bytes, 0), "what blocks take is not known");
	facts = DRIVER_FACTS(cuArrayCreate_v2, &failed, NULL, NULL);
	cr_expect(eq(u64, facts.size_bytes, 0));
}

Test(memory_calls, tell_the_device_of_physical_memory)
{
	const CUmemAllocationProp on_third = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 2}};
	const CUmemAllocationProp on_host = {.location = {CU_MEM_LOCATION_TYPE_HOST, 2}};
	CUmemGenericAllocationHandle made = 0x1234;
	struct gt_memory_facts facts = DRIVER_FACTS(cuMemCreate, &ok, &made, 2 << 20, &on_third, 0);

	cr_expect(eq(u64, facts.handle, 0x1234));
	cr_expect(eq(u32, facts.place_plus_one, 3));
	cr_expect(eq(u32, DRIVER_FACTS(cuMemCreate, &ok, &made, 1, &on_host, 0).place_plus_one, 0));
	cr_expect(eq(u32, DRIVER_FACTS(cuMemCreate, &ok, &made, 1, NULL, 0).place_plus_one, 0));
	facts = DRIVER_FACTS(cuMemMap, NULL, 0x10000, 2 << 20, 4096, 0x1234, 0);
	cr_expect(eq(u64, facts.address, 0x10000));
	cr_expect(eq(u64, facts.handle, 0x1234));
	cr_expect(eq(u64, facts.value, 4096));
}

Test(memory_calls, tell_which_gpu_may_access_a_mapping)
{
	const CUmemAccessDesc descriptions[] = {
		{.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
	         .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
		{.location = {CU_MEM_LOCATION_TYPE_DEVICE, 2}},
	};
	struct gt_memory_facts facts =
		DRIVER_FACTS(cuMemSetAccess, NULL, 0x10000, 4096, descriptions, 1);

	cr_expect(eq(u64, facts.address, 0x10000));
	cr_expect(eq(u64, facts.size_bytes, 4096));
	cr_expect(eq(u32, facts.place_plus_one, 2));
	cr_expect(eq(u32, facts.options, 3));
	facts = DRIVER_FACTS(cuMemPoolSetAccess, NULL, pool, descriptions, 2);
	cr_expect(eq(u64, facts.handle, 0x9000));
	cr_expect(eq(u64, facts.value, 2));
	cr_expect(eq(u32, facts.place_plus_one, 0), "several");
}

Test(memory_calls, tell_the_attribute_of_a_pool_with_its_width)
{
	uint64_t threshold = UINT64_C(0x100000000);
	uint32_t reuse[2] = {1, 0xdeadbeef};
	struct gt_memory_facts facts = DRIVER_FACTS(cuMemPoolSetAttribute, NULL, pool,
	                                            CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);

	cr_expect(eq(u32, facts.options, 4));
	cr_expect(eq(u64, facts.value, threshold));
	facts = DRIVER_FACTS(cuMemPoolSetAttribute, NULL, pool,
	                     CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, reuse);
	cr_expect(eq(u64, facts.value, 1));
	facts = DRIVER_FACTS(cuMemPoolSetAttribute, NULL, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
	                     NULL);
	cr_expect(eq(u64, facts.value, 0));
}

Test(memory_calls, that_free_nothing_are_told_from_those_that_do)
{
	struct gt_memory_facts facts = RUNTIME_FACTS(cudaFree_v3020, NULL, NULL);

	cr_expect(gt_memory_call_is_empty(&facts));
	facts = RUNTIME_FACTS(cudaFree_v3020, NULL, (void *)0x7000);
	cr_expect(not(gt_memory_call_is_empty(&facts)));
	facts = RUNTIME_FACTS(cudaMalloc_v3020, NULL, NULL, 0);
	cr_expect(not(gt_memory_call_is_empty(&facts)));
}

Test(memory_calls, tell_what_nodes_of_graphs_allocate_and_free)
{
	CUDA_MEM_ALLOC_NODE_PARAMS node = {.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
	                                   .bytesize = 4096,
	                                   .dptr = 0x7000};
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
	                         .alloc = {.bytesize = 512, .dptr = 0x8000}};
	struct cudaGraphNodeParams free_node = {.type = cudaGraphNodeTypeMemFree,
	                                        .free = {.dptr = (void *)0x8000}};
	struct gt_memory_facts facts =
		DRIVER_FACTS(cuGraphAddMemAllocNode, NULL, NULL, NULL, NULL, 0, &node);

	cr_expect(eq(u64, facts.size_bytes, 4096));
	cr_expect(eq(u64, facts.address, 0), "not before it has returned");
	facts = DRIVER_FACTS(cuGraphAddMemAllocNode, &ok, NULL, NULL, NULL, 0, &node);
	cr_expect(eq(u64, facts.address, 0x7000));
	cr_expect(eq(u32, facts.place_plus_one, 2));
	facts = DRIVER_FACTS(cuGraphAddNode_v2, &ok, NULL, NULL, NULL, NULL, 0, &any);
	cr_expect(eq(u32, facts.kind, GT_MEMORY_CALL_ALLOCATE_NODE));
	cr_expect(eq(u64, facts.address, 0x8000));
	cr_expect(eq(u64, facts.size_bytes, 512));
	facts = RUNTIME_FACTS(cudaGraphAddNode_v12030, NULL, NULL, NULL, NULL, NULL, 0, &free_node);
	cr_expect(eq(u32, facts.kind, GT_MEMORY_CALL_FREE_NODE));
	cr_expect(eq(u64, facts.address, 0x8000));
	any.type = CU_GRAPH_NODE_TYPE_KERNEL;
	facts = DRIVER_FACTS(cuGraphAddNode_v2, NULL, NULL, NULL, NULL, NULL, 0, &any);
	cr_expect(gt_memory_call_is_empty(&facts));
	facts = DRIVER_FACTS(cuGraphAddNode_v2, NULL, NULL, NULL, NULL, NULL, 0, NULL);
	cr_expect(gt_memory_call_is_empty(&facts));
}

/* As CUDA 12 has its parameters. */
struct prefetch {
	const void *address;
	size_t size;
	int device;
	cudaStream_t stream;
};

Test(memory_calls, tell_where_managed_memory_is_to_be)
{
	const CUmemLocation gpu = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
	CUmemLocation node = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 1};
	CUdeviceptr addresses[] = {0x7000, 0x9000};
	size_t sizes[] = {4096, 512};
	size_t first = 0;
	struct gt_memory_facts facts =
		DRIVER_FACTS(cuMemPrefetchAsync_v2, NULL, 0x7000, 4096, gpu, 0, stream);

	cr_expect(eq(u64, facts.address, 0x7000));
	cr_expect(eq(u64, facts.size_bytes, 4096));
	cr_expect(eq(u64, facts.stream, 0x5000));
	cr_expect(eq(u32, facts.place_plus_one, 2));
	cr_expect(eq(u64, facts.value, CU_MEM_LOCATION_TYPE_DEVICE));
	facts = read_call(false, CUPTI_RUNTIME_TRACE_CBID_cudaMemPrefetchAsync_v8000,
	                  &(struct prefetch){(void *)0x7000, 4096, cudaCpuDeviceId, NULL}, NULL);
	cr_expect(eq(u32, facts.place_plus_one, 0));
	cr_expect(eq(u64, facts.value, CU_MEM_LOCATION_TYPE_HOST));
	cr_expect(eq(u64, facts.stream, GT_STREAM_LEGACY));
	facts = DRIVER_FACTS(cuMemAdvise_v2, NULL, 0x7000, 4096,
	                     CU_MEM_ADVISE_SET_PREFERRED_LOCATION, node);
	cr_expect(eq(u32, facts.options, 3));
	cr_expect(eq(u32, facts.place_plus_one, 0));
	cr_expect(eq(u64, facts.value, CU_MEM_LOCATION_TYPE_HOST_NUMA));
	facts = DRIVER_FACTS(cuMemPrefetchBatchAsync, NULL, addresses, sizes, 2, &node, &first, 1,
	                     0, stream);
	cr_expect(eq(u64, facts.address, 0x7000));
	cr_expect(eq(u64, facts.size_bytes, 4608));
	cr_expect(eq(u64, facts.value, CU_MEM_LOCATION_TYPE_HOST_NUMA));
	facts = DRIVER_FACTS(cuMemDiscardBatchAsync, NULL, NULL, NULL, 0, 0, stream);
	cr_expect(eq(u64, facts.size_bytes, 0));
}
