/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injection/process/thread.h"
#include "injection/process/wait.h"

#define LONG_NS 1000000000u

/* Linux 5.9, in libc since glibc 2.34; the number is the same on all machines. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CLOSE_UNSHARED 2u /* CLOSE_RANGE_UNSHARE */

/* The numbers in a listing of /proc/thread-self/fd. Returns how many were closed, -1: an error. */
static int close_listed(int listing)
{
	_Alignas(struct dirent64) uint8_t entries[2048];
	const long bytes = syscall(SYS_getdents64, listing, entries, sizeof(entries));
	int closed = 0;

	for (long at = 0; at < bytes;) {
		const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
		char *end;
		const long fd = strtol(entry->d_name, &end, 10);

		at += entry->d_reclen;
		if (end != entry->d_name && fd != listing && close((int)fd) == 0)
			closed++;
	}
	return bytes < 0 ? -1 : closed;
}

/* Copies of the program's descriptors would keep its pipes and connections open. */
static int close_copies(void)
{
	int closed;

	do {
		const int listing =
			open("/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (listing < 0)
			return -errno;
		closed = close_listed(listing);
		close(listing);
	} while (closed > 0);
	return closed;
}

static int take_own_table(void)
{
	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_UNSHARED) == 0)
		return 0;
	if (unshare(CLONE_FILES) < 0)
		return -errno;
	return close_copies();
}

/* A job that is asked for takes as long as it takes. */
static void wait_for(sem_t *semaphore)
{
	while (!gt_wait(semaphore, LONG_NS))
		;
}

/* The thread's end closes what it has open. */
static void *run(void *context)
{
	struct gt_files *files = context;

	gt_thread_enter(GT_THREAD_FILES);
	files->result = take_own_table();
	sem_post(&files->answered);
	if (files->result < 0)
		return NULL;
	for (;;) {
		wait_for(&files->asked);
		if (!files->job)
			return NULL;
		files->result = files->job(files->context);
		sem_post(&files->answered);
	}
}

void gt_files_start(struct gt_files *files)
{
	pthread_t thread;

	*files = (struct gt_files){0};
	pthread_mutex_init(&files->one, NULL);
	sem_init(&files->asked, 0, 0);
	sem_init(&files->answered, 0, 0);
	if (gt_thread_start(&thread, run, files) != 0)
		return;
	pthread_detach(thread);
	wait_for(&files->answered);
	atomic_store(&files->runs, files->result == 0);
}

/* Asks the thread, which is waiting. False: there is none any more. */
static bool ask(struct gt_files *files, int (*job)(void *context), void *context)
{
	if (!atomic_load(&files->runs))
		return false;
	files->job = job;
	files->context = context;
	sem_post(&files->asked);
	return true;
}

void gt_files_stop(struct gt_files *files)
{
	if (!atomic_load(&files->runs))
		return;
	pthread_mutex_lock(&files->one);
	if (ask(files, NULL, NULL))
		atomic_store(&files->runs, false);
	pthread_mutex_unlock(&files->one);
}

int gt_files_do(struct gt_files *files, int (*job)(void *context), void *context)
{
	bool asked;
	int result = 0;

	if (!atomic_load(&files->runs))
		return job(context);
	pthread_mutex_lock(&files->one);
	asked = ask(files, job, context);
	if (asked) {
		wait_for(&files->answered);
		result = files->result;
	}
	pthread_mutex_unlock(&files->one);
	return asked ? result : job(context);
}
