/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/calibration.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "cli/calibrate/store.h"
#include "cli/recording/recording.h"
#include "format/recording.h"

#define GPUS "/proc/driver/nvidia/gpus"

enum { MOST = 256 }; /* GPUs of one file */

struct uuids {
	gt_array(struct uuid { char text[48]; }) list;
};

/* From "GPU UUID:  GPU-..."; a driver that has not used the GPU yet prints question marks. */
static void add_uuid(struct uuids *uuids, const char *line)
{
	static const char key[] = "GPU UUID:";
	const char *text = strstr(line, key);

	if (!text || strchr(text, '?'))
		return;
	text += strlen(key);
	text += strspn(text, " \t");
	snprintf(gt_array_push(&uuids->list)->text, sizeof(uuids->list.rows->text), "%.*s",
	         (int)strcspn(text, " \t\n"), text);
}

static void read_gpu(struct uuids *uuids, const char *address)
{
	char path[PATH_MAX];
	char line[256];
	FILE *file;

	snprintf(path, sizeof(path), GPUS "/%s/information", address);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		add_uuid(uuids, line);
	(void)fclose(file);
}

static void list_gpus(struct uuids *uuids)
{
	DIR *folder = opendir(GPUS);
	const struct dirent *entry;

	if (!folder)
		return;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else reads this stream */
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			read_gpu(uuids, entry->d_name);
	(void)closedir(folder);
}

static bool fits(const struct gt_calibration *calibration, const struct uuids *uuids)
{
	gt_array_each(const struct uuid, uuid, &uuids->list)
		if (strcmp(uuid->text, calibration->uuid) == 0)
			return true;
	return uuids->list.count == 0;
}

/* Takes those that fit to the front; the others are released. */
static void choose(struct gt_calibrations *calibrations)
{
	struct uuids uuids = {0};
	size_t kept = 0;

	list_gpus(&uuids);
	gt_array_each(struct gt_calibration, calibration, &calibrations->list) {
		if (kept < MOST && fits(calibration, &uuids))
			calibrations->list.rows[kept++] = *calibration;
		else
			gt_calibration_release(calibration);
	}
	calibrations->list.count = kept;
	gt_array_release(&uuids.list);
}

static char *path_of(const char *folder, const char *name)
{
	char suffix[NAME_MAX + 2];

	snprintf(suffix, sizeof(suffix), "/%s", name);
	return gt_recording_path(folder, suffix);
}

int gt_calibration_add(const char *folder, char *name, size_t size, struct gt_error *err)
{
	struct gt_calibrations calibrations = {0};
	int result = 0;

	*name = '\0';
	gt_store_load(&calibrations, NULL);
	choose(&calibrations);
	if (calibrations.list.count > 0) {
		char host[HOST_NAME_MAX + 1];
		char *path;

		gt_host_name(host, sizeof(host));
		snprintf(name, size, "%s-%d" GT_CALIBRATION_SUFFIX, host, (int)getpid());
		path = path_of(folder, name);
		result = gt_store_write(&calibrations, path, err);
		free(path);
	}
	gt_calibrations_release(&calibrations);
	return result;
}

void gt_calibration_remove(const char *folder, const char *name)
{
	char *path;

	if (!*name)
		return;
	path = path_of(folder, name);
	(void)unlink(path);
	free(path);
}
