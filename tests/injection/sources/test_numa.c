/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injection/recorder.h"
#include "injection/session/source.h"

/* Covers SOURCE(numa): where copies are asked for, and where the host's memory lies. */

extern const struct gt_source gt_source_numa;

enum { BYTES = 1 << 20 };

static struct recorder recorder;
static _Alignas(64) char state[64]; /* of the source */
static char *memory;

static void make(void)
{
	recorder_init(&recorder);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
	cr_assert(le(sz, gt_source_numa.state_size, sizeof(state)));
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert(ne(ptr, memory, MAP_FAILED));
}

static void drop(void)
{
	munmap(memory, BYTES);
}

TestSuite(numa, .init = make, .fini = drop);

static void enter(CUpti_CallbackId id, const void *params)
{
	const CUpti_CallbackData data = {
		.callbackSite = CUPTI_API_ENTER, .functionParams = params, .correlationId = 42};

	errno = EDOM;
	(void)gt_source_numa.hears.enter(
		recorder.session, state,
		(struct gt_call){.data = &data, .id = (uint16_t)id, .driver = 1});
	cr_expect(eq(int, errno, EDOM), "the program's errno");
}

/* The one record; the caller frees it. */
static struct gt_record_copy_place *place(void)
{
	struct gt_record_copy_place *rows;
	size_t count;

	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_copy_place, &count);
	cr_assert(eq(sz, count, 1));
	return rows;
}

/* The kernel's answer for the first page; negative where it may not be asked. */
static int node_of_memory(void)
{
	void *page = memory;
	int node = -1;

	return syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) < 0 ? -errno : node;
}

Test(numa, says_where_the_thread_ran_and_where_the_memory_lies)
{
	const cuMemcpyHtoDAsync_v2_params params = {0x7000000000000, memory, BYTES, NULL};
	struct gt_record_copy_place *row;
	cpu_set_t one;

	memset(memory, 1, BYTES);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	cr_assert(eq(int, sched_setaffinity(0, sizeof(one), &one), 0));
	enter(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &params);
	row = place();
	const int ran_there = CPU_ISSET(row->cpu, &one);

	cr_expect(ne(int, ran_there, 0));
	cr_expect(ge(int, row->cpu_node, 0));
	cr_expect(eq(u32, row->correlation, 42));
	cr_expect(eq(u32, row->flags, GT_RECORD_DRIVER_API));
	cr_expect(gt(u64, row->start_ns, 0));
	if (node_of_memory() >= 0) {
		cr_expect(eq(int, row->memory_node, node_of_memory()));
		cr_expect(eq(u64, row->address, (uintptr_t)memory));
		cr_expect(eq(u64, row->size_bytes, BYTES));
		cr_expect(eq(u32, row->pages, 4));
		cr_expect(ge(u32, row->pages_there, 1));
	} else {
		cr_expect(eq(int, row->memory_node, -1));
		cr_expect(eq(u64, row->address, 0));
	}
	free(row);
}

Test(numa, finds_the_host_s_side_whichever_it_is)
{
	const cuMemcpyDtoHAsync_v2_params params = {memory, 0x7000000000000, BYTES, NULL};
	struct gt_record_copy_place *row;

	memset(memory, 1, BYTES);
	enter(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, &params);
	row = place();
	if (node_of_memory() >= 0)
		cr_expect(eq(u64, row->address, (uintptr_t)memory));
	free(row);
}

/* From the first byte to the last, and no page of what follows. */
Test(numa, asks_about_the_rows_of_a_copy_of_rows)
{
	const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                            .srcHost = memory,
	                            .srcPitch = BYTES / 8,
	                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                            .dstDevice = 0x7000000000000,
	                            .dstPitch = BYTES,
	                            .WidthInBytes = 100,
	                            .Height = 4};
	const cuMemcpy2DAsync_v2_params params = {&rows, NULL};
	struct gt_record_copy_place *row;

	memset(memory, 1, BYTES / 2 - 4096); /* of the fourth row's begin, not of what follows */
	enter(CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, &params);
	row = place();
	if (node_of_memory() >= 0) {
		cr_expect(eq(u64, row->address, (uintptr_t)memory));
		cr_expect(eq(u64, row->size_bytes, 3 * (BYTES / 8) + 100));
		cr_expect(eq(u32, row->pages, 4));
	}
	free(row);
}

Test(numa, does_not_know_where_untouched_memory_lies)
{
	const cuMemcpyHtoDAsync_v2_params params = {0x7000000000000, memory, BYTES, NULL};
	struct gt_record_copy_place *row;

	enter(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &params);
	row = place();
	cr_expect(eq(int, row->memory_node, -1));
	cr_expect(eq(u32, row->pages, 0));
	cr_expect(ge(int, row->cpu_node, 0));
	free(row);
}

Test(numa, asks_about_the_pages_that_are_there)
{
	const cuMemcpyHtoDAsync_v2_params params = {0x7000000000000, memory, BYTES, NULL};
	struct gt_record_copy_place *row;

	memory[0] = 1;
	enter(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &params);
	row = place();
	if (node_of_memory() >= 0)
		cr_expect(ge(u32, row->pages, 1));
	free(row);
}

Test(numa, writes_nothing_of_fills_and_other_calls)
{
	const cuMemsetD8_v2_params fill = {0x10000, 0, 64};
	struct gt_record_copy_place *rows;
	size_t count;

	enter(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, &fill);
	enter(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NULL);
	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_copy_place, &count);
	cr_expect(eq(sz, count, 0));
	free(rows);
}
