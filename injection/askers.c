/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/askers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/search.h"
#include "injection/services.h"

#define PAGE_BYTES   ((uintptr_t)4096)
#define WINDOW_BYTES ((uintptr_t)1024)    /* above the parameters that are looked at */
#define FAR_BYTES    ((uintptr_t)1 << 20) /* between our frame and them, at most */

/* ---- reading the mappings ---- */

/* A line of /proc/self/maps. */
struct line {
	uintptr_t start;
	uintptr_t end;
	bool is_code;
	bool is_writable;
	const char *path; /* "": it has none */
};

static const char *skip_words(const char *text, int words)
{
	while (words-- > 0) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return text;
}

/* start-end rwxp offset device inode path */
static bool read_line(const char *text, struct line *line)
{
	char *end = NULL;

	line->start = (uintptr_t)strtoull(text, &end, 16);
	if (end == text || *end != '-')
		return false;
	text = end + 1;
	line->end = (uintptr_t)strtoull(text, &end, 16);
	if (end == text || *end != ' ' || strlen(end) < 5)
		return false;
	line->is_writable = end[1] == 'r' && end[2] == 'w';
	line->is_code = end[3] == 'x';
	line->path = skip_words(text, 5);
	return true;
}

/* CUDA's libraries and ours: they pass a call on, and ask for nothing themselves. */
static bool is_passed_over(const char *path)
{
	static const char *const names[] = {"libcuda.so", "libcudart.so", "libcupti.so",
	                                    "libgputrace-injection.so", "libcudadebugger.so"};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void add_line(struct gt_session *session, struct gt_mappings *mappings,
                     const struct line *line)
{
	if (line->is_code && line->path[0] == '/' && mappings->code_count < GT_MOST_CODE)
		mappings->code[mappings->code_count++] = (struct gt_code){
			.start = line->start,
			.end = line->end,
			.object = is_passed_over(line->path) ? 0 : gt_intern(session, line->path),
		};
	if (line->is_writable && mappings->memory_count < GT_MOST_MEMORY)
		mappings->memory[mappings->memory_count++] =
			(struct gt_memory_range){line->start, line->end};
}

/* The whole lines of the text, which are cut at their ends; returns the bytes that are left over. */
static size_t add_lines(struct gt_session *session, struct gt_mappings *mappings, char *text,
                        size_t size)
{
	char *at = text;
	char *end;

	while ((end = memchr(at, '\n', size - (size_t)(at - text)))) {
		struct line line;

		*end = '\0';
		if (read_line(at, &line))
			add_line(session, mappings, &line);
		at = end + 1;
	}
	memmove(text, at, size - (size_t)(at - text));
	return size - (size_t)(at - text);
}

static bool read_all(struct gt_session *session, struct gt_askers *askers,
                     struct gt_mappings *mappings)
{
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t held = 0;
	ssize_t got = 0;

	if (fd < 0)
		return false;
	while (held < sizeof(askers->text) &&
	       ((got = read(fd, askers->text + held, sizeof(askers->text) - held)) > 0 ||
	        (got < 0 && errno == EINTR)))
		if (got > 0)
			held = add_lines(session, mappings, askers->text, held + (size_t)got);
	(void)close(fd);
	return got == 0;
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
	if (!read_all(session, askers, mappings))
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

/* What the word points into; NULL: no code. */
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
