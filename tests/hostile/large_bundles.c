/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_large_bundles
 * Texts of bundle.json that are as large as they may be, each made to cost as much as it can: each
 * is read in a process of its own, which may take four times the text's size in memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "hostile/memory.h"
#include "model/bundle/bundle.h"

enum { HANGS_AFTER = 120 /* seconds */ };

#define MOST_TEXT   ((size_t)GT_BUNDLE_MOST_MANIFEST)
#define MOST_TIMES  4
#define MEMORY_BASE ((size_t)64 << 20)

/* begin, then each as often as there is room, with commas between, then end. #: a number. */
struct text {
	const char *name;
	const char *begin;
	const char *each;
	const char *end;
	size_t bytes; /* at most */
};

static const struct text texts[] = {
	{"small memory", "{\"version\":1,\"memory\":[",
         "{\"kind\":\"device\",\"address\":\"0x#1000\",\"size\":8}", "]}", MOST_TEXT},
	{"steps", "{\"version\":1,\"streams\":[{}],\"steps\":[",
         "{\"kind\":\"host_wait\",\"stream\":0,\"start_ns\":10000,\"end_ns\":20000}", "]}",
         MOST_TEXT},
	{"missing texts", "{\"version\":1,\"missing\":[", "\"a kernel of which nothing is known\"",
         "]}", MOST_TEXT},
	{"objects in an entry", "{\"version\":1,\"modules\":[{\"x\":[", "{}", "]}]}",
         (size_t)6 << 20},
	{"numbers in an entry", "{\"version\":1,\"modules\":[{\"x\":[", "1", "]}]}", MOST_TEXT},
	{"numbers in a member", "{\"version\":1,\"x\":[", "1", "]}", MOST_TEXT},
	{"members", "{\"version\":1,", "\"x#\":1", "}", MOST_TEXT},
	{"lists in lists", "{\"version\":1,\"x\":[", "[[[[]]]]", "]}", MOST_TEXT},
	{"a list that does not end", "{\"version\":1,\"steps\":[",
         "{\"kind\":\"host_wait\",\"stream\":0,\"start_ns\":10000,\"end_ns\":20000}", "",
         MOST_TEXT},
	{"no object", "[", "0", "]", MOST_TEXT},
};

static char *make(const struct text *text, size_t *size)
{
	const char *number = strchrnul(text->each, '#');
	char *bytes = gt_allocate(text->bytes + 1);
	const char *end = bytes + text->bytes - strlen(text->end) - strlen(text->each) - 16;
	char *at = stpcpy(bytes, text->begin);

	for (size_t i = 0; at < end; i++) {
		at = stpcpy(at, i > 0 ? "," : "");
		at = mempcpy(at, text->each, (size_t)(number - text->each));
		if (*number)
			at += sprintf(at, "%zu%s", i, number + 1);
	}
	at = stpcpy(at, text->end);
	*size = (size_t)(at - bytes);
	return bytes;
}

static int read_text(const struct text *text)
{
	struct gt_error err = {0};
	struct gt_bundle bundle;
	size_t before;
	size_t taken;
	size_t size;
	char *bytes;
	int result;

	(void)alarm(HANGS_AFTER);
	watch_memory();
	bytes = make(text, &size);
	before = memory_before();
	result = gt_bundle_parse(&bundle, bytes, size, "bundle", &err);
	taken = memory_peak() - before;
	printf("%s: %zu MB of text took %zu MB: %s\n", text->name, size >> 20, taken >> 20,
	       result < 0 ? err.text : "read");
	if (result == 0)
		gt_bundle_close(&bundle);
	gt_array_free(bytes);
	return (result < 0 && !err.text[0]) || taken > MEMORY_BASE + MOST_TIMES * size;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int status = 0;
		pid_t child;

		(void)fflush(stdout);
		child = fork();
		if (child == 0)
			exit(read_text(&texts[i]));
		if (waitpid(child, &status, 0) != child || status != 0) {
			(void)fprintf(stderr, "%s: status %d\n", texts[i].name, status);
			failed = 1;
		}
	}
	return failed;
}
