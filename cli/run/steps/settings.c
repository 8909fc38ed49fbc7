/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/steps/steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "base/units.h"
#include "cli/command_line/option.h"
#include "cli/doctor/room.h"
#include "cli/output/say.h"
#include "cli/run/library.h"
#include "format/settings.h"

#define KEPT_BYTES "4G" /* of modules, in each process, where the environment does not say */

static void complain(void *context, const char *sentence)
{
	(void)context;
	gt_say("%s", sentence);
}

int gt_run_check_settings(const struct gt_run *run, struct gt_error *err)
{
	struct gt_settings settings;
	struct gt_room room;

	gt_settings_read(&settings, run->environment.list.rows, complain, NULL);
	room = gt_room_of(run->folder, &settings);
	if (gt_room_is_enough(&room))
		return 0;
	return gt_fail(
		err, ENOSPC,
		"cannot record into %s: each process needs %s of disk while it runs, and %s are "
		"free; choose another disk with --output or lower --buffer-size",
		run->folder, gt_figure_bytes((int64_t)room.needed_bytes).text,
		gt_figure_bytes((int64_t)room.free_bytes).text);
}

void gt_run_set_number(struct gt_environment *environment, const char *name, uint64_t value,
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

static int set_device_events(struct gt_environment *environment, const struct gt_run_args *args,
                             struct gt_error *err)
{
	static const char name[] = "GPUTRACE_DEVICE_EVENTS";
	const char *size = args->device_events && !*args->device_events ? GT_RUN_DEVICE_BYTES
	                                                                : args->device_events;
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
	gt_run_set_number(environment, "GPUTRACE_DEVICE_EVENTS_INTERVAL", args->device_interval_ns,
	                  "ns");
	return 0;
}

/* Options that go together, or do not. */
static int set_choices(struct gt_environment *environment, const struct gt_run_args *args,
                       struct gt_error *err)
{
	int result = gt_run_set_chosen_launches(environment, args, err);

	if (result == 0)
		result = gt_run_set_control(environment, args, err);
	if (result == 0)
		result = set_device_events(environment, args, err);
	return result;
}

int gt_run_set_options(struct gt_environment *environment, const struct gt_run_args *args,
                       struct gt_error *err)
{
	int result;

	gt_run_set_number(environment, "GPUTRACE_FLUSH_INTERVAL", args->flush_interval_ns, "ns");
	gt_run_set_number(environment, "GPUTRACE_BUFFER_SIZE", args->buffer_bytes, "");
	if (args->telemetry_ns == GT_OPTION_OFF)
		gt_environment_set(environment, "GPUTRACE_TELEMETRY", "off");
	else
		gt_run_set_number(environment, "GPUTRACE_TELEMETRY", args->telemetry_ns, "ns");
	if (args->counters)
		gt_environment_set(environment, "GPUTRACE_COUNTERS",
		                   *args->counters ? args->counters : "default");
	gt_run_set_number(environment, "GPUTRACE_COUNTER_INTERVAL", args->counter_interval_ns,
	                  "ns");
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
	gt_run_set_number(environment, "GPUTRACE_GRAPH_SAMPLE", args->graph_sample, "");
	gt_run_set_number(environment, "GPUTRACE_ALLOCATOR_INTERVAL", args->allocator_interval_ns,
	                  "ns");
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
	result = set_choices(environment, args, err);
	if (result < 0)
		return result;
	return args->cupti ? set_cupti(environment, args->cupti, err) : 0;
}

/* From the option, else from the environment. */
static const char *list_of(const struct gt_run *run, const char *option, const char *name)
{
	return option ? option : gt_environment_find(&run->environment, name);
}

int gt_run_read_python(struct gt_run *run, struct gt_error *err)
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

int gt_run_set_library(struct gt_environment *environment, bool nvtx, struct gt_error *err)
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
static void add_settings(struct gt_run *run)
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

int gt_run_set_folder(struct gt_run *run, struct gt_error *err)
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
