/* SPDX-License-Identifier: Apache-2.0 */
#include "format/salvage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/arena.h"
#include "format/chunk.h"
#include "format/drain.h"
#include "format/meta.h"
#include "format/reader.h"
#include "format/recording.h"

#define MAX_WRITTEN 1024

/* The chunks that a process had written of the buffer it was draining when it died. */
struct written {
	uint64_t source;
	uint32_t count;
	struct {
		uint16_t kind;
		uint16_t part;
	} chunks[MAX_WRITTEN];
};

struct salvager {
	struct gt_arena arena;
	struct gt_writer writer;
	struct gt_drain *drain;
	struct written written;
};

static uint32_t known_name(void *context, uint64_t pointer)
{
	struct salvager *salvager = context;
	const struct gt_name *name = gt_arena_name(&salvager->arena, pointer);

	return name && name->pointer == pointer ? name->string : 0;
}

static uint32_t new_string(void *context, const char *text, uint32_t size)
{
	struct salvager *salvager = context;

	return gt_arena_add_string(&salvager->arena, text, size);
}

static bool is_written(void *context, uint64_t source, uint16_t kind, uint16_t part)
{
	const struct written *written = &((const struct salvager *)context)->written;

	if (source != written->source)
		return false;
	for (uint32_t i = 0; i < written->count; i++)
		if (written->chunks[i].kind == kind && written->chunks[i].part == part)
			return true;
	return false;
}

/* Notes which chunks of one buffer are in a capture. Only headers are read. */
static void find_written(struct written *written, uint64_t source, const uint8_t *capture,
                         size_t size)
{
	struct gt_chunk_header header;
	size_t at = GT_FILE_HEADER_SIZE;

	*written = (struct written){.source = source};
	while (at + GT_CHUNK_HEADER_SIZE <= size &&
	       gt_chunk_decode_header(capture + at, &header) == 0 &&
	       header.stored <= size - at - GT_CHUNK_HEADER_SIZE) {
		if (header.source == source && written->count < MAX_WRITTEN) {
			written->chunks[written->count].kind = header.kind;
			written->chunks[written->count].part = header.part;
			written->count++;
		}
		at += GT_CHUNK_HEADER_SIZE + header.stored;
	}
}

static void drain_activity(struct salvager *salvager, const struct gt_slot *slot)
{
	const uint8_t *at = gt_slot_memory(&salvager->arena, slot);
	const uint32_t used = atomic_load(&slot->used);
	uint32_t left = slot->size;
	uint32_t size;

	/* A buffer that CUPTI handed back says how much is valid; in a lent one zeros end it. */
	if (atomic_load(&slot->state) != GT_SLOT_LENT && used < left)
		left = used;
	while ((size = gt_raw_size(&salvager->arena, at, left)) > 0) {
		gt_drain_activity(salvager->drain, at);
		at += size;
		left -= size;
	}
}

static void drain_slot(struct salvager *salvager, const struct gt_slot *slot,
                       const uint8_t *capture, size_t capture_size)
{
	const uint32_t state = atomic_load(&slot->state);

	if (state != GT_SLOT_LENT && state != GT_SLOT_FULL && state != GT_SLOT_DRAINING)
		return;
	salvager->written = (struct written){0};
	if (state == GT_SLOT_DRAINING)
		find_written(&salvager->written, atomic_load(&slot->sequence), capture,
		             capture_size);
	gt_drain_begin(salvager->drain, slot);
	if (slot->kind == GT_SLOT_ACTIVITY)
		drain_activity(salvager, slot);
	else if (slot->kind == GT_SLOT_RECORDS)
		gt_drain_records(salvager->drain, slot, atomic_load(&slot->used));
	gt_drain_end(salvager->drain);
}

static int salvage(struct salvager *salvager, void *arena, size_t arena_size, const void *capture,
                   size_t capture_size, struct gt_sink sink, uint8_t *memory, struct gt_error *err)
{
	const struct gt_drain_config config = {
		.arena = &salvager->arena,
		.writer = &salvager->writer,
		.name_of = known_name,
		.string_of = new_string,
		.written = is_written,
		.context = salvager,
		.record_flags = GT_RECORD_SALVAGED,
	};
	const int result = gt_arena_open(&salvager->arena, arena, arena_size, err);

	if (result < 0)
		return result;
	if (gt_writer_init(&salvager->writer, sink, memory, gt_writer_memory()) < 0)
		return gt_fail(err, ENOMEM, "the arena could not be salvaged: out of memory");
	salvager->writer.flags = GT_CHUNK_SALVAGED;
	salvager->drain = gt_drain_init(&config, memory + gt_writer_memory(), gt_drain_memory());
	for (uint32_t i = 0; i < salvager->arena.header->slot_count; i++)
		drain_slot(salvager, &salvager->arena.slots[i], capture, capture_size);
	gt_drain_header(salvager->drain);
	(void)gt_meta_write_one(&salvager->writer, GT_META_END, GT_META_END_DIED);
	if (salvager->writer.failed)
		return gt_fail(err, ENOSPC, "what was salvaged could not all be written");
	return 0;
}

int gt_salvage_arena(void *arena, size_t arena_size, const void *capture, size_t capture_size,
                     struct gt_sink sink, struct gt_error *err)
{
	const size_t head = (sizeof(struct salvager) + 63) & ~(size_t)63;
	const size_t size = head + gt_writer_memory() + gt_drain_memory();
	uint8_t *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return gt_fail(err, ENOMEM, "the arena could not be salvaged: out of memory");

	const int result = salvage((struct salvager *)memory, arena, arena_size, capture,
	                           capture_size, sink, memory + head, err);

	munmap(memory, size);
	return result;
}

bool gt_arena_is_live(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool live;

	if (fd < 0)
		return false;
	live = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(fd);
	return live;
}

static int append(void *context, const void *data, size_t size)
{
	return gt_write_all(*(const int *)context, data, size);
}

/* The end of the last whole chunk: a torn tail is cut off before anything is appended. */
static size_t whole_bytes(const uint8_t *capture, size_t size)
{
	struct gt_chunk_header header;
	size_t at = GT_FILE_HEADER_SIZE;

	while (at + GT_CHUNK_HEADER_SIZE <= size &&
	       gt_chunk_decode_header(capture + at, &header) == 0 &&
	       header.stored <= size - at - GT_CHUNK_HEADER_SIZE)
		at += GT_CHUNK_HEADER_SIZE + header.stored;
	return at;
}

static int salvage_into(int folder, struct gt_mapping *arena, const char *name,
                        struct gt_salvage *salvage, struct gt_error *err)
{
	struct gt_arena opened;
	struct gt_mapping capture = {0};
	int fd = -1;
	int result = gt_arena_open(&opened, arena->bytes, arena->size, err);

	if (result == -ENODATA)
		goto remove; /* it was never used */
	if (result < 0)
		goto done;
	fd = openat(folder, opened.header->capture, O_RDWR | O_APPEND | O_CLOEXEC);
	if (fd < 0) {
		result = gt_fail(err, errno, "cannot append to %s: %s", opened.header->capture,
		                 gt_errno_text(errno));
		goto done;
	}
	result = gt_map_fd(&capture, fd, false, err);
	if (result < 0)
		goto done;

	const size_t whole = whole_bytes(capture.bytes, capture.size);

	if (whole < capture.size && ftruncate(fd, (off_t)whole) < 0) {
		result = gt_fail(err, errno, "cannot repair %s: %s", opened.header->capture,
		                 gt_errno_text(errno));
		goto done;
	}
	result = gt_salvage_arena(arena->bytes, arena->size, capture.bytes, whole,
	                          (struct gt_sink){append, &fd}, err);
	if (result < 0) {
		/* Back to what it was; the arena stays for another try. */
		(void)!ftruncate(fd, (off_t)whole);
		goto done;
	}
	salvage->arenas++;
	salvage->bytes += (uint64_t)lseek(fd, 0, SEEK_END) - whole;
remove:
	result = unlinkat(folder, name, 0) == 0 ? 0 : -errno;
done:
	gt_unmap(&capture);
	if (fd >= 0)
		close(fd);
	return result;
}

static int salvage_one(int folder, const char *path, const char *name, struct gt_salvage *salvage,
                       struct gt_error *err)
{
	struct gt_mapping arena = {0};
	int result;

	if (gt_arena_is_live(path)) {
		salvage->running++;
		return 0;
	}
	result = gt_map_file(&arena, path, true, err);
	if (result == 0)
		result = salvage_into(folder, &arena, name, salvage, err);
	gt_unmap(&arena);
	if (result < 0)
		salvage->failed++;
	return result;
}

int gt_salvage_folder(const char *folder, struct gt_salvage *salvage, struct gt_error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int result = 0;

	*salvage = (struct gt_salvage){0};
	if (!dir)
		return gt_fail(err, errno, "cannot read %s: %s", folder, gt_errno_text(errno));
	while ((entry = readdir(dir))) { // NOLINT(concurrency-mt-unsafe): the stream is our own
		char path[PATH_MAX];

		if (!gt_has_suffix(entry->d_name, GT_ARENA_SUFFIX) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
		            (int)sizeof(path))
			continue;

		const int one = salvage_one(dirfd(dir), path, entry->d_name, salvage, err);

		if (one < 0)
			result = one;
	}
	closedir(dir);
	return result;
}
