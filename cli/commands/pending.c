/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pending/pending.h"
#include "analysis/pending/remarks.h"
#include "analysis/pending/tables.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/names.h"
#include "cli/command_line/option.h"
#include "cli/output/say.h"
#include "cli/output/words.h"
#include "cli/recording/manifest.h"
#include "cli/recording/of_process.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/render/render.h"
#include "cli/render/show.h"
#include "collector/collector.h"

struct args {
	struct gt_show_args show;
};

static const struct gt_option options[] = {
	GT_SHOW_OPTIONS(struct args, show),
	OPT_END_OF("pending"),
};

/* Those of no recording. */
static void make_tables(struct gt_result *result)
{
	gt_pending_add_tables(result, NULL, 0);
}

/* Recordings that are read together, and what is pending in each. */
struct ranks {
	struct gt_words paths;
	struct gt_trace *traces;
	struct gt_pending *pendings;
	size_t count; /* of those that were read */
};

static int read_one(struct ranks *ranks, const char *path, struct gt_error *err)
{
	struct gt_trace *trace = &ranks->traces[ranks->count];
	const gt_time now_ns = gt_instant_now().boottime_ns;
	int result;

	gt_trace_init(trace);
	result = gt_collect_live(path, trace, err);
	if (result < 0) {
		gt_trace_release(trace);
		return result;
	}
	gt_say_condition(path, gt_trace_text(trace, trace->condition));
	gt_pending_init(&ranks->pendings[ranks->count++], trace, now_ns);
	return 0;
}

/* Reads those that can be read; fails where none can. */
static int read_all(struct ranks *ranks, struct gt_error *err)
{
	const size_t count = ranks->paths.list.count;
	int result = 0;

	ranks->traces = gt_allocate(count * sizeof(*ranks->traces));
	ranks->pendings = gt_allocate(count * sizeof(*ranks->pendings));
	gt_array_each(char *const, path, &ranks->paths.list) {
		struct gt_error why = {0};

		if (read_one(ranks, *path, &why) == 0)
			continue;
		result = gt_fail(err, why.code, "%s", why.text);
		if (count > 1)
			gt_say("%s", why.text);
	}
	return ranks->count > 0 ? 0 : result;
}

static void release(struct ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++) {
		gt_pending_release(&ranks->pendings[i]);
		gt_trace_release(&ranks->traces[i]);
	}
	gt_array_free(ranks->traces);
	gt_array_free(ranks->pendings);
	gt_words_release(&ranks->paths);
}

/* The recording that a word means, or all that lie in a folder which is none. */
static int choose(const char *word, struct gt_words *paths, struct gt_error *err)
{
	char *path = word ? gt_recording_find(word) : NULL;
	int result = 0;

	if (!path && word && gt_path_is_folder(word))
		gt_recording_inside(word, paths);
	if (paths->list.count > 0)
		return 0;
	if (!path)
		result = word && gt_recording_is_pid(word)
		                 ? gt_recording_of_process(word, &path, err)
		                 : gt_recording_choose(word, &path, err);
	if (result == 0)
		gt_words_add(paths, path, strlen(path));
	free(path);
	return result;
}

static int show(const struct args *args, struct gt_rendering *rendering, const struct ranks *ranks,
                struct gt_error *err)
{
	struct gt_result result;
	int status;

	gt_result_init(&result);
	gt_pending_add_tables(&result, ranks->pendings, ranks->count);
	gt_pending_remark(&result, ranks->pendings, ranks->count);
	status = gt_result_check(&result, err);
	if (status == 0)
		status = gt_show(&args->show, rendering,
		                 &(struct gt_named_result){"pending", &result}, 1, err);
	gt_result_release(&result);
	return status;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.show = GT_SHOW_ARGS_INIT};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct gt_rendering rendering = {0};
	struct ranks ranks = {0};
	int status;

	if (left < 0)
		return left;
	status = gt_recording_one(left, argv, err);
	if (status == 0)
		status = gt_show_style(&args.show, &rendering.style, err);
	if (status == 0)
		status = choose(left > 0 ? argv[0] : NULL, &ranks.paths, err);
	if (status == 0)
		status = read_all(&ranks, err);
	if (status == 0)
		status = show(&args, &rendering, &ranks, err);
	release(&ranks);
	return status;
}

const struct gt_command gt_command_pending = {
	.name = "pending",
	.operands = "[RECORDING|PID]",
	.summary = "Show what a program that hangs waits for",
	.details = GT_RECORDING_HELP
	"\n\n"
	"PID is a process that is recorded now, or one that started it. A folder of several recordings "
	"shows all of them together."
	"\n\n"
	"Shown is the work that was given to streams and has not ended, the waits of streams, and "
	"the threads inside of calls. The recording is read while the program writes it. The program is not "
	"touched: it gets no signal, and is not stopped.",
	.tables = make_tables,
	.options = options,
	.run = run,
};
