/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/decode/looks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/host.h"
#include "collector/decode/long_ago.h"
#include "collector/stage.h"
#include "format/file/reader.h"
#include "format/recording.h"

/* Bytes that are read at a time: room for several chunks of the largest size. */
enum { READ_BYTES = 16 << 20 };

/* A chunk that is kept, as it stands in the file. */
struct piece {
	uint8_t *bytes;
	uint64_t at; /* in the file */
	uint64_t last;
	uint32_t size;
	uint32_t count; /* records in it */
	uint16_t kind;
	enum gt_keep keep;
};

/* So far a file was read when a look at it had ended. */
struct mark {
	gt_time time_ns;
	uint64_t at;
};

/* The file of one process. */
struct tail {
	char *name; /* of the capture */
	ino_t inode;
	uint64_t at;
	gt_array(struct piece) pieces; /* in the order of the file */
	gt_array(struct mark) marks;
	uint64_t passed_cupti_ns; /* the latest end of work that is not kept, */
	uint64_t passed_host_ns;  /* and of calls; on the clocks of the capture, 0: all are kept */
};

struct gt_looks {
	gt_array(struct tail) tails;
};

struct gt_looks *gt_looks_new(void)
{
	return gt_allocate_zeroed(1, sizeof(struct gt_looks));
}

static void empty(struct tail *tail)
{
	gt_array_each(const struct piece, piece, &tail->pieces)
		gt_array_free(piece->bytes);
	gt_array_release(&tail->pieces);
	gt_array_release(&tail->marks);
	*tail = (struct tail){.name = tail->name};
}

void gt_looks_free(struct gt_looks *looks)
{
	if (!looks)
		return;
	gt_array_each(struct tail, tail, &looks->tails) {
		empty(tail);
		free(tail->name);
	}
	gt_array_release(&looks->tails);
	gt_array_free(looks);
}

static struct tail *tail_of(struct gt_looks *looks, const char *name)
{
	struct tail *tail;

	gt_array_each(struct tail, old, &looks->tails)
		if (strcmp(old->name, name) == 0)
			return old;
	tail = gt_array_push(&looks->tails);
	*tail = (struct tail){.name = strdup(name)};
	if (!tail->name)
		abort();
	return tail;
}

static void put_header(uint8_t bytes[static GT_FILE_HEADER_SIZE])
{
	memcpy(bytes, GT_FILE_MAGIC, 8);
	gt_put_u32(bytes + 8, GT_FORMAT_VERSION);
	gt_put_u32(bytes + 12, GT_FILE_HEADER_SIZE);
}

/* ---- reading on ---- */

static void take(struct tail *tail, const struct gt_chunk *chunk)
{
	const uint32_t size = GT_CHUNK_HEADER_SIZE + chunk->header.stored;
	struct piece *piece = gt_array_push(&tail->pieces);

	*piece = (struct piece){
		.bytes = gt_allocate(size),
		.at = tail->at + chunk->at - GT_FILE_HEADER_SIZE,
		.last = chunk->header.last,
		.size = size,
		.count = chunk->header.count,
		.kind = chunk->header.kind,
		.keep = gt_keep_of(chunk->header.kind),
	};
	memcpy(piece->bytes, chunk->payload - GT_CHUNK_HEADER_SIZE, size);
}

/* Takes the whole chunks behind a file header in memory; how many bytes that were. */
static size_t take_all(struct tail *tail, const uint8_t *bytes, size_t size)
{
	struct gt_reader reader;
	struct gt_chunk chunk;

	if (gt_reader_init(&reader, bytes, size, NULL, NULL) < 0)
		return 0;
	while (gt_reader_next_packed(&reader, &chunk) > 0)
		take(tail, &chunk);
	return reader.good_bytes - GT_FILE_HEADER_SIZE;
}

/* A chunk that is being written is taken when it is whole. */
static int read_on(struct tail *tail, int fd)
{
	uint8_t *bytes = gt_allocate(GT_FILE_HEADER_SIZE + READ_BYTES);
	ssize_t got;

	put_header(bytes);
	do {
		size_t taken;

		got = pread(fd, bytes + GT_FILE_HEADER_SIZE, READ_BYTES, (off_t)tail->at);
		if (got <= 0)
			break;
		taken = take_all(tail, bytes, GT_FILE_HEADER_SIZE + (size_t)got);
		/* No chunk is so long: these bytes are damaged. */
		tail->at += taken == 0 && got == READ_BYTES ? READ_BYTES : taken;
	} while (got == READ_BYTES);
	gt_array_free(bytes);
	return got < 0 ? -errno : 0;
}

/* Where the chunks of a file begin; 0: its header is not whole yet. */
static int begin(struct tail *tail, int fd, struct gt_error *err)
{
	uint8_t header[GT_FILE_HEADER_SIZE];
	struct gt_reader reader;
	int result;

	if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return 0;
	result = gt_reader_init(&reader, header, sizeof(header), NULL, err);
	if (result == 0)
		tail->at = GT_FILE_HEADER_SIZE;
	return result;
}

static int read_file(struct tail *tail, const char *path, struct gt_error *err)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, err);
	struct stat status;
	int result = 0;

	if (fd < 0)
		return fd;
	/* Salvage cuts a torn end off; one that keeps the last alone is replaced now and then. */
	if (fstat(fd, &status) == 0 &&
	    ((uint64_t)status.st_size < tail->at || status.st_ino != tail->inode)) {
		empty(tail);
		tail->inode = status.st_ino;
	}
	if (tail->at == 0)
		result = begin(tail, fd, err);
	if (result == 0 && tail->at > 0) {
		result = read_on(tail, fd);
		if (result < 0)
			(void)gt_fail(err, -result, "cannot read it: %s", gt_errno_text(-result));
	}
	close(fd);
	*gt_array_push(&tail->marks) = (struct mark){gt_host_boottime(), tail->at};
	return result;
}

/* ---- leaving out ---- */

/* All that ended since then stands behind this place: before it, it was written earlier. */
static uint64_t place_since(struct tail *tail, gt_time since_ns)
{
	size_t before = 0;

	while (before < tail->marks.count && tail->marks.rows[before].time_ns <= since_ns)
		before++;
	if (before == 0)
		return 0;
	/* Those before are not asked for again: time goes on. */
	tail->marks.count -= before - 1;
	memmove(tail->marks.rows, tail->marks.rows + before - 1,
	        tail->marks.count * sizeof(*tail->marks.rows));
	return tail->marks.rows[0].at;
}

/* The place from which on the pieces of a sort have at most so many records. */
static uint64_t place_of_last(const struct tail *tail, enum gt_keep keep, uint64_t records)
{
	uint64_t sum = 0;

	for (size_t i = tail->pieces.count; i-- > 0;) {
		const struct piece *piece = &tail->pieces.rows[i];

		if (piece->keep == keep && (sum += piece->count) > records)
			return piece->at + 1;
	}
	return 0;
}

static void note_passed(struct tail *tail, const struct piece *piece)
{
	uint64_t *passed = gt_is_timed_by_cupti(piece->kind)   ? &tail->passed_cupti_ns
	                   : piece->kind == GT_RECORD_api_call ? &tail->passed_host_ns
	                                                       : NULL;

	if (passed && piece->last > *passed)
		*passed = piece->last;
}

static void leave_out(struct tail *tail, gt_time since_ns)
{
	const uint64_t since = place_since(tail, since_ns);
	const uint64_t recent = place_of_last(tail, GT_KEEP_WANTED, GT_LOOK_LEAST);
	const uint64_t wanted = since < recent ? since : recent;
	const uint64_t most = place_of_last(tail, GT_KEEP_WANTED, GT_LOOK_MOST);
	const uint64_t from[] = {
		[GT_KEEP_ALL] = 0,
		[GT_KEEP_LATE] = place_of_last(tail, GT_KEEP_LATE, GT_LOOK_LATE),
		[GT_KEEP_WANTED] = wanted > most ? wanted : most,
	};
	size_t kept = 0;

	gt_array_each(const struct piece, piece, &tail->pieces) {
		if (piece->at >= from[piece->keep]) {
			tail->pieces.rows[kept++] = *piece;
			continue;
		}
		note_passed(tail, piece);
		gt_array_free(piece->bytes);
	}
	tail->pieces.count = kept;
}

/* ---- a file of what is kept ---- */

static int assemble(const struct tail *tail, struct gt_content *content, struct gt_error *err)
{
	size_t size = GT_FILE_HEADER_SIZE;
	uint8_t *bytes;

	gt_array_each(const struct piece, piece, &tail->pieces)
		size += piece->size;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return gt_fail(err, errno, "%zu bytes of it do not fit in memory: %s", size,
		               gt_errno_text(errno));
	*content =
		(struct gt_content){.bytes = bytes, .size = size, .there = size, .reserved = size};
	put_header(bytes);
	bytes += GT_FILE_HEADER_SIZE;
	gt_array_each(const struct piece, piece, &tail->pieces) {
		memcpy(bytes, piece->bytes, piece->size);
		bytes += piece->size;
	}
	return 0;
}

int gt_looks_load(struct gt_looks *looks, struct gt_capture *capture, gt_time since_ns,
                  struct gt_content *content, struct gt_error *err)
{
	struct tail *tail = tail_of(looks, capture->name);
	const int result = read_file(tail, capture->path, err);

	*content = (struct gt_content){0};
	if (result < 0 || tail->at == 0)
		return result;
	leave_out(tail, since_ns);
	capture->passed_cupti_ns = tail->passed_cupti_ns;
	capture->passed_host_ns = tail->passed_host_ns;
	return assemble(tail, content, err);
}
