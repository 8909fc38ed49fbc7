/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/again.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <unistd.h>

#include "base/array.h"
#include "base/parse.h"
#include "cli/variable.h"

/* How often it began again, for the process that it becomes. */
#define VARIABLE "GPUTRACE_REPLAY_AGAIN"

unsigned gt_begun_again(void)
{
	const char *text = gt_variable(VARIABLE);
	uint64_t times = 0;

	if (text && gt_parse_count(text, &times) < 0)
		return 0;
	return times > GT_AGAIN_MOST ? GT_AGAIN_MOST : (unsigned)times;
}

/* The words that it was started with, each with a zero behind it. */
struct words {
	gt_array(char *) list;
};

static void read_words(struct words *words)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char *word = NULL;
	size_t size = 0;

	while (file && getdelim(&word, &size, '\0', file) > 0) {
		*gt_array_push(&words->list) = word;
		word = NULL;
	}
	free(word);
	if (file)
		(void)fclose(file);
}

static void release_words(struct words *words)
{
	gt_array_each(char *, word, &words->list)
		free(*word);
	gt_array_release(&words->list);
}

void gt_begin_again(void)
{
	const unsigned times = gt_begun_again() + 1;
	struct words words = {0};
	char text[16];

	if (times > GT_AGAIN_MOST)
		return;
	read_words(&words);
	*gt_array_push(&words.list) = NULL;
	snprintf(text, sizeof(text), "%u", times);
	(void)setenv(VARIABLE, text, 1); // NOLINT(concurrency-mt-unsafe)
	if (times == GT_AGAIN_MOST)
		(void)personality(ADDR_NO_RANDOMIZE);
	if (words.list.rows[0])
		(void)execv("/proc/self/exe", words.list.rows);
	release_words(&words);
}
