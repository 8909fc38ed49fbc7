/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "format/chunk.h"
#include "format/reader.h"
#include "format/recording.h"
#include "fuzz/one_capture.h"
#include "golden/choices.h"
#include "golden/digests.h"
#include "golden/gallery.h"
#include "support/recording.h"

enum {
	WORLDS = 48,
	WORLDS_OF_INPUT = 4,
	TWIN_PERCENT = 70,
	TWIN_ALL = 8,
	TWIN_LATER_NS = 70001,
	TWIN_CHOICES = 3, /* the third is one of its processes */
};

/* Whether an input is to be read, which is then the one at hand. */
static bool begin_input(struct digests *digests, const char *name)
{
	const size_t number = digests->seen++;

	if (digests->show ? strcmp(digests->show, name) != 0 : number % digests->every != 0)
		return false;
	digests->input = grid_input(&digests->made, name);
	return true;
}

static int is_recording(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && strcmp(end, ".gputrace") == 0;
}

/* Names of the recordings in the folder of captures, sorted as in any locale. */
static int by_bytes(const struct dirent **one, const struct dirent **other)
{
	return strcmp((*one)->d_name, (*other)->d_name);
}

static size_t list_recordings(const struct digests *digests, struct dirent ***list)
{
	const int count = scandir(digests->captures, list, is_recording, by_bytes);

	must(count > 0, digests->captures);
	return (size_t)count;
}

static void free_recordings(struct dirent **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

static void digest_recordings(struct digests *digests)
{
	struct dirent **list;
	const size_t count = list_recordings(digests, &list);

	/* Names below the working directory, so that nothing tells where it is. */
	must(chdir(digests->captures) == 0, digests->captures);
	for (size_t i = 0; i < count; i++)
		if (begin_input(digests, list[i]->d_name))
			digest_recording(digests, list[i]->d_name, choice_count);
	free_recordings(list, count);
}

/* Puts the files of a recording into a folder, but for those of which it has one of that name. */
static void add_files(const struct digests *digests, const char *recording, const char *folder)
{
	char from[PATH_MAX + 256], to[PATH_MAX + 256];
	struct dirent **list;
	int count;

	write_name(from, sizeof(from), "%s/%s", digests->captures, recording);
	count = scandir(from, &list, NULL, by_bytes);
	must(count > 0, from);
	for (int i = 0; i < count; i++) {
		write_name(from, sizeof(from), "%s/%s/%s", digests->captures, recording,
		           list[i]->d_name);
		write_name(to, sizeof(to), "%s/%s", folder, list[i]->d_name);
		if (*list[i]->d_name != '.')
			must(symlink(from, to) == 0 || errno == EEXIST, to);
		free(list[i]);
	}
	free(list);
}

/* Two recordings in one: GPUs of two machines, and streams and contexts with equal numbers. */
static void digest_pairs(struct digests *digests)
{
	struct dirent **list;
	const size_t count = list_recordings(digests, &list), half = count / 2;
	char name[NAME_BYTES];

	for (size_t i = 0; i < half; i += 3) {
		const char *one = list[i]->d_name, *other = list[i + half]->d_name;

		write_name(name, sizeof(name), "%.*s+%s", (int)strcspn(one, "."), one, other);
		if (!begin_input(digests, name))
			continue;
		must(mkdir(name, 0755) == 0, name);
		add_files(digests, one, name);
		add_files(digests, other, name);
		digest_recording(digests, name, choice_count);
	}
	free_recordings(list, count);
}

/* The first of the records of a kind; all where there are few, since they say what others name. */
static void copy_records(struct capture *twin, const struct gt_content *content, uint32_t kind,
                         int64_t later_ns)
{
	size_t count;
	void *rows = read_records(content->bytes, content->size, kind, &count);
	struct gt_record_clock *clocks = rows;

	for (size_t i = 0; kind == GT_RECORD_clock && i < count; i++) {
		clocks[i].boottime_ns += (uint64_t)later_ns;
		clocks[i].realtime_ns += (uint64_t)later_ns;
	}
	if (count > TWIN_ALL)
		count = count * TWIN_PERCENT / 100;
	for (size_t at = 0; at < count; at += GT_CHUNK_MAX_RECORDS)
		must(gt_writer_records(
			     &twin->writer, kind, (char *)rows + at * gt_record_info(kind)->size,
			     count - at < GT_CHUNK_MAX_RECORDS ? count - at : GT_CHUNK_MAX_RECORDS,
			     (struct gt_origin){0}) == 0,
		     "twin");
	free(rows);
}

/* A capture as of a process that did the same a little later, but less. */
static void copy_as_twin(struct capture *twin, const struct gt_content *content, int64_t later_ns)
{
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t at = GT_FILE_HEADER_SIZE;

	capture_begin(twin, CAPTURE_UNLIMITED);
	must(capture_read(&reader, content->bytes, content->size, NULL) == 0, "capture");
	for (; gt_reader_next_packed(&reader, &chunk) > 0; at = reader.offset)
		if (!gt_record_info(chunk.header.kind))
			capture_add_bytes(twin, content->bytes + at, reader.offset - at);
	for (uint32_t kind = 1; kind < GT_RECORD_KIND_COUNT; kind++)
		if (gt_record_info(kind))
			copy_records(twin, content, kind, later_ns);
}

/* The last capture of a recording once more, as that of another process. */
static void add_twin(const struct digests *digests, const char *recording, const char *folder,
                     const char *twin_name, int64_t later_ns)
{
	char path[PATH_MAX + NAME_BYTES];
	struct recording twin = {0};
	struct gt_content content = {0};
	struct gt_error err = {0};
	glob_t found;

	write_name(twin.path, sizeof(twin.path), "%s", folder);
	write_name(twin.name, sizeof(twin.name), "%s", twin_name);
	write_name(path, sizeof(path), "%s/%s/*.capture", digests->captures, recording);
	must(glob(path, 0, NULL, &found) == 0, path);
	must(gt_load_file(&content, found.gl_pathv[found.gl_pathc - 1], &err) == 0, path);
	copy_as_twin(&twin.capture, &content, later_ns);
	recording_end(&twin, false);
	capture_release(&twin.capture);
	gt_unload(&content);
	globfree(&found);
}

/*
 * Each recording with processes that are like one it has, and at the same time, but did less:
 * handles, numbers, addresses, names and topics are all there three times. One of the processes is
 * read before it and the other one behind it, so that neither the first nor the last is right.
 */
static void digest_twins(struct digests *digests)
{
	struct dirent **list;
	const size_t count = list_recordings(digests, &list);
	char name[NAME_BYTES];

	for (size_t i = 0; i < count; i++) {
		write_name(name, sizeof(name), "twins-%s", list[i]->d_name);
		if (!begin_input(digests, name))
			continue;
		must(mkdir(name, 0755) == 0, name);
		add_files(digests, list[i]->d_name, name);
		add_twin(digests, list[i]->d_name, name, "a-twin", -TWIN_LATER_NS);
		add_twin(digests, list[i]->d_name, name, "z-twin", TWIN_LATER_NS);
		digest_recording(digests, name, TWIN_CHOICES);
	}
	free_recordings(list, count);
}

static void make_worlds(const struct digests *digests, size_t seed)
{
	char command[PATH_MAX + 64];

	write_name(command, sizeof(command), "'%s' . %zu %d", digests->world, seed,
	           WORLDS_OF_INPUT);
	must(system(command) == 0, command); // NOLINT(cert-env33-c): a path of our own
}

/* Several worlds are one input, since each alone is small. */
static void digest_worlds(struct digests *digests)
{
	char name[NAME_BYTES];

	for (size_t seed = 1; seed <= WORLDS; seed += WORLDS_OF_INPUT) {
		write_name(name, sizeof(name), "worlds-%02zu-to-%02zu", seed,
		           seed + WORLDS_OF_INPUT - 1);
		if (!begin_input(digests, name))
			continue;
		make_worlds(digests, seed);
		for (size_t i = 0; i < WORLDS_OF_INPUT; i++) {
			write_name(name, sizeof(name), "%zu.gputrace", seed + i);
			digest_recording(digests, name, choice_count);
		}
	}
}

static void digest_file(struct digests *digests, struct recording *recording, const char *name)
{
	struct gt_content content = {0};
	struct gt_error err = {0};
	char path[PATH_MAX + NAME_BYTES];

	write_name(path, sizeof(path), "%s/%s", digests->corpus, name);
	must(gt_load_file(&content, path, &err) == 0, path);
	record_one_capture(recording, (const uint8_t *)content.bytes, content.size);
	digest_recording(digests, recording->path, 1); /* 200 of them, for a minute */
	gt_unload(&content);
}

/* The fuzzer's inputs, each of which reached code that no other did; by the first letter. */
static void digest_corpus(struct digests *digests)
{
	static const char letters[] = "0123456789abcdef";
	struct recording recording = {.path = "corpus"};
	struct dirent **list;
	const int count = scandir(digests->corpus, &list, NULL, by_bytes);
	char name[NAME_BYTES];

	must(count > 0 && mkdir(recording.path, 0755) == 0, digests->corpus);
	for (const char *letter = letters; *letter; letter++) {
		write_name(name, sizeof(name), "corpus-%c", *letter);
		if (!begin_input(digests, name))
			continue;
		for (int i = 0; i < count; i++)
			if (*list[i]->d_name == *letter)
				digest_file(digests, &recording, list[i]->d_name);
	}
	free_recordings(list, (size_t)count);
	capture_release(&recording.capture);
}

static int is_script(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && strcmp(end, ".txt") == 0;
}

/* Recordings that were made up, one script an input. */
static void digest_galleries(struct digests *digests)
{
	struct dirent **list;
	const int count = scandir(digests->gallery, &list, is_script, by_bytes);
	char name[NAME_BYTES];

	must(count > 0, digests->gallery);
	for (int i = 0; i < count; i++) {
		write_name(name, sizeof(name), "gallery-%.*s", (int)strcspn(list[i]->d_name, "."),
		           list[i]->d_name);
		if (begin_input(digests, name))
			digest_gallery(digests, digests->gallery, list[i]->d_name);
	}
	free_recordings(list, (size_t)count);
}

void digest_inputs(struct digests *digests, const char *folder)
{
	digest_recordings(digests);
	must(chdir(folder) == 0, folder);
	digest_pairs(digests);
	digest_twins(digests);
	digest_worlds(digests);
	digest_corpus(digests);
	digest_galleries(digests);
	must(chdir("/") == 0, "/");
}
