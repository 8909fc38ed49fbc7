/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_STEPS_STEPS_H
#define GT_CLI_RUN_STEPS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/dump/watcher.h"
#include "cli/output/process.h"
#include "cli/recording/manifest.h"
#include "cli/run/claim.h"
#include "cli/run/environment.h"
#include "cli/run/listener.h"
#include "cli/run/machine/kernel_log.h"
#include "cli/run/python.h"
#include "cli/run/strangers.h"
#include "cli/textfile/textfile.h"

/*
 * Steps of gputrace run: where it records, what the program's environment says, and what becomes of
 * the recording when the program has ended.
 */

/* Memory of each GPU for the events of kernels, where no size is given. */
#define GT_RUN_DEVICE_BYTES "16M"

struct gt_run_args {
	bool strict;
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
	bool start_paused;
	bool profiler_api;
	uint64_t delay_ns;    /* 0: not given */
	uint64_t duration_ns; /* 0: not given */
	const char *start_at;
	const char *keep_last;
	const char *dump_on;
	const char *dump_signal;
	uint64_t max_dumps; /* 0: not given */
	const char *record_range;
	const char *occurrences;
	const char *metrics;
	uint64_t metrics_interval_ns; /* 0: not given */
	bool device_events_last;
	bool hazards;
	bool numa;
	bool keep_modules;
	bool unified_memory;
	bool memory_pools;
	bool memory_libraries;
	bool no_nvtx;
	bool no_preload;
	bool force;
	bool join;
	bool no_export;
	bool quiet;
	bool verbose;
};

/* Everything about one run; released as a whole. */
struct gt_run {
	const struct gt_run_args *args;
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
	struct gt_watcher watcher;
	struct gt_textfile textfile;
	struct gt_kernel_log kernel_log;
};

/* A name with a number in it is never an existing one, and so needs no --force. */
int gt_run_make_folder(struct gt_run *run, struct gt_error *err);

/* The file of --metrics, if one is wanted and can be written. */
int gt_run_open_textfile(struct gt_run *run, struct gt_error *err);

/* Options of the command as settings of the program. */
int gt_run_set_options(struct gt_environment *environment, const struct gt_run_args *args,
                       struct gt_error *err);
int gt_run_read_python(struct gt_run *run, struct gt_error *err);

/* Our library in the environment of the program. */
int gt_run_set_library(struct gt_environment *environment, bool nvtx, struct gt_error *err);

/*
 * The small library that catches _exit and exec (injection/end/) in front of every library that the
 * program's processes load. Not where it cannot be: then those ends are as they are without it.
 */
void gt_run_set_preload(struct gt_run *run);

/*
 * Problems that the injection library could only note, or not even note, are said before it is
 * too late: settings it does not understand, and a disk without room for a process's arena.
 */
int gt_run_check_settings(const struct gt_run *run, struct gt_error *err);

/* The folder as a setting; then the settings are the manifest's. */
int gt_run_set_folder(struct gt_run *run, struct gt_error *err);

/* Nothing for 0. */
void gt_run_set_number(struct gt_environment *environment, const char *name, uint64_t value,
                       const char *unit);

/* Options FIRST:COUNT, both from 1 on, and the settings that they become. */
struct gt_run_part {
	const char *option;
	const char *example; /* with its meaning */
	const char *first;
	const char *count;
};

int gt_run_set_part(struct gt_environment *environment, const struct gt_run_part *part,
                    const char *text, struct gt_error *err);

/* The number of a signal by its name, with SIG or without; 0: there is none. */
int gt_run_signal(const char *name);

/* When recording begins and ends, in the program's time. */
int gt_run_set_control(struct gt_environment *environment, const struct gt_run_args *args,
                       struct gt_error *err);

/* Launches of which something more is recorded: which ones, and what. */
int gt_run_set_chosen_launches(struct gt_environment *environment, const struct gt_run_args *args,
                               struct gt_error *err);

/*
 * After the program: whatever fails here is said. Returns GT_EXIT_INCOMPLETE where the recording is
 * not whole, for --strict; without it nothing changes the program's exit status.
 */
int gt_run_finish(struct gt_run *run, const struct gt_ending *ending);

#endif
