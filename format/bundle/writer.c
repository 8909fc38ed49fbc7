/* SPDX-License-Identifier: Apache-2.0 */
#include "format/bundle/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/path.h"
#include "format/bundle/manifest.h"
#include "format/recording.h"

/* The program waits meanwhile: zstd's fastest level that is not negative. */
#define LEVEL     1
#define OUT_SIZE  ((size_t)1 << 18)
#define BLOB_PART GT_BUNDLE_BLOBS "/part" /* the blob that is being written */

static size_t compressor_memory(void)
{
	return gt_align_64(ZSTD_estimateCStreamSize(LEVEL));
}

size_t gt_bundle_writer_memory(void)
{
	return compressor_memory() + sizeof(struct gt_blob_hasher) + OUT_SIZE + GT_BUNDLE_TEXT;
}

void gt_bundle_writer_init(struct gt_bundle_writer *writer, void *memory)
{
	uint8_t *at = memory;

	*writer = (struct gt_bundle_writer){.folder = -1, .blob = -1};
	writer->compressor = ZSTD_initStaticCCtx(at, compressor_memory());
	at += compressor_memory();
	writer->hasher = (struct gt_blob_hasher *)(void *)at;
	at += sizeof(*writer->hasher);
	writer->out = at;
	writer->text = (char *)at + OUT_SIZE;
}

int gt_bundle_note(struct gt_bundle_writer *writer, int code)
{
	if (!writer->failed)
		writer->failed = code;
	return -writer->failed;
}

static int tell(const struct gt_bundle_writer *writer, struct gt_error *err)
{
	if (writer->too_large)
		return gt_fail(err, EFBIG, "it takes more than the %llu bytes that it may take",
		               (unsigned long long)writer->most);
	if (writer->failed)
		return gt_fail(err, writer->failed, "it cannot be written: %s",
		               gt_errno_text(writer->failed));
	return 0;
}

bool gt_bundle_has_folder(struct gt_bundle_writer *writer)
{
	struct stat status;

	if (writer->folder >= 0 && fstat(writer->folder, &status) == 0 &&
	    status.st_dev == writer->device && status.st_ino == writer->inode)
		return true;
	(void)gt_bundle_note(writer, EBADF);
	return false;
}

/* Makes every folder that the path names before its last part. */
static void make_parents(char path[PATH_MAX])
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
}

static int make_folder(struct gt_bundle_writer *writer, const char *folder)
{
	char path[PATH_MAX];
	size_t length = strlen(folder);
	struct stat status;

	while (length > 1 && folder[length - 1] == '/')
		length--;
	if (length == 0 || length >= sizeof(path))
		return length ? -ENAMETOOLONG : -ENOENT;
	memcpy(path, folder, length);
	path[length] = '\0';
	if (strlen(gt_path_name(path)) >= sizeof(writer->name))
		return -ENAMETOOLONG;
	snprintf(writer->name, sizeof(writer->name), "%s", gt_path_name(path));
	make_parents(path);
	if (mkdir(path, 0700) < 0)
		return -errno;
	writer->folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (writer->folder >= 0)
		writer->folder = gt_move_up(writer->folder);
	if (writer->folder < 0 || fstat(writer->folder, &status) < 0 ||
	    mkdirat(writer->folder, GT_BUNDLE_BLOBS, 0700) < 0) {
		const int code = errno;

		if (writer->folder >= 0)
			close(writer->folder);
		writer->folder = -1;
		(void)rmdir(path);
		return -code;
	}
	writer->device = status.st_dev;
	writer->inode = status.st_ino;
	return 0;
}

int gt_bundle_writer_open(struct gt_bundle_writer *writer, const char *folder, uint64_t most,
                          struct gt_error *err)
{
	int result;

	writer->text_used = 0;
	writer->text_written = 0;
	writer->depth = 0;
	writer->first = true;
	writer->failed = 0;
	writer->blob = -1;
	writer->bytes = 0;
	writer->most = most;
	writer->too_large = false;
	result = make_folder(writer, folder);
	if (result < 0)
		return gt_fail(err, -result, "cannot make %s: %s", folder, gt_errno_text(-result));
	gt_bundle_begin_object(writer, NULL);
	gt_bundle_number(writer, "version", GT_BUNDLE_VERSION);
	return 0;
}

static void end_blob(struct gt_bundle_writer *writer)
{
	if (writer->blob >= 0)
		close(writer->blob);
	writer->blob = -1;
}

int gt_bundle_blob_begin(struct gt_bundle_writer *writer, uint64_t size, struct gt_error *err)
{
	if (writer->failed || !gt_bundle_has_folder(writer))
		return tell(writer, err);
	(void)ZSTD_CCtx_reset(writer->compressor, ZSTD_reset_session_and_parameters);
	(void)ZSTD_CCtx_setParameter(writer->compressor, ZSTD_c_compressionLevel, LEVEL);
	(void)ZSTD_CCtx_setPledgedSrcSize(writer->compressor, size);
	gt_blob_hasher_begin(writer->hasher);
	writer->blob_bytes = 0;
	writer->blob = openat(writer->folder, BLOB_PART,
	                      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (writer->blob >= 0)
		writer->blob = gt_move_up(writer->blob);
	if (writer->blob < 0)
		(void)gt_bundle_note(writer, errno);
	return tell(writer, err);
}

/* Compresses what is in input and writes what came out; end: all that there is. */
static int compress(struct gt_bundle_writer *writer, ZSTD_inBuffer *input, bool end)
{
	size_t left;

	do {
		ZSTD_outBuffer output = {writer->out, OUT_SIZE, 0};
		int result;

		left = ZSTD_compressStream2(writer->compressor, &output, input,
		                            end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return -EINVAL; /* of another size than was said */
		writer->too_large = writer->bytes + writer->blob_bytes + output.pos > writer->most;
		if (writer->too_large)
			return -EFBIG;
		result = gt_write_all(writer->blob, writer->out, output.pos);
		if (result < 0)
			return result;
		writer->blob_bytes += output.pos;
	} while (end ? left > 0 : input->pos < input->size);
	return 0;
}

static int give(struct gt_bundle_writer *writer, const void *bytes, size_t size, bool end,
                struct gt_error *err)
{
	ZSTD_inBuffer input = {bytes, size, 0};
	int result;

	if (!writer->failed && writer->blob < 0)
		(void)gt_bundle_note(writer, EINVAL);
	if (writer->failed)
		return tell(writer, err);
	result = compress(writer, &input, end);
	if (result < 0) {
		(void)gt_bundle_note(writer, -result);
		end_blob(writer);
	}
	return tell(writer, err);
}

int gt_bundle_blob_append(struct gt_bundle_writer *writer, const void *bytes, size_t size,
                          struct gt_error *err)
{
	gt_blob_hasher_add(writer->hasher, bytes, size);
	return give(writer, bytes, size, false, err);
}

/* Path of a blob inside of the bundle. */
static void path_of(const char *hash, char path[sizeof(GT_BUNDLE_BLOBS) + GT_BUNDLE_HASH_BYTES])
{
	snprintf(path, sizeof(GT_BUNDLE_BLOBS) + GT_BUNDLE_HASH_BYTES, GT_BUNDLE_BLOBS "/%s", hash);
}

static bool has_blob(const struct gt_bundle_writer *writer, const char *hash)
{
	char path[sizeof(GT_BUNDLE_BLOBS) + GT_BUNDLE_HASH_BYTES];

	path_of(hash, path);
	return faccessat(writer->folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int gt_bundle_blob_end(struct gt_bundle_writer *writer, char hash[GT_BUNDLE_HASH_BYTES],
                       struct gt_error *err)
{
	char path[sizeof(GT_BUNDLE_BLOBS) + GT_BUNDLE_HASH_BYTES];

	gt_blob_hasher_end(writer->hasher, hash);
	if (give(writer, "", 0, true, err) < 0)
		return -writer->failed;
	end_blob(writer);
	if (!gt_bundle_has_folder(writer))
		return tell(writer, err);
	path_of(hash, path);
	if (has_blob(writer, hash))
		(void)unlinkat(writer->folder, BLOB_PART, 0);
	else if (renameat(writer->folder, BLOB_PART, writer->folder, path) < 0)
		(void)gt_bundle_note(writer, errno);
	else
		writer->bytes += writer->blob_bytes;
	return tell(writer, err);
}

int gt_bundle_blob(struct gt_bundle_writer *writer, const void *bytes, size_t size,
                   char hash[GT_BUNDLE_HASH_BYTES], struct gt_error *err)
{
	int result;

	gt_blob_hash(bytes, size, hash);
	if (!writer->failed && gt_bundle_has_folder(writer) && has_blob(writer, hash))
		return 0;
	result = gt_bundle_blob_begin(writer, size, err);
	if (result == 0)
		result = gt_bundle_blob_append(writer, bytes, size, err);
	return result < 0 ? result : gt_bundle_blob_end(writer, hash, err);
}

/* An entry of a folder as the system gives it: getdents64(2). */
struct entry {
	uint64_t inode;
	int64_t next;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* Removes the files of a folder, as readdir() without its memory. True: there were some. */
static bool remove_some(struct gt_bundle_writer *writer, int folder)
{
	const long got = syscall(SYS_getdents64, folder, writer->out, OUT_SIZE);
	bool removed = false;

	for (long at = 0; at < got;) {
		const struct entry *entry = (const struct entry *)(const void *)(writer->out + at);

		removed |= unlinkat(folder, entry->name, 0) == 0;
		at += entry->size;
	}
	return removed;
}

static void remove_blobs(struct gt_bundle_writer *writer)
{
	const int folder = openat(writer->folder, GT_BUNDLE_BLOBS,
	                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (folder < 0)
		return;
	while (remove_some(writer, folder) && lseek(folder, 0, SEEK_SET) == 0)
		;
	close(folder);
	(void)unlinkat(writer->folder, GT_BUNDLE_BLOBS, AT_REMOVEDIR);
}

void gt_bundle_writer_drop(struct gt_bundle_writer *writer)
{
	end_blob(writer);
	if (writer->folder < 0)
		return;
	if (gt_bundle_has_folder(writer)) {
		char path[sizeof(writer->name) + 3];

		remove_blobs(writer);
		(void)unlinkat(writer->folder, GT_BUNDLE_PART, 0);
		snprintf(path, sizeof(path), "../%s", writer->name);
		(void)unlinkat(writer->folder, path, AT_REMOVEDIR);
		close(writer->folder);
	}
	writer->folder = -1;
}

int gt_bundle_writer_close(struct gt_bundle_writer *writer, struct gt_error *err)
{
	int result;

	if (writer->folder < 0)
		return gt_fail(err, EINVAL, "no bundle is open");
	if (writer->depth != 1 || writer->blob >= 0)
		(void)gt_bundle_note(writer, EINVAL);
	gt_bundle_end_object(writer);
	gt_bundle_end_manifest(writer);
	if (!writer->failed &&
	    renameat(writer->folder, GT_BUNDLE_PART, writer->folder, GT_BUNDLE_MANIFEST) < 0)
		(void)gt_bundle_note(writer, errno);
	result = tell(writer, err);
	if (result < 0) {
		gt_bundle_writer_drop(writer);
		return result;
	}
	close(writer->folder);
	writer->folder = -1;
	return 0;
}
