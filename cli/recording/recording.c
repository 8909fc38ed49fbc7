/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "format/arena/files.h"
#include "format/bundle/bundle.h"
#include "format/recording.h"
#include "format/roll.h"

static char *join(const char *text, size_t length, const char *suffix)
{
	const size_t size = length + strlen(suffix) + 1;
	char *joined = gt_allocate(size);

	snprintf(joined, size, "%.*s%s", (int)length, text, suffix);
	return joined;
}

char *gt_recording_stem(const char *path)
{
	static const char *const suffixes[] = {GT_RECORDING_SUFFIX, GT_CAPTURE_SUFFIX,
	                                       GT_ARENA_SUFFIX};
	size_t length = strlen(path);
	char *stem;

	while (length > 1 && path[length - 1] == '/')
		length--;
	stem = join(path, length, "");
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (gt_has_suffix(stem, suffixes[i])) {
			stem[length - strlen(suffixes[i])] = '\0';
			break;
		}
	}
	return stem;
}

char *gt_recording_path(const char *stem, const char *suffix)
{
	return join(stem, strlen(stem), suffix);
}

static int compare_names(const void *a, const void *b)
{
	const struct gt_recording_file *left = a;
	const struct gt_recording_file *right = b;

	return strcmp(left->name, right->name);
}

static void add_file(struct gt_recording_files *files, const char *name, uint64_t bytes)
{
	*gt_array_push(&files->list) =
		(struct gt_recording_file){join(name, strlen(name), ""), bytes};
	files->bytes += bytes;
}

static int list_file(struct gt_recording_files *files, const char *path, struct gt_error *err)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return gt_fail(err, errno, "cannot read %s: %s", path, gt_errno_text(errno));
	add_file(files, gt_path_name(path), (uint64_t)status.st_size);
	return 0;
}

/* A folder of a recording's that is listed by what is in it. */
static bool is_inner(DIR *folder, const char *name)
{
	struct stat status;

	return (strcmp(name, GT_MODULES_FOLDER) == 0 || strcmp(name, GT_LAUNCHES_FOLDER) == 0) &&
	       fstatat(dirfd(folder), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode);
}

/* Lists an open folder, each name behind a prefix; folders in it but for a recording's own. */
static void list_folder(struct gt_recording_files *files, DIR *folder, const char *prefix)
{
	const struct dirent *entry;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else reads this stream */
	while ((entry = readdir(folder))) {
		char *name = join(prefix, strlen(prefix), entry->d_name);
		struct stat status;

		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    !(*prefix == '\0' && is_inner(folder, entry->d_name)))
			add_file(files, name, (uint64_t)status.st_size);
		free(name);
	}
}

/* The folder of kept modules; NULL: there is none. */
static DIR *open_modules(DIR *folder)
{
	const int fd = openat(dirfd(folder), GT_MODULES_FOLDER,
	                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

/* Walks the folder of captured launches, in order, links not followed; NULL: nothing is there. */
static FTS *walk_launches(const char *recording)
{
	char root[PATH_MAX];

	snprintf(root, sizeof(root), "%s/" GT_LAUNCHES_FOLDER, recording);
	if (!gt_path_is_folder(root))
		return NULL;
	return fts_open((char *[]){root, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
}

static void list_launches(struct gt_recording_files *files, const char *recording)
{
	FTS *walk = walk_launches(recording);
	const FTSENT *entry;

	if (!walk)
		return;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else walks this */
	while ((entry = fts_read(walk)))
		if (entry->fts_level > 0 && entry->fts_info != FTS_D && entry->fts_info != FTS_DP)
			add_file(files, entry->fts_path + strlen(recording) + 1,
			         (uint64_t)entry->fts_statp->st_size);
	(void)fts_close(walk);
}

int gt_recording_list(struct gt_recording_files *files, const char *path, struct gt_error *err)
{
	DIR *folder = opendir(path);
	DIR *modules;

	*files = (struct gt_recording_files){0};
	if (!folder && errno == ENOTDIR)
		return list_file(files, path, err);
	if (!folder)
		return gt_fail(err, errno, "cannot read %s: %s", path, gt_errno_text(errno));
	list_folder(files, folder, "");
	modules = open_modules(folder);
	if (modules) {
		list_folder(files, modules, GT_MODULES_FOLDER "/");
		(void)closedir(modules);
	}
	list_launches(files, path);
	(void)closedir(folder);
	if (files->list.count > 0)
		qsort(files->list.rows, files->list.count, sizeof(*files->list.rows),
		      compare_names);
	return 0;
}

void gt_recording_files_release(struct gt_recording_files *files)
{
	gt_array_each(const struct gt_recording_file, file, &files->list)
		free(file->name);
	gt_array_release(&files->list);
	files->bytes = 0;
}

bool gt_recording_has_captures(const char *folder)
{
	struct gt_recording_files files;
	bool has = false;

	if (gt_recording_list(&files, folder, NULL) == 0)
		gt_array_each(const struct gt_recording_file, file, &files.list)
			has = has || gt_has_suffix(file->name, GT_CAPTURE_SUFFIX);
	gt_recording_files_release(&files);
	return has;
}

int gt_recording_make(const char *folder, struct gt_error *err)
{
	if (mkdir(folder, 0700) < 0) {
		const int code = errno;
		char text[PATH_MAX];

		return gt_fail(err, code, "cannot make the folder %s: %s", folder,
		               gt_path_problem(folder, code, text, sizeof(text)));
	}
	return 0;
}

bool gt_recording_is_manifest(const char *name)
{
	const size_t stem = strlen(GT_MANIFEST_STEM);
	const char *number = name + stem;

	if (strcmp(name, GT_MANIFEST_NAME) == 0)
		return true;
	if (strncmp(name, GT_MANIFEST_STEM, stem) != 0)
		return false;
	return strspn(number, "0123456789") > 0 &&
	       strcmp(number + strspn(number, "0123456789"), ".json") == 0;
}

/* manifest.json, manifest.2.json, ..., or the temporary name of one. */
static bool is_manifest(const char *name)
{
	return gt_recording_is_manifest(name) ||
	       (strncmp(name, GT_MANIFEST_STEM, strlen(GT_MANIFEST_STEM)) == 0 &&
	        gt_has_suffix(name, ".partial"));
}

/* HOST-PID.calibration, or the temporary name of one. */
static bool is_calibration(const char *name)
{
	return gt_has_suffix(name, GT_CALIBRATION_SUFFIX) ||
	       (strstr(name, GT_CALIBRATION_SUFFIX ".") && gt_has_suffix(name, ".partial"));
}

/* Files that are in a recording before there is a capture, and stay without one. */
static bool is_beside(const char *name)
{
	return is_manifest(name) || gt_has_suffix(name, GT_ROLL_SUFFIX) ||
	       gt_has_suffix(name, GT_NOTES_SUFFIX) || gt_has_suffix(name, GT_TOPOLOGY_SUFFIX) ||
	       gt_has_suffix(name, GT_KERNEL_LOG_SUFFIX) || is_calibration(name) ||
	       strcmp(name, GT_PYTHON_ARCHIVE) == 0 ||
	       (strncmp(name, GT_PYTHON_ARCHIVE ".", sizeof(GT_PYTHON_ARCHIVE)) == 0 &&
	        gt_has_suffix(name, ".partial"));
}

/* A kept module, or the temporary name of one. */
static bool is_module(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && strchr(slash, '.') &&
	       strncmp(strchr(slash, '.'), GT_CUBIN_SUFFIX, strlen(GT_CUBIN_SUFFIX)) == 0;
}

/* Files of a captured launch: launches/NAME/bundle.json, those in blobs/ and results/ beside it. */
static bool is_of_bundle(const char *name)
{
	static const char *const folders[] = {GT_BUNDLE_BLOBS "/", GT_BUNDLE_RESULTS "/"};
	const char *inside;

	if (strncmp(name, GT_LAUNCHES_FOLDER "/", strlen(GT_LAUNCHES_FOLDER "/")) != 0)
		return false;
	inside = strchr(name + strlen(GT_LAUNCHES_FOLDER "/"), '/');
	if (!inside++)
		return false;
	for (size_t i = 0; i < GT_COUNT_OF(folders); i++)
		if (strncmp(inside, folders[i], strlen(folders[i])) == 0)
			return !strchr(inside + strlen(folders[i]), '/');
	return strncmp(inside, GT_BUNDLE_MANIFEST, strlen(GT_BUNDLE_MANIFEST)) == 0 &&
	       !strchr(inside, '/');
}

/* A file of that name that we cannot have made, such as a folder, is somebody else's. */
static bool is_ours(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return false;
	return is_beside(name) || gt_has_suffix(name, GT_CAPTURE_SUFFIX) ||
	       gt_has_suffix(name, GT_TRIMMED_SUFFIX) || gt_has_suffix(name, GT_ARENA_SUFFIX) ||
	       is_module(name) || is_of_bundle(name);
}

static int check(const char *folder, const struct gt_recording_files *files, struct gt_error *err)
{
	struct stat status;

	if (lstat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
		return gt_fail(err, ENOTDIR, "%s is not a recording: it is not replaced", folder);
	gt_array_each(const struct gt_recording_file, file, &files->list)
		if (!is_ours(folder, file->name))
			return gt_fail(
				err, ENOTEMPTY,
				"%s holds %s, which gputrace did not write: it is left as it is",
				folder, file->name);
	return 0;
}

int gt_recording_check(const char *folder, struct gt_error *err)
{
	struct gt_recording_files files = {0};
	int result = gt_recording_list(&files, folder, err);

	if (result == 0)
		result = check(folder, &files, err);
	gt_recording_files_release(&files);
	return result;
}

unsigned gt_recording_writers(const char *folder)
{
	struct gt_recording_files files = {0};
	unsigned writers = 0;

	(void)gt_recording_list(&files, folder, NULL);
	gt_array_each(const struct gt_recording_file, file, &files.list) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, file->name);
		if (gt_has_suffix(file->name, GT_ARENA_SUFFIX) &&
		    (gt_arena_is_live(path) || access(path, R_OK) < 0))
			writers++;
	}
	gt_recording_files_release(&files);
	return writers;
}

/* Where it is there and empty: what else is in the way, removing the recording's folder says. */
static void remove_modules(const char *folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" GT_MODULES_FOLDER, folder);
	(void)rmdir(path);
}

/* Likewise those of captured launches, each after what was in it. */
static void remove_launches(const char *folder)
{
	FTS *walk = walk_launches(folder);
	const FTSENT *entry;

	if (!walk)
		return;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else walks this */
	while ((entry = fts_read(walk)))
		if (entry->fts_info == FTS_DP)
			(void)rmdir(entry->fts_path);
	(void)fts_close(walk);
}

static int remove_files(const char *folder, const struct gt_recording_files *files,
                        struct gt_error *err)
{
	gt_array_each(const struct gt_recording_file, file, &files->list) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, file->name);
		if (unlink(path) < 0)
			return gt_fail(err, errno, "cannot remove %s: %s", path,
			               gt_errno_text(errno));
	}
	remove_modules(folder);
	remove_launches(folder);
	if (rmdir(folder) < 0)
		return gt_fail(err, errno, "cannot remove %s: %s", folder, gt_errno_text(errno));
	return 0;
}

int gt_recording_remove(const char *folder, struct gt_error *err)
{
	struct gt_recording_files files = {0};
	int result = gt_recording_list(&files, folder, err);

	if (result == 0)
		result = check(folder, &files, err);
	else if (result == -ENOENT)
		goto done;
	if (result == 0)
		result = remove_files(folder, &files, err);
done:
	gt_recording_files_release(&files);
	return result == -ENOENT ? 0 : result;
}

bool gt_recording_discard(const char *folder)
{
	struct gt_recording_files files = {0};
	bool empty = gt_recording_list(&files, folder, NULL) == 0;

	gt_array_each(const struct gt_recording_file, file, &files.list)
		empty = empty && is_beside(file->name);
	empty = empty && remove_files(folder, &files, NULL) == 0;
	gt_recording_files_release(&files);
	return empty;
}
