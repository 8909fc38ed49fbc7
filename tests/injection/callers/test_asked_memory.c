/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/callers/asked_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "injection/calls/parameters.h"
#include "injection/snapshot/memory/askers.h"
#include "support/check.h"

/* Memory with who asked for it, by calls whose parameters lie on a stack of the test's own making. */

#define ADDRESS UINT64_C(0x7f0000000000)

static struct gt_asked_memory *asked;
static struct gt_reach *reach;
static struct gt_capture_askers *askers;

static void make(void)
{
	asked = calloc(1, sizeof(*asked));
	reach = calloc(1, sizeof(*reach));
	askers = calloc(1, sizeof(*askers));
}

TestSuite(asked_memory, .init = make);

static void return_from(CUpti_CallbackId id, const void *parameters, uint32_t result)
{
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_EXIT,
	                                 .functionParams = parameters,
	                                 .functionReturnValue = &result};

	cr_assert(gt_asked_call_is(true, id));
	gt_asked_memory_follow(asked,
	                       (struct gt_call){.data = &data, .id = (uint16_t)id, .driver = 1});
}

static void allocate(uint64_t address, uintptr_t word)
{
	CUdeviceptr made = address;
	struct {
		cuMemAlloc_v2_params parameters;
		volatile uintptr_t above[16];
	} stack = {{.dptr = &made, .bytesize = 4096}, {0}};

	stack.above[5] = word;
	return_from(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &stack, CUDA_SUCCESS);
}

static void give_back(uint64_t address)
{
	cuMemFree_v2_params parameters = {.dptr = address};

	return_from(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &parameters, CUDA_SUCCESS);
}

static bool holds(uint64_t address, uintptr_t word)
{
	uintptr_t words[GT_ASKED_WORDS];

	if (!gt_asked_memory_find(asked, address, words))
		return false;
	for (size_t i = 0; i < GT_ASKED_WORDS && words[i]; i++)
		if (words[i] == word)
			return true;
	return false;
}

static void add_reached(uint64_t address, enum gt_bundle_memory_kind kind)
{
	const struct gt_reached memory = {
		.address = address, .size = 4096, .kind = kind, .name = "own"};

	cr_assert(gt_reach_add(reach, &memory));
}

Test(asked_memory, is_kept_until_it_is_given_back)
{
	uintptr_t words[GT_ASKED_WORDS];

	allocate(ADDRESS, (uintptr_t)&make);
	cr_expect(holds(ADDRESS, (uintptr_t)&make));
	cr_expect(not(gt_asked_memory_find(asked, ADDRESS + 4096, words)));
	give_back(ADDRESS);
	cr_expect(not(gt_asked_memory_find(asked, ADDRESS, words)));
}

Test(asked_memory, is_whose_who_got_the_address_last)
{
	allocate(ADDRESS, (uintptr_t)&make);
	allocate(ADDRESS, (uintptr_t)&getenv);
	cr_expect(holds(ADDRESS, (uintptr_t)&getenv));
	give_back(ADDRESS);
	cr_expect(not(holds(ADDRESS, (uintptr_t)&make)));
}

Test(asked_memory, has_room_for_new_memory_at_all_times)
{
	for (uint64_t i = 0; i < 4 * (uint64_t)GT_ASKED_ROOM; i++) {
		allocate(ADDRESS + i * 4096, (uintptr_t)&make);
		cr_assert(holds(ADDRESS + i * 4096, (uintptr_t)&make));
	}
}

Test(asked_memory, is_not_there_when_the_call_failed)
{
	cuMemFree_v2_params parameters = {.dptr = ADDRESS};
	CUdeviceptr made = ADDRESS + 4096;
	const cuMemAlloc_v2_params wanted = {.dptr = &made, .bytesize = 4096};
	uintptr_t words[GT_ASKED_WORDS];

	return_from(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &wanted, CUDA_ERROR_OUT_OF_MEMORY);
	cr_expect(not(gt_asked_memory_find(asked, ADDRESS + 4096, words)));
	allocate(ADDRESS, (uintptr_t)&make);
	return_from(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &parameters, CUDA_ERROR_INVALID_VALUE);
	cr_expect(holds(ADDRESS, (uintptr_t)&make));
}

Test(asked_memory, is_none_of_another_process)
{
	cr_expect(not(gt_asked_call_is(true, CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2)));
	cr_expect(not(gt_asked_call_is(true, CUPTI_DRIVER_TRACE_CBID_cuMemPoolImportPointer)));
	cr_expect(not(gt_asked_call_is(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)));
}

/* ---- the stack is read up to its end, and no further ---- */

enum { PAGE = 4096, ROOM = 1 << 18, BEFORE = 64 };

/* Two pages on a stack of our own: the call's parameters are near the end of the first one. */
static struct {
	ucontext_t here;
	ucontext_t there;
	char *pages;
	size_t word; /* that is code, from the parameters on */
	bool ended;
} fiber;

static void ask_at_the_end(void)
{
	static CUdeviceptr made = ADDRESS;
	uintptr_t *last = (uintptr_t *)(void *)(fiber.pages + PAGE - BEFORE);
	cuMemAlloc_v2_params *parameters = (cuMemAlloc_v2_params *)(void *)last;

	memset(last, 0, BEFORE);
	parameters->dptr = &made;
	last[fiber.word] = (uintptr_t)&make;
	return_from(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, last, CUDA_SUCCESS);
	fiber.ended = true;
}

static void ask_on_pages(int protection, size_t word)
{
	char *memory = mmap(NULL, ROOM + (size_t)2 * PAGE, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(ne(ptr, memory, MAP_FAILED));
	fiber.pages = memory + ROOM;
	fiber.word = word;
	cr_assert(eq(int, mprotect(fiber.pages + PAGE, PAGE, protection), 0));
	cr_assert(eq(int, getcontext(&fiber.there), 0));
	fiber.there.uc_stack.ss_sp = memory;
	fiber.there.uc_stack.ss_size = ROOM + PAGE - 512;
	fiber.there.uc_link = &fiber.here;
	makecontext(&fiber.there, ask_at_the_end, 0);
	cr_assert(eq(int, swapcontext(&fiber.here, &fiber.there), 0));
	cr_expect(fiber.ended);
	cr_expect(holds(ADDRESS, (uintptr_t)&make));
}

Test(asked_memory, is_known_by_the_stack_up_to_its_end)
{
	ask_on_pages(PROT_NONE, BEFORE / sizeof(uintptr_t) - 1);
}

Test(asked_memory, is_known_by_the_next_page_of_the_stack)
{
	ask_on_pages(PROT_READ | PROT_WRITE, BEFORE / sizeof(uintptr_t) + 3);
}

/* ---- names ---- */

Test(asked_memory, has_the_name_of_the_file_whose_code_asked)
{
	allocate(ADDRESS, (uintptr_t)&make);
	add_reached(ADDRESS, GT_BUNDLE_MEMORY_device);
	add_reached(ADDRESS + 8192, GT_BUNDLE_MEMORY_variable);
	cr_expect(eq(i64, gt_capture_askers_name(askers, asked, reach), 0));
	cr_expect(eq(str, (char *)reach->memory[0].name, "test_injection_callers_asked_memory"));
	cr_expect(eq(str, (char *)reach->memory[1].name, "own"));
}

Test(asked_memory, goes_by_the_word_that_is_nearest_to_the_call)
{
	CUdeviceptr made = ADDRESS;
	struct {
		cuMemAlloc_v2_params parameters;
		volatile uintptr_t above[16];
	} stack = {{.dptr = &made, .bytesize = 4096}, {0}};

	stack.above[2] = (uintptr_t)&getenv; /* libc asks for nothing: what was left there */
	stack.above[4] = (uintptr_t)&criterion_initialize;
	stack.above[7] = (uintptr_t)&make;
	return_from(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &stack, CUDA_SUCCESS);
	add_reached(ADDRESS, GT_BUNDLE_MEMORY_device);
	(void)gt_capture_askers_name(askers, asked, reach);
	cr_expect(strncmp(reach->memory[0].name, "libcriterion.so", 15) == 0);
}

Test(asked_memory, of_which_some_is_not_known_tells_no_workspace)
{
	allocate(ADDRESS, (uintptr_t)&make);
	add_reached(ADDRESS, GT_BUNDLE_MEMORY_device);
	add_reached(ADDRESS + 8192, GT_BUNDLE_MEMORY_device);
	cr_expect(eq(i64, gt_capture_askers_name(askers, asked, reach), -1));
	cr_expect(eq(str, (char *)reach->memory[1].name, ""));
	cr_expect(eq(i64, gt_capture_askers_name(askers, NULL, reach), -1));
	cr_expect(eq(str, (char *)reach->memory[0].name, ""));
}
