/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "format/file/chunk.h"
#include "format/file/writer.h"
#include "format/recording.h"
#include "format/settings.h"
#include "injection/output/output.h"
#include "injection/process/now.h"

#define STEP_BYTES (16u << 20) /* copied in one turn, between which the arena is drained */
#define PARTS      64          /* marks in what is kept */
#define LEAST      8           /* of what is kept by bytes one part in so many is worth a copy */

void gt_trim_init(struct gt_trim *trim, const struct gt_settings *settings)
{
	memset(trim, 0, sizeof(*trim));
	trim->keep_ns = settings->keep_last_ns;
	trim->keep_bytes = settings->keep_bytes;
	gt_trim_forget(trim);
}

/* ---- marks ---- */

/* Every second one goes when there are too many: where the capture grows slowly, say. */
static void thin(struct gt_trim *trim)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < trim->count; i += 2)
		trim->marks[kept++] = trim->marks[i];
	trim->count = kept;
}

static void mark(struct gt_trim *trim, uint64_t now_ns)
{
	const struct gt_trim_mark *last = trim->count ? &trim->marks[trim->count - 1] : NULL;
	const bool is_due =
		!last || (trim->keep_ns && now_ns - last->at_ns >= trim->keep_ns / PARTS) ||
		(trim->keep_bytes && trim->bytes - last->place >= trim->keep_bytes / PARTS);

	if (!is_due)
		return;
	if (trim->count == GT_TRIM_MARKS)
		thin(trim);
	trim->marks[trim->count++] = (struct gt_trim_mark){now_ns, trim->bytes};
}

/* The last mark so old that all that is to be kept is behind it; NULL: there is none. */
static const struct gt_trim_mark *by_time(const struct gt_trim *trim, uint64_t now_ns)
{
	const struct gt_trim_mark *found = NULL;

	if (!trim->keep_ns || now_ns - trim->marks[0].at_ns <= trim->keep_ns + trim->keep_ns / 2)
		return NULL;
	for (uint32_t i = 0; i < trim->count; i++)
		if (now_ns - trim->marks[i].at_ns >= trim->keep_ns)
			found = &trim->marks[i];
	return found;
}

/* The first mark behind which there is no more than is to be kept. */
static const struct gt_trim_mark *by_bytes(const struct gt_trim *trim)
{
	if (!trim->keep_bytes || trim->bytes <= trim->keep_bytes / 2)
		return NULL;
	for (uint32_t i = 0; i < trim->count; i++) {
		const struct gt_trim_mark *found = &trim->marks[i];

		if (trim->bytes - found->place <= trim->keep_bytes / 4)
			return found->place - trim->kept >= trim->keep_bytes / LEAST ? found : NULL;
	}
	return NULL;
}

/* ---- the copy ---- */

/* A program may close descriptors, and its own files then have their numbers. */
static bool is_copy(const struct gt_trim *trim)
{
	return gt_capture_file_is(trim->into, trim->into_device, trim->into_inode);
}

int gt_trim_write(struct gt_trim *trim, const void *data, size_t size)
{
	const int result = is_copy(trim) ? gt_write_all(trim->into, data, size) : -ESTALE;

	if (result == 0)
		trim->written += size;
	return result;
}

static int copy_bytes(struct gt_trim *trim, uint64_t from, uint64_t size)
{
	static uint8_t bytes[1 << 16]; /* one job is done at a time, on whatever stack */

	while (size > 0) {
		const size_t part = size < sizeof(bytes) ? size : sizeof(bytes);
		const ssize_t got = pread(trim->from, bytes, part, (off_t)from);
		int result;

		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		result = gt_trim_write(trim, bytes, (size_t)got);
		if (result < 0)
			return result;
		from += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return 0;
}

/* The first reading of clocks stays: times of what is kept for ever go by it. */
static bool stays(struct gt_trim *trim, const struct gt_chunk_header *header)
{
	if (!gt_record_passes(header->kind))
		return true;
	if (header->kind != GT_RECORD_clock || trim->has_clock)
		return false;
	trim->has_clock = true;
	return true;
}

/* The chunks before the cut. */
static int copy_kept(struct gt_trim *trim)
{
	int result = copy_bytes(trim, 0, GT_FILE_HEADER_SIZE);
	uint64_t at = GT_FILE_HEADER_SIZE;

	while (result == 0 && at < trim->cut.place) {
		uint8_t bytes[GT_CHUNK_HEADER_SIZE];
		struct gt_chunk_header header;
		uint64_t size;

		if (pread(trim->from, bytes, sizeof(bytes), (off_t)at) != sizeof(bytes) ||
		    gt_chunk_decode_header(bytes, &header) < 0)
			return -EBADMSG;
		size = sizeof(bytes) + header.stored;
		if (stays(trim, &header))
			result = copy_bytes(trim, at, size);
		else
			trim->leaves_out[header.kind] += header.count;
		at += size;
	}
	trim->done = trim->cut.place;
	trim->kept_of_copy = trim->written;
	return result;
}

static void copy_path(const struct gt_output *output, char *path, size_t size)
{
	const size_t stem = strlen(output->arena_path) - strlen(GT_ARENA_SUFFIX);

	snprintf(path, size, "%.*s" GT_CAPTURE_SUFFIX GT_TRIMMED_SUFFIX, (int)stem,
	         output->arena_path);
}

static void capture_path(const struct gt_output *output, char *path, size_t size)
{
	copy_path(output, path, size);
	path[strlen(path) - strlen(GT_TRIMMED_SUFFIX)] = '\0';
}

static bool is_capture(const struct gt_output *output, int fd)
{
	return gt_capture_file_is(fd, output->capture_device, output->capture_inode);
}

static int open_up(const char *path, int flags)
{
	const int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : gt_move_up(fd);
}

static int open_both(struct gt_output *output)
{
	struct gt_trim *trim = &output->trim;
	char path[PATH_MAX + NAME_MAX + 32];
	struct stat status;

	capture_path(output, path, sizeof(path));
	trim->from = open_up(path, O_RDONLY);
	if (trim->from < 0)
		return -errno;
	if (!is_capture(output, trim->from))
		return -ESTALE;
	copy_path(output, path, sizeof(path));
	(void)unlink(path); /* of a process with this number, in a time long gone */
	trim->into = open_up(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
	if (trim->into < 0 || fstat(trim->into, &status) < 0)
		return -errno;
	trim->into_device = status.st_dev;
	trim->into_inode = status.st_ino;
	return 0;
}

static int do_begin(void *context)
{
	struct gt_output *output = context;
	struct gt_trim *trim = &output->trim;
	const int result = open_both(output);

	trim->written = 0;
	trim->has_clock = false;
	memset(trim->leaves_out, 0, sizeof(trim->leaves_out));
	return result < 0 ? result : copy_kept(trim);
}

static int do_step(void *context)
{
	struct gt_output *output = context;
	struct gt_trim *trim = &output->trim;
	const uint64_t rest = trim->bytes - trim->done;
	const uint64_t part = rest < STEP_BYTES ? rest : STEP_BYTES;
	const int result =
		is_capture(output, trim->from) ? copy_bytes(trim, trim->done, part) : -ESTALE;

	trim->done += part;
	return result;
}

/* The copy is the capture from now on. */
static int do_take_place(void *context)
{
	static char path[PATH_MAX + NAME_MAX + 32]; /* as in copy_bytes */
	static char place[PATH_MAX + NAME_MAX + 32];
	struct gt_output *output = context;
	struct gt_trim *trim = &output->trim;

	copy_path(output, path, sizeof(path));
	capture_path(output, place, sizeof(place));
	if (!is_copy(trim))
		return -ESTALE;
	if (rename(path, place) < 0)
		return -errno;
	if (is_capture(output, trim->from))
		close(trim->from);
	gt_capture_file_replace(output, trim->into, trim->into_device, trim->into_inode);
	trim->from = trim->into = -1;
	return 0;
}

static int do_give_up(void *context)
{
	struct gt_output *output = context;
	struct gt_trim *trim = &output->trim;

	if (is_copy(trim)) {
		char path[PATH_MAX + NAME_MAX + 32];

		copy_path(output, path, sizeof(path));
		(void)unlink(path);
		close(trim->into);
	}
	if (is_capture(output, trim->from))
		close(trim->from);
	gt_trim_forget(trim);
	return 0;
}

/* ---- turns ---- */

/* Records of the kinds that something is gone of, into the copy. */
static int write_gone(struct gt_trim *trim, struct gt_writer *writer)
{
	struct gt_record_gone gone[GT_RECORD_KIND_COUNT];
	size_t count = 0;
	int result;

	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (trim->gone[kind] + trim->leaves_out[kind] > 0)
			gone[count++] = (struct gt_record_gone){
				.until_ns = trim->cut.at_ns,
				.rows = trim->gone[kind] + trim->leaves_out[kind],
				.kind = kind,
			};
	trim->takes_writes = true;
	result = gt_writer_records(writer, GT_RECORD_gone, gone, count, (struct gt_origin){0});
	trim->takes_writes = false;
	return result;
}

/* The marks behind the cut, where they are in the copy. */
static void move_marks(struct gt_trim *trim)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < trim->count; i++) {
		struct gt_trim_mark moved = trim->marks[i];

		if (moved.place < trim->cut.place)
			continue;
		moved.place = moved.place - trim->cut.place + trim->kept_of_copy;
		trim->marks[kept++] = moved;
	}
	trim->count = kept;
	trim->kept = trim->kept_of_copy;
	trim->bytes = trim->written;
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		trim->gone[kind] += trim->leaves_out[kind];
}

static int finish(struct gt_output *output, struct gt_writer *writer)
{
	struct gt_trim *trim = &output->trim;
	int result = write_gone(trim, writer);

	if (result == 0)
		result = gt_files_do(&output->files, do_take_place, output);
	if (result == 0)
		move_marks(trim);
	return result;
}

static int go_on(struct gt_output *output, struct gt_writer *writer)
{
	struct gt_trim *trim = &output->trim;
	const int result = gt_files_do(&output->files, do_step, output);

	return result < 0 || trim->done < trim->bytes ? result : finish(output, writer);
}

static int begin(struct gt_output *output)
{
	struct gt_trim *trim = &output->trim;
	const uint64_t now_ns = gt_now();
	const struct gt_trim_mark *cut;

	mark(trim, now_ns);
	cut = by_time(trim, now_ns);
	if (!cut)
		cut = by_bytes(trim);
	if (!cut || cut->place == trim->kept)
		return 0;
	trim->cut = *cut;
	return gt_files_do(&output->files, do_begin, output);
}

int gt_trim_turn(struct gt_output *output, struct gt_writer *writer, struct gt_error *err)
{
	struct gt_trim *trim = &output->trim;
	int result;

	if (trim->has_failed || (!trim->keep_ns && !trim->keep_bytes))
		return 0;
	result = trim->from < 0 ? begin(output) : 0;
	if (result == 0 && trim->from >= 0)
		result = go_on(output, writer);
	if (result == 0)
		return 0;
	trim->has_failed = true;
	gt_trim_stop(output);
	return gt_fail(err, -result, "what is old cannot be dropped, and the capture grows on: %s",
	               gt_errno_text(-result));
}

void gt_trim_stop(struct gt_output *output)
{
	if (output->trim.from >= 0 || output->trim.into >= 0)
		(void)gt_files_do(&output->files, do_give_up, output);
}

void gt_trim_forget(struct gt_trim *trim)
{
	trim->from = trim->into = -1;
}
