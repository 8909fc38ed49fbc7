/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/terminal.h"

#define MOST_PARTIALS 256 /* captures of one import at most */
#define SIGNAL_COUNT  (sizeof(ending_signals) / sizeof(ending_signals[0]))

static const int ending_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                     SIGPIPE, SIGALRM, SIGXCPU, SIGXFSZ};

/* A signal handler is given no pointer. All signals above are blocked while it changes. */
static struct {
	const char *paths[MOST_PARTIALS];
	size_t count;
	bool line; /* one that is to be erased */
	struct sigaction before[SIGNAL_COUNT];
} partials;

/* SA_RESETHAND: the signal is raised again and ends the program once this has returned. */
static void remove_partials(int signal)
{
	const int saved = errno;

	for (size_t i = 0; i < partials.count; i++)
		(void)unlink(partials.paths[i]);
	if (partials.line && write(STDERR_FILENO, GT_ERASE_LINE, strlen(GT_ERASE_LINE)) < 0)
		partials.line = false; /* the terminal is gone, and the line with it */
	(void)kill(getpid(), signal);
	errno = saved;
}

static void block(sigset_t *before)
{
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		sigaddset(&signals, ending_signals[i]);
	(void)pthread_sigmask(SIG_BLOCK, &signals, before);
}

static void catch_signals(void)
{
	const struct sigaction action = {.sa_handler = remove_partials,
	                                 .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		(void)sigaction(ending_signals[i], NULL, &partials.before[i]);
		if (partials.before[i].sa_handler == SIG_DFL)
			(void)sigaction(ending_signals[i], &action, NULL);
	}
}

static void let_signals_go(void)
{
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		(void)sigaction(ending_signals[i], &partials.before[i], NULL);
}

int gt_partial_create(const char *path)
{
	sigset_t before;
	int fd;

	block(&before);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		fd = -errno;
	} else if (partials.count < MOST_PARTIALS) {
		if (partials.count == 0 && !partials.line)
			catch_signals();
		partials.paths[partials.count++] = path;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

void gt_partial_forget(const char *path)
{
	sigset_t before;

	block(&before);
	for (size_t i = 0; i < partials.count; i++) {
		if (partials.paths[i] != path)
			continue;
		partials.paths[i] = partials.paths[--partials.count];
		if (partials.count == 0 && !partials.line)
			let_signals_go();
		break;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gt_partial_line(bool shown)
{
	sigset_t before;

	block(&before);
	if (shown && !partials.line && partials.count == 0)
		catch_signals();
	else if (!shown && partials.line && partials.count == 0)
		let_signals_go();
	partials.line = shown;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
