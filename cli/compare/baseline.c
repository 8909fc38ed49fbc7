/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare/baseline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/error.h"
#include "base/path.h"
#include "base/strings.h"
#include "cli/compare/profiles.h"
#include "model/index.h"
#include "model/json/values.h"

enum { MOST_RUNS = 1000, DIGITS = 12, MOST_BYTES = 256 << 20 };

bool gt_is_baseline(const char *word)
{
	return gt_has_suffix(word, ".json");
}

/* ---- writing ---- */

/* NAN is null. */
static json_t *json_of_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_of_sum(const struct gt_profile_sum *sum)
{
	json_t *array = json_array();

	(void)json_array_append_new(array, json_of_real(sum->count));
	(void)json_array_append_new(array, json_of_real(sum->total_ns));
	(void)json_array_append_new(array, json_of_real(sum->log_each));
	return array;
}

static json_t *json_of_settings(const struct gt_profile *profile)
{
	json_t *object = json_object();

	gt_array_each(const struct gt_profile_setting, setting, &profile->settings) {
		json_t *value = json_object();

		gt_json_set_text(value, "value", gt_profile_text(profile, setting->value));
		(void)json_object_set_new(value, "of_recording",
		                          json_boolean(setting->of_recording));
		(void)json_object_set_new(object, gt_profile_text(profile, setting->name), value);
	}
	return object;
}

static json_t *json_of_run(const struct gt_profile *profile)
{
	json_t *run = json_object();
	json_t *figures = json_object();

	for (size_t f = 0; f < GT_COMPARED_FIGURES; f++)
		(void)json_object_set_new(figures, gt_compared_figures[f].name,
		                          json_of_real(profile->figures[f]));
	gt_json_set_text(run, "recording",
	                 gt_path_name(gt_profile_text(profile, profile->recording)));
	gt_json_set_text(run, "step", gt_profile_text(profile, profile->step));
	(void)json_object_set_new(run, "steps", json_of_real(profile->steps));
	(void)json_object_set_new(run, "incomplete", json_boolean(profile->incomplete));
	(void)json_object_set_new(run, "figures", figures);
	(void)json_object_set_new(run, "settings", json_of_settings(profile));
	return run;
}

static json_t *json_of_row(const struct gt_profile *profile, const struct gt_profile_row *row,
                           size_t run)
{
	json_t *object = json_object();
	json_t *keys = json_array();

	for (size_t k = 0; k < GT_COMPARED_KEYS; k++)
		(void)json_array_append_new(keys,
		                            json_string(gt_profile_text(profile, row->keys[k])));
	(void)json_object_set_new(object, "run", json_integer((json_int_t)run));
	gt_json_set_text(object, "table", gt_compared_tables[row->table].title);
	(void)json_object_set_new(object, "keys", keys);
	if (row->table == GT_COMPARED_kernels) {
		gt_json_set_count(object, "family", row->family);
		(void)json_object_set_new(object, "place", json_of_real(row->place));
		(void)json_object_set_new(object, "steady", json_of_sum(&row->steady));
	}
	(void)json_object_set_new(object, "all", json_of_sum(&row->all));
	return object;
}

static void put_line(FILE *out, json_t *object, bool first)
{
	fputs(first ? "\n" : ",\n", out);
	(void)json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
	json_decref(object);
}

void gt_baseline_write(const struct gt_profiles *profiles, FILE *out)
{
	bool first = true;

	fprintf(out, "{\"gputrace_baseline\":%d,\"runs\":[", GT_BASELINE_VERSION);
	for (size_t i = 0; i < profiles->list.count; i++)
		put_line(out, json_of_run(&profiles->list.rows[i]), i == 0);
	fputs("\n],\"rows\":[", out);
	for (size_t i = 0; i < profiles->list.count; i++)
		gt_array_each(const struct gt_profile_row, row, &profiles->list.rows[i].rows) {
			put_line(out, json_of_row(&profiles->list.rows[i], row, i), first);
			first = false;
		}
	fputs("\n]}\n", out);
}

/* ---- reading ---- */

static int refuse(const char *path, const char *why, struct gt_error *err)
{
	return gt_fail(err, EINVAL, "%s is no baseline of gputrace: %s", path, why);
}

static double real_of(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static struct gt_profile_sum sum_of(const json_t *array)
{
	struct gt_profile_sum sum = {real_of(json_array_get(array, 0)),
	                             real_of(json_array_get(array, 1)),
	                             real_of(json_array_get(array, 2))};

	if (!json_is_array(array))
		sum = (struct gt_profile_sum){0, 0, NAN};
	return sum;
}

static uint32_t text_of(struct gt_profile *profile, const json_t *value)
{
	return gt_strings_add(profile->strings,
	                      json_is_string(value) ? json_string_value(value) : "");
}

static void read_settings(struct gt_profile *profile, json_t *settings)
{
	for (void *at = json_object_iter(settings); at; at = json_object_iter_next(settings, at)) {
		const json_t *value = json_object_iter_value(at);

		*gt_array_push(&profile->settings) = (struct gt_profile_setting){
			.name = gt_strings_add(profile->strings, json_object_iter_key(at)),
			.value = text_of(profile, json_object_get(value, "value")),
			.of_recording = json_is_true(json_object_get(value, "of_recording")),
		};
	}
}

static void read_run(struct gt_profile *profile, const json_t *run)
{
	const json_t *figures = json_object_get(run, "figures");
	const double steps = real_of(json_object_get(run, "steps"));

	*profile = (struct gt_profile){
		.strings = gt_strings_new(),
		.steps = steps > 0 ? steps : 0,
		.incomplete = json_is_true(json_object_get(run, "incomplete")),
	};
	profile->recording = text_of(profile, json_object_get(run, "recording"));
	profile->step = text_of(profile, json_object_get(run, "step"));
	for (size_t f = 0; f < GT_COMPARED_FIGURES; f++)
		profile->figures[f] =
			real_of(json_object_get(figures, gt_compared_figures[f].name));
	read_settings(profile, json_object_get(run, "settings"));
}

/* A table that this gputrace does not know is left out. */
static void read_row(struct gt_profiles *profiles, size_t first, const json_t *object)
{
	const char *table = json_string_value(json_object_get(object, "table"));
	const json_t *number = json_object_get(object, "run");
	const json_t *keys = json_object_get(object, "keys");
	struct gt_profile *profile;
	struct gt_profile_row row = {.table = 0};

	if (!table || !json_is_integer(number) || json_integer_value(number) < 0 ||
	    (size_t)json_integer_value(number) >= profiles->list.count - first)
		return;
	profile = &profiles->list.rows[first + (size_t)json_integer_value(number)];
	while (row.table < GT_COMPARED_TABLES &&
	       strcmp(table, gt_compared_tables[row.table].title) != 0)
		row.table++;
	if (row.table == GT_COMPARED_TABLES)
		return;
	for (size_t k = 0; k < GT_COMPARED_KEYS; k++)
		row.keys[k] = text_of(profile, json_array_get(keys, k));
	row.family = gt_json_get_count(object, "family");
	row.place = real_of(json_object_get(object, "place"));
	row.place = row.place >= 0 ? row.place : 0;
	row.all = sum_of(json_object_get(object, "all"));
	row.steady = sum_of(json_object_get(object, "steady"));
	*gt_array_push(&profile->rows) = row;
}

static int read_root(struct gt_profiles *profiles, const char *path, const json_t *root,
                     struct gt_error *err)
{
	const json_t *version = json_object_get(root, "gputrace_baseline");
	const json_t *runs = json_object_get(root, "runs");
	const json_t *rows = json_object_get(root, "rows");
	const size_t first = profiles->list.count;

	if (!json_is_integer(version) || !json_is_array(runs) || !json_is_array(rows) ||
	    json_array_size(runs) == 0 || json_array_size(runs) > MOST_RUNS)
		return refuse(path, "it has no runs", err);
	if (json_integer_value(version) > GT_BASELINE_VERSION)
		return gt_fail(
			err, EPROTO,
			"%s was written by a newer gputrace: compare with that, or save it anew",
			path);
	for (size_t i = 0; i < json_array_size(runs); i++) {
		read_run(gt_array_push(&profiles->list), json_array_get(runs, i));
		profiles->whole = profiles->whole &&
		                  !profiles->list.rows[profiles->list.count - 1].incomplete;
	}
	for (size_t i = 0; i < json_array_size(rows); i++)
		read_row(profiles, first, json_array_get(rows, i));
	for (size_t i = first; i < profiles->list.count; i++)
		gt_profile_unite_rows(&profiles->list.rows[i]);
	return 0;
}

static int cannot_open(const char *path, struct gt_error *err)
{
	const int code = errno;
	char problem[512];

	return gt_fail(err, code, "%s: %s", path,
	               gt_path_problem(path, code, problem, sizeof(problem)));
}

int gt_baseline_read(struct gt_profiles *profiles, const char *path, struct gt_error *err)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	json_error_t error;
	json_t *root;
	int result;

	if (!file)
		return cannot_open(path, err);
	if (fstat(fileno(file), &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_size > MOST_BYTES) {
		fclose(file);
		return refuse(path, "it is no file, or far too large", err);
	}
	root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
	fclose(file);
	result = root ? read_root(profiles, path, root, err) : refuse(path, error.text, err);
	json_decref(root);
	return result;
}
