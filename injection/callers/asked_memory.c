/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/callers/asked_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include "injection/calls/memory.h"

#define PROBES        16u
#define WRITING       1u
#define PAGE_BYTES    ((uintptr_t)4096)
#define WINDOW_WORDS  256u                 /* above the parameters that are looked at */
#define FAR_BYTES     ((uintptr_t)1 << 20) /* between our frame and them, at most */
#define STACK_BYTES   ((uintptr_t)8 << 20) /* what is as near to it as that is taken for the stack */
#define LEAST_ADDRESS ((uintptr_t)1 << 16)
#define MOST_ADDRESS  ((uintptr_t)1 << 47)

/* ---- the stack ---- */

/*
 * Copied by the kernel, which tells where nothing can be read: what lies behind the page may be no
 * stack any more. Returns how many words there were.
 */
/* NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes them */
static size_t copy_stack(uintptr_t at, uintptr_t *words)
{
	const uintptr_t page_end = (at & ~(PAGE_BYTES - 1)) + PAGE_BYTES;
	const size_t bytes = WINDOW_WORDS * sizeof(*words);
	const size_t first = page_end - at < bytes ? page_end - at : bytes;
	struct iovec to = {words, bytes};
	/* NOLINTBEGIN(performance-no-int-to-ptr): addresses of the stack */
	struct iovec from[] = {{(void *)at, first}, {(void *)page_end, bytes - first}};
	/* NOLINTEND(performance-no-int-to-ptr) */
	const ssize_t got = process_vm_readv(getpid(), &to, 1, from, first < bytes ? 2 : 1, 0);

	return got > 0 ? (size_t)got / sizeof(*words) : 0;
}

static bool may_be_code(uintptr_t word, uintptr_t stack)
{
	return word >= LEAST_ADDRESS && word < MOST_ADDRESS &&
	       word - (stack - STACK_BYTES) > 2 * STACK_BYTES;
}

static void write_words(struct gt_asked *row, const void *parameters)
{
	const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t at = ((uintptr_t)parameters + 7) & ~(uintptr_t)7;
	uintptr_t words[WINDOW_WORDS];
	size_t count = 0;
	size_t kept = 0;

	if (at >= frame && at - frame <= FAR_BYTES)
		count = copy_stack(at, words);
	for (size_t i = 0; i < count && kept < GT_ASKED_WORDS; i++)
		if (may_be_code(words[i], at))
			atomic_store_explicit(&row->words[kept++], words[i], memory_order_relaxed);
	if (kept < GT_ASKED_WORDS)
		atomic_store_explicit(&row->words[kept], 0, memory_order_relaxed);
}

/* ---- the rows ---- */

static size_t place_of(uint64_t address, uint32_t probe)
{
	return ((address * UINT64_C(0x9e3779b97f4a7c15) >> 40) + probe) % GT_ASKED_ROOM;
}

/* The row of that address, or of no address; NULL. */
static struct gt_asked *row_of(struct gt_asked_memory *asked, uint64_t address, uint64_t wanted)
{
	for (uint32_t probe = 0; probe < PROBES; probe++) {
		struct gt_asked *row = &asked->rows[place_of(address, probe)];

		if (atomic_load_explicit(&row->address, memory_order_relaxed) == wanted)
			return row;
	}
	return NULL;
}

static void forget(struct gt_asked_memory *asked, uint64_t address)
{
	struct gt_asked *row = row_of(asked, address, address);

	if (row)
		(void)atomic_compare_exchange_strong_explicit(
			&row->address, &address, 0, memory_order_relaxed, memory_order_relaxed);
}

/* Where there is no room some other memory is forgotten. */
static void add(struct gt_asked_memory *asked, uint64_t address, const void *parameters)
{
	struct gt_asked *row = row_of(asked, address, address);
	uint64_t before;

	if (!row)
		row = row_of(asked, address, 0);
	if (!row)
		row = &asked->rows[place_of(address, 0)];
	before = atomic_load_explicit(&row->address, memory_order_relaxed);
	/* One of two threads that want the same row goes without. */
	if (before == WRITING ||
	    !atomic_compare_exchange_strong_explicit(&row->address, &before, WRITING,
	                                             memory_order_relaxed, memory_order_relaxed))
		return;
	/* Pairs with the fence in gt_asked_memory_find. */
	atomic_thread_fence(memory_order_release);
	write_words(row, parameters);
	/* Pairs with the acquire in gt_asked_memory_find. */
	atomic_store_explicit(&row->address, address, memory_order_release);
}

bool gt_asked_memory_find(const struct gt_asked_memory *asked, uint64_t address,
                          uintptr_t words[GT_ASKED_WORDS])
{
	for (uint32_t probe = 0; probe < PROBES; probe++) {
		const struct gt_asked *row = &asked->rows[place_of(address, probe)];

		if (atomic_load_explicit(&row->address, memory_order_acquire) != address)
			continue;
		for (size_t i = 0; i < GT_ASKED_WORDS; i++)
			words[i] = atomic_load_explicit(&row->words[i], memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		return atomic_load_explicit(&row->address, memory_order_relaxed) == address;
	}
	return false;
}

/* ---- calls ---- */

enum change { NONE, GETS, GIVES_BACK };

/* Nothing is kept of another process's memory: launches that use it are not captured. */
static enum change change_of(uint32_t kind)
{
	switch (kind) {
	case GT_MEMORY_CALL_ALLOCATE:
	case GT_MEMORY_CALL_ALLOCATE_MANAGED:
	case GT_MEMORY_CALL_ALLOCATE_ORDERED:
	case GT_MEMORY_CALL_ALLOCATE_HOST:
	case GT_MEMORY_CALL_REGISTER:
	case GT_MEMORY_CALL_MAP:
		return GETS;
	case GT_MEMORY_CALL_FREE:
	case GT_MEMORY_CALL_FREE_ORDERED:
	case GT_MEMORY_CALL_FREE_HOST:
	case GT_MEMORY_CALL_UNREGISTER:
	case GT_MEMORY_CALL_UNMAP:
		return GIVES_BACK;
	default: /* kinds of the captures' list, of which the rest is about other things */
		return NONE;
	}
}

bool gt_asked_call_is(bool driver, CUpti_CallbackId id)
{
	const struct gt_memory_call *call = gt_memory_call_find(driver, id);

	return call && change_of(call->kind) != NONE;
}

void gt_asked_memory_follow(struct gt_asked_memory *asked, struct gt_call call)
{
	const struct gt_memory_call *what = gt_memory_call_find(call.driver, call.id);
	struct gt_memory_facts facts = {0};

	if (!what || gt_call_result(call) != 0)
		return;
	gt_memory_call_read(what, call.data, &facts);
	if (facts.address <= WRITING)
		return;
	if (change_of(what->kind) == GETS)
		add(asked, facts.address, call.data->functionParams);
	else
		forget(asked, facts.address);
}
