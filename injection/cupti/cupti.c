/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define OLDEST_VERSION GT_CUPTI_12_4 /* the first whose kernel record is read as it stands */

struct search {
	const char *soname;      /* libcupti.so.13 */
	char found[PATH_MAX];    /* a libcupti that is mapped */
	char packages[PATH_MAX]; /* a folder of Python packages that something is mapped from */
};

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	const char *file = strrchr(name, '/');
	const char *site = strstr(name, "-packages/");

	(void)size;
	file = file ? file + 1 : name;
	if (!search->found[0] && strncmp(file, "libcupti.so", 11) == 0)
		snprintf(search->found, sizeof(search->found), "%s", name);
	if (!search->packages[0] && site)
		snprintf(search->packages, sizeof(search->packages), "%.*s", (int)(site - name) + 9,
		         name);
	return 0;
}

static void *try_open(struct gt_cupti *cupti, const char *path, int flags)
{
	cupti->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	return cupti->handle;
}

/* Folders below a folder of Python packages where wheels put libcupti. */
static void *try_packages(struct gt_cupti *cupti, const struct search *search, int major)
{
	static const char *const places[] = {"nvidia/cuda_cupti/lib", "torch/lib"};
	char path[PATH_MAX + 64];

	if (!search->packages[0])
		return NULL;
	snprintf(path, sizeof(path), "%s/nvidia/cu%d/lib/%s", search->packages, major,
	         search->soname);
	if (try_open(cupti, path, 0))
		return cupti->handle;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", search->packages, places[i],
		         search->soname);
		if (try_open(cupti, path, 0))
			return cupti->handle;
	}
	return NULL;
}

static void *try_toolkits(struct gt_cupti *cupti, const struct search *search, int major, int minor)
{
	char path[PATH_MAX];
	char versioned[64];
	const char *const roots[] = {versioned, "/usr/local/cuda", "/opt/cuda"};

	snprintf(versioned, sizeof(versioned), "/usr/local/cuda-%d.%d", major, minor);
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(path, sizeof(path), "%s/extras/CUPTI/lib64/%s", roots[i], search->soname);
		if (try_open(cupti, path, 0))
			return cupti->handle;
		snprintf(path, sizeof(path), "%s/lib64/%s", roots[i], search->soname);
		if (try_open(cupti, path, 0))
			return cupti->handle;
	}
	return NULL;
}

static void *find(struct gt_cupti *cupti, int driver_version)
{
	/* cuDriverGetVersion: 1000 x major + 10 x minor. */
	const int major = driver_version ? driver_version / 1000 : 13;
	const int minor = driver_version % 1000 / 10;
	char soname[32];
	struct search search = {.soname = soname};

	snprintf(soname, sizeof(soname), "libcupti.so.%d", major);
	dl_iterate_phdr(look, &search);
	if (search.found[0] && try_open(cupti, search.found, RTLD_NOLOAD))
		return cupti->handle;
	if (try_open(cupti, soname, 0) || try_packages(cupti, &search, major))
		return cupti->handle;
	return try_toolkits(cupti, &search, major, minor);
}

static int bind_calls(struct gt_cupti *cupti, struct gt_error *err)
{
	const char *missing = NULL;

	/* POSIX gives functions out as void pointers; C has no cast for that. */
#define OPTIONAL(name) *(void **)&cupti->name = dlsym(cupti->handle, #name);
#define CALL(name)                                                                                 \
	OPTIONAL(name)                                                                             \
	if (!cupti->name)                                                                          \
		missing = #name;
#include "injection/cupti/cupti_calls.def"
	if (!missing)
		return 0;
	return gt_fail(err, ENOTSUP, "%s has no %s: it is too old or not CUPTI", cupti->path,
	               missing);
}

static int not_found(int driver_version, const char *wanted, struct gt_error *err)
{
	const char *reason = dlerror(); // NOLINT(concurrency-mt-unsafe): kept for each thread

	if (*wanted)
		return gt_fail(err, ENOENT, "%s cannot be used as libcupti: %s", wanted,
		               reason ? reason : "it cannot be opened");
	return gt_fail(err, ENOENT,
	               "libcupti.so.%d was not found: install the CUDA toolkit's CUPTI or set "
	               "GPUTRACE_CUPTI to the library's path",
	               driver_version ? driver_version / 1000 : 13);
}

int gt_cupti_open(struct gt_cupti *cupti, int driver_version, const char *wanted,
                  struct gt_error *err)
{
	struct link_map *map;
	int result;

	if (*wanted)
		try_open(cupti, wanted, 0);
	else
		find(cupti, driver_version);
	if (!cupti->handle)
		return not_found(driver_version, wanted, err);
	if (dlinfo(cupti->handle, RTLD_DI_LINKMAP, &map) == 0)
		snprintf(cupti->path, sizeof(cupti->path), "%s", map->l_name);
	result = bind_calls(cupti, err);
	if (result < 0)
		return result;
	if (cupti->cuptiGetVersion(&cupti->version) == CUPTI_SUCCESS &&
	    cupti->version >= OLDEST_VERSION)
		return 0;
	return gt_fail(
		err, ENOTSUP,
		"%s is CUPTI version %u, and CUDA 12.4 (version %u) is the oldest that works",
		cupti->path, cupti->version, OLDEST_VERSION);
}

const char *gt_cupti_text(const struct gt_cupti *cupti, CUptiResult result)
{
	const char *text = NULL;

	if (cupti->cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
		return "unknown CUPTI error";
	return text;
}
