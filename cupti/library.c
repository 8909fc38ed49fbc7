/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

struct search {
	int major; /* CUDA's version */
	int minor;
	char soname[32];         /* libcupti.so.13 */
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

static void *try_open(const char *path, int flags)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
}

enum { WHEELS = 3, TOOLKITS = 3 };

/*
 * A file that may be libcupti: below a folder of Python packages, where wheels put it, then in
 * toolkits. Returns false behind the last.
 */
static bool place_at(const struct search *search, size_t index, char *path, size_t size)
{
	char wheel[32];
	char toolkit[64];
	const char *const wheels[WHEELS] = {wheel, "nvidia/cuda_cupti/lib", "torch/lib"};
	const char *const toolkits[TOOLKITS] = {toolkit, "/usr/local/cuda", "/opt/cuda"};

	snprintf(wheel, sizeof(wheel), "nvidia/cu%d/lib", search->major);
	snprintf(toolkit, sizeof(toolkit), "/usr/local/cuda-%d.%d", search->major, search->minor);
	if (index < WHEELS)
		snprintf(path, size, "%s/%s/%s", search->packages, wheels[index], search->soname);
	else if (index < WHEELS + 2 * TOOLKITS)
		snprintf(path, size, "%s/%s/%s", toolkits[(index - WHEELS) / 2],
		         (index - WHEELS) % 2 ? "lib64" : "extras/CUPTI/lib64", search->soname);
	else
		return false;
	return true;
}

/* Without Python there are no wheels to look into. */
static size_t first_place(const struct search *search)
{
	return search->packages[0] ? 0 : WHEELS;
}

/* driver_version is 1000 x major + 10 x minor, as cuDriverGetVersion has it; 0: not known. */
static void search_init(struct search *search, int driver_version)
{
	*search = (struct search){.major = 13};
	if (driver_version > 0) {
		search->major = driver_version / 1000;
		search->minor = driver_version % 1000 / 10;
	}
	snprintf(search->soname, sizeof(search->soname), "libcupti.so.%d", search->major);
	dl_iterate_phdr(look, search);
}

static void *find(const struct search *search)
{
	char path[PATH_MAX + 64];
	void *library = NULL;

	if (search->found[0])
		library = try_open(search->found, RTLD_NOLOAD);
	if (!library)
		library = try_open(search->soname, 0);
	for (size_t i = first_place(search); !library && place_at(search, i, path, sizeof(path));
	     i++)
		library = try_open(path, 0);
	return library;
}

/* A libcupti of CUDA 12 where there is none of the driver's 13: many work, and none is loaded
 * untold. */
static bool find_older(const struct search *search, char *path, size_t size)
{
	struct search older = *search;

	older.major = 12;
	snprintf(older.soname, sizeof(older.soname), "libcupti.so.12");
	for (older.minor = 9; search->major > 12 && older.minor >= 4; older.minor--)
		for (size_t i = first_place(&older); place_at(&older, i, path, size); i++)
			if (access(path, R_OK) == 0)
				return true;
	return false;
}

static void cannot_use(const char *wanted, struct gt_error *err)
{
	const char *reason = dlerror(); // NOLINT(concurrency-mt-unsafe): kept for each thread

	(void)gt_fail(err, ENOENT, "%s cannot be used as libcupti: %s", wanted,
	              reason ? reason : "it cannot be opened");
}

/* Reports the missing library and the package to install. */
static void not_found(const struct search *search, struct gt_error *err)
{
	char older[PATH_MAX + 64];
	const bool has_older = find_older(search, older, sizeof(older));

	(void)gt_fail(err, ENOENT,
	              "%s was not found: install NVIDIA's package cuda-cupti-%d-%d or pip's "
	              "nvidia-cuda-cupti%s, or set GPUTRACE_CUPTI to the path of a libcupti%s%s",
	              search->soname, search->major, search->minor,
	              search->major < 13 ? "-cu12" : "",
	              has_older ? "; of an older CUDA there is " : "", has_older ? older : "");
}

void *gt_cupti_library_open(int driver_version, const char *wanted, char path[PATH_MAX],
                            struct gt_error *err)
{
	struct search search;
	struct link_map *map;
	void *library;

	search_init(&search, driver_version);
	library = *wanted ? try_open(wanted, 0) : find(&search);
	if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
		snprintf(path, PATH_MAX, "%s", map->l_name);
	if (!library && *wanted)
		cannot_use(wanted, err);
	else if (!library)
		not_found(&search, err);
	return library;
}
