/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/host.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/names.h"
#include "cli/command_line/option.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/output/variable.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/view/address.h"
#include "cli/view/browser.h"
#include "cli/view/opening.h"
#include "cli/view/page.h"
#include "cli/view/port.h"
#include "cli/view/serve.h"
#include "cli/view/temporary.h"
#include "cli/view/trace_file.h"
#include "exporters/exporter.h"
#include "format/file/chunk.h"
#include "format/recording.h"

enum {
	UI_PORT = 9001, /* the one port of this machine that the UI's content policy lets it fetch
	                   from */
	MOST_PORT = 65535,
	TOKEN_BYTES = 16, /* of 6 random bits each */
	SSH_PORT = 22,
};

struct args {
	const char *ui;
	uint64_t port; /* UINT64_MAX: not given */
	bool no_browser;
	struct gt_filter_args filter;
	const char *names;
};

static const struct gt_option options[] = {
	OPT_TEXT("ui", 0, struct args, ui, "ADDRESS",
                 "Use this Perfetto UI: its address, or the folder of a built one, which is then served "
                 "too, until Ctrl-C. Default: " GT_ADDRESS_UI),
	{OPT("port", 0, COUNT, struct args, port, "NUMBER",
             "Offer the trace on this port of 127.0.0.1, 0 for any that is free. Default: 9001, the only "
             "one that the UI may read from by itself; on another, or where 9001 is taken, you press "
             "a button on a page that hands the trace over"),
         NULL, 0, MOST_PORT},
	OPT_FLAG("no-browser", 0, struct args, no_browser,
                 "Open no browser, only print the address"),
	GT_NAMES_OPTION(struct args, names),
	GT_FILTER_OPTIONS(struct args, filter),
	OPT_END_OF("view"),
};

/* Everything about one view; released as a whole. */
struct view {
	const struct args *args;
	char *name; /* of the trace, as the UI is told */
	int trace;
	uint64_t trace_bytes;
	struct gt_opening opening;
	bool is_file;  /* it was given as one, and is not made of a recording */
	char *origin;  /* of the UI's address; NULL for a folder */
	int ui_folder; /* -1: the UI has an address */
	int socket;
	unsigned port;
	char token[TOKEN_BYTES + 1];
};

static void view_release(struct view *view)
{
	const int descriptors[] = {view->trace, view->ui_folder, view->socket};

	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++)
		if (descriptors[i] >= 0)
			(void)close(descriptors[i]);
	free(view->name);
	free(view->origin);
}

/* A folder with an index.html, or an address. */
static int choose_ui(struct view *view, struct gt_error *err)
{
	const char *ui = view->args->ui ? view->args->ui : GT_ADDRESS_UI;
	const int folder = open(ui, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0) {
		view->origin = gt_address_origin(ui, err);
		return view->origin ? 0 : -EINVAL;
	}
	view->ui_folder = folder;
	if (faccessat(folder, "index.html", R_OK, 0) < 0)
		return gt_fail(err, EINVAL, "%s holds no Perfetto UI: there is no index.html in it",
		               ui);
	return 0;
}

/* The UI's port, if it is free and nothing else was asked for. */
static int choose_port(struct view *view, struct gt_error *err)
{
	const uint64_t asked = view->args->port;

	view->socket = gt_port_listen(asked == UINT64_MAX ? UI_PORT : (unsigned)asked, err);
	if (view->socket == -EADDRINUSE && asked == UINT64_MAX)
		view->socket = gt_port_listen(0, err);
	if (view->socket < 0)
		return view->socket;
	view->port = gt_port_number(view->socket);
	return 0;
}

static int make_token(char *token, struct gt_error *err)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned char random[TOKEN_BYTES];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return gt_fail(err, errno, "cannot get random numbers: %s", gt_errno_text(errno));
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		token[i] = letters[random[i] % 64];
	token[TOKEN_BYTES] = '\0';
	return 0;
}

/* Where a browser is to begin. */
static void start_address(const struct view *view, char *text, size_t size)
{
	snprintf(text, size, "http://127.0.0.1:%u/%s/", view->port, view->token);
}

/* The last part of a path, by its real name for "." and its like. The caller frees it. */
static char *last_part(const char *path)
{
	char *real = realpath(path, NULL);
	char *name = gt_recording_path(gt_path_name(real ? real : path), "");

	free(real);
	return name;
}

/* Whether it begins as recordings and captures do; a folder is one too. */
static bool is_recording(int file)
{
	char begin[sizeof(GT_FILE_MAGIC) - 1];
	struct stat status;

	if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode))
		return true;
	return pread(file, begin, sizeof(begin), 0) == (ssize_t)sizeof(begin) &&
	       memcmp(begin, GT_FILE_MAGIC, sizeof(begin)) == 0;
}

/* By its first bytes: what Perfetto opens is a trace of its own, JSON, or one of these packed. */
static bool is_trace(int file)
{
	static const struct {
		off_t offset;
		const char *bytes;
	} begins[] = {{0, "\n"},
	              {0, "{"},
	              {0, "["},
	              {0, "\x1f\x8b"},
	              {0, "\x28\xb5\x2f\xfd"},
	              {0, "PK\x03\x04"},
	              {257, "ustar"}};
	char found[8];

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		const size_t length = strlen(begins[i].bytes);

		if (pread(file, found, length, begins[i].offset) == (ssize_t)length &&
		    memcmp(found, begins[i].bytes, length) == 0)
			return true;
	}
	return false;
}

static int write_trace(struct view *view, const struct gt_view *chosen,
                       struct gt_progress *progress, struct gt_error *err)
{
	struct gt_trace_file file = {
		.exporter = gt_exporter_find("perfetto"),
		.name = "the trace into a temporary file (TMPDIR names its folder)",
	};
	int result = view->trace = gt_temporary_open(err);
	int fd;

	if (result < 0)
		return result;
	fd = fcntl(view->trace, F_DUPFD_CLOEXEC, 0);
	file.file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file.file)
		return gt_fail(err, errno, "cannot write %s: %s", file.name, gt_errno_text(errno));
	gt_progress_begin(progress, false, "writing %s", view->name);
	result = gt_trace_file_write(&file, chosen, progress, NULL, err);
	if (fclose(file.file) != 0 && result == 0)
		result =
			gt_fail(err, errno, "cannot write %s: %s", file.name, gt_errno_text(errno));
	return result;
}

/* Name of the trace of a recording. */
static char *name_of(const char *recording)
{
	char *last = last_part(recording);
	char *stem = gt_recording_stem(last);
	char *name = gt_recording_path(stem, ".perfetto");

	free(stem);
	free(last);
	return name;
}

static int export_recording(struct view *view, const char *path, struct gt_error *err)
{
	struct gt_progress progress = {0};
	struct gt_reading reading;
	int result;

	view->name = name_of(path);
	gt_reading_init(&reading);
	result = gt_reading_choose(&reading, &view->args->filter, err);
	gt_progress_begin(&progress, false, "reading %s", path);
	if (result == 0)
		result = gt_reading_read(&reading, path, gt_names_form(view->args->names),
		                         &progress, err);
	if (result == 0)
		result = write_trace(view, &reading.view, &progress, err);
	gt_progress_end(&progress);
	gt_say_condition(path, reading.condition);
	gt_reading_release(&reading);
	return result;
}

static bool has_filter(const struct gt_filter_args *filter)
{
	return filter->from || filter->to || filter->processes.count || filter->devices.count ||
	       filter->streams.count || filter->kernels.count;
}

static int use_trace(struct view *view, const char *path, struct gt_error *err)
{
	if (!is_trace(view->trace))
		return gt_fail(err, EBADMSG,
		               "%s is neither a recording nor a trace that Perfetto opens", path);
	if (has_filter(&view->args->filter))
		return gt_fail(err, EINVAL,
		               "%s is a trace: only of a recording can a part be chosen", path);
	if (view->args->names)
		return gt_fail(err, EINVAL,
		               "%s is a trace: only in that of a recording can --names be chosen",
		               path);
	view->is_file = true;
	view->name = last_part(path);
	return 0;
}

/* The trace as an open file: itself, or what a recording becomes. */
static int open_trace(struct view *view, const char *path, struct gt_error *err)
{
	char opening[GT_OPENING_BYTES];
	struct stat status;
	int result;

	view->trace = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (view->trace < 0)
		return gt_fail(err, errno, "cannot read %s: %s", path, gt_errno_text(errno));
	if (is_recording(view->trace)) {
		(void)close(view->trace);
		view->trace = -1;
		result = export_recording(view, path, err);
	} else {
		result = use_trace(view, path, err);
	}
	if (result < 0)
		return result;
	if (fstat(view->trace, &status) < 0)
		return gt_fail(err, errno, "cannot read %s: %s", path, gt_errno_text(errno));
	view->trace_bytes = (uint64_t)status.st_size;
	if (gt_perfetto_read_opening(view->trace, opening))
		(void)gt_opening_read(&view->opening, opening);
	return 0;
}

/* "-p PORT " when the connection did not come to ssh's usual one. */
static void ssh_option(const char *connection, char *text, size_t size)
{
	/* Address and port of the client, then of this machine. */
	const char *last = connection ? strrchr(connection, ' ') : NULL;
	uint64_t port = SSH_PORT;

	*text = '\0';
	if (last && gt_parse_count(last + 1, &port) == 0 && port != SSH_PORT && port <= MOST_PORT)
		snprintf(text, size, "-p %u ", (unsigned)port);
}

/* A browser on another machine comes through ssh. */
static void say_ssh(const struct view *view)
{
	const char *connection = gt_variable("SSH_CONNECTION");
	char host[HOST_NAME_MAX + 1];
	char option[16];

	if (!connection && gt_browser_is_there())
		return;
	ssh_option(connection, option, sizeof(option));
	gt_host_name(host, sizeof(host));
	gt_say("for a browser on another machine, first run there: ssh -N %s-L %u:127.0.0.1:%u %s",
	       option, view->port, view->port, host);
}

/* Whether the UI fetches the trace by itself. */
static bool leads_to_ui(const struct view *view)
{
	return view->ui_folder >= 0 || view->port == UI_PORT;
}

/* For who takes the file elsewhere: the address that the UI is sent to from here, without us. */
static void say_elsewhere(const struct view *view)
{
	const char *ui = view->args->ui ? view->args->ui : GT_ADDRESS_UI;
	char *address;

	if (view->ui_folder >= 0)
		return;
	address = gt_address_make(ui, NULL, &view->opening);
	gt_say("to look at the file without gputrace, drop it into %s", address);
	free(address);
}

static void announce(const struct view *view)
{
	struct gt_error err = {0};
	char start[80];

	start_address(view, start, sizeof(start));
	gt_say_link(start, start, "%s (%s) waits for a browser at ", view->name,
	            gt_figure_bytes((int64_t)view->trace_bytes).text);
	if (leads_to_ui(view) && view->origin)
		gt_say("if the browser asks whether %s may reach this machine, allow it",
		       view->origin);
	say_ssh(view);
	if (view->args->no_browser && view->is_file)
		say_elsewhere(view);
	if (!view->args->no_browser && gt_browser_is_there() && gt_browser_open(start, &err) < 0)
		gt_say("%s; open the address yourself", err.text);
}

/* Answers the browser that comes to the start: where it goes, or a page. */
static int serve(struct view *view, struct gt_error *err)
{
	const bool leads = leads_to_ui(view);
	const char *named = view->args->ui ? view->args->ui : GT_ADDRESS_UI;
	char start[80];
	char own[sizeof(start) + 8];
	char trace[sizeof(start) + 3 * ((size_t)NAME_MAX + 16)];
	char *name = gt_address_encode(view->name);
	char *address;
	char *page = NULL;
	struct gt_serving serving = {
		.token = view->token,
		.trace = view->trace,
		.trace_bytes = view->trace_bytes,
		.trace_name = view->name,
		.origin = leads ? view->origin : NULL,
		.ui = view->ui_folder,
	};
	int result;

	start_address(view, start, sizeof(start));
	snprintf(trace, sizeof(trace), "%s%s", start, name);
	snprintf(own, sizeof(own), "%sui/", start);
	address = gt_address_make(view->ui_folder >= 0 ? own : named, leads ? trace : NULL,
	                          &view->opening);
	if (leads) {
		serving.location = address;
	} else {
		snprintf(trace, sizeof(trace), "/%s/%s", view->token, name);
		serving.page = page =
			gt_page_make(&(struct gt_page){address, view->origin, trace, view->name});
	}
	(void)signal(SIGPIPE, SIG_IGN); /* of a browser that closes its connection */
	result = gt_serve(view->socket, &serving, err);
	view->socket = -1;
	free(page);
	free(address);
	free(name);
	if (result == 0)
		gt_say("the browser has %s now", view->name);
	return result;
}

/*
 * A recording as every command finds it ("app" beside app.gputrace), else a file, which may be a
 * trace.
 */
static int choose_what(const char *word, char **path, struct gt_error *err)
{
	static const struct gt_wanted wanted = {.what = "recording or trace", .code = ENOENT};
	char *recording = word ? gt_recording_find(word) : NULL;
	const bool has_recording = recording;
	const bool is_there = word && access(word, F_OK) == 0;

	free(recording);
	if (word && *word && !has_recording && !is_there &&
	    (gt_recording_is_trace(word) || gt_recording_is_foreign(word, NULL) == 0)) {
		(void)gt_recording_missing(word, &wanted, err);
		return -ENOENT;
	}
	if (has_recording || !is_there || gt_path_is_folder(word) || gt_recording_is_program(word))
		return gt_recording_choose(word, path, err);
	*path = gt_recording_path(word, "");
	return 0;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.port = UINT64_MAX};
	struct view view = {.args = &args, .trace = -1, .ui_folder = -1, .socket = -1};
	char *path = NULL;
	const int left = gt_options_parse(options, &args, argc, argv, err);
	int result;

	if (left < 0)
		return left;
	result = gt_recording_one(left, argv, err);
	if (result == 0)
		result = gt_serve_check(err);
	if (result == 0)
		result = choose_ui(&view, err);
	if (result == 0)
		result = make_token(view.token, err);
	if (result == 0)
		result = choose_port(&view, err);
	if (result == 0)
		result = choose_what(left > 0 ? argv[0] : NULL, &path, err);
	if (result == 0)
		result = open_trace(&view, path, err);
	if (result == 0) {
		announce(&view);
		result = serve(&view, err);
	}
	view_release(&view);
	free(path);
	return result < 0 ? result : GT_EXIT_OK;
}

const struct gt_command gt_command_view = {
	.name = "view",
	.operands = "[RECORDING|TRACE]",
	.summary = "Show a recording on a timeline, in a browser",
	.details =
		"Offers the trace to the browser of this machine and opens it: Perfetto's UI shows "
		"the GPU and the program on a timeline. Ends when the UI has loaded the trace, or by "
		"Ctrl-C. The trace stays on this machine, as the UI runs in the browser.\n" GT_RECORDING_HELP
		"\n"
		"TRACE is a file that Perfetto opens, such as NAME.perfetto.",
	.options = options,
	.run = run,
};
