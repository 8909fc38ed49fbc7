/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/dump/watcher.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/pending/triggers.h"
#include "base/error.h"
#include "base/host.h"
#include "cli/dump/dump.h"
#include "cli/output/say.h"
#include "collector/collector.h"
#include "collector/decode/looks.h"
#include "format/settings.h"
#include "model/trace.h"

#define INTERVAL_NS 1000000000
#define SECOND_NS   1000000000
/* Records of what happened come later: each look goes back behind the one before. */
#define SINCE_NS    (2 * (gt_time)SECOND_NS)

#define FLUSH_NS    100000000 /* format/settings.def */
#define ASK_SIGNAL  SIGUSR1
#define STOP_SIGNAL SIGTERM

struct watch {
	const struct gt_watcher_wishes *wishes;
	struct gt_triggers triggers;
	struct gt_trigger_state state;
	struct gt_looks *looks;
	gt_time looked_ns;
	uint64_t dumps;
};

int gt_watcher_check(const char *dump_on, struct gt_error *err)
{
	struct gt_triggers triggers;

	return dump_on ? gt_triggers_parse(&triggers, dump_on, err) : 0;
}

static void dump(struct watch *watch, const char *why)
{
	char *into = gt_recording_dump_name(watch->wishes->folder);
	struct gt_error err = {0};

	if (gt_recording_dump(watch->wishes->folder, into, &err) == 0)
		gt_say("%s: dumped to %s", why, into);
	else
		gt_say("%s, and the recording could not be dumped: %s", why, err.text);
	watch->dumps++;
	if (watch->dumps == watch->wishes->most)
		gt_say("that was dump %llu, the last: --max-dumps asks for more",
		       (unsigned long long)watch->dumps);
	free(into);
}

/* Records of what just ended are fetched twice. */
static void wait_for_records(const struct watch *watch)
{
	const uint64_t flush_ns = watch->wishes->flush_ns ? watch->wishes->flush_ns : FLUSH_NS;
	const uint64_t wait_ns = 2 * flush_ns;
	struct timespec rest = {(time_t)(wait_ns / SECOND_NS), (long)(wait_ns % SECOND_NS)};

	while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
		;
}

/* A recording that nothing is in yet cannot be read. */
static void look(struct watch *watch)
{
	const gt_time began_ns = gt_host_boottime();
	struct gt_look look = {.looks = watch->looks, .since_ns = watch->looked_ns - SINCE_NS};
	struct gt_error err = {0};
	struct gt_trace trace;
	char why[512];

	watch->looked_ns = began_ns;
	gt_trace_init(&trace);
	if (gt_collect_look(watch->wishes->folder, &look, &trace, &err) == 0 &&
	    gt_triggers_look(&watch->triggers, &watch->state, &trace, began_ns, why, sizeof(why))) {
		wait_for_records(watch);
		dump(watch, why);
	}
	gt_trace_release(&trace);
}

/* Until it is told to stop, or whoever started it is gone. */
static void watch_on(struct watch *watch, pid_t parent)
{
	const struct timespec interval = {.tv_sec = INTERVAL_NS / SECOND_NS};
	sigset_t heard;

	sigemptyset(&heard);
	sigaddset(&heard, ASK_SIGNAL);
	sigaddset(&heard, STOP_SIGNAL);
	while (getppid() == parent) {
		const int signal = sigtimedwait(&heard, NULL, &interval);

		if (signal == STOP_SIGNAL)
			return;
		if (watch->dumps >= watch->wishes->most)
			continue;
		if (signal == ASK_SIGNAL)
			dump(watch, "a dump was asked for by a signal");
		else if (watch->wishes->dump_on)
			look(watch);
	}
}

static _Noreturn void be_watcher(const struct gt_watcher_wishes *wishes, pid_t parent)
{
	struct watch watch = {.wishes = wishes};
	sigset_t all;

	(void)prctl(PR_SET_NAME, "gputrace-watch");
	/* Ctrl-C goes to the whole group: the program may live on after it. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, NULL);
	(void)prctl(PR_SET_PDEATHSIG, STOP_SIGNAL);
	watch.looks = gt_looks_new();
	if (!wishes->dump_on || gt_triggers_parse(&watch.triggers, wishes->dump_on, NULL) == 0)
		watch_on(&watch, parent);
	_exit(0);
}

int gt_watcher_start(struct gt_watcher *watcher, const struct gt_watcher_wishes *wishes,
                     struct gt_error *err)
{
	const pid_t parent = getpid();
	pid_t child;

	watcher->pid = 0;
	(void)fflush(NULL);
	child = fork();
	if (child < 0)
		return gt_fail(err, errno, "cannot start what dumps: %s", gt_errno_text(errno));
	if (child == 0)
		be_watcher(wishes, parent);
	watcher->pid = child;
	return 0;
}

void gt_watcher_ask(const struct gt_watcher *watcher)
{
	if (watcher->pid > 0)
		(void)kill(watcher->pid, ASK_SIGNAL);
}

void gt_watcher_stop(struct gt_watcher *watcher)
{
	if (watcher->pid <= 0)
		return;
	(void)kill(watcher->pid, STOP_SIGNAL);
	while (waitpid(watcher->pid, NULL, 0) < 0 && errno == EINTR)
		;
	watcher->pid = 0;
}
