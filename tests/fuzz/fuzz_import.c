/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "format/recording.h"
#include "import/import.h"

/* Any bytes as the file of another profiler: a JSON, a packed one, a database. */

static int keep(void *context, const void *data, size_t size)
{
	(void)data;
	*(size_t *)context += size;
	return 0;
}

static int begin(void *context, struct gt_sink *sink, struct gt_error *err)
{
	(void)err;
	*sink = (struct gt_sink){keep, context};
	return 0;
}

static int end(void *context, const char *name, struct gt_error *err)
{
	(void)err;
	if (!*name || *(size_t *)context == 0)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t written = 0;
	const struct gt_capture_place place = {begin, end, &written};
	const struct gt_importer *importer = NULL;
	struct gt_import_counts counts = {0};
	struct gt_error err = {0};
	char path[64];
	const int fd = memfd_create("import", MFD_CLOEXEC);
	int result;

	if (fd < 0 || gt_write_all(fd, data, size) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = gt_import(path, &place, NULL, &importer, &counts, &err);
	if ((result < 0) != (*err.text != '\0'))
		abort();
	(void)close(fd);
	return 0;
}
