/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_OUTPUT_FILES_H
#define GT_INJECTION_OUTPUT_FILES_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

/*
 * A thread that opens and writes the files of the recording, with a table of descriptors of its
 * own. The program cannot close these descriptors or put its files in their place, does not see
 * them, and its limit on open files leaves room for them. The thread does nothing else: CUDA and
 * NVML find their descriptors in the program's table only.
 */
struct gt_files {
	pthread_mutex_t one; /* job at a time */
	sem_t asked;
	sem_t answered;
	int (*job)(void *context);
	void *context;
	int result;
	_Atomic bool runs;
};

/*
 * Starts the thread. Where that fails, or the kernel gives it no table of its own, jobs run on the
 * thread that asks. Anew in the child of a fork.
 */
void gt_files_start(struct gt_files *files);

/* The last job has been done: the thread ends and its descriptors are closed. */
void gt_files_stop(struct gt_files *files);

/* Runs the job and returns its result. From any thread; not from within a job. */
int gt_files_do(struct gt_files *files, int (*job)(void *context), void *context);

#endif
