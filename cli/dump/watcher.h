/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DUMP_WATCHER_H
#define GT_CLI_DUMP_WATCHER_H

#include <stdint.h>
#include <sys/types.h>

struct gt_error;

/*
 * A process of gputrace's own that looks at the recording of a running program now and then, and
 * dumps it when something has gone wrong (analysis/pending/triggers.h) or a signal asks for it. The
 * program is not touched, and waits for nothing.
 */
struct gt_watcher {
	pid_t pid; /* 0: there is none */
};

struct gt_watcher_wishes {
	const char *dump_on; /* words of gt_triggers_parse; NULL: nothing is looked for */
	uint64_t most;       /* dumps */
	const char *folder;  /* of the recording */
	uint64_t flush_ns;   /* of the interval at which records are fetched; 0: the default */
};

/* Whether the words can be read; 0, or -EINVAL with a sentence. */
int gt_watcher_check(const char *dump_on, struct gt_error *err);

/* Before the program begins. Without a wish there is none. 0, or negative with err set. */
int gt_watcher_start(struct gt_watcher *watcher, const struct gt_watcher_wishes *wishes,
                     struct gt_error *err);

/* A dump is wanted now. */
void gt_watcher_ask(const struct gt_watcher *watcher);

/* The program has ended: a dump that is under way is brought to its end. */
void gt_watcher_stop(struct gt_watcher *watcher);

#endif
