/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/recording/recording.h"
#include "format/recording.h"

/* Command lines are limited to 2 MiB by the system; escaped they can be six times as long. */
#define MANIFEST_MAX_SIZE ((off_t)16 << 20)
#define MOST_RUNS         100000 /* of one recording */

static char *copy_text(const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = gt_allocate(size);

	memcpy(copy, text, size);
	return copy;
}

void gt_instant_of_day(struct gt_instant *instant, const struct timespec *real)
{
	struct tm utc;
	size_t length;

	(void)gmtime_r(&real->tv_sec, &utc);
	length = strftime(instant->utc, sizeof(instant->utc), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(instant->utc + length, sizeof(instant->utc) - length, ".%09" PRId64 "Z",
	         (int64_t)real->tv_nsec);
}

struct gt_instant gt_instant_now(void)
{
	struct gt_instant instant = {0};
	struct timespec real;

	(void)clock_gettime(CLOCK_REALTIME, &real);
	instant.boottime_ns = gt_host_boottime();
	gt_instant_of_day(&instant, &real);
	return instant;
}

/* The first line of a file; "" when it cannot be read. */
static char *first_line(const char *path)
{
	char line[256] = "";
	FILE *file = fopen(path, "re");

	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		(void)fclose(file);
	}
	line[strcspn(line, "\n")] = '\0';
	return copy_text(line);
}

void gt_manifest_init(struct gt_manifest *manifest, char *const *command)
{
	char text[PATH_MAX];

	*manifest = (struct gt_manifest){.version = GT_MANIFEST_VERSION};
	manifest->tool_version = copy_text(GPUTRACE_VERSION);
	manifest->folder = copy_text(getcwd(text, sizeof(text)) ? text : "");
	manifest->host = copy_text(gethostname(text, sizeof(text)) == 0 ? text : "");
	manifest->boot_id = first_line("/proc/sys/kernel/random/boot_id");
	manifest->calibration = copy_text("");
	for (; *command; command++)
		*gt_array_push(&manifest->command) = copy_text(*command);
	manifest->start = gt_instant_now();
}

void gt_manifest_release(struct gt_manifest *manifest)
{
	free(manifest->tool_version);
	free(manifest->folder);
	free(manifest->host);
	free(manifest->boot_id);
	free(manifest->calibration);
	for (size_t i = 0; i < manifest->command.count; i++)
		free(manifest->command.rows[i]);
	gt_array_release(&manifest->command);
	gt_array_each(struct gt_setting, setting, &manifest->settings) {
		free(setting->name);
		free(setting->value);
	}
	gt_array_release(&manifest->settings);
	*manifest = (struct gt_manifest){0};
}

void gt_manifest_add_setting(struct gt_manifest *manifest, const char *name, const char *value)
{
	*gt_array_push(&manifest->settings) =
		(struct gt_setting){copy_text(name), copy_text(value)};
}

void gt_manifest_set_calibration(struct gt_manifest *manifest, const char *name)
{
	free(manifest->calibration);
	manifest->calibration = copy_text(name);
}

static json_t *json_of_instant(const struct gt_instant *instant)
{
	return json_pack("{s:s, s:I}", "utc", instant->utc, "boottime_ns",
	                 (json_int_t)instant->boottime_ns);
}

static json_t *json_of_command(const struct gt_manifest *manifest)
{
	json_t *array = json_array();

	for (size_t i = 0; i < manifest->command.count; i++)
		(void)json_array_append_new(array, gt_json_text(manifest->command.rows[i]));
	return array;
}

static json_t *json_of_settings(const struct gt_manifest *manifest)
{
	json_t *object = json_object();

	gt_array_each(const struct gt_setting, setting, &manifest->settings)
		(void)json_object_set_new(object, setting->name, gt_json_text(setting->value));
	return object;
}

/* Exactly one of the two is a number once the program has ended. */
static void add_ending(json_t *root, const struct gt_manifest *manifest)
{
	const struct gt_ending *ending = &manifest->ending;
	const bool exited = manifest->ended && !ending->signal;
	const bool killed = manifest->ended && ending->signal;

	(void)json_object_set_new(root, "exit_status",
	                          exited ? json_integer(ending->exit_status) : json_null());
	(void)json_object_set_new(root, "signal",
	                          killed ? json_integer(ending->signal) : json_null());
}

static json_t *json_of_manifest(const struct gt_manifest *manifest)
{
	json_t *root = json_object();

	(void)json_object_set_new(root, "version", json_integer(manifest->version));
	(void)json_object_set_new(root, "gputrace", gt_json_text(manifest->tool_version));
	(void)json_object_set_new(root, "command", json_of_command(manifest));
	(void)json_object_set_new(root, "folder", gt_json_text(manifest->folder));
	(void)json_object_set_new(root, "host", gt_json_text(manifest->host));
	(void)json_object_set_new(root, "boot_id", gt_json_text(manifest->boot_id));
	if (*manifest->calibration)
		(void)json_object_set_new(root, "calibration", gt_json_text(manifest->calibration));
	(void)json_object_set_new(root, "start", json_of_instant(&manifest->start));
	(void)json_object_set_new(root, "end",
	                          manifest->ended ? json_of_instant(&manifest->end) : json_null());
	add_ending(root, manifest);
	(void)json_object_set_new(root, "settings", json_of_settings(manifest));
	return root;
}

static int write_file(const json_t *root, const char *path, bool replace, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, path, replace, err);

	if (result == 0) {
		(void)json_dumpf(root, output.file, JSON_INDENT(2));
		putc('\n', output.file);
		result = gt_output_commit(&output, err);
	}
	gt_output_release(&output);
	return result;
}

/* manifest.json, manifest.2.json, ... */
static void name_file(struct gt_manifest *manifest, unsigned number)
{
	if (number == 1)
		snprintf(manifest->file, sizeof(manifest->file), GT_MANIFEST_NAME);
	else
		snprintf(manifest->file, sizeof(manifest->file), GT_MANIFEST_STEM "%u.json",
		         number);
}

int gt_manifest_save(struct gt_manifest *manifest, const char *folder, struct gt_error *err)
{
	const bool again = *manifest->file;
	json_t *root = json_of_manifest(manifest);
	int result = -EEXIST;

	for (unsigned i = 1; result == -EEXIST && i <= MOST_RUNS; i++) {
		char path[PATH_MAX];

		if (!again)
			name_file(manifest, i);
		snprintf(path, sizeof(path), "%s/%s", folder, manifest->file);
		result = write_file(root, path, again, err);
	}
	if (result < 0 && !again)
		*manifest->file = '\0';
	json_decref(root);
	return result;
}

void gt_manifest_remove(struct gt_manifest *manifest, const char *folder)
{
	char path[PATH_MAX];

	if (!*manifest->file)
		return;
	snprintf(path, sizeof(path), "%s/%s", folder, manifest->file);
	(void)unlink(path);
	*manifest->file = '\0';
}

/* "" for a key that is missing or no string. */
static char *get_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return copy_text(text ? text : "");
}

static struct gt_instant get_instant(const json_t *root, const char *key)
{
	const json_t *object = json_object_get(root, key);
	const char *utc = json_string_value(json_object_get(object, "utc"));
	struct gt_instant instant = {0};

	snprintf(instant.utc, sizeof(instant.utc), "%s", utc ? utc : "");
	instant.boottime_ns = json_integer_value(json_object_get(object, "boottime_ns"));
	return instant;
}

static void get_command(struct gt_manifest *manifest, const json_t *root)
{
	const json_t *array = json_object_get(root, "command");

	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *word = json_string_value(json_array_get(array, i));

		*gt_array_push(&manifest->command) = copy_text(word ? word : "");
	}
}

static void get_settings(struct gt_manifest *manifest, const json_t *root)
{
	json_t *object = json_object_get(root, "settings");

	for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
		const char *value = json_string_value(json_object_iter_value(at));

		gt_manifest_add_setting(manifest, json_object_iter_key(at), value ? value : "");
	}
}

static void get_ending(struct gt_manifest *manifest, const json_t *root)
{
	const json_t *status = json_object_get(root, "exit_status");
	const json_t *signal = json_object_get(root, "signal");

	manifest->ended = json_is_integer(status) || json_is_integer(signal);
	manifest->ending = (struct gt_ending){.exit_status = (int)json_integer_value(status),
	                                      .signal = (int)json_integer_value(signal)};
}

static void get_manifest(struct gt_manifest *manifest, const json_t *root)
{
	*manifest = (struct gt_manifest){
		.version = json_integer_value(json_object_get(root, "version")),
		.tool_version = get_text(root, "gputrace"),
		.folder = get_text(root, "folder"),
		.host = get_text(root, "host"),
		.boot_id = get_text(root, "boot_id"),
		.calibration = get_text(root, "calibration"),
		.start = get_instant(root, "start"),
		.end = get_instant(root, "end"),
	};
	get_command(manifest, root);
	get_settings(manifest, root);
	get_ending(manifest, root);
}

/* Whether it is worth reading at all: a regular file of a size that a manifest can have. */
static int check_file(const char *path, struct gt_error *err)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return gt_fail(err, errno, "cannot read %s: %s", path, gt_errno_text(errno));
	if (!S_ISREG(status.st_mode) || status.st_size > MANIFEST_MAX_SIZE)
		return gt_fail(err, EBADMSG, "%s is not a manifest", path);
	return 0;
}

static int load(struct gt_manifest *manifest, const char *folder, const char *name,
                struct gt_error *err)
{
	char path[PATH_MAX];
	json_error_t problem;
	json_t *root = NULL;
	int result;

	*manifest = (struct gt_manifest){0};
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	result = check_file(path, err);
	if (result < 0)
		goto done;
	root = json_load_file(path, 0, &problem);
	if (!root)
		result = gt_fail(err, EBADMSG, "%s is damaged at line %d: %s", path, problem.line,
		                 problem.text);
	else if (!json_is_integer(json_object_get(root, "version")))
		result = gt_fail(err, EBADMSG, "%s has no version", path);
	else
		get_manifest(manifest, root);
	if (result == 0)
		snprintf(manifest->file, sizeof(manifest->file), "%s", name);
done:
	json_decref(root);
	return result;
}

int gt_manifest_load(struct gt_manifest *manifest, const char *folder, struct gt_error *err)
{
	return load(manifest, folder, GT_MANIFEST_NAME, err);
}

static int by_start(const void *a, const void *b)
{
	const struct gt_manifest *left = a;
	const struct gt_manifest *right = b;
	const int order = strcmp(left->start.utc, right->start.utc);

	return order ? order : strcmp(left->file, right->file);
}

int gt_manifests_load(struct gt_manifests *manifests, const char *folder, struct gt_error *err)
{
	struct gt_recording_files files = {0};
	struct gt_manifest manifest;
	int result = gt_recording_list(&files, folder, err);
	int failed = 0;

	*manifests = (struct gt_manifests){0};
	gt_array_each(const struct gt_recording_file, file, &files.list) {
		if (!gt_recording_is_manifest(file->name))
			continue;
		result = load(&manifest, folder, file->name, err);
		if (result == 0)
			*gt_array_push(&manifests->list) = manifest;
		else
			failed = result;
	}
	gt_recording_files_release(&files);
	if (manifests->list.count > 0)
		qsort(manifests->list.rows, manifests->list.count, sizeof(manifest), by_start);
	else if (result == 0)
		failed = gt_fail(err, ENOENT, "%s holds no manifest", folder);
	return failed < 0 ? failed : result;
}

void gt_manifests_release(struct gt_manifests *manifests)
{
	gt_array_each(struct gt_manifest, manifest, &manifests->list)
		gt_manifest_release(manifest);
	gt_array_release(&manifests->list);
}

/* Whether it is a text of gt_instant_of_day, as far as texts of two times can be compared. */
static bool is_of_day(const char *utc)
{
	static const char form[] = "0000-00-00T00:00:00.";

	for (size_t i = 0; form[i]; i++)
		if (form[i] == '0' ? utc[i] < '0' || utc[i] > '9' : utc[i] != form[i])
			return false;
	return true;
}

bool gt_manifests_begun(const char *folder, struct gt_instant *begun)
{
	struct gt_manifests manifests;
	bool known = false;

	(void)gt_manifests_load(&manifests, folder, NULL);
	gt_array_each(const struct gt_manifest, manifest, &manifests.list) {
		if (!is_of_day(manifest->start.utc))
			continue;
		*begun = manifest->start; /* the last one counts: they are in order */
		known = true;
	}
	gt_manifests_release(&manifests);
	return known;
}

char *gt_manifest_command(const struct gt_manifest *manifest)
{
	size_t size = 1;
	char *text;

	for (size_t i = 0; i < manifest->command.count; i++)
		size += strlen(manifest->command.rows[i]) + 1;
	text = gt_allocate(size);
	text[0] = '\0';
	for (size_t i = 0, length = 0; i < manifest->command.count; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i ? " " : "",
		                           manifest->command.rows[i]);
	return text;
}
