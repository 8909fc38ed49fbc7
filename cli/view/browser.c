/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/output/variable.h"

enum { MOST_WORDS = 16 };

bool gt_browser_is_there(void)
{
	return gt_variable("BROWSER") || gt_variable("DISPLAY") || gt_variable("WAYLAND_DISPLAY");
}

/* Messages of browsers about themselves are of no use here. Returns 0 or an errno value. */
static int spawn(char **words)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid;
	int code;

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	(void)posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
	(void)posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	code = posix_spawnp(&pid, words[0], &actions, &attributes, words, environ);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return code;
}

/* One command of BROWSER, which is cut up: words, the address where it says %s or behind them. */
static int spawn_command(char *command, const char *address)
{
	char *words[MOST_WORDS + 2];
	char *copy = gt_allocate(strlen(address) + 1);
	bool placed = false;
	size_t count = 0;
	char *rest = NULL;
	int code;

	memcpy(copy, address, strlen(address) + 1);
	for (char *word = strtok_r(command, " ", &rest); word && count < MOST_WORDS;
	     word = strtok_r(NULL, " ", &rest)) {
		const bool is_place = strcmp(word, "%s") == 0;

		words[count++] = is_place ? copy : word;
		placed = placed || is_place;
	}
	if (!placed && count > 0)
		words[count++] = copy;
	words[count] = NULL;
	code = count > 0 ? spawn(words) : ENOENT;
	free(copy);
	return code;
}

int gt_browser_open(const char *address, struct gt_error *err)
{
	const char *named = gt_variable("BROWSER");
	char *commands = strdup(named ? named : "xdg-open");
	char *rest = NULL;
	int code = ENOENT;

	for (char *command = commands ? strtok_r(commands, ":", &rest) : NULL; command && code;
	     command = strtok_r(NULL, ":", &rest))
		code = spawn_command(command, address);
	free(commands);
	if (code)
		return gt_fail(err, code, "cannot run %s%s: %s",
		               named ? "what BROWSER names, " : "", named ? named : "xdg-open",
		               gt_errno_text(code));
	return 0;
}
