/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output/process.h"
#include "cli/output/say.h"
#include "cli/output/terminal.h"
#include "cli/output/variable.h"

/* Exit status of a shell that cannot run, or does not find, a command. */
enum { NOT_RUNNABLE = 126, NOT_FOUND = 127 };

/* The variable that names the pager; NULL: none does. */
static const char *name_of_variable(void)
{
	static const char *const names[] = {"GPUTRACE_PAGER", "PAGER"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i])) /* NOLINT(concurrency-mt-unsafe): there is one thread */
			return names[i];
	return NULL;
}

const char *gt_pager_command(void)
{
	const char *name = name_of_variable();
	const char *command = name ? gt_variable(name) : NULL;

	/* Not everywhere is there one, and nobody asked for it. */
	if (!name)
		return gt_process_find("less", NULL) == 0 ? "less -FRX" : NULL;
	return command && strcmp(command, "cat") != 0 ? command : NULL;
}

bool gt_pager_is_needed(const char *text, size_t size)
{
	const size_t rows = gt_terminal_size(STDOUT_FILENO).rows;
	size_t lines = 1; /* for the prompt that comes after it */

	if (rows == 0)
		return false;
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	return lines > rows;
}

/* In the child: never returns. */
static void run_shell(const char *command, int input)
{
	if (dup2(input, STDIN_FILENO) >= 0)
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(NOT_FOUND);
}

static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void say_missing(const char *command)
{
	const char *name = name_of_variable();

	gt_say("'%s', which %s names as the pager, cannot be run", command,
	       name ? name : "gputrace");
}

/*
 * Whether the shell will find what the command begins with. Where that is no plain word, such as a
 * variable that is set, it is left to the shell, whose complaint is the only one to be had.
 */
static bool is_there(const char *command)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./+-";
	static const char ask[] = "command -v \"$1\" >/dev/null 2>&1";
	const char *begin = command + strspn(command, " \t");
	const size_t length = strspn(begin, plain);
	char *word;
	pid_t child;
	int status;

	if (length == 0 || (begin[length] && !strchr(" \t;|", begin[length])))
		return true;
	word = strndup(begin, length);
	child = fork();
	if (child == 0) {
		(void)execl("/bin/sh", "sh", "-c", ask, "sh", word, (char *)NULL);
		_exit(0);
	}
	free(word);
	status = child > 0 ? wait_for(child) : 0;
	return status == 0;
}

static void write_all(int fd, const char *text, size_t size)
{
	while (size > 0) {
		const ssize_t written = write(fd, text, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return; /* whoever reads has seen enough */
		text += written;
		size -= (size_t)written;
	}
}

/* Signals that are the pager's while it runs; SIGPIPE says that it has ended. */
static const int passed[] = {SIGINT, SIGQUIT, SIGPIPE};

enum { PASSED = sizeof(passed) / sizeof(passed[0]) };

static void ignore_signals(struct sigaction *before)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (size_t i = 0; i < PASSED; i++)
		(void)sigaction(passed[i], &ignore, &before[i]);
}

static void restore_signals(const struct sigaction *before)
{
	for (size_t i = 0; i < PASSED; i++)
		(void)sigaction(passed[i], &before[i], NULL);
}

bool gt_pager_show(const char *command, const char *text, size_t size)
{
	struct sigaction before[PASSED];
	int ends[2];
	pid_t child;
	int status;

	if (!is_there(command)) {
		say_missing(command);
		return false;
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	ignore_signals(before);
	child = fork();
	if (child == 0) {
		restore_signals(before);
		run_shell(command, ends[0]);
	}
	close(ends[0]);
	if (child > 0)
		write_all(ends[1], text, size);
	close(ends[1]);
	status = child > 0 ? wait_for(child) : NOT_FOUND;
	restore_signals(before);
	if (status != NOT_RUNNABLE && status != NOT_FOUND)
		return true;
	say_missing(command);
	return false;
}

void gt_paged_open(struct gt_paged *page)
{
	*page = (struct gt_paged){0};
	page->out = open_memstream(&page->text, &page->size);
	if (!page->out)
		page->out = stdout;
}

void gt_paged_close(struct gt_paged *page)
{
	const char *command = gt_pager_command();

	if (page->out == stdout)
		return;
	(void)fclose(page->out);
	if (!command || !gt_pager_is_needed(page->text, page->size) ||
	    !gt_pager_show(command, page->text, page->size))
		(void)fwrite(page->text, 1, page->size, stdout);
	free(page->text);
}
