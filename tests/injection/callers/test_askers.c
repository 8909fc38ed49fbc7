/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/callers/askers.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "injection/recorder.h"
#include "support/check.h"

/* Who called, as far as a stack of the test's own making says. */

static struct recorder recorder;
static struct gt_askers *askers;

static void make(void)
{
	recorder_init(&recorder);
	askers = zeroed(sizeof(*askers));
	gt_askers_read(recorder.session, askers);
}

TestSuite(askers, .init = make);

/* Whether the string of an object says so. */
static bool is_called(uint32_t object, const char *part)
{
	struct gt_arena *arena = &recorder.session->arena;
	const char *text;
	uint32_t offset = 0;
	uint32_t size;

	for (uint32_t id = gt_arena_next_id(arena, 0);
	     gt_arena_next_string(arena, &offset, &text, &size); id = gt_arena_next_id(arena, id))
		if (id == object)
			return memmem(text, size, part, strlen(part)) != NULL;
	return false;
}

static uint32_t find_above(uintptr_t word)
{
	volatile uintptr_t stack[32] = {0};

	stack[20] = word;
	return gt_askers_find(askers, (const void *)(uintptr_t)&stack[4]);
}

Test(askers, are_known_by_addresses_in_their_code)
{
	cr_expect(is_called(find_above((uintptr_t)&make), "test_injection_callers_askers"));
	cr_expect(is_called(find_above((uintptr_t)&criterion_initialize), "libcriterion.so"));
	cr_expect(not(is_called(find_above((uintptr_t)&criterion_initialize),
	                        "test_injection_callers_askers")));
	/* Addresses of libc's that are left on the stack are nobody who asks. */
	cr_expect(not(is_called(find_above((uintptr_t)&getenv), "libc.so")));
}

/* CUDA's own functions lie between the parameters and whoever called them. */
Test(askers, stand_behind_what_is_passed_over)
{
	volatile uintptr_t stack[32] = {0};

	stack[12] = (uintptr_t)&getenv;
	stack[20] = (uintptr_t)&criterion_initialize;
	cr_expect(is_called(gt_askers_find(askers, (const void *)(uintptr_t)&stack[4]),
	                    "libcriterion.so"));
}

/* On a stack of its own, so that nothing above is the test's: the page ends behind it. */
static struct {
	ucontext_t here;
	ucontext_t there;
	uint32_t object;
	bool ended;
} fiber;

static void *page;

static void at_the_end(void)
{
	uintptr_t *last = (uintptr_t *)((uintptr_t)page + 2 * 4096 - 64);

	for (int i = 0; i < 8; i++)
		last[i] = 0;
	fiber.object = gt_askers_find(askers, last);
	fiber.ended = true;
}

static void run_on(void *stack, size_t bytes)
{
	cr_assert(eq(int, getcontext(&fiber.there), 0));
	fiber.there.uc_stack.ss_sp = stack;
	fiber.there.uc_stack.ss_size = bytes;
	fiber.there.uc_link = &fiber.here;
	makecontext(&fiber.there, at_the_end, 0);
	cr_assert(eq(int, swapcontext(&fiber.here, &fiber.there), 0));
}

Test(askers, are_not_looked_for_beyond_the_stack)
{
	char *memory =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(ne(ptr, memory, MAP_FAILED));
	cr_assert(eq(int, mprotect(memory + 2 * 4096, 4096, PROT_NONE), 0));
	page = memory;
	gt_askers_read(recorder.session, askers);
	run_on(memory, 2 * 4096 - 512);
	cr_expect(fiber.ended);
	cr_expect(eq(u32, fiber.object, 0));
}

Test(askers, are_not_told_of_parameters_that_are_not_on_the_stack)
{
	uintptr_t *heap = malloc(4096);

	for (int i = 0; i < 512; i++)
		heap[i] = (uintptr_t)&make;
	cr_expect(eq(u32, gt_askers_find(askers, heap), 0));
	cr_expect(eq(u32, gt_askers_find(askers, NULL), 0));
	free(heap);
}

Test(askers, are_nobody_while_the_mappings_are_not_known)
{
	struct gt_askers *nothing = zeroed(sizeof(*nothing));
	volatile uintptr_t stack[32] = {0};

	stack[20] = (uintptr_t)&make;
	cr_expect(eq(u32, gt_askers_find(nothing, (const void *)(uintptr_t)&stack[4]), 0));
	atomic_fetch_add(&askers->mappings[0].version, 1); /* it is being written */
	cr_expect(eq(u32, find_above((uintptr_t)&make), 0));
}

Test(askers, are_the_same_when_the_mappings_are_read_again)
{
	const uint32_t before = find_above((uintptr_t)&make);

	cr_assert(ne(u32, before, 0));
	for (int i = 0; i < 3; i++) {
		gt_askers_read(recorder.session, askers);
		cr_expect(eq(u32, find_above((uintptr_t)&make), before));
	}
}
