/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "support/check.h"

static int run_shell(const char *script, struct gt_ending *ending)
{
	char *argv[] = {"sh", "-c", (char *)script, NULL};
	bool not_run;

	return gt_process_run(argv, environ, NULL, ending, &not_run, NULL);
}

Test(process, passes_the_exit_status_on)
{
	struct gt_ending ending;

	cr_assert(eq(int, run_shell("exit 7", &ending), 0));
	cr_expect(eq(int, ending.signal, 0));
	cr_expect(eq(int, gt_ending_status(&ending), 7));
}

Test(process, tells_the_signal_that_killed_it)
{
	struct gt_ending ending;

	cr_assert(eq(int, run_shell("kill -9 $$", &ending), 0));
	cr_expect(eq(int, ending.signal, 9));
	cr_expect(eq(int, gt_ending_status(&ending), 137));
}

Test(process, says_when_there_is_no_program)
{
	char *argv[] = {"/nosuch/program", NULL};
	struct gt_ending ending;
	struct gt_error err = {0};
	bool not_run = false;

	cr_assert(eq(int, gt_process_run(argv, environ, NULL, &ending, &not_run, &err), -ENOENT));
	cr_expect(not_run);
	expect_text(err.text, "cannot run /nosuch/program: No such file or directory");
}

Test(process, says_when_it_cannot_be_run)
{
	char *argv[] = {"/etc/passwd", NULL};
	struct gt_ending ending;
	bool not_run = false;

	cr_assert(eq(int, gt_process_run(argv, environ, NULL, &ending, &not_run, NULL), -EACCES));
	cr_expect(not_run);
}

Test(process, uses_the_environment_it_is_given)
{
	char *argv[] = {"sh", "-c", "test \"$GREETING\" = hello", NULL};
	char *environment[] = {"GREETING=hello", "PATH=/usr/bin:/bin", NULL};
	struct gt_ending ending;
	bool not_run;

	cr_assert(eq(int, gt_process_run(argv, environment, NULL, &ending, &not_run, NULL), 0));
	cr_expect(eq(int, gt_ending_status(&ending), 0));
}

/* Whether a program started now sees this line in the kernel's account of itself. */
static bool sees(const char *line)
{
	char *argv[] = {"grep", "-q", (char *)line, "/proc/self/status", NULL};
	struct gt_ending ending;
	bool not_run;

	cr_assert(eq(int, gt_process_run(argv, environ, NULL, &ending, &not_run, NULL), 0));
	return gt_ending_status(&ending) == 0;
}

Test(process, leaves_mask_and_dispositions_alone)
{
	sigset_t mask;

	for (int number = 1; number < SIGRTMIN; number++)
		signal(number, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	/* SIGUSR2 is bit 11; SIGHUP and SIGCHLD are bits 0 and 16. */
	cr_expect(sees("^SigBlk:\\s*0000000000000800$"));
	cr_expect(sees("^SigIgn:\\s*0000000000010001$"));
	cr_expect(not(sees("^SigIgn:\\s*0000000000000001$")));

	sigprocmask(SIG_SETMASK, NULL, &mask);
	cr_expect(sigismember(&mask, SIGUSR2));
	cr_expect(not(sigismember(&mask, SIGINT)));
}

Test(process, knows_the_status_even_when_children_are_ignored)
{
	struct gt_ending ending;

	signal(SIGCHLD, SIG_IGN);
	cr_assert(eq(int, run_shell("exit 3", &ending), 0));
	cr_expect(eq(int, gt_ending_status(&ending), 3));
}

static void ignore(int signal)
{
	(void)signal;
}

Test(process, forwards_what_others_send)
{
	/* A signal before the program is started must not end this test; the program, unlike
	   with SIG_IGN, gets the default back. */
	const struct sigaction harmless = {.sa_handler = ignore, .sa_flags = SA_RESTART};
	const pid_t self = getpid();
	struct gt_ending ending;
	pid_t sender;

	sigaction(SIGTERM, &harmless, NULL);
	sender = fork();
	if (sender == 0) {
		for (int i = 0; i < 500 && kill(self, SIGTERM) == 0; i++)
			usleep(20000);
		_exit(0);
	}
	cr_assert(
		eq(int, run_shell("trap 'exit 5' TERM; while :; do sleep 0.01; done", &ending), 0));
	kill(sender, SIGKILL);
	waitpid(sender, NULL, 0);
	/* The first may come before the shell has set its trap. */
	cr_expect(ending.exit_status == 5 || ending.signal == SIGTERM);
}
