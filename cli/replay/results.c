/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/results.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "cli/output/output.h"
#include "cli/recording/recording.h"
#include "format/recording.h"
#include "model/bundle/bundle.h"

#define SUFFIX ".json"

static int load_file(struct gt_results *results, const char *path, uint64_t bytes,
                     struct gt_error *err)
{
	struct gt_content content = {0};
	struct gt_outcome outcome;
	int result;

	if (bytes > GT_OUTCOME_MOST_SIZE)
		return gt_fail(err, EBADMSG, "%s is not what gputrace replay writes", path);
	result = gt_load_file(&content, path, err);
	if (result == 0)
		result = gt_outcome_parse(&outcome, (const char *)content.bytes, content.size, path,
		                          err);
	if (result == 0) {
		struct gt_kept *kept = gt_array_push(&results->list);

		kept->outcome = outcome;
		kept->file = gt_recording_path(path, "");
	}
	gt_unload(&content);
	return result;
}

static int by_date(const void *a, const void *b)
{
	const struct gt_kept *left = a;
	const struct gt_kept *right = b;
	const int order = strcmp(left->outcome.date, right->outcome.date);

	return order ? order : strcmp(left->file, right->file);
}

void gt_results_load(struct gt_results *results, const char *bundle,
                     void (*complain)(const char *sentence))
{
	struct gt_recording_files files = {0};
	char folder[PATH_MAX];

	*results = (struct gt_results){0};
	if ((size_t)snprintf(folder, sizeof(folder), "%s/" GT_BUNDLE_RESULTS, bundle) >=
	            sizeof(folder) ||
	    !gt_path_is_folder(folder) || gt_recording_list(&files, folder, NULL) < 0)
		return;
	gt_array_each(const struct gt_recording_file, file, &files.list) {
		char path[PATH_MAX];
		struct gt_error err = {0};

		if (!gt_has_suffix(file->name, SUFFIX) || results->list.count >= GT_RESULTS_MOST ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, file->name) >=
		            sizeof(path))
			continue;
		if (load_file(results, path, file->bytes, &err) < 0 && complain)
			complain(err.text);
	}
	gt_recording_files_release(&files);
	if (results->list.count > 0)
		qsort(results->list.rows, results->list.count, sizeof(*results->list.rows),
		      by_date);
}

void gt_results_release(struct gt_results *results)
{
	gt_array_each(struct gt_kept, kept, &results->list) {
		free(kept->file);
		gt_outcome_release(&kept->outcome);
	}
	gt_array_release(&results->list);
}

/* The date without what separates its parts, and the process: 20260102T030405.000000006Z-71.json */
static int name_file(char *path, size_t size, const char *folder, const char *date)
{
	char digits[40];
	size_t length = 0;

	for (; *date && length + 1 < sizeof(digits); date++)
		if (isalnum((unsigned char)*date) || *date == '.')
			digits[length++] = *date;
	digits[length] = '\0';
	return (size_t)snprintf(path, size, "%s/%s-%d" SUFFIX, folder, digits, (int)getpid()) < size
	               ? 0
	               : -ENAMETOOLONG;
}

static int write_file(const char *path, const struct gt_outcome *outcome, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, path, false, err);
	char *text;

	if (result < 0)
		return result;
	text = gt_outcome_text(outcome);
	(void)fputs(text, output.file);
	free(text);
	result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result;
}

/* All but the last of those that differ from the outcome in nothing but time. */
static void prune(const char *bundle, const struct gt_outcome *outcome)
{
	struct gt_results results;
	unsigned kept = 0;

	gt_results_load(&results, bundle, NULL);
	for (size_t i = results.list.count; i-- > 0;) {
		const struct gt_kept *row = &results.list.rows[i];

		if (gt_outcome_same(&row->outcome, outcome) && ++kept > GT_RESULTS_KEPT)
			(void)unlink(row->file);
	}
	gt_results_release(&results);
}

int gt_results_save(const char *bundle, const struct gt_outcome *outcome, struct gt_error *err)
{
	char folder[PATH_MAX];
	char path[PATH_MAX];
	int result;

	if ((size_t)snprintf(folder, sizeof(folder), "%s/" GT_BUNDLE_RESULTS, bundle) >=
	            sizeof(folder) ||
	    name_file(path, sizeof(path), folder, outcome->date) < 0)
		return gt_fail(err, ENAMETOOLONG, "cannot write into %s: %s", bundle,
		               gt_errno_text(ENAMETOOLONG));
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return gt_fail(err, errno, "the result is not kept: cannot make the folder %s: %s",
		               folder, gt_errno_text(errno));
	result = write_file(path, outcome, err);
	if (result == 0)
		prune(bundle, outcome);
	return result;
}

const struct gt_outcome *gt_results_newest(const struct gt_results *results,
                                           const struct gt_outcome *like)
{
	for (size_t i = results->list.count; i-- > 0;) {
		const struct gt_outcome *outcome = &results->list.rows[i].outcome;

		if (isfinite(outcome->median_ns) && !outcome->too_slow && !*outcome->doubt &&
		    (outcome->verified || !outcome->checked) && gt_outcome_same(outcome, like))
			return outcome;
	}
	return NULL;
}
