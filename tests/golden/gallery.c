/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/gallery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "format/cubin.h"
#include "format/file/meta.h"
#include "format/file/series.h"
#include "format/recording.h"
#include "format/roll.h"
#include "golden/choices.h"
#include "golden/digests.h"
#include "golden/script.h"
#include "support/recording.h"

enum { MOST_TEXTS = 1000, MOST_VALUES = 32 };

/* What a script is making. */
struct gallery {
	struct digests *digests;
	const char *folder; /* of all scripts */
	size_t choices;
	struct recording recording;
	char *texts[MOST_TEXTS]; /* of the capture at hand; their ids from 1 */
	uint32_t text_count;
	struct gt_roll roll;
	uint64_t kept, kept_bytes; /* the last module that was kept: its hash and size */
};

static void wrong(const char *what, const char *word)
{
	fprintf(stderr, "gallery: %s: %s\n", what, word);
	exit(1);
}

static void forget_texts(struct gallery *gallery)
{
	while (gallery->text_count > 0)
		free(gallery->texts[--gallery->text_count]);
}

static uint32_t text_id(struct gallery *gallery, const char *text)
{
	if (!*text)
		return 0;
	for (uint32_t i = 0; i < gallery->text_count; i++)
		if (strcmp(gallery->texts[i], text) == 0)
			return i + 1;
	must(gallery->text_count < MOST_TEXTS, text);
	gallery->texts[gallery->text_count++] = strdup(text);
	recording_add_string(&gallery->recording, gallery->text_count, text);
	return gallery->text_count;
}

/* Digests the recording at hand, if there is one. */
static void finish(struct gallery *gallery)
{
	if (*gallery->recording.path)
		digest_recording(gallery->digests, gallery->recording.path, gallery->choices);
}

/* choices NUMBER: that recordings are read with, where there are many of them. */
static void set_choices(struct gallery *gallery, const struct script_words *words)
{
	gallery->choices = (size_t)script_number(words->words[1]);
}

/* recording NAME */
static void begin_recording(struct gallery *gallery, const struct script_words *words)
{
	finish(gallery);
	write_name(gallery->recording.path, sizeof(gallery->recording.path), "%s.gputrace",
	           words->words[1]);
	must(mkdir(gallery->recording.path, 0755) == 0, gallery->recording.path);
}

/* process NAME [KEY VALUE]...: its capture, with facts that later ones replace. */
static void begin_process(struct gallery *gallery, const struct script_words *words)
{
	struct recording *recording = &gallery->recording;
	char path[NAME_BYTES];

	write_name(path, sizeof(path), "/opt/%s", words->words[1]);
	forget_texts(gallery);
	recording_begin(recording, words->words[1]);
	recording_add_meta(recording, GT_META_HOST, "node");
	recording_add_meta(recording, GT_META_BOOT_ID, "boot");
	recording_add_meta(recording, GT_META_API, "outer");
	recording_add_meta(recording, GT_META_PROGRAM, path);
	for (size_t i = 2; i + 1 < words->count; i += 2)
		recording_add_meta(recording, words->words[i], words->words[i + 1]);
}

/* machine: what is said of one, which ends with machine_ends HOST. */
static void begin_machine(struct gallery *gallery, const struct script_words *words)
{
	forget_texts(gallery);
	recording_begin(&gallery->recording, words->words[0]);
}

static void end_machine(struct gallery *gallery, const struct script_words *words)
{
	char name[NAME_BYTES];

	write_name(name, sizeof(name), "%s%s", words->words[1], GT_TOPOLOGY_SUFFIX);
	recording_add_file(&gallery->recording, name, gallery->recording.capture.bytes,
	                   gallery->recording.capture.size);
}

/* ends [died|clean]: a process; without a word it is still running. */
static void end_process(struct gallery *gallery, const struct script_words *words)
{
	if (words->count > 1)
		recording_add_meta(&gallery->recording, GT_META_END, words->words[1]);
	recording_end(&gallery->recording, false);
}

/* samples SERIES CLOCK TIME VALUE...: one; a value "-" was not measured. */
static void add_sample(struct gallery *gallery, const struct script_words *words)
{
	double values[MOST_VALUES];
	uint64_t time_ns = script_number(words->words[3]);
	struct gt_samples samples = {
		.series = (uint16_t)script_number(words->words[1]),
		.clock = strcmp(words->words[2], "cupti") == 0 ? GT_SERIES_CUPTI : GT_SERIES_HOST,
		.columns = (uint8_t)(words->count - 4),
		.count = 1,
		.times_ns = &time_ns,
		.values = values};
	uint8_t bytes[GT_SERIES_BOUND(MOST_VALUES, 1)];

	must(words->count - 4 <= MOST_VALUES, "samples");
	for (size_t i = 4; i < words->count; i++)
		values[i - 4] =
			strtod(strcmp(words->words[i], "-") ? words->words[i] : "nan", NULL);
	must(gt_writer_payload(&gallery->recording.capture.writer, GT_RECORD_SERIES, bytes,
	                       gt_series_encode(&samples, bytes), 1) == 0,
	     "samples");
}

/* file NAME TEXT...: a file with these lines. */
static void add_file(struct gallery *gallery, const struct script_words *words)
{
	char text[SCRIPT_BYTES] = "";
	size_t used = 0;

	for (size_t i = 2; i < words->count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n", words->words[i]);
	recording_add_file(&gallery->recording, words->words[1], text, used);
}

/* roll_entry KIND PID PARENT USER TICKS TIME PROGRAM TEXT LAUNCHES CALLS NUMBER: of the roll. */
static void add_roll_entry(struct gallery *gallery, const struct script_words *words)
{
	uint64_t numbers[SCRIPT_WORDS];
	struct gt_roll_entry *entry;

	for (size_t i = 1; i < words->count; i++)
		numbers[i] = i == 7 || i == 8 ? 0 : script_number(words->words[i]);
	must(numbers[11] < GT_ROLL_ENTRIES, "roll_entry");
	entry = &gallery->roll.entries[numbers[11]];
	entry->kind = (uint32_t)numbers[1];
	entry->launches = numbers[9];
	entry->calls = numbers[10];
	entry->facts = (struct gt_roll_facts){.pid = (uint32_t)numbers[2],
	                                      .parent_pid = (uint32_t)numbers[3],
	                                      .user = (uint32_t)numbers[4],
	                                      .started_ticks = numbers[5],
	                                      .time_ns = numbers[6]};
	write_name(entry->facts.program, sizeof(entry->facts.program), "%s", words->words[7]);
	write_name(entry->facts.text, sizeof(entry->facts.text), "%s", words->words[8]);
}

/* roll HOST PROCESSES LAUNCHES CALLS: the file, with what there was no entry for. */
static void add_roll(struct gallery *gallery, const struct script_words *words)
{
	char name[NAME_BYTES];

	gallery->roll.magic = GT_ROLL_MAGIC;
	gallery->roll.more_processes = script_number(words->words[2]);
	gallery->roll.more_launches = script_number(words->words[3]);
	gallery->roll.more_calls = script_number(words->words[4]);
	write_name(name, sizeof(name), "%s%s", words->words[1], GT_ROLL_SUFFIX);
	recording_add_file(&gallery->recording, name, &gallery->roll, sizeof(gallery->roll));
	memset(&gallery->roll, 0, sizeof(gallery->roll));
}

/* cubin NAME: a module of tests/cubins that is kept. */
static void add_cubin(struct gallery *gallery, const struct script_words *words)
{
	char path[PATH_MAX + NAME_BYTES];
	struct gt_content content = {0};
	struct gt_error err = {0};

	write_name(path, sizeof(path), "%s/%s", gallery->recording.path, GT_MODULES_FOLDER);
	must(mkdir(path, 0755) == 0 || errno == EEXIST, path);
	write_name(path, sizeof(path), "%s/../../cubins/%s", gallery->folder, words->words[1]);
	must(gt_load_file(&content, path, &err) == 0, path);
	gallery->kept = gt_content_hash(content.bytes, content.size);
	gallery->kept_bytes = content.size;
	write_name(path, sizeof(path), "%s/%016llx%s", GT_MODULES_FOLDER,
	           (unsigned long long)gallery->kept, GT_CUBIN_SUFFIX);
	recording_add_file(&gallery->recording, path, content.bytes, content.size);
	gt_unload(&content);
}

/* kernels_named FILE AT: kernels of tests/FILE, which has a mangled name in each line's first
 * column. */
static void add_kernels(struct gallery *gallery, const struct script_words *words)
{
	char path[PATH_MAX + NAME_BYTES];
	struct gt_content content = {0};
	struct gt_error err = {0};
	uint64_t at_ns = script_number(words->words[2]);
	uint32_t id = 1;
	char *left, *line, *text;

	write_name(path, sizeof(path), "%s/../../%s", gallery->folder, words->words[1]);
	must(gt_load_file(&content, path, &err) == 0, path);
	text = left = strndup((const char *)content.bytes, content.size);
	must(text != NULL, path);
	while ((line = strsep(&left, "\n"))) {
		line[strcspn(line, "\t")] = '\0';
		if (!*line)
			continue;
		recording_add(&gallery->recording, shape, .id = id, .name = text_id(gallery, line),
		              .grid_x = id, .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1,
		              .block_z = 1, .registers = 32);
		recording_add(&gallery->recording, kernel, .start_ns = at_ns, .end_ns = at_ns + id,
		              .correlation = id, .shape = id, .context = 1, .stream = STREAM);
		at_ns += 1000;
		id++;
	}
	free(text);
	gt_unload(&content);
}

static const struct gt_field *find_field(const struct gt_record_info *info, const char *name,
                                         size_t length)
{
	for (uint32_t i = 0; i < info->field_count; i++)
		if (strlen(info->fields[i].name) == length &&
		    strncmp(info->fields[i].name, name, length) == 0)
			return &info->fields[i];
	wrong(info->name, name);
	return NULL;
}

static void set_field(struct gallery *gallery, const struct gt_field *field, const char *value,
                      char *row)
{
	const uint64_t wide = field->role == GT_ROLE_string       ? text_id(gallery, value)
	                      : field->role == GT_ROLE_real       ? 0
	                      : strcmp(value, "kept_module") == 0 ? gallery->kept
	                      : strcmp(value, "kept_bytes") == 0  ? gallery->kept_bytes
	                                                          : script_number(value);
	const uint32_t narrow = (uint32_t)wide;
	const double real = field->role == GT_ROLE_real ? strtod(value, NULL) : 0;

	if (field->role == GT_ROLE_real)
		memcpy(row + field->offset, &real, sizeof(real));
	else if (field->width == sizeof(wide))
		memcpy(row + field->offset, &wide, sizeof(wide));
	else
		memcpy(row + field->offset, &narrow, sizeof(narrow));
}

/* KIND FIELD=VALUE...: a record. */
static void add_record(struct gallery *gallery, const struct script_words *words)
{
	_Alignas(16) char row[GT_RECORD_MAX_SIZE] = {0};
	const struct gt_record_info *info = NULL;
	uint32_t kind = 0;

	while (++kind < GT_RECORD_KIND_COUNT) {
		info = gt_record_info(kind);
		if (info && strcmp(info->name, words->words[0]) == 0)
			break;
	}
	if (kind == GT_RECORD_KIND_COUNT)
		wrong("no such record", words->words[0]);
	for (size_t i = 1; i < words->count; i++) {
		const char *word = words->words[i];
		const size_t length = strcspn(word, "=");

		if (!word[length])
			wrong(info->name, word);
		set_field(gallery, find_field(info, word, length), word + length + 1, row);
	}
	recording_add_records(&gallery->recording, kind, row, 1);
}

static void act(void *context, const struct script_words *words)
{
	static const struct {
		const char *word;
		size_t least;
		void (*act)(struct gallery *gallery, const struct script_words *words);
	} acts[] = {
		{"choices", 2, set_choices},
		{"recording", 2, begin_recording},
		{"process", 2, begin_process},
		{"machine", 1, begin_machine},
		{"machine_ends", 2, end_machine},
		{"ends", 1, end_process},
		{"samples", 5, add_sample},
		{"file", 2, add_file},
		{"cubin", 2, add_cubin},
		{"kernels_named", 3, add_kernels},
		{"roll_entry", 12, add_roll_entry},
		{"roll", 5, add_roll},
	};

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].word, words->words[0]) != 0)
			continue;
		if (words->count < acts[i].least)
			wrong("more words are wanted", words->words[0]);
		acts[i].act(context, words);
		return;
	}
	add_record(context, words);
}

static void load(struct gt_content *content, const char *folder, const char *name)
{
	char path[PATH_MAX + NAME_BYTES];
	struct gt_error err = {0};

	write_name(path, sizeof(path), "%s/%s", folder, name);
	must(gt_load_file(content, path, &err) == 0, path);
}

void digest_gallery(struct digests *digests, const char *folder, const char *name)
{
	static const char common_name[] = "common.words";
	static struct gallery gallery;
	struct gt_content common = {0}, content = {0};
	char *before, *text;

	gallery =
		(struct gallery){.digests = digests, .folder = folder, .choices = all_choice_count};
	digests->thorough = true;
	load(&common, folder, common_name);
	load(&content, folder, name);
	before = strndup((const char *)common.bytes, common.size);
	text = strndup((const char *)content.bytes, content.size);
	must(before && text, name);
	script_run(name, before, text, act, &gallery);
	finish(&gallery);
	digests->thorough = false;
	free(before);
	free(text);
	forget_texts(&gallery);
	capture_release(&gallery.recording.capture);
	gt_unload(&common);
	gt_unload(&content);
}
