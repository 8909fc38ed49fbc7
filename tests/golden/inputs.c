/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "format/file/chunk.h"
#include "format/file/reader.h"
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
	GRID_NS = 10000,
	TWIN_CHOICES = 3,          /* the third is one of its processes */
	FIRST_INSIDE = 0x40000000, /* correlation, of which no recording has so large ones */
	FAILURE = 700,
};

static const char hash_digits[] = "0123456789abcdef";

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
static size_t do_less(uint32_t kind, void *rows, size_t count, int64_t later_ns)
{
	struct gt_record_clock *clocks = rows;

	for (size_t i = 0; kind == GT_RECORD_clock && i < count; i++) {
		clocks[i].boottime_ns += (uint64_t)later_ns;
		clocks[i].realtime_ns += (uint64_t)later_ns;
	}
	return count > TWIN_ALL ? count * TWIN_PERCENT / 100 : count;
}

static bool is_time(const struct gt_field *field)
{
	return field->role == GT_ROLE_cupti_time || field->role == GT_ROLE_host_time ||
	       field->role == GT_ROLE_mono_time || field->role == GT_ROLE_boot_time ||
	       field->role == GT_ROLE_real_time;
}

/* All times on a grid, so that much begins and ends in one moment and some takes no time. */
static size_t round_times(uint32_t kind, void *rows, size_t count, int64_t grid_ns)
{
	const struct gt_record_info *info = gt_record_info(kind);

	for (size_t i = 0; i < count * info->field_count; i++) {
		const struct gt_field *field = &info->fields[i % info->field_count];
		char *at = (char *)rows + i / info->field_count * info->size + field->offset;
		uint64_t time_ns;

		if (!is_time(field))
			continue;
		memcpy(&time_ns, at, sizeof(time_ns));
		time_ns -= time_ns % (uint64_t)grid_ns;
		memcpy(at, &time_ns, sizeof(time_ns));
	}
	return count;
}

/* What becomes of the records of a kind in a copy; how many of them stay. */
typedef size_t change_rows(uint32_t kind, void *rows, size_t count, int64_t by_ns);

static size_t leave(uint32_t kind, void *rows, size_t count, int64_t by_ns)
{
	(void)kind;
	(void)rows;
	(void)by_ns;
	return count;
}

static const struct gt_field *find_field(const struct gt_record_info *info, const char *name)
{
	for (size_t i = 0; i < info->field_count; i++)
		if (strcmp(info->fields[i].name, name) == 0)
			return &info->fields[i];
	return NULL;
}

/* Calls beside those that worked, which did the same and failed; of API calls none. */
static size_t make_failures(uint32_t kind, void *rows, size_t count, int64_t result)
{
	const struct gt_record_info *info = gt_record_info(kind);
	const struct gt_field *field = find_field(info, "result");
	size_t made = 0;

	if (!field || field->role != GT_ROLE_code || kind == GT_RECORD_api_call)
		return 0;
	for (size_t i = 0; i < count; i++) {
		char *row = (char *)rows + i * info->size;
		int32_t code;

		memcpy(&code, row + field->offset, sizeof(code));
		if (code != 0)
			continue;
		code = (int32_t)result;
		memcpy(row + field->offset, &code, sizeof(code));
		memcpy(row + find_field(info, "end_ns")->offset,
		       row + find_field(info, "start_ns")->offset, sizeof(uint64_t));
		memmove((char *)rows + made++ * info->size, row, info->size);
	}
	return made;
}

/* A call inside of each of those that are in none, of the same function. */
static size_t make_insides(uint32_t kind, void *rows, size_t count, int64_t first_number)
{
	struct gt_record_api_call *calls = rows;
	size_t made = 0;

	for (size_t i = 0; kind == GT_RECORD_api_call && i < count; i++) {
		if (calls[i].flags & GT_RECORD_NESTED || calls[i].end_ns < calls[i].start_ns + 3)
			continue;
		calls[made] = calls[i];
		calls[made].start_ns++;
		calls[made].end_ns--;
		calls[made].flags |= GT_RECORD_NESTED;
		calls[made].correlation = (uint32_t)first_number + (uint32_t)made;
		made++;
	}
	return made;
}

/* What a copy of a capture has of its records. */
struct change {
	change_rows *rows;
	int64_t by; /* what that is given */
	bool adds;  /* the records stay, these come with them */
};

static void add_records(struct capture *twin, const struct gt_content *content, uint32_t kind,
                        change_rows *change, int64_t by)
{
	size_t count;
	void *rows = read_records(content->bytes, content->size, kind, &count);

	count = change(kind, rows, count, by);
	for (size_t at = 0; at < count; at += GT_CHUNK_MAX_RECORDS)
		must(gt_writer_records(
			     &twin->writer, kind, (char *)rows + at * gt_record_info(kind)->size,
			     count - at < GT_CHUNK_MAX_RECORDS ? count - at : GT_CHUNK_MAX_RECORDS,
			     (struct gt_origin){0}) == 0,
		     "twin");
	free(rows);
}

static void copy_changed(struct capture *twin, const struct gt_content *content,
                         const struct change *change)
{
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t at = GT_FILE_HEADER_SIZE;

	capture_begin(twin, CAPTURE_UNLIMITED);
	must(capture_read(&reader, content->bytes, content->size, NULL) == 0, "capture");
	for (; gt_reader_next_packed(&reader, &chunk) > 0; at = reader.offset)
		if (!gt_record_info(chunk.header.kind))
			capture_add_bytes(twin, content->bytes + at, reader.offset - at);
	for (uint32_t kind = 1; kind < GT_RECORD_KIND_COUNT; kind++) {
		if (!gt_record_info(kind))
			continue;
		if (change->adds)
			add_records(twin, content, kind, leave, 0);
		add_records(twin, content, kind, change->rows, change->by);
	}
}

/* Writes a capture that is another one, changed, into a folder. */
static void add_changed(const char *path, const char *folder, const char *name,
                        const struct change *change)
{
	struct recording twin = {0};
	struct gt_content content = {0};
	struct gt_error err = {0};

	write_name(twin.path, sizeof(twin.path), "%s", folder);
	write_name(twin.name, sizeof(twin.name), "%s", name);
	must(gt_load_file(&content, path, &err) == 0, path);
	copy_changed(&twin.capture, &content, change);
	recording_end(&twin, false);
	capture_release(&twin.capture);
	gt_unload(&content);
}

/* The last capture of a recording once more, as that of another process. */
static void add_twin(const struct digests *digests, const char *recording, const char *folder,
                     const char *twin_name, int64_t later_ns)
{
	const struct change less = {.rows = do_less, .by = later_ns};
	char path[PATH_MAX + NAME_BYTES];
	glob_t found;

	write_name(path, sizeof(path), "%s/%s/*.capture", digests->captures, recording);
	must(glob(path, 0, NULL, &found) == 0, path);
	add_changed(found.gl_pathv[found.gl_pathc - 1], folder, twin_name, &less);
	globfree(&found);
}

/* A recording with all its captures, changed. */
static void make_changed(const char *recording, const char *folder, const struct change *change)
{
	char path[PATH_MAX + NAME_BYTES];
	glob_t found;

	must(mkdir(folder, 0755) == 0, folder);
	write_name(path, sizeof(path), "%s/*.capture", recording);
	must(glob(path, 0, NULL, &found) == 0, path);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;

		write_name(path, sizeof(path), "%.*s",
		           (int)(strlen(name) - strlen(GT_CAPTURE_SUFFIX)), name);
		add_changed(found.gl_pathv[i], folder, path, change);
	}
	globfree(&found);
}

static const struct change rounded = {.rows = round_times, .by = GRID_NS};

static void digest_rounded(struct digests *digests)
{
	struct dirent **list;
	const size_t count = list_recordings(digests, &list);
	char path[PATH_MAX + NAME_BYTES], name[NAME_BYTES];

	for (size_t i = 0; i < count; i++) {
		write_name(name, sizeof(name), "rounded-%s", list[i]->d_name);
		if (!begin_input(digests, name))
			continue;
		write_name(path, sizeof(path), "%s/%s", digests->captures, list[i]->d_name);
		make_changed(path, name, &rounded);
		digest_recording(digests, name, 1);
	}
	free_recordings(list, count);
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

static void make_worlds(const struct digests *digests, const char *folder, size_t seed,
                        size_t count)
{
	char command[PATH_MAX + 128];

	write_name(command, sizeof(command), "'%s' %s %zu %zu", digests->world, folder, seed,
	           count);
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
		make_worlds(digests, ".", seed, WORLDS_OF_INPUT);
		for (size_t i = 0; i < WORLDS_OF_INPUT; i++) {
			write_name(name, sizeof(name), "%zu.gputrace", seed + i);
			digest_recording(digests, name, choice_count);
		}
	}
}

static void digest_rounded_worlds(struct digests *digests)
{
	char name[NAME_BYTES], folder[NAME_BYTES];

	if (!begin_input(digests, "rounded-worlds"))
		return;
	must(mkdir("straight", 0755) == 0, "straight");
	make_worlds(digests, "straight", 1, WORLDS);
	for (size_t seed = 1; seed <= WORLDS; seed++) {
		write_name(name, sizeof(name), "straight/%zu.gputrace", seed);
		write_name(folder, sizeof(folder), "rounded-%zu.gputrace", seed);
		make_changed(name, folder, &rounded);
		digest_recording(digests, folder, 2);
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

/* Whether an input's name, a hash or not, begins with a digit of hashes; 'x': with none. */
static bool is_of_letter(const char *name, char letter)
{
	return letter == 'x' ? !strchr(hash_digits, *name) : *name == letter;
}

/* The fuzzer's inputs, each of which reached code that no other did; by the first letter. */
static void digest_corpus(struct digests *digests)
{
	struct recording recording = {.path = "corpus"};
	struct dirent **list;
	const int count = scandir(digests->corpus, &list, NULL, by_bytes);
	char name[NAME_BYTES];

	must(count > 0 && mkdir(recording.path, 0755) == 0, digests->corpus);
	for (size_t letter = 0; letter < sizeof(hash_digits); letter++) {
		const char first = letter + 1 < sizeof(hash_digits) ? hash_digits[letter] : 'x';

		write_name(name, sizeof(name), "corpus-%c", first);
		if (!begin_input(digests, name))
			continue;
		for (int i = 0; i < count; i++)
			if (*list[i]->d_name != '.' && is_of_letter(list[i]->d_name, first))
				digest_file(digests, &recording, list[i]->d_name);
	}
	free_recordings(list, (size_t)count);
	capture_release(&recording.capture);
}

/* Copies of recordings with more calls, of one sort each, which change nothing but figures of
 * calls. */
static void relate_copies(struct digests *digests)
{
	static const struct {
		const char *name;
		struct change change;
	} copies[] = {
		{"insides", {.rows = make_insides, .by = FIRST_INSIDE, .adds = true}},
		{"failures", {.rows = make_failures, .by = FAILURE, .adds = true}},
	};
	struct dirent **list;
	const size_t count = list_recordings(digests, &list);
	char path[PATH_MAX + NAME_BYTES], name[NAME_BYTES];

	for (size_t i = 0; i < count; i++) {
		const char *recording = list[i]->d_name;
		const size_t which = i % GT_COUNT_OF(copies);

		write_name(path, sizeof(path), "%s/%s", digests->captures, recording);
		write_name(name, sizeof(name), "%s-%s", copies[which].name, recording);
		if (!begin_input(digests, name))
			continue;
		make_changed(path, name, &copies[which].change);
		add_files(digests, recording, name); /* those that are no captures */
		relations_check_copy(&digests->relations, path, name);
	}
	free_recordings(list, count);
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
	if (!digests->relates) { /* others have no more that would be of use */
		digest_pairs(digests);
		digest_twins(digests);
		digest_rounded(digests);
		digest_worlds(digests);
		digest_rounded_worlds(digests);
		digest_corpus(digests);
	}
	digest_galleries(digests);
	if (digests->relates)
		relate_copies(digests);
	must(chdir("/") == 0, "/");
}
