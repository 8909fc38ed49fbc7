/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_WRITER_THREAD_H
#define GT_INJECTION_SESSION_WRITER_THREAD_H

#include <pthread.h>
#include <semaphore.h>

struct gt_session;

/*
 * The thread that turns full slots into chunks of the capture. From its start to its end the
 * interner, the writer, the drain and the sources are its own.
 */
struct gt_writer_thread {
	pthread_t thread;
	sem_t work; /* a slot is full, or there is something else to look at */
	sem_t done;
};

/* Before anything may post a semaphore: CUPTI's callbacks do from their registration on. */
void gt_writer_thread_init(struct gt_writer_thread *thread);

/* 0, or a positive errno value when the thread cannot be made. */
int gt_writer_thread_start(struct gt_session *session);

/* On that thread, while it waits for another one of ours: writes what has been handed over. */
void gt_writer_thread_drain(struct gt_session *session);

#endif
