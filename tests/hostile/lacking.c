/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_lacking RECORDING...
 * Takes every chunk of one kind out of a capture, kind by kind, where the process has counted what
 * it wrote. The ledger of what is left must not be clean, and must name what is missing.
 */
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/recording/ledger.h"
#include "collector/collector.h"
#include "format/file/chunk.h"
#include "format/file/meta.h"
#include "format/file/reader.h"
#include "format/recording.h"
#include "model/trace.h"
#include "support/capture.h"
#include "support/folder.h"

enum { NOTHING = 0 }; /* no kind */

static uint64_t written[GT_RECORD_KIND_COUNT];
static unsigned failures;

static void must(int fact, const char *what)
{
	if (fact)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* All chunks but those of one kind, with the counts that a process of today writes. */
static void copy_without(struct capture *to, const struct gt_content *from, uint32_t kind)
{
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t at = GT_FILE_HEADER_SIZE;

	memset(written, 0, sizeof(written));
	capture_begin(to, CAPTURE_UNLIMITED);
	to->writer.written = written;
	must(capture_read(&reader, from->bytes, from->size, NULL) == 0, "no capture");
	while (gt_reader_next_packed(&reader, &chunk) > 0) {
		if (chunk.header.kind != kind)
			capture_add_bytes(to, (const uint8_t *)from->bytes + at,
			                  reader.offset - at);
		at = reader.offset;
		written[chunk.header.kind] += chunk.header.count;
	}
	if (kind != GT_RECORD_META)
		gt_meta_write_one(&to->writer, GT_META_WRITTEN, GT_META_COUNTED);
	for (uint32_t i = 0; i < GT_RECORD_KIND_COUNT; i++)
		if (written[i] && kind != GT_RECORD_written)
			gt_writer_records(&to->writer, GT_RECORD_written,
			                  &(struct gt_record_written){written[i], i}, 1,
			                  (struct gt_origin){0});
}

/* How the ledger's sentence calls what is missing. */
static void word_of(uint32_t kind, char *word, size_t size)
{
	static const char *const words[GT_RECORD_KIND_COUNT] = {
		[GT_RECORD_META] = "cut short",     [GT_RECORD_STRINGS] = "missing",
		[GT_RECORD_SERIES] = "missing",     [GT_RECORD_ledger] = "own counts",
		[GT_RECORD_written] = "own counts",
	};
	const struct gt_record_info *info = gt_record_info(kind);

	if (words[kind])
		snprintf(word, size, "%s", words[kind]);
	else
		snprintf(word, size, " %s record", info ? info->name : "?");
}

static void expect(const char *name, uint32_t kind, bool clean, const char *sentence)
{
	char word[64];

	word_of(kind, word, sizeof(word));
	if (kind == NOTHING ? !strstr(sentence, "missing,") && !strstr(sentence, " records missing")
	                    : !clean && strstr(sentence, word))
		return;
	failures++;
	printf("%s without kind %u: no \"%s\" in \"%s\"\n", name, kind, word, sentence);
}

static void try_without(const char *folder, const char *path, const struct gt_content *capture,
                        uint32_t kind)
{
	char sentence[GT_LEDGER_BYTES];
	struct gt_error err = {0};
	struct capture left = {0};
	struct gt_trace trace;
	bool clean;
	FILE *file;

	copy_without(&left, capture, kind);
	file = fopen(path, "w");
	must(file && fwrite(left.bytes, left.size, 1, file) == 1 && fclose(file) == 0, path);
	capture_release(&left);
	gt_trace_init(&trace);
	must(gt_collect(folder, &trace, &err) == 0, err.text);
	clean = gt_ledger_sentence(&trace, sentence, sizeof(sentence));
	expect(folder, kind, clean, sentence);
	gt_trace_release(&trace);
}

static unsigned try_all(const char *recording)
{
	char copy[] = "/tmp/gputrace-lacking-XXXXXX";
	struct gt_content capture = {0};
	struct gt_error err = {0};
	char command[1024];
	char pattern[64];
	unsigned tried = 0;
	glob_t found;

	must(mkdtemp(copy) != NULL, copy);
	snprintf(command, sizeof(command), "cp -r '%s'/. %s", recording, copy);
	must(system(command) == 0, command); // NOLINT(cert-env33-c): paths of our own
	snprintf(pattern, sizeof(pattern), "%s/*.capture", copy);
	must(glob(pattern, 0, NULL, &found) == 0, pattern);
	snprintf(command, sizeof(command), "%s/%s", recording, basename(found.gl_pathv[0]));
	must(gt_load_file(&capture, command, &err) == 0, err.text);
	try_without(copy, found.gl_pathv[0], &capture, NOTHING);
	for (uint32_t kind = 1; kind < GT_RECORD_KIND_COUNT; kind++) {
		if (written[kind] == 0 && kind != GT_RECORD_written)
			continue;
		try_without(copy, found.gl_pathv[0], &capture, kind);
		tried++;
	}
	globfree(&found);
	gt_unload(&capture);
	must(folder_remove(copy), copy);
	return tried;
}

int main(int argc, char **argv)
{
	unsigned tried = 0;

	for (int i = 1; i < argc; i++)
		tried += try_all(argv[i]);
	printf("%u times all chunks of a kind were taken out, %u failures\n", tried, failures);
	return failures || !tried;
}
