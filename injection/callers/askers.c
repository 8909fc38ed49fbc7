/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/callers/askers.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/search.h"
#include "injection/process/mapping_lines.h"
#include "injection/session/services.h"

#define PAGE_BYTES   ((uintptr_t)4096)
#define WINDOW_BYTES ((uintptr_t)1024)    /* above the parameters that are looked at */
#define FAR_BYTES    ((uintptr_t)1 << 20) /* between our frame and them, at most */

/* ---- reading the mappings ---- */

struct reading {
	struct gt_session *session;
	struct gt_mappings *mappings;
};

static void add_line(void *context, const struct gt_mapping_line *line)
{
	const struct reading *reading = context;
	struct gt_mappings *mappings = reading->mappings;

	if (line->is_code && line->path[0] == '/' && mappings->code_count < GT_MOST_CODE)
		mappings->code[mappings->code_count++] = (struct gt_code){
			.start = line->start,
			.end = line->end,
			.object = gt_is_passed_over(line->path)
		                          ? 0
		                          : gt_intern(reading->session, line->path),
		};
	if (line->is_writable && mappings->memory_count < GT_MOST_MEMORY)
		mappings->memory[mappings->memory_count++] =
			(struct gt_memory_range){line->start, line->end};
}

/* Into the half that nobody is sent to, which readers may still be in: they see the version. */
void gt_askers_read(struct gt_session *session, struct gt_askers *askers)
{
	const uint32_t next =
		askers->known ? 1 - atomic_load_explicit(&askers->current, memory_order_relaxed)
			      : 0;
	struct gt_mappings *mappings = &askers->mappings[next];
	const uint32_t version = atomic_load_explicit(&mappings->version, memory_order_relaxed);

	atomic_store_explicit(&mappings->version, version + 1, memory_order_relaxed);
	/* Pairs with the fence in is_unchanged. */
	atomic_thread_fence(memory_order_release);
	mappings->code_count = 0;
	mappings->memory_count = 0;
	if (!gt_mapping_lines_each(askers->text, sizeof(askers->text), add_line,
	                           &(struct reading){session, mappings}))
		mappings->code_count = 0;
	atomic_store_explicit(&mappings->version, version + 2, memory_order_release);
	/* Pairs with the acquire in gt_askers_find. */
	atomic_store_explicit(&askers->current, next, memory_order_release);
	askers->known = true;
}

/* ---- looking one up ---- */

static int code_by_end(const void *row, const void *word)
{
	const uintptr_t end = ((const struct gt_code *)row)->end;

	return (end > *(const uintptr_t *)word) - (end < *(const uintptr_t *)word);
}

/* The code that the word points into; NULL: none. */
static const struct gt_code *code_at(const struct gt_mappings *mappings, uint32_t count,
                                     uintptr_t word)
{
	const struct gt_code *code = mappings->code;
	const size_t at = gt_search(code, count, sizeof(*code), &word, code_by_end, 1);

	return at < count && code[at].start <= word ? &code[at] : NULL;
}

static int memory_by_end(const void *row, const void *address)
{
	const uintptr_t end = ((const struct gt_memory_range *)row)->end;

	return (end > *(const uintptr_t *)address) - (end < *(const uintptr_t *)address);
}

/* The end of the memory around an address, as far as it was one mapping; 0: not known. */
static uintptr_t end_of_memory(const struct gt_mappings *mappings, uint32_t count,
                               uintptr_t address)
{
	const struct gt_memory_range *memory = mappings->memory;
	const size_t at = gt_search(memory, count, sizeof(*memory), &address, memory_by_end, 1);

	return at < count && memory[at].start <= address ? memory[at].end : 0;
}

/*
 * Up to where the stack may be read: to the end of the page, which is there as the parameters are
 * in it, and further only where the next page is of the same mapping and still there.
 */
static uintptr_t end_of_window(const struct gt_mappings *mappings, uintptr_t start)
{
	const uintptr_t page_end = (start & ~(PAGE_BYTES - 1)) + PAGE_BYTES;
	const uint32_t count = mappings->memory_count;
	const int saved = errno;
	unsigned char resident;
	bool is_there;

	if (start + WINDOW_BYTES <= page_end)
		return start + WINDOW_BYTES;
	if (count > GT_MOST_MEMORY || end_of_memory(mappings, count, start) < start + WINDOW_BYTES)
		return page_end;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the stack */
	is_there = mincore((void *)page_end, PAGE_BYTES, &resident) == 0;
	errno = saved;
	return is_there ? start + WINDOW_BYTES : page_end;
}

/* gcc's sanitizer knows nothing of what lies between variables. */
__attribute__((no_sanitize("address"))) static uint32_t
first_object(const struct gt_mappings *mappings, uintptr_t at)
{
	const uint32_t count =
		mappings->code_count <= GT_MOST_CODE ? mappings->code_count : GT_MOST_CODE;
	const uintptr_t end = end_of_window(mappings, at);

	for (; at + sizeof(uintptr_t) <= end; at += sizeof(uintptr_t)) {
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): likewise */
		const struct gt_code *code = code_at(mappings, count, *(const uintptr_t *)at);

		if (code && code->object)
			return code->object;
	}
	return 0;
}

static bool is_unchanged(const struct gt_mappings *mappings, uint32_t version)
{
	/* Pairs with the fence in gt_askers_read. */
	atomic_thread_fence(memory_order_acquire);
	return !(version & 1) &&
	       atomic_load_explicit(&mappings->version, memory_order_relaxed) == version;
}

uint32_t gt_askers_find(const struct gt_askers *askers, const void *parameters)
{
	const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t at = ((uintptr_t)parameters + 7) & ~(uintptr_t)7;
	const struct gt_mappings *mappings =
		&askers->mappings[atomic_load_explicit(&askers->current, memory_order_acquire)];
	const uint32_t version = atomic_load_explicit(&mappings->version, memory_order_acquire);
	uint32_t object;

	if (at < frame || at - frame > FAR_BYTES)
		return 0;
	object = first_object(mappings, at);
	return is_unchanged(mappings, version) ? object : 0;
}
