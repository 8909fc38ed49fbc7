/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "format/recording.h"
#include "injection/session/services.h"
#include "injection/snapshot/bundle/capture.h"
#include "injection/snapshot/bundle/kept_modules.h"

void gt_capture_close_image(struct gt_launch_capture *capture)
{
	if (capture->image)
		(void)munmap(capture->image, capture->image_size);
	capture->image = NULL;
}

static bool has_function(const struct gt_cubin *cubin, const char *wanted)
{
	struct gt_cubin_section section;
	const char *name;
	size_t size;

	for (uint32_t i = 0; i < cubin->section_count; i++)
		if (gt_cubin_section(cubin, i, &section) &&
		    gt_cubin_function(&section, &name, &size) && size == strlen(wanted) &&
		    memcmp(name, wanted, size) == 0)
			return true;
	return false;
}

/* The kept file of a module, where the function is in it; false: not. */
static bool open_image(struct gt_launch_capture *capture, const struct gt_kept_module *module)
{
	char name[sizeof(GT_MODULES_FOLDER) + 17 + sizeof(GT_CUBIN_SUFFIX)];
	char path[PATH_MAX];
	struct stat status;
	void *image = MAP_FAILED;
	int fd;

	(void)snprintf(name, sizeof(name), GT_MODULES_FOLDER "/%016" PRIx64 GT_CUBIN_SUFFIX,
	               module->hash);
	if (gt_kept_path(capture->session, name, path, sizeof(path)) < 0)
		return false;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && (uint64_t)status.st_size == module->size && status.st_size)
		image = mmap(NULL, module->size, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	if (image == MAP_FAILED)
		return false;
	gt_capture_close_image(capture);
	capture->image = image;
	capture->image_size = module->size;
	capture->image_hash = module->hash;
	return gt_cubin_open(&capture->cubin, image, module->size, NULL) == 0 &&
	       has_function(&capture->cubin, capture->name);
}

/* The module itself, where it is known which one was loaded as it. */
static bool find_known(struct gt_launch_capture *capture)
{
	struct gt_kept_modules *modules = gt_kept_modules_of(capture->session);
	struct gt_kept_module module = {.number = UINT32_MAX};

	while (gt_kept_module_before(modules, module.number, &module)) {
		if (module.handle == capture->function.module && open_image(capture, &module)) {
			capture->images = 1;
			return true;
		}
	}
	return false;
}

/* Else the last that was loaded of those that have a function of the name. */
static bool find_by_name(struct gt_launch_capture *capture)
{
	struct gt_kept_modules *modules = gt_kept_modules_of(capture->session);
	struct gt_kept_module module = {.number = UINT32_MAX};
	struct gt_kept_module found = {.number = 0};

	while (gt_kept_module_before(modules, module.number, &module)) {
		if (module.context != capture->context || module.handle ||
		    (found.number && found.hash == module.hash) || !open_image(capture, &module))
			continue;
		found = found.number ? found : module;
		capture->images++;
	}
	return found.number && open_image(capture, &found);
}

int gt_capture_find_image(struct gt_launch_capture *capture, struct gt_error *err)
{
	capture->images = 0;
	if (find_known(capture) || find_by_name(capture))
		return 0;
	gt_capture_close_image(capture);
	return gt_fail(err, ENOENT,
	               "the code of its module is not in the recording: it was loaded before "
	               "recording began, or did not fit");
}
