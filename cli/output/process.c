/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

/* Signal settings before we touched them; the program gets them back. */
struct signals {
	sigset_t mask;
	struct sigaction child;
};

static void signals_block(struct signals *before)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t all;

	/* Faults of our own stay deliverable: blocked, they would end us without a message. */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	sigdelset(&all, SIGTRAP);
	sigdelset(&all, SIGSYS);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before->mask);
	/* Whoever starts us with SIGCHLD ignored takes the exit status away from waitpid. */
	(void)sigaction(SIGCHLD, &standard, &before->child);
}

static void signals_restore(const struct signals *before)
{
	(void)sigaction(SIGCHLD, &before->child, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}

/* In the child. When there is no program to become, says why through the pipe. */
static void become(char *const *argv, char *const *environment, const struct signals *before,
                   int report_fd)
{
	signals_restore(before);
	execvpe(argv[0], argv, environment);

	const int code = errno;

	(void)!write(report_fd, &code, sizeof(code));
	_exit(127);
}

/* Waits until the child has become the program (0) or could not (its errno). */
static int read_report(int fd)
{
	int code = 0;
	ssize_t got;

	do
		got = read(fd, &code, sizeof(code));
	while (got < 0 && errno == EINTR);
	return got == sizeof(code) ? code : 0;
}

/* PROGRAM is there, but what is to run it is not: named in a script's first line. */
static int no_interpreter(const char *program, struct gt_error *err)
{
	FILE *file = strchr(program, '/') ? fopen(program, "re") : NULL;
	char line[256] = "";
	const char *name;

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		(void)fclose(file);
	if (strncmp(line, "#!", 2) != 0)
		return gt_fail(err, ENOEXEC, "cannot run %s: its interpreter is not there",
		               program);
	name = line + 2 + strspn(line + 2, " \t");
	return gt_fail(err, ENOEXEC, "cannot run %s: its interpreter %.*s is not there", program,
	               (int)strcspn(name, " \t\r\n"), name);
}

static int start(char *const *argv, char *const *environment, const struct signals *before,
                 bool *not_run, struct gt_error *err)
{
	int report[2];
	pid_t child;
	int code;

	if (pipe2(report, O_CLOEXEC) < 0)
		return gt_fail(err, errno, "cannot start %s: %s", argv[0], gt_errno_text(errno));
	child = fork();
	if (child == 0)
		become(argv, environment, before, report[1]);
	code = errno;
	(void)close(report[1]);
	if (child < 0) {
		(void)close(report[0]);
		return gt_fail(err, code, "cannot start %s: %s", argv[0], gt_errno_text(code));
	}
	code = read_report(report[0]);
	(void)close(report[0]);
	if (code == 0)
		return child;
	(void)waitpid(child, NULL, 0);
	*not_run = true;
	/* The kernel says the same of a file that is not there and of one it cannot interpret. */
	if (code == ENOENT && gt_process_find(argv[0], NULL) == 0)
		return no_interpreter(argv[0], err);
	return gt_fail(err, code, "cannot run %s: %s", argv[0], gt_errno_text(code));
}

/*
 * The keyboard's stop signals reach the program and us alike; ours is blocked, so we stop by
 * hand. A program stopped with SIGSTOP was stopped by someone who knows its process id and will
 * continue it alone: if we stopped too, nobody would continue us.
 */
static bool is_from_keyboard(int signal)
{
	return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

struct child {
	pid_t pid;
	bool stopped; /* from the keyboard, and we with it */
	bool ended;
};

static void look_after(struct child *child, struct gt_ending *ending)
{
	int status;

	while (!child->ended &&
	       waitpid(child->pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == child->pid) {
		child->ended = WIFEXITED(status) || WIFSIGNALED(status);
		child->stopped = WIFSTOPPED(status) && is_from_keyboard(WSTOPSIG(status));
		if (WIFEXITED(status))
			*ending = (struct gt_ending){.exit_status = WEXITSTATUS(status)};
		else if (WIFSIGNALED(status))
			*ending = (struct gt_ending){.signal = WTERMSIG(status)};
		else if (child->stopped)
			(void)raise(SIGSTOP);
	}
}

/*
 * A positive si_code means that the kernel made the signal; those of the terminal (Ctrl-C, a
 * changed window, hang-up) went to the whole foreground group and so to the program as well.
 * Everything else was sent to us by a process that means the program. A shell continues the
 * whole group: by then the program runs and needs no second SIGCONT.
 */
static bool is_for_the_program(const siginfo_t *info, const struct child *child)
{
	if (info->si_signo == SIGCONT && !child->stopped)
		return false;
	return info->si_signo != SIGCHLD && info->si_code <= 0 && info->si_pid != child->pid;
}

/* SIGCHLD was blocked before the child was made, so none is missed. */
static void wait_for(pid_t pid, const struct gt_onlooker *onlooker, struct gt_ending *ending)
{
	const struct timespec interval = {.tv_nsec = onlooker ? onlooker->interval_ns : 0};
	struct child child = {.pid = pid};
	sigset_t all;

	sigfillset(&all);
	while (!child.ended) {
		siginfo_t info;
		const int result =
			onlooker ? sigtimedwait(&all, &info, &interval) : sigwaitinfo(&all, &info);

		if (onlooker && result < 0 && errno == EAGAIN)
			onlooker->look(onlooker->context, pid);
		if (onlooker && result > 0 && result == onlooker->signal) {
			onlooker->hear(onlooker->context);
			continue;
		}

		look_after(&child, ending);
		if (result >= 0 && !child.ended && is_for_the_program(&info, &child))
			(void)kill(pid, info.si_signo);
	}
}

int gt_process_apart(int (*work)(void *context), void *context, struct gt_ending *ending)
{
	struct signals before;
	pid_t child;
	int code;

	(void)fflush(NULL); /* what stands in buffers would be written by both */
	signals_block(&before);
	child = fork();
	code = errno;
	if (child == 0) {
		signals_restore(&before);
		exit(work(context)); // NOLINT(concurrency-mt-unsafe): it has one thread
	}
	if (child > 0)
		wait_for(child, NULL, ending);
	signals_restore(&before);
	return child > 0 ? 0 : -code;
}

int gt_process_run(char *const *argv, char *const *environment, const struct gt_onlooker *onlooker,
                   struct gt_ending *ending, bool *not_run, struct gt_error *err)
{
	struct signals before;
	int child;

	*not_run = false;
	signals_block(&before);
	child = start(argv, environment, &before, not_run, err);
	if (child > 0)
		wait_for(child, onlooker, ending);
	signals_restore(&before);
	return child > 0 ? 0 : child;
}

int gt_ending_status(const struct gt_ending *ending)
{
	return ending->signal ? 128 + ending->signal : ending->exit_status;
}

static int check(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || access(path, X_OK) < 0)
		return -EACCES;
	return 0;
}

/* Tries execvp's paths, in its order; the first that is there but may not be run is remembered. */
static int look_along_path(const char *program, char path[PATH_MAX])
{
	const char *at =
		getenv("PATH"); // NOLINT(concurrency-mt-unsafe): the program has one thread
	int result = -ENOENT;

	for (; at && *at; at += *at == ':') {
		const size_t length = strcspn(at, ":");
		int found;

		snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", program);
		found = check(path);
		if (found == 0)
			return 0;
		if (found == -EACCES)
			result = -EACCES;
		at += length;
	}
	return result;
}

int gt_process_path(const char *program, char path[PATH_MAX])
{
	if (!strchr(program, '/'))
		return look_along_path(program, path);
	snprintf(path, PATH_MAX, "%s", program);
	return check(path);
}

static int look_for(const char *program)
{
	char path[PATH_MAX];

	return gt_process_path(program, path);
}

/* Whether its words were put in quotes together: "./app -n 5". */
static bool is_command_line(const char *program)
{
	char first[PATH_MAX];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(program, " "), program);
	return strchr(program, ' ') && look_for(first) == 0;
}

/* Says what a missing program's name probably meant; the error is that of looking for it. */
static int explain(const char *program, int result, struct gt_error *err)
{
	const char *slash = strchr(program, '/');

	if (gt_process_is_python(program) && access(program, R_OK) == 0)
		return gt_fail(err, -result,
		               "cannot run %s: it is a Python script; did you mean python3 %s?",
		               program, program);
	if (result == -ENOENT && !slash && access(program, X_OK) == 0)
		return gt_fail(err, -result, "cannot run %s: %s along PATH; did you mean ./%s?",
		               program, gt_errno_text(-result), program);
	if (is_command_line(program))
		return gt_fail(err, -result,
		               "cannot run '%s': %s; give the program and its arguments as words "
		               "of their own, without the quotes",
		               program, gt_errno_text(-result));
	if (strcmp(program, "python") == 0 && look_for("python3") == 0)
		return gt_fail(err, -result, "cannot run python: %s; did you mean python3?",
		               gt_errno_text(-result));
	if (strchr(program, '=') && !slash)
		return gt_fail(err, -result,
		               "cannot run %s: %s; to set a variable: gputrace run env %s ./app",
		               program, gt_errno_text(-result), program);
	return gt_fail(err, -result, "cannot run %s: %s", program, gt_errno_text(-result));
}

int gt_process_find(const char *program, struct gt_error *err)
{
	const int result = look_for(program);

	return result < 0 ? explain(program, result, err) : 0;
}

bool gt_process_is_python(const char *program)
{
	const size_t length = strlen(program);

	return length > strlen(".py") && strcmp(program + length - strlen(".py"), ".py") == 0;
}
