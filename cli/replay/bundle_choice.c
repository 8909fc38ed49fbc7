/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/bundle_choice.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/parse.h"
#include "base/path.h"
#include "cli/recording/recording.h"
#include "format/recording.h"
#include "model/bundle/bundle.h"

enum { NAMED = 4 }; /* bundles of several that a sentence names */

/* What --launch says. */
struct wanted {
	const char *text; /* NULL: any */
	bool is_number;
	uint64_t number;
	regex_t regex;
};

static int read_wanted(struct wanted *wanted, const char *text, struct gt_error *err)
{
	char problem[128];
	int result;

	*wanted = (struct wanted){.text = text};
	if (!text)
		return 0;
	wanted->is_number = gt_parse_count(text, &wanted->number) == 0;
	if (wanted->is_number)
		return 0;
	result = regcomp(&wanted->regex, text, REG_EXTENDED | REG_NOSUB);
	if (result == 0)
		return 0;
	regerror(result, &wanted->regex, problem, sizeof(problem));
	return gt_fail(err, EINVAL,
	               "--launch takes a number or a regular expression, and '%s' is neither: %s",
	               text, problem);
}

static void release_wanted(struct wanted *wanted)
{
	if (wanted->text && !wanted->is_number)
		regfree(&wanted->regex);
}

/* The number of PID-NUMBER-NAME. */
static bool has_number(const char *name, uint64_t number)
{
	const char *dash = strchr(name, '-');
	char digits[24];
	uint64_t found;

	if (!dash)
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(dash + 1, "-"), dash + 1);
	return gt_parse_count(digits, &found) == 0 && found == number;
}

static bool fits(const struct wanted *wanted, const char *name)
{
	if (!wanted->text)
		return true;
	return wanted->is_number ? has_number(name, wanted->number)
	                         : regexec(&wanted->regex, name, 0, NULL, 0) == 0;
}

static bool is_bundle(const char *folder)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof(path), "%s/" GT_BUNDLE_MANIFEST, folder) <
	               sizeof(path) &&
	       access(path, F_OK) == 0;
}

/* The same, or what was to become one. */
static bool looks_like_bundle(const char *folder)
{
	char path[PATH_MAX];

	return is_bundle(folder) || ((size_t)snprintf(path, sizeof(path), "%s/" GT_BUNDLE_BLOBS,
	                                              folder) < sizeof(path) &&
	                             gt_path_is_folder(path));
}

/* Bundles of a recording that fit. */
struct found {
	unsigned all;
	unsigned fit;
	char names[PATH_MAX]; /* of the first ones, with commas between */
	char *first;          /* its folder; owned */
};

static void add(struct found *found, const char *folder, const char *name)
{
	const size_t used = strlen(found->names);

	if (found->fit++ == 0)
		found->first = gt_recording_path(folder, "");
	if (found->fit <= NAMED)
		snprintf(found->names + used, sizeof(found->names) - used, "%s%s", used ? ", " : "",
		         name);
}

static void look(struct found *found, const char *recording, const struct wanted *wanted)
{
	struct gt_recording_files files = {0};
	char folder[PATH_MAX];

	*found = (struct found){0};
	if ((size_t)snprintf(folder, sizeof(folder), "%s/" GT_LAUNCHES_FOLDER, recording) >=
	            sizeof(folder) ||
	    !gt_path_is_folder(folder) || gt_recording_list(&files, folder, NULL) < 0)
		return;
	gt_array_each(const struct gt_recording_file, file, &files.list) {
		char path[PATH_MAX];

		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, file->name) >=
		            sizeof(path) ||
		    !is_bundle(path))
			continue;
		found->all++;
		if (fits(wanted, file->name))
			add(found, path, file->name);
	}
	gt_recording_files_release(&files);
}

/* Why it is not one. */
static int refuse(const struct found *found, const char *recording, const struct wanted *wanted,
                  struct gt_error *err)
{
	if (found->all == 0)
		return gt_fail(err, ENODATA,
		               "%s holds no launch to run again: gputrace run --capture-kernels "
		               "REGEX takes some, and gputrace report replayable says which it can",
		               recording);
	if (found->fit == 0)
		return gt_fail(err, EINVAL,
		               "%s holds %u launch%s to run again, none of which is %s", recording,
		               found->all, found->all == 1 ? "" : "es", wanted->text);
	return gt_fail(err, EINVAL,
	               "%s holds %u launches to run again: choose one with --launch: %s%s",
	               recording, found->fit, found->names, found->fit > NAMED ? ", ..." : "");
}

static int choose_of_recording(const char *recording, const struct wanted *wanted, char **folder,
                               struct gt_error *err)
{
	struct found found;
	int result = 0;

	look(&found, recording, wanted);
	if (found.fit == 1) {
		*folder = found.first;
		found.first = NULL;
	} else {
		result = refuse(&found, recording, wanted, err);
	}
	free(found.first);
	return result;
}

int gt_bundle_choose(const char *word, const char *launch, char **folder, struct gt_error *err)
{
	struct wanted wanted;
	char *recording = NULL;
	int result;

	if (word && looks_like_bundle(word)) {
		if (launch)
			return gt_fail(err, EINVAL,
			               "%s is one bundle: --launch chooses one of a recording",
			               word);
		*folder = gt_recording_path(word, "");
		return 0;
	}
	result = read_wanted(&wanted, launch, err);
	if (result < 0)
		return result;
	result = gt_recording_choose(word, &recording, err);
	if (result == 0)
		result = choose_of_recording(recording, &wanted, folder, err);
	free(recording);
	release_wanted(&wanted);
	return result;
}

const struct gt_bundle_step *gt_first_launch(const struct gt_bundle *bundle)
{
	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		if (step->kind == GT_BUNDLE_STEP_launch)
			return step;
	return NULL;
}
