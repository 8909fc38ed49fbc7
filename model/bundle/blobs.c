/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/sink/sink.h"
#include "format/recording.h"
#include "model/bundle/bundle.h"

/* Limit of zstd's window, as a power of 2: a frame takes no more memory, whatever it says. */
#define MOST_WINDOW 24

#define PIECE       ((size_t)1 << 17)

/* A blob that is being read. */
struct blob_reader {
	struct gt_blob_hasher hasher;
	const struct gt_blob *blob;
	struct gt_sink sink;
	char path[PATH_MAX];
	int fd;
	ZSTD_DCtx *decompressor;
	uint8_t *packed; /* PIECE bytes each */
	uint8_t *plain;
	uint64_t size; /* that came out so far */
	bool ended;    /* the frame has */
	struct gt_error *err;
};

static int changed(const struct blob_reader *reader)
{
	return gt_fail(reader->err, EBADMSG,
	               "%s was changed: its contents are not those of its name", reader->path);
}

static int take(struct blob_reader *reader, size_t size)
{
	reader->size += size;
	if (reader->size > reader->blob->size)
		return gt_fail(reader->err, EBADMSG,
		               "%s holds more than the %llu bytes that " GT_BUNDLE_MANIFEST " says",
		               reader->path, (unsigned long long)reader->blob->size);
	gt_blob_hasher_add(&reader->hasher, reader->plain, size);
	return reader->sink.write ? reader->sink.write(reader->sink.context, reader->plain, size)
	                          : 0;
}

static int unpack(struct blob_reader *reader, size_t size)
{
	ZSTD_inBuffer input = {reader->packed, size, 0};
	bool full = false;

	while (input.pos < input.size || full) {
		ZSTD_outBuffer output = {reader->plain, PIECE, 0};
		size_t left;
		int result;

		if (reader->ended)
			return changed(reader);
		left = ZSTD_decompressStream(reader->decompressor, &output, &input);
		if (ZSTD_isError(left))
			return changed(reader);
		result = take(reader, output.pos);
		if (result < 0)
			return result;
		reader->ended = left == 0;
		full = output.pos == output.size && !reader->ended;
	}
	return 0;
}

static int read_pieces(struct blob_reader *reader)
{
	for (;;) {
		const ssize_t got = read(reader->fd, reader->packed, PIECE);
		int result;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return gt_fail(reader->err, errno, "cannot read %s: %s", reader->path,
			               gt_errno_text(errno));
		if (got == 0)
			return 0;
		result = unpack(reader, (size_t)got);
		if (result < 0)
			return result;
	}
}

static int check_end(const struct blob_reader *reader)
{
	char hash[GT_BUNDLE_HASH_BYTES];

	if (!reader->ended || reader->size < reader->blob->size)
		return gt_fail(reader->err, EBADMSG, "%s is cut: it has %llu of %llu bytes",
		               reader->path, (unsigned long long)reader->size,
		               (unsigned long long)reader->blob->size);
	gt_blob_hasher_end(&reader->hasher, hash);
	return strcmp(hash, reader->blob->hash) == 0 ? 0 : changed(reader);
}

static int read_blob(struct blob_reader *reader)
{
	int result;

	reader->decompressor = ZSTD_createDCtx();
	reader->packed = gt_allocate(2 * PIECE);
	reader->plain = reader->packed + PIECE;
	(void)ZSTD_DCtx_setParameter(reader->decompressor, ZSTD_d_windowLogMax, MOST_WINDOW);
	gt_blob_hasher_begin(&reader->hasher);
	result = read_pieces(reader);
	if (result == 0)
		result = check_end(reader);
	(void)ZSTD_freeDCtx(reader->decompressor);
	gt_array_free(reader->packed);
	return result;
}

int gt_bundle_give(const struct gt_bundle *bundle, const struct gt_blob *blob, struct gt_sink sink,
                   struct gt_error *err)
{
	struct blob_reader reader = {.blob = blob, .sink = sink, .err = err};
	struct gt_error why = {0};
	int result;

	if (blob->held)
		return sink.write ? sink.write(sink.context, blob->held, blob->size) : 0;
	if (!gt_blob_is_hash(blob->hash))
		return gt_fail(err, ENOENT, "these contents were not captured");
	snprintf(reader.path, sizeof(reader.path), "%s/" GT_BUNDLE_BLOBS "/%s", bundle->folder,
	         blob->hash);
	reader.fd = gt_open_file(AT_FDCWD, reader.path, O_RDONLY | O_NOFOLLOW, &why);
	if (reader.fd == -ENOENT)
		return gt_fail(err, ENOENT, "%s is missing: the bundle is not whole", reader.path);
	if (reader.fd < 0)
		return gt_fail(err, -reader.fd, "%s: %s", reader.path, why.text);
	result = read_blob(&reader);
	close(reader.fd);
	return result;
}

/* Where contents go: to is advanced. gt_bundle_give() gives no more than were said. */
static int copy(void *context, const void *data, size_t size)
{
	uint8_t **to = context;

	memcpy(*to, data, size);
	*to += size;
	return 0;
}

int gt_bundle_read(const struct gt_bundle *bundle, const struct gt_blob *blob, void *bytes,
                   struct gt_error *err)
{
	uint8_t *to = bytes;

	return gt_bundle_give(bundle, blob, (struct gt_sink){copy, &to}, err);
}

struct blob_list {
	gt_array(const struct gt_blob *) blobs;
};

static void add_blob(struct blob_list *list, const struct gt_blob *blob)
{
	if (*blob->hash)
		*gt_array_push(&list->blobs) = blob;
}

static int by_hash(const void *a, const void *b)
{
	const struct gt_blob *one = *(const struct gt_blob *const *)a;
	const struct gt_blob *other = *(const struct gt_blob *const *)b;

	return strcmp(one->hash, other->hash);
}

/* The same contents have one size. */
static int check_sizes(const struct blob_list *list, struct gt_error *err)
{
	for (size_t i = 1; i < list->blobs.count; i++) {
		const struct gt_blob *one = list->blobs.rows[i - 1];
		const struct gt_blob *other = list->blobs.rows[i];

		if (by_hash(&one, &other) == 0 && one->size != other->size)
			return gt_fail(err, EBADMSG,
			               GT_BUNDLE_MANIFEST " says two sizes of " GT_BUNDLE_BLOBS
			                                  "/%s",
			               one->hash);
	}
	return 0;
}

int gt_bundle_check(const struct gt_bundle *bundle, size_t *blobs, struct gt_error *err)
{
	struct blob_list list = {0};
	size_t count = 0;
	int result;

	gt_array_each(const struct gt_bundle_module, module, &bundle->modules)
		add_blob(&list, &module->image);
	gt_array_each(const struct gt_bundle_memory, memory, &bundle->memory) {
		add_blob(&list, &memory->before);
		add_blob(&list, &memory->after);
	}
	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		add_blob(&list, &step->parameters);
	if (list.blobs.count)
		qsort(list.blobs.rows, list.blobs.count, sizeof(*list.blobs.rows), by_hash);
	result = check_sizes(&list, err);
	for (size_t i = 0; result == 0 && i < list.blobs.count; i++) {
		if (i > 0 && by_hash(&list.blobs.rows[i - 1], &list.blobs.rows[i]) == 0)
			continue;
		result = gt_bundle_give(bundle, list.blobs.rows[i], (struct gt_sink){0}, err);
		count++;
	}
	gt_array_release(&list.blobs);
	if (result == 0)
		*blobs = count;
	return result;
}
