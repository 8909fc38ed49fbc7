/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/steps/steps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/parse.h"

#define SECOND_NS 1000000000u

/* As format/settings.def has it. */
#define LEAST_KEPT_NS    ((uint64_t)SECOND_NS)
#define MOST_KEPT_NS     ((uint64_t)30 * 86400 * SECOND_NS)
#define LEAST_KEPT_BYTES ((uint64_t)8 << 20)
#define MOST_KEPT_BYTES  ((uint64_t)1 << 40)

static uint64_t real_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Seconds since 1970 behind an @, or a date and time: of UTC with a Z, else of this machine's zone.
 */
static int read_moment(const char *text, uint64_t *at_ns, struct gt_error *err)
{
	struct tm moment = {.tm_isdst = -1};
	uint64_t seconds = 0;
	const char *rest;
	bool is_known;

	if (*text == '@') {
		is_known = gt_parse_count(text + 1, &seconds) == 0 && seconds < UINT32_MAX;
	} else {
		rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &moment);
		is_known = rest && (!*rest || strcmp(rest, "Z") == 0);
		if (is_known)
			seconds = (uint64_t)(*rest ? timegm(&moment) : mktime(&moment));
	}
	if (!is_known)
		return gt_fail(err, EINVAL,
		               "--start-at %s is no moment such as 2026-11-29T10:00:00, the same "
		               "with Z for UTC, or @1796032800",
		               text);
	*at_ns = seconds * SECOND_NS;
	if (*at_ns <= real_now())
		return gt_fail(err, EINVAL, "--start-at %s is over", text);
	return 0;
}

static int set_times(struct gt_environment *environment, const struct gt_run_args *args,
                     struct gt_error *err)
{
	uint64_t start_ns = args->delay_ns ? real_now() + args->delay_ns : 0;

	if (args->start_at) {
		const int result = read_moment(args->start_at, &start_ns, err);

		if (result < 0)
			return result;
	}
	gt_run_set_number(environment, "GPUTRACE_START_AT", start_ns, "");
	if (args->duration_ns)
		gt_run_set_number(environment, "GPUTRACE_STOP_AT",
		                  (start_ns ? start_ns : real_now()) + args->duration_ns, "");
	return 0;
}

static int set_occurrences(struct gt_environment *environment, const char *text,
                           struct gt_error *err)
{
	static const struct gt_run_part part = {"--occurrences", "3:2 for the third and the fourth",
	                                        "GPUTRACE_RECORD_RANGE_FIRST",
	                                        "GPUTRACE_RECORD_RANGE_COUNT"};

	return gt_run_set_part(environment, &part, text, err);
}

static int check_times(const struct gt_run_args *args, struct gt_error *err)
{
	const char *other = args->record_range   ? "--record-range"
	                    : args->profiler_api ? "--profiler-api"
	                                         : NULL;

	if (args->delay_ns && args->start_at)
		return gt_fail(err, EINVAL, "--delay and --start-at exclude each other");
	if (other && (args->delay_ns || args->duration_ns || args->start_at))
		return gt_fail(err, EINVAL,
		               "%s says when recording begins and ends: no --delay, --duration or "
		               "--start-at goes with it",
		               other);
	return 0;
}

static int check_range(const struct gt_run_args *args, struct gt_error *err)
{
	if (!args->record_range)
		return args->occurrences
		               ? gt_fail(err, EINVAL, "--occurrences goes with --record-range")
		               : 0;
	if (!*args->record_range)
		return gt_fail(err, EINVAL, "--record-range needs the name of a range");
	if (args->profiler_api)
		return gt_fail(err, EINVAL, "--record-range and --profiler-api exclude each other");
	if (args->range || args->capture_sequence)
		return gt_fail(err, EINVAL,
		               "--record-range and %s exclude each other: one range is watched for",
		               args->range ? "--range" : "--capture-sequence");
	if (args->no_nvtx)
		return gt_fail(err, EINVAL,
		               "--record-range and --no-nvtx exclude each other: the range is one "
		               "of NVTX");
	return 0;
}

static int set_keep_last(struct gt_environment *environment, const char *text, struct gt_error *err)
{
	const bool is_time = gt_parse_duration(text, &(uint64_t){0}) == 0;
	uint64_t value = 0;

	(void)(is_time ? gt_parse_duration(text, &value) : gt_parse_size(text, &value));
	if (is_time ? value < LEAST_KEPT_NS || value > MOST_KEPT_NS
	            : value < LEAST_KEPT_BYTES || value > MOST_KEPT_BYTES)
		return gt_fail(
			err, EINVAL,
			"--keep-last %s is neither a time from 1s to 30 days, as 60s, nor a size "
			"from 8M to 1T, as 2G",
			text);
	gt_environment_set(environment, is_time ? "GPUTRACE_KEEP_LAST" : "GPUTRACE_KEEP_BYTES",
	                   text);
	return 0;
}

int gt_run_signal(const char *name)
{
	for (int number = 1; number < NSIG; number++) {
		const char *known = sigabbrev_np(number);

		if (known && (strcasecmp(name, known) == 0 || (strncasecmp(name, "SIG", 3) == 0 &&
		                                               strcasecmp(name + 3, known) == 0)))
			return number;
	}
	return 0;
}

static int check_dumps(const struct gt_run_args *args, struct gt_error *err)
{
	const int signal = args->dump_signal ? gt_run_signal(args->dump_signal) : SIGUSR1;
	struct gt_error why = {0};

	if (args->max_dumps && !args->dump_on && !args->dump_signal)
		return gt_fail(err, EINVAL, "--max-dumps goes with --dump-on or --dump-signal");
	if (signal != SIGUSR1 && signal != SIGUSR2 && signal != SIGHUP && signal != SIGWINCH)
		return gt_fail(err, EINVAL, "--dump-signal %s is none of USR1, USR2, HUP and WINCH",
		               args->dump_signal);
	if (gt_watcher_check(args->dump_on, &why) < 0)
		return gt_fail(err, EINVAL, "--dump-on: %s", why.text);
	return 0;
}

int gt_run_set_control(struct gt_environment *environment, const struct gt_run_args *args,
                       struct gt_error *err)
{
	int result = check_range(args, err);

	if (result == 0)
		result = check_times(args, err);
	if (result == 0)
		result = check_dumps(args, err);
	if (result == 0)
		result = set_times(environment, args, err);
	if (result == 0 && args->occurrences)
		result = set_occurrences(environment, args->occurrences, err);
	if (result == 0 && args->keep_last)
		result = set_keep_last(environment, args->keep_last, err);
	if (result < 0)
		return result;
	if (args->start_paused)
		gt_environment_set(environment, "GPUTRACE_START_PAUSED", "1");
	if (args->profiler_api)
		gt_environment_set(environment, "GPUTRACE_PROFILER_API", "1");
	if (args->record_range)
		gt_environment_set(environment, "GPUTRACE_RECORD_RANGE", args->record_range);
	return 0;
}
