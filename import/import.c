/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "format/recording.h"
#include "import/importer.h"

#define IMPORTER(name) extern const struct gt_importer gt_importer_##name;
#include "import/formats.def"

#define IMPORTER(name) &gt_importer_##name,
const struct gt_importer *const gt_importers[] = {
#include "import/formats.def"
};
const size_t gt_importer_count = sizeof(gt_importers) / sizeof(gt_importers[0]);

/* The first bytes of a file, which must be a regular one; how many, or negative. */
static int read_head(const char *path, uint8_t *bytes, size_t size, struct gt_error *err)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, err);
	ssize_t count;

	if (fd == -EBADMSG)
		return fd;
	if (fd < 0)
		return gt_fail(err, -fd, "cannot read %s: %s", path, gt_errno_text(-fd));
	count = read(fd, bytes, size);
	if (count < 0)
		count = gt_fail(err, errno, "cannot read %s: %s", path, gt_errno_text(errno));
	(void)close(fd);
	return (int)count;
}

static int find(const struct gt_foreign *file, const struct gt_importer **importer,
                struct gt_error *err)
{
	uint8_t head[256];
	const int size = read_head(file->path, head, sizeof(head), err);

	if (size < 0)
		return size;
	if (size == 0)
		return gt_fail(err, EBADMSG, "%s is empty", file->path);
	for (size_t i = 0; i < gt_importer_count; i++) {
		if (!gt_importers[i]->accepts(head, (size_t)size))
			continue;
		*importer = gt_importers[i];
		return 0;
	}
	return gt_fail(err, EBADMSG,
	               "%s is neither a trace of torch.profiler (JSON, also .gz) nor a database of "
	               "nsys export --type sqlite",
	               file->path);
}

int gt_import(const char *path, const struct gt_capture_place *place, const struct gt_watch *watch,
              const struct gt_importer **importer, struct gt_import_counts *counts,
              struct gt_error *err)
{
	const struct gt_foreign file = {.path = path, .name = gt_path_name(path), .watch = watch};
	struct gt_builder builder;
	int result;

	gt_builder_init(&builder, place);
	result = find(&file, importer, err);
	if (result == 0)
		result = (*importer)->read(&file, &builder, err);
	gt_builder_release(&builder);
	*counts = builder.counts;
	return result;
}
