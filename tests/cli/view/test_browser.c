/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "support/check.h"
#include "support/folder.h"

#define ADDRESS "http://127.0.0.1:9/"

static char folder[] = "/tmp/gputrace-test-XXXXXX";
static char browser[64]; /* a program that writes its words into said, one a line */
static char said[64];

static void begin(void)
{
	FILE *file;

	cr_assert(mkdtemp(folder) != NULL);
	(void)snprintf(browser, sizeof(browser), "%s/browser", folder);
	(void)snprintf(said, sizeof(said), "%s/said", folder);
	file = fopen(browser, "we");
	cr_assert(file != NULL);
	(void)fprintf(file, "#!/bin/sh\nfor word; do echo \"$word\"; done >%s\n", said);
	cr_assert(eq(int, fclose(file), 0));
	cr_assert(eq(int, chmod(browser, 0700), 0));
}

static void end(void)
{
	(void)folder_remove(folder);
}

TestSuite(browser, .init = begin, .fini = end);

/* The words behind the browser in BROWSER, and those that it gets. */
static void expect_words(const char *before, const char *words, const char *expected)
{
	struct gt_error err = {0};
	char variable[512];
	char text[512] = "";
	FILE *file;
	size_t size;

	(void)snprintf(variable, sizeof(variable), "%s%s%s", before, browser, words);
	(void)unlink(said);
	(void)setenv("BROWSER", variable, 1);
	cr_assert(eq(int, gt_browser_open(ADDRESS, &err), 0), "%s", err.text);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	file = fopen(said, "re");
	cr_assert(file != NULL, "BROWSER=%s", variable);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	cr_assert(eq(int, fclose(file), 0));
	cr_expect(eq(str, text, expected), "BROWSER=%s", variable);
}

/* Once, where it says %s, or behind all of its words. */
Test(browser, gets_the_address_once_wherever_its_command_wants_it)
{
	expect_words("", "", ADDRESS "\n");
	expect_words("", " --new", "--new\n" ADDRESS "\n");
	expect_words("", " %s", ADDRESS "\n");
	expect_words("", " %s --new", ADDRESS "\n--new\n");
	expect_words("", " --new %s --last", "--new\n" ADDRESS "\n--last\n");
	expect_words("", " -a %s -b -c", "-a\n" ADDRESS "\n-b\n-c\n");
	expect_words("", " %s -a %s", ADDRESS "\n-a\n" ADDRESS "\n");
	expect_words("no-such-browser %s:", "  --new  %s  --last:no-such-browser",
	             "--new\n" ADDRESS "\n--last\n");
}

Test(browser, is_said_to_be_missing)
{
	struct gt_error err = {0};

	(void)setenv("BROWSER", "no-such-browser %s", 1);
	cr_expect(eq(int, gt_browser_open(ADDRESS, &err), -ENOENT));
	expect_text(err.text, "cannot run what BROWSER names, no-such-browser %s: No such file or "
	                      "directory");
}
