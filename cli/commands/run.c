/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/host.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/command_line/command.h"
#include "cli/command_line/names.h"
#include "cli/command_line/option.h"
#include "cli/output/output.h"
#include "cli/output/process.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/recording/manifest.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/run/calibration.h"
#include "cli/run/claim.h"
#include "cli/run/environment.h"
#include "cli/run/job_times.h"
#include "cli/run/library.h"
#include "cli/run/listener.h"
#include "cli/run/python.h"
#include "cli/run/sequence_times.h"
#include "cli/run/strangers.h"
#include "cli/run/summary.h"
#include "cli/run/topology.h"
#include "cli/view/trace_file.h"
#include "exporters/exporter.h"
#include "format/arena/arena.h"
#include "format/arena/salvage.h"
#include "format/name.h"
#include "format/recording.h"
#include "format/settings.h"

#define MOST_NUMBERS    100000 /* that %n tries */

#define DEVICE_BYTES    "16M"
#define KEPT_BYTES      "4G" /* of modules, in each process, where the environment does not say */

#define PERFETTO_SUFFIX ".perfetto"

struct args {
	const char *output;
	const char *api;
	const char *graphs;
	uint64_t graph_sample; /* 0: not given */
	const char *cupti;
	const char *names;
	const char *nvtx_domains;
	const char *no_nvtx_domains;
	const char *pytorch;
	const char *allocators;
	uint64_t allocator_interval_ns; /* 0: not given */
	uint64_t flush_interval_ns;     /* 0: not given */
	uint64_t telemetry_ns;          /* 0: not given */
	const char *counters;
	uint64_t counter_interval_ns; /* 0: not given */
	const char *kernel_counters;
	const char *kernels;
	const char *capture_kernels;
	const char *capture_sequence;
	bool capture_graphs;
	uint64_t max_bytes; /* 0: not given */
	const char *launches;
	const char *range;
	const char *device_events;
	uint64_t device_interval_ns; /* 0: not given */
	uint64_t buffer_bytes;       /* 0: not given */
	bool device_events_last;
	bool hazards;
	bool numa;
	bool keep_modules;
	bool unified_memory;
	bool memory_pools;
	bool memory_libraries;
	bool no_nvtx;
	bool force;
	bool join;
	bool no_export;
	bool quiet;
	bool verbose;
};

/* The limits are those of the help in format/settings.def. */
static const struct gt_option options[] = {
	OPT_TEXT(
		"output", 'o', struct args, output, "NAME",
		"Write NAME.gputrace and NAME.perfetto. Default: what GPUTRACE_OUTPUT says, else the "
		"program's name, in this folder. FOLDER/ writes into that folder. In NAME, %p is the "
		"process id of gputrace, %h the host, %q{VAR} an environment variable, %n the "
		"smallest number that is free, %% a percent sign"),
	OPT_FLAG("force", 'f', struct args, force,
                 "Overwrite an existing recording. It stays until the new one is there; one that is "
                 "being written is never replaced"),
	OPT_FLAG("join", 0, struct args, join,
                 "Share NAME.gputrace, even if it exists, with other runs that do the same, such as "
                 "the ranks of a job. Writes no NAME.perfetto"),
	OPT_FLAG("no-export", 0, struct args, no_export, "Do not write NAME.perfetto"),
	OPT_FLAG("quiet", 'q', struct args, quiet, "Print no summary, only what went wrong"),
	GT_NAMES_OPTION(struct args, names),
	OPT_CHOICE("api", 0, struct args, api, "CALLS", gt_api_words,
                   "API calls to record. light (default): those that the program makes, but of a "
                   "kernel launch the driver's call in place of the runtime's; outer: also of a "
                   "launch the runtime's, which costs more; all: also the calls inside these; none"),
	OPT_CHOICE(
		"graphs", 0, struct args, graphs, "LEVEL", gt_graphs_words,
		"How to record launches of CUDA graphs. node (default): each kernel, copy and fill "
		"of them; graph: each launch as a whole, which costs less; sampled: the first 20 "
		"launches of each graph and every 20th node by node, the others as a whole, which "
		"makes the recording small"),
	OPT_COUNT("graph-sample", 0, struct args, graph_sample, "N",
                  "With --graphs sampled: N in place of 20, 1 to 1000000"),
	OPT_FLAG("no-nvtx", 0, struct args, no_nvtx,
                 "Record no ranges, marks and names that the program gives through NVTX"),
	OPT_TEXT("nvtx-domains", 0, struct args, nvtx_domains, "NAMES",
                 "Record NVTX of these domains alone, with commas between them; default is the one "
                 "without a name"),
	OPT_TEXT("no-nvtx-domains", 0, struct args, no_nvtx_domains, "NAMES",
                 "Record NVTX of all domains but these"),
	OPT_TEXT(
		"pytorch", 0, struct args, pytorch, "WHAT",
		"Name what PyTorch does, forward and backward, by NVTX ranges, which slows the program "
		"down: ops, shapes (ops with sizes of operands) or modules; commas separate several"),
	OPT_TEXT("allocators", 0, struct args, allocators, "WHOSE",
                 "Ask allocators of programs in Python how full they are: pytorch, jax, or "
                 "pytorch-blocks, which also has PyTorch keep each block's times, and costs more; "
                 "commas separate several"),
	OPT_DURATION("allocator-interval", 0, struct args, allocator_interval_ns, "TIME", 10000000,
                     3600000000000, "With --allocators: ask this often, 10ms to 1h; default 100ms"),
	OPT_INTERVAL("telemetry", 0, struct args, telemetry_ns, "TIME", 10000000, 3600000000000,
                     "Read power, clocks, temperature and the like of each GPU in use this often, "
                     "10ms to 1h, or off; default 100ms"),
	OPT_MAYBE(
		"counters", 0, struct args, counters, "SET",
		"Sample hardware counters of each GPU in use: a set (default, memory, compute, links, "
		"clocks), counters or CUPTI's metrics, commas between several. They slow the "
		"program down and need the right to read them. Alone: default"),
	OPT_DURATION("counter-interval", 0, struct args, counter_interval_ns, "TIME", 20000,
                     10000000, "With --counters: sample this often, 20us to 10ms; default 100us"),
	OPT_MAYBE(
		"kernel-counters", 0, struct args, kernel_counters, "SET",
		"Read hardware counters of single launches, which are run several times for that: a "
		"set (default, memory, compute, occupancy, flops, all), counters or CUPTI's metrics, "
		"commas between several; graphs: of launches of CUDA graphs instead. Times of these "
		"launches count in no figure. Alone: default"),
	OPT_TEXT("kernels", 0, struct args, kernels, "REGEX",
                 "With --kernel-counters: of kernels alone whose names match this extended regular "
                 "expression, as the compiler mangled them"),
	OPT_TEXT("capture-kernels", 0, struct args, capture_kernels, "REGEX",
                 "Capture launches of kernels whose mangled names match this extended regular "
                 "expression, with all that gputrace replay needs to run them again: code, "
                 "parameters, and memory before and after. The program waits meanwhile"),
	OPT_TEXT("capture-sequence", 0, struct args, capture_sequence, "NAME",
                 "Capture an occurrence of the NVTX range of this name as one sequence: all launches, "
                 "copies, fills, records and waits that the process makes while it is open on any "
                 "thread, with memory before and after"),
	OPT_FLAG("capture-graphs", 0, struct args, capture_graphs,
                 "Capture launches of CUDA graphs, each as one sequence of its nodes, with memory "
                 "before and after"),
	OPT_SIZE("max-bytes", 0, struct args, max_bytes, "SIZE", 1 << 20, (uint64_t)1 << 40,
                 "With --capture-kernels, --capture-sequence or --capture-graphs: disk that they may take, of each "
                 "process, 1M to 1T; default 4G"),
	OPT_TEXT(
		"launches", 0, struct args, launches, "FIRST:COUNT",
		"With --kernel-counters, --capture-kernels or --capture-graphs: COUNT launches of those "
		"that are chosen, from the FIRST on, in each process; default 1:100, or 1:1 to capture. With "
		"--capture-sequence: occurrences of the range"),
	OPT_TEXT("range", 0, struct args, range, "NAME",
                 "With these three: launches alone that are made while a range of NVTX of this name is "
                 "open on any thread"),
	OPT_MAYBE(
		"device-events", 0, struct args, device_events, "SIZE",
		"Record the events that kernels write themselves (gputrace/device.cuh), through so "
		"much memory of each GPU, 1M to 4G. Alone: " DEVICE_BYTES),
	OPT_FLAG("device-events-last", 0, struct args, device_events_last,
                 "With --device-events: where that memory is full keep the last events and not the "
                 "first ones; they are copied out at the end alone"),
	OPT_DURATION("device-events-interval", 0, struct args, device_interval_ns, "TIME", 1000000,
                     10000000000,
                     "With --device-events: copy them out this often, 1ms to 10s; "
                     "default 10ms"),
	OPT_DURATION("flush-interval", 0, struct args, flush_interval_ns, "TIME", 1000000,
                     3600000000000,
                     "Fetch finished records from CUPTI this often, 1ms to 1h; default 100ms"),
	OPT_SIZE("buffer-size", 0, struct args, buffer_bytes, "SIZE", 64 << 10, 64 << 20,
                 "Size of a buffer that CUPTI writes records into, 64K to 64M; default 1M. Smaller "
                 "ones take less disk while the program runs"),
	OPT_FLAG("keep-modules", 0, struct args, keep_modules,
                 "Keep the GPU code that is loaded (cubins) in the recording, each once, at most 4G for "
                 "each process, so that reports know its functions, and record how long compiling "
                 "it took; loading it then takes longer"),
	OPT_FLAG("unified-memory", 0, struct args, unified_memory,
                 "Record what happens to managed memory: migrations, page faults, thrashing, "
                 "throttling and remote mappings. What it costs is not measured yet"),
	OPT_FLAG("memory-pools", 0, struct args, memory_pools,
                 "Read what CUDA's memory pools and graphs have reserved and use as often as "
                 "--telemetry says"),
	OPT_FLAG("memory-libraries", 0, struct args, memory_libraries,
                 "Record which shared object asked for memory, from the stack of the thread"),
	OPT_FLAG("hazards", 0, struct args, hazards,
                 "Record which memory copies and fills touch, so that report hazards finds what "
                 "streams do to the same memory in no order; what that costs is not measured yet"),
	OPT_FLAG("numa", 0, struct args, numa,
                 "Record on which processor copies are asked for, and on which NUMA node the host's "
                 "memory lies, for report links; what that costs is not measured yet"),
	OPT_TEXT("cupti", 0, struct args, cupti, "FILE",
                 "Use this file as libcupti, NVIDIA's library for tools; by default the one that fits "
                 "the driver is looked for"),
	OPT_FLAG("verbose", 'v', struct args, verbose,
                 "Let every process say whether it is recorded, and print the long address that "
                 "unfolds the trace in Perfetto's UI"),
	OPT_END_OF("run"),
};

/* Everything about one run; released as a whole. */
struct run {
	const struct args *args;
	char **program;
	char *folder;
	char *exported; /* NULL with --no-export and --join */
	struct gt_claim claim;
	bool replace; /* NAME.perfetto may be, as the folder may */
	struct gt_python python;
	struct gt_manifest manifest;
	struct gt_environment environment;
	struct gt_listener listener;
	struct gt_strangers strangers;
};

static void run_release(struct run *run)
{
	gt_claim_release(&run->claim);
	free(run->folder);
	free(run->exported);
	gt_manifest_release(&run->manifest);
	gt_environment_release(&run->environment);
}

/*
 * Where the recording goes: --output, else the environment, else the program's name, which is
 * no pattern.
 */
static const char *wanted_name(const struct run *run, bool *pattern)
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
static char *stem_of(const struct run *run, const char *wanted, struct gt_error *err)
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

static int take_names(struct run *run, const char *wanted, struct gt_error *err)
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

static int choose_names(struct run *run, unsigned number, struct gt_error *err)
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
static int claim_folder(struct run *run, struct gt_error *err)
{
	const enum gt_claim_how how = run->args->join ? GT_CLAIM_JOIN
	                              : run->replace  ? GT_CLAIM_REPLACE
	                                              : GT_CLAIM_NEW;
	const int result = run->replace ? refuse_folder(run->exported, err)
	                                : refuse_existing(run->exported, err);

	return result < 0 ? result : gt_claim_make(&run->claim, run->folder, how, err);
}

/* A name with a number in it is never an existing one, and so needs no --force. */
static int make_folder(struct run *run, struct gt_error *err)
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

static void complain(void *context, const char *sentence)
{
	(void)context;
	gt_say("%s", sentence);
}

/*
 * Problems that the injection library could only note, or not even note, are said before it is
 * too late: settings it does not understand, and a disk without room for a process's arena.
 */
static int check_settings(const struct run *run, struct gt_error *err)
{
	struct gt_settings settings;
	struct statvfs disk;

	gt_settings_read(&settings, run->environment.list.rows, complain, NULL);

	const struct gt_arena_config config =
		gt_arena_config_of(settings.buffer_count, settings.buffer_bytes, "");
	const uint64_t needed = gt_arena_bytes(&config);

	if (statvfs(run->folder, &disk) < 0 || disk.f_blocks == 0)
		return 0; /* some file systems do not tell */
	if ((uint64_t)disk.f_bavail * disk.f_frsize >= needed)
		return 0;
	return gt_fail(
		err, ENOSPC,
		"cannot record into %s: each process needs %s of disk while it runs, and %s are "
		"free; choose another disk with --output or lower --buffer-size",
		run->folder, gt_figure_bytes((int64_t)needed).text,
		gt_figure_bytes((int64_t)(disk.f_bavail * disk.f_frsize)).text);
}

static void set_number(struct gt_environment *environment, const char *name, uint64_t value,
                       const char *unit)
{
	char text[32];

	if (value == 0)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 "%s", value, unit);
	gt_environment_set(environment, name, text);
}

/* A path relative to our folder means another one once the program changes its own. */
static int set_cupti(struct gt_environment *environment, const char *cupti, struct gt_error *err)
{
	char *path;

	if (!strchr(cupti, '/')) {
		gt_environment_set(environment, "GPUTRACE_CUPTI", cupti);
		return 0;
	}
	path = realpath(cupti, NULL);
	if (!path)
		return gt_fail(err, errno, "cannot use --cupti %s: %s", cupti,
		               gt_errno_text(errno));
	gt_environment_set(environment, "GPUTRACE_CUPTI", path);
	free(path);
	return 0;
}

/* FIRST:COUNT, both from 1 on. */
static int set_launches(struct gt_environment *environment, const char *text, struct gt_error *err)
{
	const char *colon = strchr(text, ':');
	char first[32] = "";
	uint64_t value = 0;

	if (colon && (size_t)(colon - text) < sizeof(first))
		memcpy(first, text, (size_t)(colon - text));
	if (!colon || gt_parse_count(first, &value) < 0 || value == 0 ||
	    gt_parse_count(colon + 1, &value) < 0 || value == 0)
		return gt_fail(err, EINVAL,
		               "--launches %s is not FIRST:COUNT, such as 1:10 for the first ten",
		               text);
	gt_environment_set(environment, "GPUTRACE_LAUNCHES_FIRST", first);
	gt_environment_set(environment, "GPUTRACE_LAUNCHES_COUNT", colon + 1);
	return 0;
}

static int check_regex(const char *option, const char *pattern, struct gt_error *err)
{
	regex_t regex;
	const int result = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (result != 0) {
		char why[128];

		(void)regerror(result, &regex, why, sizeof(why));
		return gt_fail(err, EINVAL, "%s %s is no regular expression: %s", option, pattern,
		               why);
	}
	regfree(&regex);
	return 0;
}

static bool captures(const struct args *args)
{
	return args->capture_kernels || args->capture_sequence || args->capture_graphs;
}

/* Options that choose launches go with one that does something with them. */
static int check_choice(const struct args *args, struct gt_error *err)
{
	if (args->kernels && !args->kernel_counters)
		return gt_fail(err, EINVAL, "--kernels chooses launches for --kernel-counters");
	if (args->launches && !args->kernel_counters && !captures(args))
		return gt_fail(err, EINVAL,
		               "--launches chooses launches for --kernel-counters, "
		               "--capture-kernels or --capture-graphs, or occurrences for "
		               "--capture-sequence");
	if (args->range && !args->kernel_counters && !args->capture_kernels &&
	    !args->capture_graphs)
		return gt_fail(err, EINVAL,
		               "--range chooses launches for --kernel-counters, "
		               "--capture-kernels or --capture-graphs");
	if (args->max_bytes && !captures(args))
		return gt_fail(err, EINVAL,
		               "--max-bytes goes with --capture-kernels, --capture-sequence or "
		               "--capture-graphs");
	if ((args->range || args->capture_sequence) && args->no_nvtx)
		return gt_fail(err, EINVAL,
		               "%s and --no-nvtx exclude each other: the range is one of NVTX",
		               args->range ? "--range" : "--capture-sequence");
	return 0;
}

static int check_capture_sequence(const struct args *args, struct gt_error *err)
{
	if (!args->capture_sequence)
		return 0;
	if (!*args->capture_sequence)
		return gt_fail(err, EINVAL, "--capture-sequence needs the name of a range");
	if (args->kernel_counters || args->capture_kernels)
		return gt_fail(err, EINVAL,
		               "--capture-sequence and %s exclude each other: a launch is captured "
		               "by itself, in its sequence, or run several times",
		               args->kernel_counters ? "--kernel-counters" : "--capture-kernels");
	return 0;
}

static int check_capture_graphs(const struct args *args, struct gt_error *err)
{
	if (!args->capture_graphs ||
	    (!args->kernel_counters && !args->capture_kernels && !args->capture_sequence))
		return 0;
	return gt_fail(err, EINVAL,
	               "--capture-graphs and %s exclude each other: a launch is captured once, or "
	               "run several times",
	               args->kernel_counters   ? "--kernel-counters"
	               : args->capture_kernels ? "--capture-kernels"
	                                       : "--capture-sequence");
}

/* Options that go with --kernel-counters, and those that do not. */
static int check_kernel_counters(const struct args *args, struct gt_error *err)
{
	if (args->kernel_counters && args->counters)
		return gt_fail(err, EINVAL,
		               "--counters and --kernel-counters exclude each other: CUPTI gives a "
		               "GPU's counters to sampling or to the replay of kernels");
	if (args->kernel_counters && args->capture_kernels)
		return gt_fail(err, EINVAL,
		               "--kernel-counters and --capture-kernels exclude each other: a "
		               "launch is run several times, or captured");
	return args->kernels ? check_regex("--kernels", args->kernels, err) : 0;
}

static void set_kernel_counters(struct gt_environment *environment, const struct args *args)
{
	if (!args->kernel_counters)
		return;
	gt_environment_set(environment, "GPUTRACE_KERNEL_COUNTERS",
	                   *args->kernel_counters ? args->kernel_counters : "default");
	if (args->kernels)
		gt_environment_set(environment, "GPUTRACE_KERNELS", args->kernels);
}

static int set_captures(struct gt_environment *environment, const struct args *args,
                        struct gt_error *err)
{
	const int result = args->capture_kernels
	                           ? check_regex("--capture-kernels", args->capture_kernels, err)
	                           : 0;

	if (result < 0 || !captures(args))
		return result;
	if (args->capture_kernels && !*args->capture_kernels)
		return gt_fail(err, EINVAL,
		               "--capture-kernels needs a regular expression, such as '.' for all");
	if (args->capture_graphs)
		gt_environment_set(environment, "GPUTRACE_CAPTURE_GRAPHS", "1");
	else if (args->capture_kernels)
		gt_environment_set(environment, "GPUTRACE_CAPTURE_KERNELS", args->capture_kernels);
	else
		gt_environment_set(environment, "GPUTRACE_CAPTURE_SEQUENCE",
		                   args->capture_sequence);
	set_number(environment, "GPUTRACE_CAPTURE_BYTES", args->max_bytes, "");
	if (!args->launches)
		gt_environment_set(environment, "GPUTRACE_LAUNCHES_COUNT", "1");
	return 0;
}

/* Launches of which something more is recorded: which ones, and what. */
static int set_chosen(struct gt_environment *environment, const struct args *args,
                      struct gt_error *err)
{
	int result = check_kernel_counters(args, err);

	if (result == 0)
		result = check_choice(args, err);
	if (result == 0)
		result = check_capture_graphs(args, err);
	if (result == 0)
		result = check_capture_sequence(args, err);
	if (result < 0)
		return result;
	set_kernel_counters(environment, args);
	if (args->range)
		gt_environment_set(environment, "GPUTRACE_LAUNCHES_RANGE", args->range);
	result = set_captures(environment, args, err);
	return result == 0 && args->launches ? set_launches(environment, args->launches, err)
	                                     : result;
}

static int set_device_events(struct gt_environment *environment, const struct args *args,
                             struct gt_error *err)
{
	static const char name[] = "GPUTRACE_DEVICE_EVENTS";
	const char *size =
		args->device_events && !*args->device_events ? DEVICE_BYTES : args->device_events;
	uint64_t bytes = 0;

	if (!size && !gt_environment_find(environment, name) &&
	    (args->device_events_last || args->device_interval_ns))
		return gt_fail(err, EINVAL, "%s goes with --device-events",
		               args->device_events_last ? "--device-events-last"
		                                        : "--device-events-interval");
	if (size && (gt_parse_size(size, &bytes) < 0 || bytes < 1u << 20 || bytes > 4ull << 30))
		return gt_fail(err, EINVAL,
		               "--device-events=%s is no size from 1M to 4G, such as 64M", size);
	if (size)
		gt_environment_set(environment, name, size);
	if (args->device_events_last)
		gt_environment_set(environment, "GPUTRACE_DEVICE_EVENTS_LAST", "1");
	set_number(environment, "GPUTRACE_DEVICE_EVENTS_INTERVAL", args->device_interval_ns, "ns");
	return 0;
}

static int set_options(struct gt_environment *environment, const struct args *args,
                       struct gt_error *err)
{
	int result;

	set_number(environment, "GPUTRACE_FLUSH_INTERVAL", args->flush_interval_ns, "ns");
	set_number(environment, "GPUTRACE_BUFFER_SIZE", args->buffer_bytes, "");
	if (args->telemetry_ns == GT_OPTION_OFF)
		gt_environment_set(environment, "GPUTRACE_TELEMETRY", "off");
	else
		set_number(environment, "GPUTRACE_TELEMETRY", args->telemetry_ns, "ns");
	if (args->counters)
		gt_environment_set(environment, "GPUTRACE_COUNTERS",
		                   *args->counters ? args->counters : "default");
	set_number(environment, "GPUTRACE_COUNTER_INTERVAL", args->counter_interval_ns, "ns");
	if (args->api)
		gt_environment_set(environment, "GPUTRACE_API", args->api);
	if (args->keep_modules && !gt_environment_find(environment, "GPUTRACE_KEEP_MODULES"))
		gt_environment_set(environment, "GPUTRACE_KEEP_MODULES", KEPT_BYTES);
	if (args->hazards)
		gt_environment_set(environment, "GPUTRACE_ACCESSES", "1");
	if (args->numa)
		gt_environment_set(environment, "GPUTRACE_NUMA", "1");
	if (args->graphs)
		gt_environment_set(environment, "GPUTRACE_GRAPHS", args->graphs);
	set_number(environment, "GPUTRACE_GRAPH_SAMPLE", args->graph_sample, "");
	set_number(environment, "GPUTRACE_ALLOCATOR_INTERVAL", args->allocator_interval_ns, "ns");
	if (args->nvtx_domains)
		gt_environment_set(environment, "GPUTRACE_NVTX_DOMAINS", args->nvtx_domains);
	if (args->no_nvtx_domains)
		gt_environment_set(environment, "GPUTRACE_NVTX_NO_DOMAINS", args->no_nvtx_domains);
	if (args->unified_memory)
		gt_environment_set(environment, "GPUTRACE_UNIFIED_MEMORY", "1");
	if (args->memory_pools)
		gt_environment_set(environment, "GPUTRACE_CUDA_POOLS", "1");
	if (args->memory_libraries)
		gt_environment_set(environment, "GPUTRACE_MEMORY_LIBRARIES", "1");
	if (args->verbose)
		gt_environment_set(environment, "GPUTRACE_VERBOSE", "1");
	result = set_chosen(environment, args, err);
	if (result == 0)
		result = set_device_events(environment, args, err);
	if (result < 0)
		return result;
	return args->cupti ? set_cupti(environment, args->cupti, err) : 0;
}

/* From the option, else from the environment. */
static const char *list_of(const struct run *run, const char *option, const char *name)
{
	return option ? option : gt_environment_find(&run->environment, name);
}

static int read_python(struct run *run, struct gt_error *err)
{
	const char *pytorch = list_of(run, run->args->pytorch, "GPUTRACE_PYTORCH");
	const char *allocators = list_of(run, run->args->allocators, "GPUTRACE_ALLOCATORS");
	int result = gt_python_set_pytorch(&run->python, pytorch, err);

	if (result == 0)
		result = gt_python_set_allocators(&run->python, allocators, err);
	if (result == 0 && *run->python.pytorch && run->args->no_nvtx)
		return gt_fail(
			err, EINVAL,
			"--pytorch and --no-nvtx exclude each other: what is named is named by "
			"NVTX ranges");
	return result;
}

/* The library set before hears of NVTX's calls through ours. */
static void set_nvtx(struct gt_environment *environment, const char *library, bool wanted)
{
	static const char name[] = "NVTX_INJECTION64_PATH";
	static const char next[] = "GPUTRACE_NVTX_NEXT";
	const char *before = gt_environment_find(environment, name);

	if (!wanted) {
		gt_environment_set(environment, "GPUTRACE_NVTX", "0");
		return;
	}
	if (before && *before && strcmp(before, library) != 0)
		gt_environment_set(environment, next, before);
	gt_environment_set(environment, name, library);
}

static int set_library(struct gt_environment *environment, bool nvtx, struct gt_error *err)
{
	static const char name[] = "CUDA_INJECTION64_PATH";
	const char *before = gt_environment_find(environment, name);
	char *library = NULL;
	const int result = gt_library_find(&library, err);

	if (result < 0)
		return result;
	if (before && *before && strcmp(before, library) != 0)
		gt_say("%s is set to %s; this run uses %s instead", name, before, library);
	gt_environment_set(environment, name, library);
	set_nvtx(environment, library, nvtx);
	/* Ours alone: the library would take it for a setting that it does not know. */
	gt_environment_unset(environment, "GPUTRACE_INJECTION");
	free(library);
	return 0;
}

/* For the manifest: the settings that are not left at their default. */
static void add_settings(struct run *run)
{
	static const char *const names[] = {
#define SETTING(name, field, type, default, help) "GPUTRACE_" #name,
#include "format/settings.def"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = gt_environment_find(&run->environment, names[i]);

		if (value)
			gt_manifest_add_setting(&run->manifest, names[i], value);
	}
}

/* The injection library takes a percent sign for the begin of a pattern. The caller frees it. */
static char *without_patterns(const char *path)
{
	char *text = gt_allocate(2 * strlen(path) + 1);
	char *at = text;

	for (; *path; path++) {
		*at++ = *path;
		if (*path == '%')
			*at++ = '%';
	}
	*at = '\0';
	return text;
}

static int set_folder(struct run *run, struct gt_error *err)
{
	char *path = realpath(run->folder, NULL);
	char *setting;
	int result = 0;

	if (!path)
		return gt_fail(err, errno, "cannot use %s: %s", run->folder, gt_errno_text(errno));
	setting = without_patterns(path);
	gt_environment_set(&run->environment, "GPUTRACE_OUTPUT", setting);
	free(setting);
	if (gt_python_is_wanted(&run->python))
		result = gt_python_add(&run->environment, path, &run->python, err);
	free(path);
	add_settings(run);
	return result;
}

/* The program never ran: everything is as it was before. */
static void undo(struct run *run)
{
	struct gt_error err = {0};

	gt_manifest_remove(&run->manifest, run->folder);
	gt_calibration_remove(run->folder, run->manifest.calibration);
	if (gt_python_is_wanted(&run->python))
		gt_python_remove(run->folder);
	if (gt_claim_drop(&run->claim, &err) < 0)
		gt_say("%s", err.text);
}

/* Before the program: those of its processes that cannot be recorded can say so. */
static void listen_to(struct run *run)
{
	char filters[32];

	gt_listener_open(&run->listener, run->folder);
	if (*run->listener.run)
		gt_environment_set(&run->environment, "GPUTRACE_RUN", run->listener.run);
	else
		gt_environment_unset(&run->environment, "GPUTRACE_RUN");
	snprintf(filters, sizeof(filters), "%" PRIu64, gt_host_filters());
	gt_environment_set(&run->environment, "GPUTRACE_FILTERS", filters);
}

/* The program runs without it all the same. */
static void add_calibration(struct run *run)
{
	char name[NAME_MAX + 1];
	struct gt_error err = {0};

	if (gt_calibration_add(run->folder, name, sizeof(name), &err) < 0)
		gt_say("%s", err.text);
	gt_manifest_set_calibration(&run->manifest, name);
}

/* Everything before the program; nothing is left behind when it fails. */
static int prepare(struct run *run, struct gt_error *err)
{
	int result;

	gt_environment_init(&run->environment);
	result = set_options(&run->environment, run->args, err);
	if (result == 0)
		result = read_python(run, err);
	if (result == 0)
		result = set_library(&run->environment, !run->args->no_nvtx, err);
	if (result == 0)
		result = make_folder(run, err);
	if (result < 0)
		return result;

	gt_manifest_init(&run->manifest, run->program);
	result = check_settings(run, err);
	if (result == 0)
		result = set_folder(run, err);
	if (result == 0) {
		add_calibration(run);
		result = gt_manifest_save(&run->manifest, run->folder, err);
	}
	if (result == 0)
		listen_to(run);
	if (result < 0)
		undo(run);
	return result;
}

static int export_view(const struct run *run, const struct gt_view *view,
                       struct gt_export_counts *counts, struct gt_progress *progress,
                       struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, run->exported, run->replace, err);

	if (result == 0) {
		const struct gt_trace_file file = {
			.exporter = gt_exporter_find("perfetto"),
			.name = run->exported,
			.path = output.temporary,
			.file = output.file,
		};

		gt_progress_begin(progress, run->args->quiet, "writing %s", run->exported);
		result = gt_trace_file_write(&file, view, progress, counts, err);
	}
	if (result == 0)
		result = gt_output_commit(&output, err);
	gt_output_release(&output);
	gt_progress_end(progress);
	return result;
}

/* Settings that are not understood were complained about before the program started. */
static void say_nothing(void *context, const char *sentence)
{
	(void)context;
	(void)sentence;
}

/* As the program would find it. */
static bool has_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (driver)
		(void)dlclose(driver);
	return driver;
}

static void say_nothing_recorded(const struct run *run)
{
	struct gt_settings settings;

	gt_settings_read(&settings, run->environment.list.rows, say_nothing, NULL);
	if (settings.disable) {
		gt_say("nothing was recorded: GPUTRACE_DISABLE is set in the environment");
		return;
	}
	if (!has_driver()) {
		gt_say("nothing was recorded: there is no NVIDIA driver here, libcuda.so.1 cannot be "
		       "loaded");
		return;
	}
	gt_say("nothing was recorded: no process of %s loaded %s; either it did not use CUDA, or "
	       "something on the way dropped gputrace's environment (sudo, ssh, a container): start "
	       "gputrace there instead",
	       run->program[0], gt_environment_find(&run->environment, "CUDA_INJECTION64_PATH"));
}

static uint64_t folder_bytes(const char *folder)
{
	struct gt_recording_files files;
	uint64_t bytes = 0;

	if (gt_recording_list(&files, folder, NULL) == 0)
		bytes = files.bytes;
	gt_recording_files_release(&files);
	return bytes;
}

/* How many runs have written into a recording. */
static unsigned count_runs(const char *folder)
{
	struct gt_recording_files files;
	unsigned runs = 0;

	if (gt_recording_list(&files, folder, NULL) == 0)
		gt_array_each(const struct gt_recording_file, file, &files.list)
			runs += gt_recording_is_manifest(file->name);
	gt_recording_files_release(&files);
	return runs;
}

/* Ranks that begin when all others have ended are not known of yet: each end may be the last. */
static void say_joined(const char *folder)
{
	const unsigned runs = count_runs(folder);

	gt_say("%s holds %u run%s so far; what joins it later sums up again", folder, runs,
	       runs == 1 ? "" : "s");
}

static void say_running(const struct gt_salvage *salvage)
{
	if (salvage->running == 1)
		gt_say("1 process is still running: what it does from now on is recorded, but not "
		       "in this summary");
	else if (salvage->running > 1)
		gt_say("%u processes are still running: what they do from now on is recorded, but "
		       "not in this summary",
		       salvage->running);
}

/* The next run would find the name taken by a recording that is none: its folder goes. */
static void conclude_without(struct run *run)
{
	const bool replaces = run->claim.older;
	struct gt_error err = {0};

	say_nothing_recorded(run);
	if (gt_claim_drop(&run->claim, &err) < 0)
		gt_say("%s", err.text);
	else if (replaces)
		gt_say("%s is still the older recording", run->folder);
}

static void summarise(const struct run *run, const struct gt_reading *reading,
                      const struct gt_salvage *salvage, const struct gt_export_counts *exported)
{
	const struct gt_summary summary = {
		.manifest = &run->manifest,
		.reading = reading,
		.folder = run->folder,
		.folder_bytes = folder_bytes(run->folder),
		.exported = exported ? run->exported : NULL,
		.exported_bytes = exported ? exported->bytes : 0,
		.at_length = run->args->verbose,
	};

	say_running(salvage);
	if (run->args->join)
		say_joined(run->folder);
	gt_summary_print(&summary);
}

/* Exports and tells; the first thing that fails is said and ends it. */
static void conclude(struct run *run, const struct gt_salvage *salvage)
{
	struct gt_export_counts counts = {0};
	struct gt_progress progress = {0};
	struct gt_error err = {0};
	struct gt_reading reading;
	int result;

	gt_reading_init(&reading);
	gt_progress_begin(&progress, run->args->quiet, "reading %s", run->folder);
	result = gt_reading_read(&reading, run->folder, gt_names_form(run->args->names), &progress,
	                         &err);
	if (result < 0 || !run->exported)
		gt_progress_end(&progress);
	if (result == -ENODATA) {
		conclude_without(run);
		goto done;
	}
	if (result < 0)
		goto failed;
	if (gt_claim_keep(&run->claim, &err) < 0 ||
	    gt_job_times_write(run->folder, &reading.trace, &err) < 0 ||
	    gt_sequence_times_write(run->folder, &reading.trace, &err) < 0)
		gt_say("%s", err.text);
	if (run->exported)
		result = export_view(run, &reading.view, &counts, &progress, &err);
	if (!run->args->quiet)
		summarise(run, &reading, salvage, run->exported && result == 0 ? &counts : NULL);
	else
		gt_summary_print_missing(&reading);
failed:
	if (result < 0)
		gt_say("%s", err.text);
	if (run->claim.older)
		gt_say("the older recording %s is now called %s", run->folder, run->claim.older);
done:
	gt_reading_release(&reading);
}

/* Other runs still write: what the whole is, the last of them says. */
static void conclude_before_others(const struct run *run)
{
	if (run->args->quiet)
		return;
	gt_summary_say_ending(&run->manifest);
	gt_say("%s is still being recorded by others", run->folder);
}

struct conclusion {
	struct run *run;
	const struct gt_salvage *salvage;
};

static void conclude_here(void *context)
{
	const struct conclusion *conclusion = context;

	conclude(conclusion->run, conclusion->salvage);
}

/* Somebody wants us to end, and our child has ended of it. */
static bool is_wish_to_end(int signal)
{
	return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
}

/*
 * In a process of its own: whatever becomes of that, out of memory included, the program's exit
 * status is passed on.
 */
static void conclude_apart(struct run *run, const struct gt_salvage *salvage)
{
	struct conclusion conclusion = {.run = run, .salvage = salvage};
	struct gt_ending ending = {0};

	if (gt_process_apart(conclude_here, &conclusion, &ending) < 0)
		conclude(run, salvage);
	else if (is_wish_to_end(ending.signal))
		(void)raise(ending.signal);
	else if (gt_ending_status(&ending))
		gt_say("the summary could not be finished; what was recorded is in %s",
		       run->folder);
}

/* A process that still runs, here or in another run, may start a Python yet. */
static void finish_python(const struct run *run, const struct gt_salvage *salvage, bool last)
{
	const char *why;

	if (!gt_python_is_wanted(&run->python))
		return;
	why = gt_python_unheard(&run->python, run->folder);
	if (why)
		gt_say("%s", why);
	if (last && salvage->running == 0)
		gt_python_remove(run->folder);
}

/*
 * The last of several runs sums up all of them. One that joins and ends while it does so is told
 * that it was not the last: then it is summed up here, once more.
 */
static void conclude_for_all(struct run *run, const struct gt_salvage *salvage)
{
	unsigned runs;

	do {
		runs = count_runs(run->folder);
		conclude_apart(run, salvage);
	} while (run->args->join && gt_claim_is_last(&run->claim) &&
	         count_runs(run->folder) > runs);
}

/* After the program: whatever fails here is said, and changes nothing about its exit status. */
static void finish(struct run *run, const struct gt_ending *ending)
{
	struct gt_salvage salvage = {0};
	struct gt_error err = {0};
	bool last;

	run->manifest.end = gt_instant_now();
	run->manifest.ending = *ending;
	run->manifest.ended = true;
	gt_strangers_enter(&run->strangers, run->folder, run->listener.roll);
	gt_listener_close(&run->listener);
	if (gt_manifest_save(&run->manifest, run->folder, &err) < 0)
		gt_say("%s", err.text);
	if (gt_salvage_folder(run->folder, &salvage, &err) < 0)
		gt_say("%s", err.text);
	gt_topology_record(run->folder);
	last = !run->args->join || gt_claim_is_last(&run->claim);
	finish_python(run, &salvage, last);
	if (!last)
		conclude_before_others(run);
	else
		conclude_for_all(run, &salvage);
}

static int not_runnable(int result, const struct gt_error *err)
{
	gt_say("%s", err->text);
	return result == -ENOENT ? GT_EXIT_NOT_FOUND : GT_EXIT_NOT_RUNNABLE;
}

static void look(void *context, pid_t program)
{
	gt_strangers_look(&((struct run *)context)->strangers, program);
}

static int run_program(struct run *run, struct gt_error *err)
{
	const struct gt_onlooker onlooker = {look, run, GT_STRANGERS_INTERVAL_NS};
	struct gt_ending ending = {0};
	bool not_run = false;
	char *recording = gt_recording_find(run->program[0]);
	int result;

	if (recording && gt_process_find(run->program[0], NULL) < 0)
		result = gt_fail(err, EINVAL, "%s is a recording; to read it: gputrace report %s",
		                 recording, recording);
	else
		result = 0;
	free(recording);
	if (result < 0)
		return result;
	result = gt_process_find(run->program[0], err);
	if (result < 0) /* known before --force takes an older recording away */
		return not_runnable(result, err);
	result = prepare(run, err);
	if (result < 0)
		return result;
	run->manifest.start = gt_instant_now();
	result = gt_process_run(run->program, run->environment.list.rows, &onlooker, &ending,
	                        &not_run, err);
	if (result < 0) {
		undo(run);
		return not_run ? not_runnable(result, err) : result;
	}
	finish(run, &ending);
	return gt_ending_status(&ending);
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};
	const int left = gt_options_parse_leading(options, &args, argc, argv, err);
	struct run this_run = {.args = &args, .program = argv, .claim = GT_CLAIM_INIT};
	int result;

	if (left < 0)
		return left;
	if (left < 1)
		return gt_fail(err, EINVAL, "which program? see gputrace run --help");
	argv[left] = NULL;
	result = run_program(&this_run, err);
	run_release(&this_run);
	return result;
}

const struct gt_command gt_command_run = {
	.name = "run",
	.operands = "[--] PROGRAM [ARG...]",
	.summary = "Run a program and record what it does on NVIDIA GPUs",
	.details =
		"Everything after PROGRAM belongs to the program. gputrace exits as the program "
		"does: with its status, or 128+N when signal N killed it; with 125 when gputrace "
		"could not start recording, 126 when PROGRAM cannot be run, 127 when there is no "
		"such program.",
	.options = options,
	.failed_status = GT_EXIT_NOT_STARTED,
	.run = run,
};
