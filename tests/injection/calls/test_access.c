/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/access.h"

#include <string.h>

#include "injection/calls/parameters.h"
#include "support/check.h"

static CUstream const stream = (CUstream)0x5000;
static void *const here = (void *)0x10000;
static void *const there = (void *)0x20000;

static struct gt_access_facts read_call(bool driver, CUpti_CallbackId id, const void *params)
{
	const struct gt_access_call *call = gt_access_call_find(driver, id);
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER, .functionParams = params};
	struct gt_access_facts facts;

	memset(&facts, 0xaa, sizeof(facts));
	cr_assert(ne(ptr, (void *)(uintptr_t)call, NULL), "callback id %u", id);
	gt_access_call_read(call, &data, 0, &facts);
	return facts;
}

#define RUNTIME_FACTS(call, ...)                                                                   \
	read_call(false, CUPTI_RUNTIME_TRACE_CBID_##call, &(call##_params){__VA_ARGS__})
#define DRIVER_FACTS(call, ...)                                                                    \
	read_call(true, CUPTI_DRIVER_TRACE_CBID_##call, &(call##_params){__VA_ARGS__})

/* Names of callback ids, from CUPTI's own headers. */
static const char *const runtime_names[1024] = {
#include "fakes/runtime_names.inc"
};
static const char *const driver_names[1024] = {
#include "fakes/driver_names.inc"
};

static void expect_fact(const struct gt_access_facts *facts, unsigned number,
                        struct gt_access_fact expected)
{
	const struct gt_access_fact *fact = &facts->list[number];

	cr_assert(gt(u32, facts->count, number));
	cr_expect(eq(u32, fact->kind, expected.kind));
	cr_expect(eq(u64, fact->address, expected.address));
	cr_expect(eq(u64, fact->size_bytes, expected.size_bytes));
	cr_expect(eq(u64, fact->pitch, expected.pitch));
	cr_expect(eq(u32, fact->rows, expected.rows));
}

Test(access_calls, read_both_sides_of_a_copy)
{
	const struct gt_access_facts facts =
		RUNTIME_FACTS(cudaMemcpyAsync_v3020, here, there, 4096, cudaMemcpyDefault, stream);

	cr_assert(eq(u32, facts.count, 2));
	cr_expect(eq(u64, facts.stream, 0x5000));
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_COPY_FROM, 1, 0x20000, 4096, 0});
	expect_fact(&facts, 1, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x10000, 4096, 0});
}

Test(access_calls, read_rows_with_what_is_between_them)
{
	const struct gt_access_facts facts = RUNTIME_FACTS(cudaMemcpy2D_v3020, here, 512, there,
	                                                   100, 100, 8, cudaMemcpyHostToDevice);

	cr_assert(eq(u32, facts.count, 2));
	cr_expect(eq(u64, facts.stream, GT_STREAM_LEGACY));
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_COPY_FROM, 1, 0x20000, 800, 0});
	expect_fact(&facts, 1, (struct gt_access_fact){GT_ACCESS_COPY_TO, 8, 0x10000, 100, 512});
}

Test(access_calls, read_fills_in_bytes)
{
	struct gt_access_facts facts = DRIVER_FACTS(cuMemsetD32Async, 0x10000, 7, 16, stream);

	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_FILL, 1, 0x10000, 64, 0});
	cr_expect(eq(u32, facts.value, 7));
	cr_expect(eq(u32, facts.value_bytes, 4));
	facts = DRIVER_FACTS(cuMemsetD2D16_v2, 0x10000, 256, 7, 16, 3);
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_FILL, 3, 0x10000, 32, 256});
	cr_expect(eq(u32, facts.value_bytes, 2));
	facts = RUNTIME_FACTS(cudaMemset_ptds_v7000, here, -1, 64);
	cr_expect(eq(u32, facts.value, 255));
	cr_expect(eq(u32, facts.value_bytes, 1));
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_FILL, 1, 0x10000, 64, 0});
	cr_expect(eq(u64, facts.stream, GT_STREAM_PER_THREAD));
}

Test(access_calls, leave_out_what_has_no_address_or_is_empty)
{
	struct gt_access_facts facts =
		RUNTIME_FACTS(cudaMemcpyToSymbol_v3020, here, there, 64, 0, cudaMemcpyDefault);

	cr_assert(eq(u32, facts.count, 1));
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_COPY_FROM, 1, 0x20000, 64, 0});
	facts = RUNTIME_FACTS(cudaMemset_v3020, here, 0, 0);
	cr_expect(eq(u32, facts.count, 0));
	facts = RUNTIME_FACTS(cudaMemset2D_v3020, here, 512, 0, 64, 0);
	cr_expect(eq(u32, facts.count, 0));
	facts = RUNTIME_FACTS(cudaMemset_v3020, NULL, 0, 64);
	cr_expect(eq(u32, facts.count, 0));
}

Test(access_calls, read_a_described_copy_where_it_begins)
{
	const CUDA_MEMCPY2D copy = {
		.srcXInBytes = 8,
		.srcY = 2,
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = 0x10000,
		.srcPitch = 256,
		.dstMemoryType = CU_MEMORYTYPE_HOST,
		.dstHost = there,
		.dstPitch = 64,
		.WidthInBytes = 64,
		.Height = 4,
	};
	const CUDA_MEMCPY2D of_array = {
		.srcMemoryType = CU_MEMORYTYPE_ARRAY,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
		.dstDevice = 0x30000,
		.WidthInBytes = 64,
		.Height = 1,
	};
	struct gt_access_facts facts = DRIVER_FACTS(cuMemcpy2DAsync_v2, &copy, stream);

	cr_assert(eq(u32, facts.count, 2));
	expect_fact(&facts, 0,
	            (struct gt_access_fact){GT_ACCESS_COPY_FROM, 4, 0x10000 + 2 * 256 + 8, 64,
	                                    256});
	expect_fact(&facts, 1, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x20000, 256, 0});
	facts = DRIVER_FACTS(cuMemcpy2D_v2, &of_array);
	cr_assert(eq(u32, facts.count, 1));
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x30000, 64, 0});
	facts = DRIVER_FACTS(cuMemcpy2D_v2, NULL);
	cr_expect(eq(u32, facts.count, 0));
}

/* ---- three dimensions ---- */

Test(access_calls, read_a_box_of_which_all_rows_are_as_far_apart_as_one)
{
	const struct cudaMemcpy3DParms copy = {
		.srcPtr = {there, 512, 100, 8},
		.srcPos = {4, 2, 1},
		.dstPtr = {here, 64, 64, 4},
		.extent = {64, 4, 3},
	};
	const struct gt_access_facts facts = RUNTIME_FACTS(cudaMemcpy3DAsync_v3020, &copy, stream);

	cr_assert(eq(u32, facts.count, 4));
	cr_expect(not(facts.is_cut));
	cr_expect(eq(u64, facts.stream, 0x5000));
	/* Every slice of the source has four more rows than are copied. */
	for (unsigned slice = 0; slice < 3; slice++)
		expect_fact(&facts, slice,
		            (struct gt_access_fact){GT_ACCESS_COPY_FROM, 4,
		                                    0x20000 + (1 + slice) * 512 * 8 + 2 * 512 + 4,
		                                    64, 512});
	expect_fact(&facts, 3,
	            (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x10000, 64 * 4 * 3, 0});
}

Test(access_calls, read_a_box_of_the_driver_in_bytes)
{
	const CUDA_MEMCPY3D copy = {
		.srcXInBytes = 8,
		.srcZ = 2,
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = 0x20000,
		.srcPitch = 256,
		.srcHeight = 4,
		.dstMemoryType = CU_MEMORYTYPE_ARRAY,
		.WidthInBytes = 64,
		.Height = 4,
		.Depth = 2,
	};
	struct gt_access_facts facts = DRIVER_FACTS(cuMemcpy3DAsync_v2, &copy, stream);

	cr_assert(eq(u32, facts.count, 1));
	expect_fact(&facts, 0,
	            (struct gt_access_fact){GT_ACCESS_COPY_FROM, 8, 0x20000 + 2 * 4 * 256 + 8, 64,
	                                    256});
	facts = DRIVER_FACTS(cuMemcpy3D_v2, NULL);
	cr_expect(eq(u32, facts.count, 0));
}

/* Its size is in elements, which may be of 1 to 16 bytes. */
Test(access_calls, do_not_guess_what_a_copy_with_an_array_touches)
{
	const struct cudaMemcpy3DParms copy = {.srcPtr = {there, 512, 100, 8},
	                                       .dstArray = (cudaArray_t)0x30000,
	                                       .extent = {64, 4, 1}};
	const struct gt_access_facts facts = RUNTIME_FACTS(cudaMemcpy3D_v3020, &copy);

	cr_expect(eq(u32, facts.count, 0));
	cr_expect(facts.is_cut);
}

Test(access_calls, read_a_filled_box)
{
	const struct gt_access_facts facts = RUNTIME_FACTS(
		cudaMemset3DAsync_v3020, {here, 128, 128, 16}, 0, {100, 1, 4}, stream);

	/* One row of each slice. */
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_FILL, 4, 0x10000, 100, 2048});
}

/* ---- batches ---- */

Test(access_calls, read_each_copy_of_a_batch)
{
	CUdeviceptr to[] = {0x10000, 0x11000, 0x12000};
	CUdeviceptr from[] = {0x20000, 0, 0x22000};
	size_t sizes[] = {64, 128, 256};
	struct gt_access_facts facts =
		DRIVER_FACTS(cuMemcpyBatchAsync_v2, to, from, sizes, 3, NULL, NULL, 0, stream);

	cr_assert(eq(u32, facts.count, 5)); /* what has no address is left out */
	cr_expect(eq(u64, facts.stream, 0x5000));
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_COPY_FROM, 1, 0x20000, 64, 0});
	expect_fact(&facts, 1, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x10000, 64, 0});
	expect_fact(&facts, 2, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x11000, 128, 0});
	expect_fact(&facts, 4, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x12000, 256, 0});
	facts = RUNTIME_FACTS(cudaMemcpyBatchAsync_v13000, (void **)to, (const void **)from, sizes,
	                      3, NULL, NULL, 0, stream);
	cr_expect(eq(u32, facts.count, 5));
	facts = DRIVER_FACTS(cuMemcpyBatchAsync_v2, NULL, from, sizes, 3, NULL, NULL, 0, stream);
	cr_expect(eq(u32, facts.count, 0));
}

Test(access_calls, say_that_a_batch_has_more_than_they_hold)
{
	enum { COPIES = 100 };
	CUdeviceptr addresses[COPIES];
	size_t sizes[COPIES];
	struct gt_access_facts facts;

	for (size_t i = 0; i < COPIES; i++) {
		addresses[i] = 0x10000 + i * 64;
		sizes[i] = 64;
	}
	facts = DRIVER_FACTS(cuMemcpyBatchAsync_v2, addresses, addresses, sizes, COPIES, NULL, NULL,
	                     0, stream);
	cr_expect(eq(u32, facts.count, GT_ACCESSES_MOST));
	cr_expect(facts.is_cut);
}

Test(access_calls, read_boxes_of_a_batch_between_pointers)
{
	CUDA_MEMCPY3D_BATCH_OP list[2] = {
		{.extent = {64, 4, 1}},
		{.extent = {32, 1, 1}},
	};
	struct gt_access_facts facts;

	for (int i = 0; i < 2; i++) {
		list[i].src.type = list[i].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
		list[i].src.op.ptr.ptr = 0x20000;
		list[i].dst.op.ptr.ptr = 0x10000;
	}
	list[0].src.op.ptr.rowLength = 256;
	list[0].dst.op.ptr.rowLength = 64;
	facts = DRIVER_FACTS(cuMemcpy3DBatchAsync_v2, 2, list, 0, stream);
	cr_assert(eq(u32, facts.count, 4));
	cr_expect(not(facts.is_cut));
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_COPY_FROM, 4, 0x20000, 64, 256});
	expect_fact(&facts, 1, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x10000, 256, 0});
	expect_fact(&facts, 3, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x10000, 32, 0});
	list[1].src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
	facts = DRIVER_FACTS(cuMemcpy3DBatchAsync_v2, 2, list, 0, stream);
	cr_expect(eq(u32, facts.count, 2));
	cr_expect(facts.is_cut);
}

/* ---- nodes of graphs ---- */

Test(access_calls, read_what_nodes_of_graphs_will_touch)
{
	const CUDA_MEMSET_NODE_PARAMS fill = {
		.dst = 0x10000, .elementSize = 4, .width = 16, .height = 1};
	const CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = 0x20000,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = 0x10000,
		.WidthInBytes = 64,
		.Height = 1,
		.Depth = 1,
	};
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
	struct gt_access_facts facts =
		DRIVER_FACTS(cuGraphAddMemsetNode, NULL, NULL, NULL, 0, &fill, NULL);

	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_FILL, 1, 0x10000, 64, 0});
	cr_expect(eq(u64, facts.stream, GT_STREAM_NONE));
	facts = DRIVER_FACTS(cuGraphAddMemcpyNode, NULL, NULL, NULL, 0, &copy, NULL);
	cr_assert(eq(u32, facts.count, 2));
	expect_fact(&facts, 1, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x10000, 64, 0});
	facts = RUNTIME_FACTS(cudaGraphAddMemcpyNode1D_v11010, NULL, NULL, NULL, 0, here, there, 32,
	                      cudaMemcpyDefault);
	expect_fact(&facts, 1, (struct gt_access_fact){GT_ACCESS_COPY_TO, 1, 0x10000, 32, 0});
	any.memset.dst = 0x30000;
	any.memset.elementSize = 2;
	any.memset.width = 8;
	any.memset.height = 2;
	any.memset.pitch = 512;
	facts = DRIVER_FACTS(cuGraphAddNode_v2, NULL, NULL, NULL, NULL, 0, &any);
	expect_fact(&facts, 0, (struct gt_access_fact){GT_ACCESS_FILL, 2, 0x30000, 16, 512});
	any.type = CU_GRAPH_NODE_TYPE_EMPTY;
	facts = DRIVER_FACTS(cuGraphAddNode_v2, NULL, NULL, NULL, NULL, 0, &any);
	cr_expect(eq(u32, facts.count, 0));
}

static bool has_one_of(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

/* Copies and fills by their names, but for those that the list says are not there. */
static bool touches_memory(const char *name)
{
	static const char *const words[] = {"Memcpy", "Memset", NULL};
	static const char *const others[] = {"Array", "cu64",           "AtoH", "HtoA",
	                                     "AtoD",  "DtoA",           "AtoA", "Params",
	                                     "Graph", "WithAttributes", NULL};

	return has_one_of(name, words) && !has_one_of(name, others);
}

/* A call of CUDA 3.1, which a later one of the same name replaced, or one without parameters. */
static bool is_replaced(const char *name)
{
	static const char *const first[] = {"cuMemcpyHtoD",
	                                    "cuMemcpyDtoH",
	                                    "cuMemcpyDtoD",
	                                    "cuMemcpyHtoDAsync",
	                                    "cuMemcpyDtoHAsync",
	                                    "cuMemcpyDtoDAsync",
	                                    "cuMemcpy2D",
	                                    "cuMemcpy2DUnaligned",
	                                    "cuMemcpy2DAsync",
	                                    "cuMemcpy3D",
	                                    "cuMemcpy3DAsync",
	                                    "cuMemsetD8",
	                                    "cuMemsetD16",
	                                    "cuMemsetD32",
	                                    "cuMemsetD2D8",
	                                    "cuMemsetD2D16",
	                                    "cuMemsetD2D32",
	                                    "cuMemcpy_v2",
	                                    NULL};

	for (size_t i = 0; first[i]; i++)
		if (strcmp(name, first[i]) == 0)
			return true;
	return false;
}

Test(access_calls, know_every_call_that_copies_or_fills)
{
	size_t seen = 0;

	for (CUpti_CallbackId id = 0; id < 1024; id++) {
		const char *names[] = {runtime_names[id], driver_names[id]};

		for (int driver = 0; driver < 2; driver++) {
			if (!names[driver] || !touches_memory(names[driver]) ||
			    is_replaced(names[driver]))
				continue;
			seen++;
			cr_expect(gt_access_call_find(driver, id) != NULL, "%s is not listed",
			          names[driver]);
		}
	}
	cr_expect(gt(sz, seen, 60));
	cr_expect(gt_access_call_find(true, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2) == NULL);
	cr_expect(gt_access_call_find(true, 100000) == NULL);
}
