/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/strings.h"
#include "collector/decoder.h"
#include "format/meta.h"

/* What a capture says of its process, as pairs of texts. */

static gt_string text_of(struct gt_decoder *decoder, const struct gt_text *text)
{
	return gt_strings_add_bytes(decoder->collection->trace->strings, text->bytes, text->size);
}

static uint64_t number_of(const struct gt_text *text)
{
	char digits[24];
	uint64_t value = 0;

	snprintf(digits, sizeof(digits), "%.*s", (int)text->size, text->bytes);
	(void)gt_parse_count(digits, &value);
	return value;
}

/* The words of a command line, each ended by a zero byte, as one text with blanks between. */
static gt_string command_of(struct gt_decoder *decoder, const struct gt_text *text)
{
	char *words = gt_allocate(text->size + 1);
	size_t size = text->size;
	gt_string id;

	memcpy(words, text->bytes, size);
	while (size && words[size - 1] == '\0')
		size--;
	for (size_t i = 0; i < size; i++)
		if (words[i] == '\0')
			words[i] = ' ';
	id = gt_strings_add_bytes(decoder->collection->trace->strings, words, size);
	free(words);
	return id;
}

static gt_string file_of(struct gt_decoder *decoder, const struct gt_text *path)
{
	const char *slash = memrchr(path->bytes, '/', path->size);
	const char *name = slash ? slash + 1 : path->bytes;

	return gt_strings_add_bytes(decoder->collection->trace->strings, name,
	                            path->size - (size_t)(name - path->bytes));
}

static void take_driver(struct gt_decoder *decoder, const struct gt_text *value)
{
	struct gt_trace *trace = decoder->collection->trace;
	const uint64_t version = number_of(value);
	char text[32];

	snprintf(text, sizeof(text), "%u.%u", (unsigned)(version / 1000),
	         (unsigned)(version % 1000 / 10));
	trace->driver = gt_strings_add(trace->strings, text);
}

static void take_cupti_version(struct gt_decoder *decoder, const struct gt_text *value)
{
	struct gt_trace *trace = decoder->collection->trace;
	char text[1024];

	snprintf(text, sizeof(text), "%s (version %.*s)", gt_trace_text(trace, trace->cupti),
	         (int)value->size, value->bytes);
	trace->cupti = gt_strings_add(trace->strings, text);
}

static void take_api(struct gt_capture *capture, const char *said)
{
	capture->api_known = true;
	capture->api_recorded = strcmp(said, "none") != 0;
}

static void take_pair(struct gt_decoder *decoder, const struct gt_text *key,
                      const struct gt_text *value)
{
	struct gt_trace *trace = decoder->collection->trace;
	struct gt_process *process = &trace->processes.rows[decoder->capture->process];
	char word[32];
	char said[16];

	snprintf(word, sizeof(word), "%.*s", (int)key->size, key->bytes);
	snprintf(said, sizeof(said), "%.*s", (int)value->size, value->bytes);
	if (strcmp(word, GT_META_TOOL) == 0)
		trace->tool_version = text_of(decoder, value);
	else if (strcmp(word, GT_META_HOST) == 0)
		process->host = text_of(decoder, value);
	else if (strcmp(word, GT_META_BOOT_ID) == 0)
		decoder->capture->boot = text_of(decoder, value);
	else if (strcmp(word, GT_META_KERNEL) == 0)
		process->kernel_release = text_of(decoder, value);
	else if (strcmp(word, GT_META_MACHINE) == 0)
		process->architecture = text_of(decoder, value);
	else if (strcmp(word, GT_META_CPUS) == 0)
		process->cpus = (gt_count)number_of(value);
	else if (strcmp(word, GT_META_PID) == 0)
		process->pid = (gt_count)number_of(value);
	else if (strcmp(word, GT_META_PPID) == 0)
		process->parent_pid = (gt_count)number_of(value);
	else if (strcmp(word, GT_META_STARTED) == 0)
		process->started_ticks = number_of(value);
	else if (strcmp(word, GT_META_PROGRAM) == 0)
		process->name = file_of(decoder, value);
	else if (strcmp(word, GT_META_COMMAND) == 0)
		process->command = command_of(decoder, value);
	else if (strcmp(word, GT_META_CUPTI_PATH) == 0)
		trace->cupti = text_of(decoder, value);
	else if (strcmp(word, GT_META_CUPTI_VERSION) == 0)
		take_cupti_version(decoder, value);
	else if (strcmp(word, GT_META_DRIVER) == 0)
		take_driver(decoder, value);
	else if (strcmp(word, GT_META_ENVIRONMENT) == 0)
		process->environment = text_of(decoder, value);
	else if (strcmp(word, GT_META_API) == 0)
		take_api(decoder->capture, said);
	else if (strcmp(word, GT_META_END) == 0)
		*(strcmp(said, GT_META_END_CLEAN) == 0 ? &decoder->capture->clean
		                                       : &decoder->capture->died) = true;
}

/* The number before the last "-" of a text of so many bytes, which is cut there; false: none. */
static bool last_number(const char *text, size_t *size, uint64_t *number)
{
	const char *dash = memrchr(text, '-', *size);
	char digits[24];

	if (!dash)
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)(*size - (size_t)(dash + 1 - text)),
	         dash + 1);
	*size = (size_t)(dash - text);
	return gt_parse_count(digits, number) == 0;
}

/*
 * A host may end with a number, and a process that calls exec numbers its captures, behind the
 * start: of more than two numbers nobody can tell which is which.
 */
gt_count gt_pid_of_name(const char *name)
{
	size_t size = strlen(name) - strlen(GT_CAPTURE_SUFFIX);
	uint64_t start;
	uint64_t pid;
	uint64_t other;

	if (!last_number(name, &size, &start) || !last_number(name, &size, &pid) ||
	    last_number(name, &size, &other) || pid > INT32_MAX)
		return 0;
	return (gt_count)pid;
}

void gt_decode_meta(struct gt_decoder *decoder, const struct gt_chunk *chunk)
{
	struct gt_text key;
	struct gt_text value;
	size_t offset = 0;

	while (gt_chunk_next_pair(chunk, &offset, &key, &value) > 0) {
		if (!gt_decoder_take(decoder, GT_ROOM_OF_TEXT(value.size))) {
			decoder->refused++;
			return;
		}
		take_pair(decoder, &key, &value);
	}
}
