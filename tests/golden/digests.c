/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden_digests [--accept | --show NAME | --relations] [--every COUNT] TESTS WORLD
 * Compares digests of all that gputrace makes of recordings with those that
 * TESTS/golden/digests.txt keeps: of real recordings, of two of them in one, of worlds that the
 * program WORLD makes up, and of the corpus of the collector's fuzzer. --accept keeps them instead;
 * --show prints all that the digests of one recording are of; --relations checks something else of
 * the same recordings (golden/relations.h); --every reads one recording of so many.
 */
#include "golden/digests.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"

void must(bool fact, const char *what)
{
	if (fact)
		return;
	perror(what);
	exit(1);
}

void write_name(char *name, size_t size, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(name, size, format, list);
	va_end(list);
	errno = ENAMETOOLONG;
	must(length >= 0 && (size_t)length < size, name);
}

static int finish(const struct digests *digests, bool accept)
{
	static struct grid kept;
	size_t differ;

	if (digests->show)
		return digests->made.input_count == 0;
	if (digests->relates) {
		printf("%zu pairs of filters, %zu differences\n", digests->relations.compared,
		       digests->relations.differ);
		return digests->relations.differ || !digests->relations.compared;
	}
	if (accept)
		return grid_write(&digests->made, digests->kept) < 0;
	if (grid_read(&kept, digests->kept) < 0)
		return 1;
	differ = grid_compare(&kept, &digests->made);
	printf("%zu recordings, %zu tables, %zu differences\n", digests->made.input_count,
	       digests->made.line_count, differ);
	if (differ)
		printf("To see what changed, run these before and after the change and compare:\n"
		       "  gputrace report RECORDING REPORT --json\n"
		       "  golden_digests --show RECORDING tests oracle_world\n"
		       "If it is meant, accept it and say so in the commit (tests/README.md):\n"
		       "  golden_digests --accept tests oracle_world\n");
	return differ || !digests->made.input_count;
}

static void find_files(struct digests *digests, const char *tests, const char *world)
{
	char folder[PATH_MAX - NAME_BYTES];
	char *path = realpath(tests, NULL);

	must(path != NULL, tests);
	write_name(folder, sizeof(folder), "%s", path);
	free(path);
	write_name(digests->kept, PATH_MAX, "%s/golden/digests.txt", folder);
	write_name(digests->captures, PATH_MAX, "%s/golden/captures", folder);
	write_name(digests->corpus, PATH_MAX, "%s/fuzz/corpus/collector", folder);
	write_name(digests->gallery, PATH_MAX, "%s/golden/gallery", folder);
	must(realpath(world, digests->world) != NULL, world);
}

static void read_words(struct digests *digests, int count, char **words, bool *accept)
{
	int at = 1;

	for (; at < count && strncmp(words[at], "--", 2) == 0; at++)
		if (strcmp(words[at], "--accept") == 0)
			*accept = true;
		else if (strcmp(words[at], "--relations") == 0)
			digests->relates = true;
		else if (at + 1 < count && strcmp(words[at], "--show") == 0)
			digests->show = words[++at];
		else if (at + 1 < count && strcmp(words[at], "--every") == 0)
			digests->every = strtoull(words[++at], NULL, 10);
	if (count - at != 2 || digests->every == 0) {
		fprintf(stderr, "usage: golden_digests [--accept | --show NAME | --relations] "
		                "[--every COUNT] TESTS WORLD\n");
		exit(2);
	}
	find_files(digests, words[at], words[at + 1]);
}

int main(int count, char **words)
{
	static struct digests digests = {.filter = "", .every = 1};
	char folder[] = "/tmp/gputrace-digests-XXXXXX";
	bool accept = false;

	read_words(&digests, count, words, &accept);
	must(mkdtemp(folder) != NULL, folder);
	digest_inputs(&digests, folder);
	must(folder_remove(folder), folder);
	return finish(&digests, accept);
}
