/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_WATCH_H
#define GT_INJECTION_NVTX_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_nvtx_text;

/*
 * Whether a range of one name is open anywhere in the process: what is done only then asks for it.
 * The name counts in every domain, whether that is recorded or not. From any thread.
 */

enum {
	GT_WATCH_NAME_BYTES = 256,
	GT_WATCH_STRINGS = 16, /* registrations of the name, one for each domain */
	GT_WATCH_STARTED = 64, /* started ranges of the name that are open at once */
};

typedef void gt_nvtx_tell(void *context, uint32_t occurrence);

struct gt_nvtx_watch {
	char name[GT_WATCH_NAME_BYTES];
	uint32_t size;
	_Atomic uint64_t open; /* ranges of the name; upper half: how often one was the first */
	/*
	 * Before the first of an occurrence is recorded, and once the last has ended, on the thread
	 * that began or ended it; occurrence: as below. NULL: nobody.
	 */
	gt_nvtx_tell *_Atomic began;
	gt_nvtx_tell *_Atomic ended;
	void *context;
	_Atomic uint32_t strings[GT_WATCH_STRINGS];
	_Atomic uint64_t started[GT_WATCH_STARTED]; /* ids */
};

/* The name of an event: a text, or a registered string's number. */
struct gt_nvtx_watched_text {
	const struct gt_nvtx_text *text;
	uint32_t registered;
};

/* Where on the calling thread a range was pushed. */
struct gt_nvtx_level {
	uint32_t domain;
	uint32_t level;
};

/* Copies the name; false for none, or one that is too long, which is never open. */
bool gt_nvtx_watch_init(struct gt_nvtx_watch *watch, const char *name);

void gt_nvtx_watch_register(struct gt_nvtx_watch *watch, const struct gt_nvtx_text *text,
                            uint32_t number);
void gt_nvtx_watch_push(struct gt_nvtx_watch *watch, struct gt_nvtx_watched_text text,
                        struct gt_nvtx_level at);
void gt_nvtx_watch_pop(struct gt_nvtx_watch *watch, struct gt_nvtx_level at);
void gt_nvtx_watch_start(struct gt_nvtx_watch *watch, struct gt_nvtx_watched_text text,
                         uint64_t id);
void gt_nvtx_watch_end(struct gt_nvtx_watch *watch, uint64_t id);

bool gt_nvtx_watch_is_open(struct gt_nvtx_watch *watch);

/*
 * The occurrence that is open, counted from 1: from when a range of the name opens to when none is
 * open any more. 0: none is.
 */
uint32_t gt_nvtx_watch_occurrence(struct gt_nvtx_watch *watch);

/* These are to be called from now on; began may be NULL. */
void gt_nvtx_watch_tell(struct gt_nvtx_watch *watch, gt_nvtx_tell *began, gt_nvtx_tell *ended,
                        void *context);

#endif
