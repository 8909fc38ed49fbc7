/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/counts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "format/arena/files.h"
#include "format/recording.h"

const char *const gt_ledger_names[GT_LEDGER_COUNT] = {
#define LEDGER(name, help) #name,
#include "format/ledger.def"
};

static bool is_arena(int fd, const struct gt_arena_header *header)
{
	struct stat there;

	return fstat(fd, &there) == 0 && there.st_size >= (off_t)sizeof(*header) &&
	       atomic_load_explicit(&header->magic, memory_order_acquire) == GT_ARENA_MAGIC &&
	       header->layout_hash == gt_arena_layout_hash();
}

static void read_header(const struct gt_arena_header *header, struct gt_arena_counts *counts)
{
	snprintf(counts->capture, sizeof(counts->capture), "%.*s", (int)sizeof(header->capture) - 1,
	         header->capture);
	/* Pairs with the release in tell_followed of injection/session/session.c. */
	counts->followed = atomic_load_explicit(&header->followed, memory_order_acquire);
	counts->paused = atomic_load_explicit(&header->paused, memory_order_relaxed) != 0;
	for (unsigned i = 0; i < GT_LEDGER_COUNT; i++)
		counts->ledger[i] = atomic_load_explicit(&header->ledger[i], memory_order_relaxed);
}

bool gt_arena_read_counts(const char *path, struct gt_arena_counts *counts)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, NULL);
	struct gt_arena_header *header;
	bool is_one;

	if (fd < 0)
		return false;
	header = mmap(NULL, sizeof(*header), PROT_READ, MAP_SHARED, fd, 0);
	is_one = header != MAP_FAILED && is_arena(fd, header);
	if (is_one) {
		read_header(header, counts);
		counts->is_live = gt_arena_is_live(path);
	}
	if (header != MAP_FAILED)
		(void)munmap(header, sizeof(*header));
	close(fd);
	return is_one;
}

int gt_arena_each_counts(const char *folder,
                         void (*see)(void *context, const struct gt_arena_counts *counts),
                         void *context, struct gt_error *err)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	int count = 0;

	if (!directory)
		return gt_fail(err, errno, "cannot look into %s: %s", folder, gt_errno_text(errno));
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is our own */
	while ((entry = readdir(directory))) {
		struct gt_arena_counts counts = {0};
		char path[PATH_MAX];

		if (!gt_has_suffix(entry->d_name, GT_ARENA_SUFFIX) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
		            (int)sizeof(path) ||
		    !gt_arena_read_counts(path, &counts))
			continue;
		see(context, &counts);
		count++;
	}
	closedir(directory);
	return count;
}
