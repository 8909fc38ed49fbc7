/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "cli/command_line/command.h"
#include "cli/command_line/names.h"
#include "cli/command_line/option.h"
#include "cli/output/process.h"
#include "cli/output/say.h"
#include "cli/recording/manifest.h"
#include "cli/recording/recording.h"
#include "cli/run/calibration.h"
#include "cli/run/claim.h"
#include "cli/run/environment.h"
#include "cli/run/listener.h"
#include "cli/run/python.h"
#include "cli/run/steps/steps.h"
#include "cli/run/strangers.h"
#include "format/control/control.h"
#include "format/settings.h"

#define MAX_DUMPS 3

/* The limits are those of the help in format/settings.def. */
static const struct gt_option options[] = {
	OPT_TEXT(
		"output", 'o', struct gt_run_args, output, "NAME",
		"Write NAME.gputrace and NAME.perfetto. Default: what GPUTRACE_OUTPUT says, else the "
		"program's name, in this folder. FOLDER/ writes into that folder. In NAME, %p is the "
		"process id of gputrace, %h the host, %q{VAR} an environment variable, %n the "
		"smallest number that is free, %% a percent sign"),
	OPT_FLAG("force", 'f', struct gt_run_args, force,
                 "Overwrite an existing recording. It stays until the new one is there; one that is "
                 "being written is never replaced"),
	OPT_FLAG("join", 0, struct gt_run_args, join,
                 "Share NAME.gputrace, even if it exists, with other runs that do the same, such as "
                 "the ranks of a job. Writes no NAME.perfetto"),
	OPT_FLAG("no-export", 0, struct gt_run_args, no_export, "Do not write NAME.perfetto"),
	OPT_FLAG("strict", 0, struct gt_run_args, strict,
                 "End with status 3 where the program succeeded and the recording is damaged, lacks "
                 "anything or was not made; else that is said"),
	OPT_FLAG("quiet", 'q', struct gt_run_args, quiet, "Print no summary, only what went wrong"),
	GT_NAMES_OPTION(struct gt_run_args, names),
	OPT_CHOICE("api", 0, struct gt_run_args, api, "CALLS", gt_api_words,
                   "API calls to record. light (default): those that the program makes, but of a "
                   "kernel launch the driver's call in place of the runtime's; outer: also of a "
                   "launch the runtime's, which costs more; all: also the calls inside these; none"),
	OPT_CHOICE(
		"graphs", 0, struct gt_run_args, graphs, "LEVEL", gt_graphs_words,
		"How to record launches of CUDA graphs. node (default): each kernel, copy and fill "
		"of them; graph: each launch as a whole, which costs less; sampled: the first 20 "
		"launches of each graph and every 20th node by node, the others as a whole, which "
		"makes the recording small"),
	OPT_COUNT("graph-sample", 0, struct gt_run_args, graph_sample, "N",
                  "With --graphs sampled: N in place of 20, 1 to 1000000"),
	OPT_FLAG("start-paused", 0, struct gt_run_args, start_paused,
                 "Record no launches, API calls and NVTX until gputrace start, from another terminal, "
                 "says so"),
	OPT_DURATION("delay", 0, struct gt_run_args, delay_ns, "TIME", 1000000, 31536000000000000,
                     "Begin to record so long after the program was started, 1ms or more"),
	OPT_TEXT(
		"start-at", 0, struct gt_run_args, start_at, "WHEN",
		"Begin to record at this moment, so that the ranks of a job on several machines begin "
		"together: 2026-11-29T10:00:00, the same with Z for UTC, or @ and the seconds since "
		"1970"),
	OPT_DURATION("duration", 0, struct gt_run_args, duration_ns, "TIME", 1000000,
                     31536000000000000, "Record for so long; the program runs on"),
	OPT_FLAG("profiler-api", 0, struct gt_run_args, profiler_api,
                 "Record from cudaProfilerStart to cudaProfilerStop, any number of times"),
	OPT_TEXT("record-range", 0, struct gt_run_args, record_range, "NAME",
                 "Record while a range of NVTX of this name is open on any thread of the process"),
	OPT_TEXT("occurrences", 0, struct gt_run_args, occurrences, "FIRST:COUNT",
                 "With --record-range: COUNT occurrences of the range, from the FIRST on, in each "
                 "process; default all"),
	OPT_TEXT("keep-last", 0, struct gt_run_args, keep_last, "TIME|SIZE",
                 "Keep of each process what happened in the last TIME, 60s say, or as much as fits "
                 "into SIZE on the disk, 2G say, and drop what is older: for programs that run for "
                 "days"),
	OPT_TEXT(
		"dump-on", 0, struct gt_run_args, dump_on, "WHAT",
		"Copy what is recorded until then to NAME.dump-N.gputrace when something goes wrong: "
		"error (an API call fails), memory (for lack of it), hang=TIME (nothing is launched "
		"and nothing ends for so long while work is pending), slow=RANGE:TIME (a range of "
		"NVTX takes longer), slow=RANGE:+N (so many deviations longer than the median of the "
		"last hundred); commas separate several"),
	OPT_TEXT(
		"dump-signal", 0, struct gt_run_args, dump_signal, "SIGNAL",
		"Do so when gputrace run gets this signal, USR1 say, which the program then does not"),
	OPT_COUNT("max-dumps", 0, struct gt_run_args, max_dumps, "N",
                  "With --dump-on and --dump-signal: N dumps at most, default 3"),
	OPT_TEXT("metrics", 0, struct gt_run_args, metrics, "FILE",
                 "Write figures to FILE, whose name ends with .prom, for the textfile collector of "
                 "node_exporter: at the end all, while the program runs its time and the counts of its "
                 "processes. FILE is a pattern as NAME is; the file is replaced"),
	OPT_DURATION("metrics-interval", 0, struct gt_run_args, metrics_interval_ns, "TIME",
                     1000000000, 3600000000000,
                     "With --metrics: write so often, 1s to 1h; default 15s"),
	OPT_FLAG("no-nvtx", 0, struct gt_run_args, no_nvtx,
                 "Record no ranges, marks and names that the program gives through NVTX"),
	OPT_TEXT("nvtx-domains", 0, struct gt_run_args, nvtx_domains, "NAMES",
                 "Record NVTX of these domains alone, with commas between them; default is the one "
                 "without a name"),
	OPT_TEXT("no-nvtx-domains", 0, struct gt_run_args, no_nvtx_domains, "NAMES",
                 "Record NVTX of all domains but these"),
	OPT_TEXT(
		"pytorch", 0, struct gt_run_args, pytorch, "WHAT",
		"Name what PyTorch does, forward and backward, by NVTX ranges, which slows the program "
		"down: ops, shapes (ops with sizes of operands) or modules; commas separate several"),
	OPT_TEXT("allocators", 0, struct gt_run_args, allocators, "WHOSE",
                 "Ask allocators of programs in Python how full they are: pytorch, jax, or "
                 "pytorch-blocks, which also has PyTorch keep each block's times, and costs more; "
                 "commas separate several"),
	OPT_DURATION("allocator-interval", 0, struct gt_run_args, allocator_interval_ns, "TIME",
                     10000000, 3600000000000,
                     "With --allocators: ask this often, 10ms to 1h; default 100ms"),
	OPT_INTERVAL("telemetry", 0, struct gt_run_args, telemetry_ns, "TIME", 10000000,
                     3600000000000,
                     "Read power, clocks, temperature and the like of each GPU in use this often, "
                     "10ms to 1h, or off; default 100ms"),
	OPT_MAYBE(
		"counters", 0, struct gt_run_args, counters, "SET",
		"Sample hardware counters of each GPU in use: a set (default, memory, compute, links, "
		"clocks), counters or CUPTI's metrics, commas between several. They slow the "
		"program down and need the right to read them. Alone: default"),
	OPT_DURATION("counter-interval", 0, struct gt_run_args, counter_interval_ns, "TIME", 20000,
                     10000000, "With --counters: sample this often, 20us to 10ms; default 100us"),
	OPT_MAYBE(
		"kernel-counters", 0, struct gt_run_args, kernel_counters, "SET",
		"Read hardware counters of single launches, which are run several times for that: a "
		"set (default, memory, compute, occupancy, flops, all), counters or CUPTI's metrics, "
		"commas between several; graphs: of launches of CUDA graphs instead. Times of these "
		"launches count in no figure. Alone: default"),
	OPT_TEXT("kernels", 0, struct gt_run_args, kernels, "REGEX",
                 "With --kernel-counters: of kernels alone whose names match this extended regular "
                 "expression, as the compiler mangled them"),
	OPT_TEXT("capture-kernels", 0, struct gt_run_args, capture_kernels, "REGEX",
                 "Capture launches of kernels whose mangled names match this extended regular "
                 "expression, with all that gputrace replay needs to run them again: code, "
                 "parameters, and memory before and after. The program waits meanwhile"),
	OPT_TEXT("capture-sequence", 0, struct gt_run_args, capture_sequence, "NAME",
                 "Capture an occurrence of the NVTX range of this name as one sequence: all launches, "
                 "copies, fills, records and waits that the process makes while it is open on any "
                 "thread, with memory before and after"),
	OPT_FLAG("capture-graphs", 0, struct gt_run_args, capture_graphs,
                 "Capture launches of CUDA graphs, each as one sequence of its nodes, with memory "
                 "before and after"),
	OPT_SIZE("max-bytes", 0, struct gt_run_args, max_bytes, "SIZE", 1 << 20, (uint64_t)1 << 40,
                 "With --capture-kernels, --capture-sequence or --capture-graphs: disk that they may take, of each "
                 "process, 1M to 1T; default 4G"),
	OPT_TEXT(
		"launches", 0, struct gt_run_args, launches, "FIRST:COUNT",
		"With --kernel-counters, --capture-kernels or --capture-graphs: COUNT launches of those "
		"that are chosen, from the FIRST on, in each process; default 1:100, or 1:1 to capture. With "
		"--capture-sequence: occurrences of the range"),
	OPT_TEXT("range", 0, struct gt_run_args, range, "NAME",
                 "With these three: launches alone that are made while a range of NVTX of this name is "
                 "open on any thread"),
	OPT_MAYBE(
		"device-events", 0, struct gt_run_args, device_events, "SIZE",
		"Record the events that kernels write themselves (gputrace/device.cuh), through so "
		"much memory of each GPU, 1M to 4G. Alone: " GT_RUN_DEVICE_BYTES),
	OPT_FLAG("device-events-last", 0, struct gt_run_args, device_events_last,
                 "With --device-events: where that memory is full keep the last events and not the "
                 "first ones; they are copied out at the end alone"),
	OPT_DURATION("device-events-interval", 0, struct gt_run_args, device_interval_ns, "TIME",
                     1000000, 10000000000,
                     "With --device-events: copy them out this often, 1ms to 10s; "
                     "default 10ms"),
	OPT_DURATION("flush-interval", 0, struct gt_run_args, flush_interval_ns, "TIME", 1000000,
                     3600000000000,
                     "Fetch finished records from CUPTI this often, 1ms to 1h; default 100ms"),
	OPT_SIZE("buffer-size", 0, struct gt_run_args, buffer_bytes, "SIZE", 64 << 10, 64 << 20,
                 "Size of a buffer that CUPTI writes records into, 64K to 64M; default 1M. Smaller "
                 "ones take less disk while the program runs"),
	OPT_FLAG("keep-modules", 0, struct gt_run_args, keep_modules,
                 "Keep the GPU code that is loaded (cubins) in the recording, each once, at most 4G for "
                 "each process, so that reports know its functions, and record how long compiling "
                 "it took; loading it then takes longer"),
	OPT_FLAG("unified-memory", 0, struct gt_run_args, unified_memory,
                 "Record what happens to managed memory: migrations, page faults, thrashing, "
                 "throttling and remote mappings. What it costs is not measured yet"),
	OPT_FLAG("memory-pools", 0, struct gt_run_args, memory_pools,
                 "Read what CUDA's memory pools and graphs have reserved and use as often as "
                 "--telemetry says"),
	OPT_FLAG("memory-libraries", 0, struct gt_run_args, memory_libraries,
                 "Record which shared object asked for memory, from the stack of the thread"),
	OPT_FLAG("hazards", 0, struct gt_run_args, hazards,
                 "Record which memory copies and fills touch, so that report hazards finds what "
                 "streams do to the same memory in no order; what that costs is not measured yet"),
	OPT_FLAG("numa", 0, struct gt_run_args, numa,
                 "Record on which processor copies are asked for, and on which NUMA node the host's "
                 "memory lies, for report links; what that costs is not measured yet"),
	OPT_FLAG("no-preload", 0, struct gt_run_args, no_preload,
                 "Put no library of gputrace's into LD_PRELOAD: kernels that finished up to 10 ms before "
                 "an _exit or exec may then have no times"),
	OPT_TEXT("cupti", 0, struct gt_run_args, cupti, "FILE",
                 "Use this file as libcupti, NVIDIA's library for tools; by default the one that fits "
                 "the driver is looked for"),
	OPT_FLAG("verbose", 'v', struct gt_run_args, verbose,
                 "Let every process say whether it is recorded, and print the long address that "
                 "unfolds the trace in Perfetto's UI"),
	OPT_END_OF("run"),
};

static void run_release(struct gt_run *run)
{
	gt_kernel_log_close(&run->kernel_log);
	gt_claim_release(&run->claim);
	free(run->folder);
	free(run->exported);
	gt_textfile_release(&run->textfile);
	gt_manifest_release(&run->manifest);
	gt_environment_release(&run->environment);
}

/* The program never ran: everything is as it was before. */
static void undo(struct gt_run *run)
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
static void listen_to(struct gt_run *run)
{
	char filters[32];

	gt_listener_open(&run->listener, run->folder);
	/* An earlier run of the same recording may have been stopped by a command. */
	if (run->args->join && run->listener.roll && gt_recording_writers(run->folder) == 0)
		gt_order_forget(run->listener.roll);
	if (*run->listener.run)
		gt_environment_set(&run->environment, "GPUTRACE_RUN", run->listener.run);
	else
		gt_environment_unset(&run->environment, "GPUTRACE_RUN");
	snprintf(filters, sizeof(filters), "%" PRIu64, gt_host_filters());
	gt_environment_set(&run->environment, "GPUTRACE_FILTERS", filters);
}

/* The program runs without it all the same. */
static void add_calibration(struct gt_run *run)
{
	char name[NAME_MAX + 1];
	struct gt_error err = {0};

	if (gt_calibration_add(run->folder, name, sizeof(name), &err) < 0)
		gt_say("%s", err.text);
	gt_manifest_set_calibration(&run->manifest, name);
}

/* Everything before the program; nothing is left behind when it fails. */
static int prepare(struct gt_run *run, struct gt_error *err)
{
	int result;

	gt_environment_init(&run->environment);
	gt_environment_unset(&run->environment, GT_KERNEL_LOG_VARIABLE);
	result = gt_run_set_options(&run->environment, run->args, err);
	if (result == 0)
		result = gt_run_open_textfile(run, err);
	if (result == 0)
		result = gt_run_read_python(run, err);
	if (result == 0)
		result = gt_run_set_library(&run->environment, !run->args->no_nvtx, err);
	if (result == 0)
		result = gt_run_make_folder(run, err);
	if (result < 0)
		return result;
	gt_run_set_preload(run);

	gt_manifest_init(&run->manifest, run->program);
	result = gt_run_check_settings(run, err);
	if (result == 0)
		result = gt_run_set_folder(run, err);
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

static int not_runnable(int result, const struct gt_error *err)
{
	gt_say("%s", err->text);
	return result == -ENOENT ? GT_EXIT_NOT_FOUND : GT_EXIT_NOT_RUNNABLE;
}

static void look(void *context, pid_t program)
{
	struct gt_run *looked_at = context;

	gt_strangers_look(&looked_at->strangers, program);
	gt_textfile_look(&looked_at->textfile, looked_at->folder, &looked_at->manifest);
}

static void hear(void *context)
{
	gt_watcher_ask(&((const struct gt_run *)context)->watcher);
}

/* Who dumps, if anybody is to. */
static int start_watcher(struct gt_run *run, struct gt_error *err)
{
	const struct gt_watcher_wishes wishes = {
		.dump_on = run->args->dump_on,
		.most = run->args->max_dumps ? run->args->max_dumps : MAX_DUMPS,
		.folder = run->folder,
		.flush_ns = run->args->flush_interval_ns,
	};

	if (!run->args->dump_on && !run->args->dump_signal)
		return 0;
	return gt_watcher_start(&run->watcher, &wishes, err);
}

/* With all that is to be there before it. */
static int run_prepared(struct gt_run *run, struct gt_ending *ending, bool *not_run,
                        struct gt_error *err)
{
	const struct gt_onlooker onlooker = {
		.look = look,
		.context = run,
		.interval_ns = GT_STRANGERS_INTERVAL_NS,
		.signal = run->args->dump_signal ? gt_run_signal(run->args->dump_signal) : 0,
		.hear = hear,
	};
	int result = start_watcher(run, err);

	if (result < 0)
		return result;
	gt_kernel_log_open(&run->kernel_log);
	run->manifest.start = gt_instant_now();
	result = gt_process_run(run->program, run->environment.list.rows, &onlooker, ending,
	                        not_run, err);
	gt_watcher_stop(&run->watcher);
	return result;
}

static int run_program(struct gt_run *run, struct gt_error *err)
{
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
	result = run_prepared(run, &ending, &not_run, err);
	if (result < 0) {
		undo(run);
		return not_run ? not_runnable(result, err) : result;
	}
	result = gt_run_finish(run, &ending);
	return gt_ending_status(&ending) || !run->args->strict ? gt_ending_status(&ending) : result;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct gt_run_args args = {0};
	const int left = gt_options_parse_leading(options, &args, argc, argv, err);
	struct gt_run this_run = {.args = &args,
	                          .program = argv,
	                          .claim = GT_CLAIM_INIT,
	                          .kernel_log = GT_KERNEL_LOG_INIT};
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
