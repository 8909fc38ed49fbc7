/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_H
#define GT_INJECTION_SESSION_H

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/arena.h"
#include "format/drain.h"
#include "format/settings.h"
#include "format/writer.h"
#include "injection/cupti.h"
#include "injection/interner.h"

#define GT_MAX_SOURCES 16

/*
 * What is being recorded in this process. There is one, since CUPTI's buffer callbacks carry
 * no user pointer; it lives until the process ends and its memory is never given back.
 */
struct gt_session {
	struct gt_settings settings;
	struct gt_arena arena;
	struct gt_cupti cupti;
	CUpti_SubscriberHandle subscriber;
	int driver_version; /* cuDriverGetVersion, 0: not known */

	/* Of the starting thread, then of the writer thread. */
	struct gt_interner interner;
	struct gt_writer writer;
	struct gt_drain *drain;

	char folder[PATH_MAX];
	char capture_name[NAME_MAX + 1];
	char arena_path[PATH_MAX];
	int capture_fd;       /* the program may close it: see gt_output_write */
	dev_t capture_device; /* which file the capture is */
	ino_t capture_inode;
	uint8_t *last_resort; /* for an old CUPTI when even the discard buffers are in use; never
	                         read */

	_Atomic bool armed;         /* record what happens */
	_Atomic bool activity_seen; /* CUPTI asked for a buffer: CUDA is up, flushing is safe */
	_Atomic bool stopping;
	_Atomic uint64_t flush_began_ns; /* CLOCK_MONOTONIC, 0: no flush is under way */
	uint64_t discarded;              /* of the writer thread: records of one discard buffer */
	bool devices_done;               /* of the writer thread */
	bool flush_given_up;             /* of the writer thread: the flush that hangs is counted */

	bool source_started[GT_MAX_SOURCES];
	pthread_t writer_thread;
	pthread_t flusher_thread;
	sem_t writer_work;  /* a slot is full, or it is time */
	sem_t flusher_work; /* flush now */
	sem_t flushed;      /* a flush that was asked for is done */
	sem_t writer_done;
	sem_t flusher_done;
};

/* The one session of the process, for callbacks that carry no pointer to it. */
struct gt_session *gt_session_get(void);

/*
 * Starts recording: everything that cannot start is noted in the capture and left out, and
 * the program goes on as it would without. Called once, on the thread that initialises CUDA.
 */
void gt_session_start(struct gt_session *session, char *const *environment);

/* Ends it, from an exit handler: fetches what CUPTI has, writes all, removes the arena. */
void gt_session_stop(struct gt_session *session);

/* In the child of a fork: records nothing and touches nothing of the parent's. */
void gt_session_forget(struct gt_session *session);

/* A row of the capture's notes. Starting thread, then writer thread. */
void gt_session_note(struct gt_session *session, const char *topic, const char *text);

uint32_t gt_session_intern(struct gt_session *session, const char *text);

/* Asks the flusher to fetch what CUPTI has finished, and waits for it, at most limit_ns. */
void gt_session_flush(struct gt_session *session, uint64_t limit_ns);

#endif
