/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calibrate/store.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "cli/output/output.h"
#include "cli/output/variable.h"
#include "cli/recording/recording.h"
#include "format/recording.h"

#define SUFFIX ".json"

/* Something in gputrace's part of the user's data folder, whose things a sentence calls what. */
static int name_data(const char *name, const char *what, char *path, size_t size,
                     struct gt_error *err)
{
	const char *data = gt_variable("XDG_DATA_HOME");
	const char *home = gt_variable("HOME");

	/* One that is not absolute is to be ignored, says the specification. */
	if (data && *data == '/')
		snprintf(path, size, "%s/gputrace%s", data, name);
	else if (home && *home == '/')
		snprintf(path, size, "%s/.local/share/gputrace%s", home, name);
	else
		return gt_fail(err, ENOENT,
		               "there is no folder to keep %s in: neither XDG_DATA_HOME nor HOME "
		               "names one",
		               what);
	return 0;
}

int gt_store_folder(char *path, size_t size, struct gt_error *err)
{
	return name_data("/calibrations", "calibrations", path, size, err);
}

/* Each folder on the way that is not there yet, for its owner alone. */
static int make_folders(const char *path, struct gt_error *err)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", slash ? (int)(slash - path) : INT_MAX, path);
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return gt_fail(err, errno, "cannot make the folder %s: %s", part,
			               gt_errno_text(errno));
		if (!slash)
			return 0;
	}
}

int gt_store_file(const char *name, char *path, size_t size, struct gt_error *err)
{
	char folder[PATH_MAX];
	int result = name_data("", "results", folder, sizeof(folder), err);

	if (result == 0)
		result = make_folders(folder, err);
	if (result == 0 && (size_t)snprintf(path, size, "%s/%s", folder, name) >= size)
		result = gt_fail(err, ENAMETOOLONG, "cannot write into %s: %s", folder,
		                 gt_errno_text(ENAMETOOLONG));
	return result;
}

/* A UUID is letters, digits and dashes; whatever else the driver says cannot leave the folder. */
static void name_file(const struct gt_calibration *calibration, char *name, size_t size)
{
	size_t length;

	snprintf(name, size, "%s", *calibration->uuid ? calibration->uuid : calibration->device);
	length = strlen(name);
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '-')
			name[i] = '_';
}

int gt_store_write(const struct gt_calibrations *calibrations, const char *path,
                   struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	char *text;
	int result = gt_output_open(&output, path, true, err);

	if (result < 0)
		return result;
	text = gt_calibrations_text(calibrations);
	(void)fputs(text, output.file);
	free(text);
	result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result;
}

int gt_store_save(const struct gt_calibration *calibration, char *path, size_t size,
                  struct gt_error *err)
{
	struct gt_calibrations one = {0};
	char folder[PATH_MAX];
	char name[128];
	int result = gt_store_folder(folder, sizeof(folder), err);

	if (result == 0)
		result = make_folders(folder, err);
	if (result < 0)
		return result;
	name_file(calibration, name, sizeof(name));
	if ((size_t)snprintf(path, size, "%s/%s" SUFFIX, folder, name) >= size)
		return gt_fail(err, ENAMETOOLONG, "cannot write into %s: %s", folder,
		               gt_errno_text(ENAMETOOLONG));
	*gt_array_push(&one.list) = *calibration;
	result = gt_store_write(&one, path, err);
	gt_array_release(&one.list); /* what is in it is the caller's */
	return result;
}

static int load_file(struct gt_calibrations *calibrations, const char *folder, const char *name,
                     struct gt_error *err)
{
	char path[PATH_MAX];
	struct gt_content content = {0};
	struct stat status;
	int result;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return gt_fail(err, ENAMETOOLONG, "cannot read %s: %s", name,
		               gt_errno_text(ENAMETOOLONG));
	if (stat(path, &status) == 0 && status.st_size > GT_CALIBRATION_MOST_SIZE)
		return gt_fail(err, EBADMSG, "%s is not what gputrace calibrate writes", path);
	result = gt_load_file(&content, path, err);
	if (result == 0)
		result = gt_calibrations_parse(calibrations, (const char *)content.bytes,
		                               content.size, path, err);
	gt_unload(&content);
	return result;
}

void gt_store_load(struct gt_calibrations *calibrations, void (*complain)(const char *sentence))
{
	struct gt_recording_files files = {0};
	char folder[PATH_MAX];

	if (gt_store_folder(folder, sizeof(folder), NULL) < 0 || !gt_path_is_folder(folder) ||
	    gt_recording_list(&files, folder, NULL) < 0)
		return;
	gt_array_each(const struct gt_recording_file, file, &files.list) {
		struct gt_error err = {0};

		if (gt_has_suffix(file->name, SUFFIX) &&
		    load_file(calibrations, folder, file->name, &err) < 0 && complain)
			complain(err.text);
	}
	gt_recording_files_release(&files);
}
