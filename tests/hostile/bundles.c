/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_bundles FIRST COUNT
 * Bundles that are damaged, each by its number: numbers and bytes of bundle.json, bytes and ends of
 * blobs, files that are missing. Each is opened, and what can be opened is checked and read:
 * nothing of that may crash or be undefined, and what is refused is refused with a sentence.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "format/recording.h"
#include "fuzz/bundle_facts.h"
#include "hostile/mutate.h"
#include "support/bundle.h"

enum {
	HANGS_AFTER = 60, /* seconds */
	MOST_FILES = 32,
	MOST_READ = 1 << 20, /* bytes of a blob that are read whole */
};

struct outcome {
	uint64_t opened;
	uint64_t whole;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

/* One of the numbers of a text becomes another one. Returns the text's size. */
static size_t change_number(char *text, size_t size, size_t room, uint64_t *state)
{
	static const char *const odd[] = {"0",          "1",          "-1",
	                                  "7",          "255",        "65536",
	                                  "4294967295", "4294967296", "9223372036854775807",
	                                  "1e300",      "0.5",        "144115188075855872"};
	const char *number = odd[next_random(state) % (sizeof(odd) / sizeof(odd[0]))];
	size_t at = next_random(state) % size;
	size_t end;

	while (at < size && (text[at] < '0' || text[at] > '9'))
		at++;
	for (end = at; end < size && text[end] >= '0' && text[end] <= '9';)
		end++;
	if (at == size || size + strlen(number) > room)
		return size;
	memmove(text + at + strlen(number), text + end, size - end);
	memcpy(text + at, number, strlen(number));
	return size - (end - at) + strlen(number);
}

static void damage_manifest(const char *folder, uint64_t *state)
{
	struct gt_content content;
	char path[512];
	size_t room;
	size_t size;
	char *text;

	snprintf(path, sizeof(path), "%s/" GT_BUNDLE_MANIFEST, folder);
	must(gt_load_file(&content, path, NULL) == 0);
	room = content.size + 1024;
	text = malloc(room);
	size = content.size;
	memcpy(text, content.bytes, size);
	if (next_random(state) % 4 == 0)
		size = mutate_bytes((uint8_t *)text, size, state);
	for (uint64_t i = next_random(state) % 3; size > 0 && i > 0; i--)
		size = change_number(text, size, room, state);
	write_file(path, text, size);
	free(text);
	gt_unload(&content);
}

/* Paths of all blobs. */
static size_t list_blobs(const char *folder, char paths[MOST_FILES][600])
{
	struct dirent *entry;
	char path[512];
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/" GT_BUNDLE_BLOBS, folder);
	dir = opendir(path);
	must(dir != NULL);
	while ((entry = readdir(dir)) && count < MOST_FILES)
		if (gt_blob_is_hash(entry->d_name))
			snprintf(paths[count++], 600, "%s/%.32s", path, entry->d_name);
	(void)closedir(dir);
	return count;
}

static void damage_blob(const char *folder, uint64_t *state)
{
	char paths[MOST_FILES][600];
	const size_t count = list_blobs(folder, paths);
	const char *path = paths[next_random(state) % count];
	struct gt_content content;

	must(gt_load_file(&content, path, NULL) == 0);
	if (next_random(state) % 8)
		write_file(path, content.bytes, mutate_bytes(content.bytes, content.size, state));
	else
		(void)unlink(path);
	gt_unload(&content);
}

static void read_blob(const struct gt_bundle *bundle, const struct gt_blob *blob)
{
	struct gt_error err = {0};
	uint8_t *bytes;

	if (blob->size > MOST_READ)
		return;
	bytes = malloc(blob->size + 1);
	must(gt_bundle_read(bundle, blob, bytes, &err) == 0 || err.text[0] != '\0');
	free(bytes);
}

static void read_bundle(const struct gt_bundle *bundle, struct outcome *outcome)
{
	struct gt_error err = {0};
	size_t blobs;

	check_bundle_facts(bundle);
	gt_array_each(const struct gt_bundle_module, module, &bundle->modules)
		read_blob(bundle, &module->image);
	gt_array_each(const struct gt_bundle_memory, memory, &bundle->memory) {
		read_blob(bundle, &memory->before);
		read_blob(bundle, &memory->after);
	}
	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		read_blob(bundle, &step->parameters);
	if (gt_bundle_check(bundle, &blobs, &err) == 0)
		outcome->whole++;
	else
		must(err.text[0] != '\0');
	outcome->opened++;
}

static void try_mutant(uint64_t number, struct outcome *outcome)
{
	uint64_t state = number * 0x9e3779b97f4a7c15u + 1;
	struct gt_error err = {0};
	struct test_bundle made;
	struct gt_bundle bundle;

	test_bundle_begin(&made);
	if (next_random(&state) % 4)
		test_bundle_add_sequence(&made);
	else
		test_bundle_add_launch(&made);
	test_bundle_end(&made);
	if (next_random(&state) % 4)
		damage_manifest(made.folder, &state);
	if (next_random(&state) % 4 == 0)
		damage_blob(made.folder, &state);
	if (gt_bundle_open(&bundle, made.folder, &err) == 0) {
		read_bundle(&bundle, outcome);
		gt_bundle_close(&bundle);
	} else {
		must(err.text[0] != '\0');
	}
	test_bundle_release(&made);
}

int main(int argc, char **argv)
{
	struct outcome outcome = {0};
	uint64_t first;
	uint64_t count;

	if (argc != 3) {
		(void)fputs("usage: hostile_bundles FIRST COUNT\n", stderr);
		return 2;
	}
	first = strtoull(argv[1], NULL, 10);
	count = strtoull(argv[2], NULL, 10);
	for (uint64_t i = 0; i < count; i++) {
		(void)alarm(HANGS_AFTER);
		try_mutant(first + i, &outcome);
	}
	printf("%llu bundles, %llu opened, %llu whole\n", (unsigned long long)count,
	       (unsigned long long)outcome.opened, (unsigned long long)outcome.whole);
	/* Bundles that are never refused, or always, test nothing. */
	return count < 100 || (outcome.opened < count && outcome.whole < outcome.opened &&
	                       outcome.whole > 0)
	               ? EXIT_SUCCESS
	               : EXIT_FAILURE;
}
