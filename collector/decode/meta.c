/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/strings.h"
#include "collector/decode/decoder.h"
#include "format/file/meta.h"

/* A capture's facts about its process, as pairs of texts. */

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

static bool says(const struct gt_text *text, const char *word)
{
	return text->size == strlen(word) && memcmp(text->bytes, word, text->size) == 0;
}

static void take_api(struct gt_decoder *decoder, const struct gt_text *value)
{
	decoder->capture->api_known = true;
	decoder->capture->api_recorded = !says(value, "none");
}

static void take_written(struct gt_decoder *decoder, const struct gt_text *value)
{
	if (says(value, GT_META_COUNTED))
		decoder->capture->counts_written = true;
}

static void take_end(struct gt_decoder *decoder, const struct gt_text *value)
{
	decoder->capture->imported = says(value, GT_META_END_IMPORTED);
	decoder->capture->dumped = says(value, GT_META_END_DUMPED);
	if (decoder->capture->imported || says(value, GT_META_END_CLEAN))
		decoder->capture->clean = true;
	else
		decoder->capture->died = true;
}

static void take_dumped(struct gt_decoder *decoder, const struct gt_text *value)
{
	decoder->capture->dumped_at = (gt_time)number_of(value);
}

/* Lines NAME=value of the environment; of several processes the longest interval is kept. */
static void take_settings(struct gt_decoder *decoder, const struct gt_text *value)
{
	static const char name[] = "GPUTRACE_FLUSH_INTERVAL=";
	struct gt_trace *trace = decoder->collection->trace;
	const char *at = memmem(value->bytes, value->size, name, sizeof(name) - 1);
	char text[32] = "";
	uint64_t interval_ns;

	if (!at)
		return;
	at += sizeof(name) - 1;
	snprintf(text, sizeof(text), "%.*s", (int)(value->bytes + value->size - at), at);
	text[strcspn(text, "\n")] = '\0';
	if (gt_parse_duration(text, &interval_ns) == 0 && interval_ns < INT64_MAX &&
	    (gt_time)interval_ns > trace->flush_interval_ns)
		trace->flush_interval_ns = (gt_time)interval_ns;
}

/* The value becomes one member of the process or the trace. */
#define TAKE(name, member, reader)                                                                 \
	static void take_##name(struct gt_decoder *decoder, const struct gt_text *value)           \
	{                                                                                          \
		struct gt_trace *trace = decoder->collection->trace;                               \
		struct gt_process *process = &trace->processes.rows[decoder->capture->process];    \
                                                                                                   \
		(void)process;                                                                     \
		member = reader;                                                                   \
	}
TAKE(tool, trace->tool_version, text_of(decoder, value))
TAKE(host, process->host, text_of(decoder, value))
TAKE(boot_id, decoder->capture->boot, text_of(decoder, value))
TAKE(kernel, process->kernel_release, text_of(decoder, value))
TAKE(machine, process->architecture, text_of(decoder, value))
TAKE(cpus, process->cpus, (gt_count)number_of(value))
TAKE(pid, process->pid, (gt_count)number_of(value))
TAKE(parent_pid, process->parent_pid, (gt_count)number_of(value))
TAKE(started, process->started_ticks, number_of(value))
TAKE(program, process->name, file_of(decoder, value))
TAKE(command, process->command, command_of(decoder, value))
TAKE(cupti_path, trace->cupti, text_of(decoder, value))
TAKE(environment, process->environment, text_of(decoder, value))
#undef TAKE

static void take_pair(struct gt_decoder *decoder, const struct gt_text *key,
                      const struct gt_text *value)
{
	static const struct {
		const char *key;
		void (*take)(struct gt_decoder *decoder, const struct gt_text *value);
	} known[] = {
		{GT_META_TOOL, take_tool},
		{GT_META_HOST, take_host},
		{GT_META_BOOT_ID, take_boot_id},
		{GT_META_KERNEL, take_kernel},
		{GT_META_MACHINE, take_machine},
		{GT_META_CPUS, take_cpus},
		{GT_META_PID, take_pid},
		{GT_META_PPID, take_parent_pid},
		{GT_META_STARTED, take_started},
		{GT_META_PROGRAM, take_program},
		{GT_META_COMMAND, take_command},
		{GT_META_CUPTI_PATH, take_cupti_path},
		{GT_META_CUPTI_VERSION, take_cupti_version},
		{GT_META_DRIVER, take_driver},
		{GT_META_SETTINGS, take_settings},
		{GT_META_ENVIRONMENT, take_environment},
		{GT_META_API, take_api},
		{GT_META_WRITTEN, take_written},
		{GT_META_DUMPED, take_dumped},
		{GT_META_END, take_end},
	};

	for (size_t i = 0; i < GT_COUNT_OF(known); i++)
		if (says(key, known[i].key))
			known[i].take(decoder, value);
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
