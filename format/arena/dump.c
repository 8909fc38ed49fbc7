/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/sink/sink.h"
#include "format/arena/files.h"
#include "format/arena/live.h"
#include "format/arena/salvage.h"
#include "format/file/writer.h"
#include "format/recording.h"

struct dump {
	int fd;
	struct gt_content arena; /* none: the process has ended, or never recorded */
	struct gt_content capture;
	uint64_t began_ns; /* CLOCK_BOOTTIME */
};

static int append(void *context, const void *data, size_t size)
{
	return gt_write_all(((const struct dump *)context)->fd, data, size);
}

/* The arena first: what is handed on meanwhile is in the capture then. */
static int load(struct dump *dump, const char *capture, const char *arena, struct gt_error *err)
{
	struct gt_error why = {0};

	dump->began_ns = (uint64_t)gt_host_boottime();
	if (gt_arena_is_live(arena) && gt_arena_load_live(&dump->arena, arena, &why) < 0 &&
	    why.code != ENODATA && why.code != ENOENT)
		return gt_fail(err, why.code, "cannot read %s: %s", arena, why.text);
	if (gt_load_file(&dump->capture, capture, &why) < 0)
		return gt_fail(err, why.code, "cannot read %s: %s", capture, why.text);
	return 0;
}

static int write_all(struct dump *dump, struct gt_error *err)
{
	const struct gt_sink sink = {append, dump};
	struct gt_writer begin = {.sink = sink};
	size_t own = dump->capture.size;
	int result = 0;

	if (dump->arena.bytes)
		result = gt_capture_own_bytes(dump->capture.bytes, dump->capture.size, &own, err);
	if (result < 0)
		return result;
	dump->capture.size = own;
	result = own > 0 ? append(dump, dump->capture.bytes, own) : gt_writer_file_header(&begin);
	if (result < 0)
		return gt_fail(err, -result, "%s", gt_errno_text(-result));
	return dump->arena.bytes
	               ? gt_salvage_dump(&dump->arena, &dump->capture, dump->began_ns, sink, err)
	               : 0;
}

int gt_dump_capture(const char *capture, const char *arena, const char *into, struct gt_error *err)
{
	struct dump dump = {.fd = -1};
	struct gt_error why = {0};
	int result = load(&dump, capture, arena, err);

	if (result == 0) {
		dump.fd = open(into, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (dump.fd < 0)
			result = gt_fail(err, errno, "cannot make %s: %s", into,
			                 gt_errno_text(errno));
	}
	if (result == 0 && write_all(&dump, &why) < 0) {
		unlink(into);
		result = gt_fail(err, why.code, "cannot write %s: %s", into, why.text);
	}
	if (dump.fd >= 0)
		close(dump.fd);
	gt_unload(&dump.arena);
	gt_unload(&dump.capture);
	return result;
}
