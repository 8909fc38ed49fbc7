/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/error.h"
#include "format/arena/arena.h"
#include "format/recording.h"

enum { TRIES = 10 };

/* Whether the heap was not used again while it was copied: ids in it go by the header's counts. */
static bool heap_stayed(const struct gt_arena *arena, int fd)
{
	uint32_t dropped;

	return pread(fd, &dropped, sizeof(dropped),
	             (off_t)offsetof(struct gt_arena_header, strings_dropped)) ==
	               (ssize_t)sizeof(dropped) &&
	       dropped == atomic_load(&arena->header->strings_dropped);
}

/* A slot that is free now, or lent anew, may hold contents of both times. */
static void free_moved(struct gt_arena *arena, int fd)
{
	for (uint32_t i = 0; i < arena->header->slot_count; i++) {
		struct gt_slot *slot = &arena->slots[i];
		const off_t at = (off_t)(arena->header->slots_offset + i * sizeof(*slot));
		struct gt_slot now;

		if (atomic_load(&slot->state) == GT_SLOT_FREE)
			continue;
		if (pread(fd, &now, sizeof(now), at) != (ssize_t)sizeof(now) ||
		    atomic_load(&now.state) == GT_SLOT_FREE ||
		    atomic_load(&now.sequence) != atomic_load(&slot->sequence))
			atomic_store(&slot->state, GT_SLOT_FREE);
	}
}

static int load(struct gt_content *copy, int fd, struct gt_error *err)
{
	struct gt_arena arena;
	int result = -EAGAIN;

	for (int i = 0; result == -EAGAIN && i < TRIES; i++) {
		result = gt_load_fd(copy, fd, err);
		if (result == 0)
			result = gt_arena_open(&arena, copy->bytes, copy->size, err);
		if (result == 0 && !heap_stayed(&arena, fd))
			result = gt_fail(err, EAGAIN,
			                 "its process writes faster than it can be read");
		if (result == 0)
			free_moved(&arena, fd);
		else
			gt_unload(copy);
	}
	return result;
}

int gt_arena_load_live(struct gt_content *copy, const char *path, struct gt_error *err)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, err);
	int result;

	*copy = (struct gt_content){0};
	if (fd < 0)
		return fd;
	result = load(copy, fd, err);
	close(fd);
	return result;
}
