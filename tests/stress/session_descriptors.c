/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session whose process closes every descriptor but the standard ones and puts its own file in
 * their place, round after round, while threads launch: no byte goes into that file, and every call
 * is recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injection/session/services.h"
#include "stress/session.h"

enum { THREADS = 3, ROUNDS = 3000, FIRST = 3, PUT = 64, MOST = 256 };

#define LIMIT_NS 60000000000u

static struct stress_cuda cuda;
static _Atomic bool running = true;
static _Atomic uint64_t launched;

static void *launch_on(void *unused)
{
	(void)unused;
	MUST(cuCtxSetCurrent(cuda.context) == CUDA_SUCCESS);
	while (atomic_load(&running)) {
		launch_kernel(&cuda);
		MUST(cuCtxSynchronize() == CUDA_SUCCESS);
		atomic_fetch_add(&launched, 2);
	}
	return NULL;
}

/* A sanitizer asks by pipes for the names of functions. */
static bool is_pipe(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* A sanitizer opens files as well. It closes ours where ours took the place of its own. */
static bool is_taken(int error)
{
	return error == EBADF || error == EBUSY;
}

static void replace_all(const char *path)
{
	int fd;

	for (int i = FIRST; i < MOST; i++)
		if (!is_pipe(i))
			close(i);
	fd = open(path, O_RDWR | O_APPEND);
	MUST(fd >= 0);
	for (int to = FIRST; to < PUT; to++)
		MUST(to == fd || is_pipe(to) || dup2(fd, to) == to || is_taken(errno));
}

int main(void)
{
	struct gt_session *session = gt_session_get();
	char folder[] = "/tmp/gputrace-stress-XXXXXX";
	char path[] = "/tmp/gputrace-theirs-XXXXXX";
	pthread_t threads[THREADS];
	struct stat status;
	uint64_t before;
	uint64_t after;

	MUST(mkdtemp(folder));
	MUST(close(mkstemp(path)) == 0);
	start_session(session, folder);
	cuda = use_cuda();
	before = calls_of_session(session, LIMIT_NS);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, launch_on, NULL) == 0);
	for (int i = 0; i < ROUNDS; i++)
		replace_all(path);
	atomic_store(&running, false);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	after = calls_of_session(session, LIMIT_NS);
	gt_session_stop(session);
	MUST(after == before + atomic_load(&launched));
	MUST(atomic_load(&session->arena.header->ledger[GT_LEDGER_not_written]) == 0);
	MUST(stat(path, &status) == 0 && status.st_size == 0);
	unlink(path);
	remove_all(folder);
	return 0;
}
