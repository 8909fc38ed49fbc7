/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "base/search.h"
#include "format/recording.h"
#include "model/bundle/reader.h"

int gt_bundle_parse(struct gt_bundle *bundle, const char *text, size_t size, const char *folder,
                    struct gt_error *err)
{
	char file[PATH_MAX];
	struct gt_bundle_reader reader = {.reading = {.file = file, .err = err}, .bundle = bundle};
	int result;

	*bundle = (struct gt_bundle){.focus = GT_BUNDLE_NONE};
	snprintf(file, sizeof(file), "%s/" GT_BUNDLE_MANIFEST, folder);
	bundle->folder = gt_allocate(strlen(folder) + 1);
	memcpy(bundle->folder, folder, strlen(folder) + 1);
	result = gt_bundle_read_manifest(&reader, text, size);
	gt_array_release(&reader.parameter_bytes);
	if (result < 0)
		gt_bundle_close(bundle);
	return result;
}

static int load(struct gt_content *content, const char *path, struct gt_error *err)
{
	struct gt_error why = {0};
	struct stat status;
	int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, &why);
	int result = fd < 0 ? fd : 0;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > GT_BUNDLE_MOST_MANIFEST)
		result = gt_fail(&why, EBADMSG, "it has more than %u bytes",
		                 GT_BUNDLE_MOST_MANIFEST);
	if (result == 0)
		result = gt_load_fd(content, fd, &why);
	if (fd >= 0)
		close(fd);
	return result < 0 ? gt_fail(err, -result, "%s: %s", path, why.text) : 0;
}

int gt_bundle_open(struct gt_bundle *bundle, const char *folder, struct gt_error *err)
{
	struct gt_content content = {0};
	char path[PATH_MAX];
	int result;

	*bundle = (struct gt_bundle){0};
	if (strlen(folder) > sizeof(path) - 64)
		return gt_fail(err, ENAMETOOLONG, "the path of the bundle is too long");
	snprintf(path, sizeof(path), "%s/" GT_BUNDLE_MANIFEST, folder);
	if (!gt_path_is_folder(folder))
		return gt_fail(err, ENOENT, "there is no folder %s", folder);
	if (access(path, F_OK) < 0)
		return gt_fail(err, ENOENT,
		               "%s is not whole: it has no " GT_BUNDLE_MANIFEST
		               ", as what captured it did not end",
		               folder);
	result = load(&content, path, err);
	if (result == 0)
		result = gt_bundle_parse(bundle, (const char *)content.bytes, content.size, folder,
		                         err);
	gt_unload(&content);
	return result;
}

void gt_bundle_close(struct gt_bundle *bundle)
{
	gt_array_each(struct gt_bundle_function, function, &bundle->functions) {
		gt_array_free(function->name);
		gt_array_release(&function->parameters);
	}
	gt_array_each(struct gt_bundle_memory, memory, &bundle->memory)
		gt_array_free(memory->name);
	gt_array_each(struct gt_bundle_step, step, &bundle->steps)
		gt_array_free(step->range);
	gt_array_each(char *, text, &bundle->missing)
		gt_array_free(*text);
	gt_array_release(&bundle->modules);
	gt_array_release(&bundle->functions);
	gt_array_release(&bundle->memory);
	gt_array_release(&bundle->pointers);
	gt_array_release(&bundle->objects);
	gt_array_release(&bundle->handles);
	gt_array_release(&bundle->streams);
	gt_array_release(&bundle->steps);
	gt_array_release(&bundle->missing);
	gt_array_free(bundle->folder);
	*bundle = (struct gt_bundle){0};
}

bool gt_bundle_is_work(const struct gt_bundle_step *step)
{
	return step->kind == GT_BUNDLE_STEP_launch || step->kind == GT_BUNDLE_STEP_copy ||
	       step->kind == GT_BUNDLE_STEP_fill;
}

bool gt_bundle_goes_on_with_graph(const struct gt_bundle *bundle, size_t step)
{
	const struct gt_bundle_step *row = &bundle->steps.rows[step];

	return step > 0 && row->graph != 0 && row[-1].graph == row->graph;
}

uint64_t gt_bundle_memory_bytes(const struct gt_bundle *bundle)
{
	uint64_t bytes = 0;

	gt_array_each(const struct gt_bundle_memory, memory, &bundle->memory)
		if (memory->kind != GT_BUNDLE_MEMORY_variable)
			bytes += memory->size;
	return bytes;
}

static int by_address(const void *row, const void *wanted)
{
	const uint64_t address = ((const struct gt_bundle_memory *)row)->address;
	const uint64_t limit = *(const uint64_t *)wanted;

	return (address > limit) - (address < limit);
}

uint32_t gt_bundle_find(const struct gt_bundle *bundle, uint64_t address)
{
	const size_t count = gt_count_up_to(&bundle->memory, &address, by_address);
	const struct gt_bundle_memory *memory;

	if (count == 0)
		return GT_BUNDLE_NONE;
	memory = &bundle->memory.rows[count - 1];
	return address - memory->address < memory->size ? (uint32_t)(count - 1) : GT_BUNDLE_NONE;
}

/* Where byte at of what a copy brings goes, row after row. */
static uint64_t target_of(const struct gt_bundle_step *step, uint64_t at)
{
	const uint64_t row = at / step->bytes;

	return step->to + row / step->rows * step->to_slice_pitch +
	       row % step->rows * step->to_pitch + at % step->bytes;
}

bool gt_bundle_handle_place(const struct gt_bundle *bundle, const struct gt_bundle_handle *handle,
                            uint32_t *memory, uint64_t *offset)
{
	const struct gt_bundle_step *step;
	uint64_t address;

	*memory = handle->memory;
	*offset = handle->offset;
	if (handle->memory != GT_BUNDLE_NONE)
		return true;
	step = &bundle->steps.rows[handle->step];
	if (step->kind != GT_BUNDLE_STEP_copy || step->from != 0 ||
	    step->bytes < sizeof(uint64_t) ||
	    handle->offset % step->bytes > step->bytes - sizeof(uint64_t))
		return false;
	address = target_of(step, handle->offset);
	*memory = gt_bundle_find(bundle, address);
	if (*memory == GT_BUNDLE_NONE)
		return false;
	*offset = address - bundle->memory.rows[*memory].address;
	return bundle->memory.rows[*memory].size - *offset >= sizeof(uint64_t);
}
