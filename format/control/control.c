/* SPDX-License-Identifier: Apache-2.0 */
#include "format/control/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "format/arena/arena.h"
#include "format/arena/files.h"
#include "format/recording.h"

uint64_t gt_order_give(struct gt_roll *roll, bool record)
{
	uint64_t before = gt_order_of(roll);
	uint64_t order;

	do
		order = ((before >> 1) + 1) << 1 | (record ? 1 : 0);
	while (!atomic_compare_exchange_weak_explicit(&roll->order, &before, order,
	                                              memory_order_acq_rel, memory_order_acquire));
	return order;
}

void gt_order_forget(struct gt_roll *roll)
{
	atomic_store_explicit(&roll->order, 0, memory_order_release);
}

static bool is_arena(int fd, const struct gt_arena_header *header)
{
	struct stat there;

	return fstat(fd, &there) == 0 && there.st_size >= (off_t)sizeof(*header) &&
	       atomic_load_explicit(&header->magic, memory_order_acquire) == GT_ARENA_MAGIC &&
	       header->layout_hash == gt_arena_layout_hash();
}

/* False: it is none of this gputrace. */
static bool read_arena(const char *path, char name[NAME_MAX + 1], struct gt_controlled *process)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, NULL);
	struct gt_arena_header *header;
	bool is_one;

	if (fd < 0)
		return false;
	header = mmap(NULL, sizeof(*header), PROT_READ, MAP_SHARED, fd, 0);
	is_one = header != MAP_FAILED && is_arena(fd, header);
	if (is_one) {
		snprintf(name, NAME_MAX + 1, "%.*s", (int)sizeof(header->capture) - 1,
		         header->capture);
		process->capture = name;
		/* Pairs with the release in tell_followed of injection/session/session.c. */
		process->followed = atomic_load_explicit(&header->followed, memory_order_acquire);
		process->records = atomic_load_explicit(&header->paused, memory_order_relaxed) == 0;
	}
	if (header != MAP_FAILED)
		(void)munmap(header, sizeof(*header));
	close(fd);
	return is_one;
}

int gt_control_each(const char *folder,
                    void (*see)(void *context, const struct gt_controlled *process), void *context,
                    struct gt_error *err)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	int count = 0;

	if (!directory)
		return gt_fail(err, errno, "cannot look into %s: %s", folder, gt_errno_text(errno));
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is our own */
	while ((entry = readdir(directory))) {
		struct gt_controlled process = {0};
		char name[NAME_MAX + 1];
		char path[PATH_MAX];

		if (!gt_has_suffix(entry->d_name, GT_ARENA_SUFFIX) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
		            (int)sizeof(path) ||
		    !gt_arena_is_live(path) || !read_arena(path, name, &process))
			continue;
		see(context, &process);
		count++;
	}
	closedir(directory);
	return count;
}
