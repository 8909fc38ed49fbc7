/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/steps/steps.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"
#include "base/path.h"
#include "cli/recording/recording.h"
#include "format/name.h"
#include "format/recording.h"

#define MOST_NUMBERS        100000 /* that %n tries */
#define PERFETTO_SUFFIX     ".perfetto"
#define METRICS_INTERVAL_NS 15000000000 /* where none is given */

/*
 * Where the recording goes: --output, else the environment, else the program's name, which is
 * no pattern.
 */
static const char *wanted_name(const struct gt_run *run, bool *pattern)
{
	const char *environment = gt_environment_find(&run->environment, "GPUTRACE_OUTPUT");

	*pattern = true;
	if (run->args->output)
		return run->args->output;
	if (environment && *environment)
		return environment;
	*pattern = false;
	return gt_path_name(run->program[0]);
}

/* A folder to record into, under the program's name: "results/" or ".", but "app.gputrace/". */
static bool is_place(const char *wanted)
{
	const size_t length = strlen(wanted);

	if (strcmp(wanted, ".") == 0)
		return true;
	return strspn(wanted, "/") < length && wanted[length - 1] == '/' &&
	       !gt_has_suffix(wanted, GT_RECORDING_SUFFIX "/");
}

/*
 * The NAME of what was wanted: in a folder the program's, and without the ending of either file.
 * NULL with err set when it can be none. The caller frees it.
 */
static char *stem_of(const struct gt_run *run, const char *wanted, struct gt_error *err)
{
	char *stem;
	size_t length;

	if (strcmp(wanted, "-") == 0) {
		(void)gt_fail(err, EINVAL,
		              "a recording is a folder and cannot go to standard output; "
		              "afterwards: gputrace export NAME -o -");
		return NULL;
	}
	if (gt_has_suffix(wanted, ".nsys-rep") || gt_has_suffix(wanted, ".ncu-rep") ||
	    gt_has_suffix(wanted, ".qdrep")) {
		(void)gt_fail(err, EINVAL,
		              "gputrace does not write %s; -o app gives app.gputrace and "
		              "app.perfetto",
		              wanted);
		return NULL;
	}
	if (is_place(wanted)) {
		/* Its errors show when the recording is to be made in it. */
		if (wanted[strlen(wanted) - 1] == '/')
			(void)mkdir(wanted, 0777);
		char *path =
			gt_recording_path(wanted, wanted[strlen(wanted) - 1] == '/' ? "" : "/");

		stem = gt_recording_path(path, gt_path_name(run->program[0]));
		free(path);
		return stem;
	}
	stem = gt_recording_stem(wanted);
	length = strlen(stem);
	if (gt_has_suffix(stem, PERFETTO_SUFFIX))
		stem[length - strlen(PERFETTO_SUFFIX)] = '\0';
	return stem;
}

static int take_names(struct gt_run *run, const char *wanted, struct gt_error *err)
{
	const bool exports = !run->args->no_export && !run->args->join;
	char *stem = stem_of(run, wanted, err);
	const char *name = stem ? gt_path_name(stem) : NULL;
	int result = 0;

	free(run->folder);
	free(run->exported);
	run->folder = run->exported = NULL;
	if (!stem)
		return -EINVAL;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		result = gt_fail(err, EINVAL,
		                 "'%s' does not name a recording: give a NAME such as app or "
		                 "results/app with --output",
		                 wanted);
	} else {
		run->folder = gt_recording_path(stem, GT_RECORDING_SUFFIX);
		run->exported = exports ? gt_recording_path(stem, PERFETTO_SUFFIX) : NULL;
	}
	free(stem);
	return result;
}

static int choose_names(struct gt_run *run, unsigned number, struct gt_error *err)
{
	char host[HOST_NAME_MAX + 1];
	const struct gt_name_facts facts = {
		.pid = (int)getpid(),
		.host = host,
		.environment = run->environment.list.rows,
		.number = number,
	};
	char expanded[PATH_MAX];
	bool pattern;
	const char *wanted = wanted_name(run, &pattern);
	int result = 0;

	gt_host_name(host, sizeof(host));
	if (pattern)
		result = gt_name_expand(wanted, &facts, expanded, sizeof(expanded), err);
	return result < 0 ? result : take_names(run, pattern ? expanded : wanted, err);
}

int gt_run_open_textfile(struct gt_run *run, struct gt_error *err)
{
	const int64_t given_ns = (int64_t)run->args->metrics_interval_ns;
	const struct gt_textfile_choice choice = {
		.file = run->args->metrics,
		.interval_ns = given_ns ? given_ns : METRICS_INTERVAL_NS,
		.environment = run->environment.list.rows,
		.joins = run->args->join,
	};

	if (given_ns && !choice.file)
		return gt_fail(err, EINVAL, "--metrics-interval goes with --metrics");
	return gt_textfile_open(&run->textfile, &choice, err);
}

static int refuse_existing(const char *path, struct gt_error *err)
{
	struct stat status;

	if (!path || lstat(path, &status) < 0)
		return 0;
	return gt_fail(err, EEXIST,
	               "%s exists already; choose another name with --output or overwrite it with "
	               "--force",
	               path);
}

/* Refuses a path that the export could not replace, before an older recording is touched. */
static int refuse_folder(const char *path, struct gt_error *err)
{
	if (!path || !gt_path_is_folder(path))
		return 0;
	return gt_fail(err, EISDIR, "cannot write %s: it is a folder", path);
}

/* Makes the folder; an older recording goes only with --force. */
static int claim_folder(struct gt_run *run, struct gt_error *err)
{
	const enum gt_claim_how how = run->args->join ? GT_CLAIM_JOIN
	                              : run->replace  ? GT_CLAIM_REPLACE
	                                              : GT_CLAIM_NEW;
	const int result = run->replace ? refuse_folder(run->exported, err)
	                                : refuse_existing(run->exported, err);

	return result < 0 ? result : gt_claim_make(&run->claim, run->folder, how, err);
}

int gt_run_make_folder(struct gt_run *run, struct gt_error *err)
{
	bool pattern;
	const char *wanted = wanted_name(run, &pattern);
	const bool numbered = pattern && gt_name_is_numbered(wanted);
	int result = -EEXIST;

	if (run->args->join && run->args->force)
		return gt_fail(err, EINVAL, "--join and --force exclude each other");
	if (run->args->join && numbered)
		return gt_fail(err, EINVAL,
		               "--join and %%n exclude each other: each run would have a recording "
		               "of its own");
	run->replace = run->args->force && !numbered;
	for (unsigned i = 1; result == -EEXIST && i <= (numbered ? MOST_NUMBERS : 1); i++) {
		result = choose_names(run, i, err);
		if (result == 0)
			result = claim_folder(run, err);
	}
	return result;
}
