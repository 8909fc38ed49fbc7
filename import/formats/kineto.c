/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/watch.h"
#include "import/builder.h"
#include "import/importer.h"
#include "import/json/decimal.h"
#include "import/json/json.h"
#include "import/kineto/event.h"
#include "import/kineto/work.h"

/*
 * Chrome traces of torch.profiler (Kineto), as they are or packed by gzip: one object with
 * traceEvents and facts before and behind it. All is read once, in the order in which it stands.
 * The file is of one process; GPUs stand beside it as processes whose numbers are ordinals.
 */

enum { MOST_LEFT_OUT = 8 };

/* A name that the file gives a thread. */
struct named {
	int64_t pid;
	int64_t tid;
	uint32_t text;
};

/* One that it gives a process, or a GPU. */
struct program {
	int64_t pid;
	char name[64];
};

/* Events of a category that become nothing here. */
struct left_out {
	char category[48];
	uint64_t count;
};

struct reader {
	const struct gt_foreign *file;
	struct gt_builder *builder;
	gzFile gz;
	uint64_t bytes; /* of the file */
	struct gt_json json;
	struct gt_kineto_event event;
	bool has_events; /* traceEvents were found */
	uint64_t events;
	int64_t pid;       /* of the first thread's event, GT_KINETO_NONE: none was there */
	int64_t call_pid;  /* of the first API call */
	int64_t other_pid; /* of an API call of another process */
	int64_t base_ns;   /* baseTimeNanoseconds, GT_KINETO_NONE: not there */
	int64_t driver;
	int64_t cupti;
	int64_t rank;
	int64_t ranks;
	char host[64];
	gt_array(struct named) names;
	gt_array(struct program) programs;
	gt_array(struct gt_record_device) devices;
	struct left_out left_out[MOST_LEFT_OUT];
	size_t left_out_count;
};

static int read_bytes(void *context, void *bytes, unsigned size)
{
	struct reader *reader = context;
	const int count = gzread(reader->gz, bytes, size);
	const z_off_t offset = gzoffset(reader->gz);

	gt_watch_tell(reader->file->watch, offset > 0 ? (uint64_t)offset : 0, reader->bytes);
	return count;
}

/* ---- events ---- */

/* "thread 1442 (pt_autograd_0)", or the name alone. */
static uint32_t name_of_thread(struct gt_builder *builder, const char *label)
{
	const char *open = strchr(label, '(');
	const char *close = strrchr(label, ')');

	if (strncmp(label, "thread ", 7) == 0 && open && close && close > open)
		return gt_builder_text(builder, open + 1, (size_t)(close - open - 1));
	return gt_builder_text(builder, label, strlen(label));
}

static void take_name(struct reader *reader)
{
	const struct gt_kineto_event *event = &reader->event;
	struct program *program;

	if (event->pid == GT_KINETO_NONE || !*event->label)
		return;
	if (strcmp(event->name, "thread_name") == 0 && event->tid != GT_KINETO_NONE) {
		*gt_array_push(&reader->names) = (struct named){
			event->pid, event->tid, name_of_thread(reader->builder, event->label)};
	} else if (strcmp(event->name, "process_name") == 0) {
		program = gt_array_push(&reader->programs);
		program->pid = event->pid;
		snprintf(program->name, sizeof(program->name), "%.63s", event->label);
	}
}

static const char *program_of(const struct reader *reader)
{
	gt_array_each(const struct program, program, &reader->programs)
		if (program->pid == reader->pid)
			return program->name;
	return NULL;
}

static void count_left_out(struct reader *reader, const char *category)
{
	size_t i = 0;

	while (i < reader->left_out_count && strcmp(reader->left_out[i].category, category) != 0)
		i++;
	if (i == MOST_LEFT_OUT)
		return;
	if (i == reader->left_out_count)
		snprintf(reader->left_out[reader->left_out_count++].category,
		         sizeof(reader->left_out[i].category), "%s", category);
	reader->left_out[i].count++;
}

static void see_process(struct reader *reader, bool calls)
{
	const int64_t pid = reader->event.pid;

	if (reader->pid == GT_KINETO_NONE)
		reader->pid = pid;
	if (!calls)
		return;
	if (reader->call_pid == GT_KINETO_NONE)
		reader->call_pid = pid;
	else if (reader->call_pid != pid)
		reader->other_pid = pid;
}

static void take_event(struct reader *reader)
{
	const struct gt_kineto_event *event = &reader->event;
	bool host;
	bool calls;

	reader->events += event->phase != '\0';
	if (event->phase == 'M') {
		take_name(reader);
	} else if (event->phase == 'X') {
		if (!gt_kineto_add(reader->builder, event, &host, &calls))
			count_left_out(reader, event->category);
		else if (host)
			see_process(reader, calls);
	} else if (event->phase == 'i' && *event->category) {
		count_left_out(reader, event->category);
	} else if (event->phase == 'i') {
		(void)gt_builder_time(reader->builder, event->start_ns); /* begin and end of it */
	}
}

/* The array of events, which was entered. False: the file is broken in it. */
static bool take_events(struct reader *reader)
{
	reader->has_events = true;
	for (;;) {
		const enum gt_json_token token = gt_json_next(&reader->json);

		if (token == GT_TOKEN_ARRAY_END)
			return true;
		if (token != GT_TOKEN_OBJECT) {
			if (!gt_json_skip(&reader->json, token))
				return false;
			continue;
		}
		if (!gt_kineto_read_event(&reader->json, &reader->event))
			return false;
		take_event(reader);
	}
}

/* ---- facts about GPUs and the job ---- */

#define MEMBER_OF(key, member)                                                                     \
	{                                                                                          \
		key, offsetof(struct gt_record_device, member),                                    \
			sizeof(((struct gt_record_device *)0)->member)                             \
	}

static const struct {
	const char *key;
	size_t offset;
	size_t size;
} properties[] = {
	MEMBER_OF("id", ordinal),
	MEMBER_OF("totalGlobalMem", memory_bytes),
	MEMBER_OF("computeMajor", cc_major),
	MEMBER_OF("computeMinor", cc_minor),
	MEMBER_OF("maxThreadsPerMultiprocessor", max_threads_per_sm),
	MEMBER_OF("regsPerBlock", registers_per_block),
	MEMBER_OF("regsPerMultiprocessor", registers_per_sm),
	MEMBER_OF("warpSize", warp_size),
	MEMBER_OF("sharedMemPerBlockOptin", shared_per_block_bytes),
	MEMBER_OF("sharedMemPerMultiprocessor", shared_per_sm_bytes),
	MEMBER_OF("numSms", sm_count),
};

static void take_property(struct reader *reader, const char *key, enum gt_json_token token,
                          struct gt_record_device *device)
{
	const char *text = reader->json.text;
	int64_t value = 0;

	if (token == GT_TOKEN_TEXT && strcmp(key, "name") == 0)
		device->name = gt_builder_text(reader->builder, text, strlen(text));
	if (token != GT_TOKEN_NUMBER || !gt_decimal(text, 0, &value) || value < 0)
		return;
	for (size_t i = 0; i < GT_COUNT_OF(properties); i++) {
		void *member = (char *)device + properties[i].offset;

		if (strcmp(properties[i].key, key) != 0)
			continue;
		if (properties[i].size == sizeof(uint64_t))
			*(uint64_t *)member = (uint64_t)value;
		else
			*(uint32_t *)member = (uint32_t)value;
	}
}

static bool take_device(struct reader *reader)
{
	struct gt_record_device device = {0};

	for (;;) {
		char key[64];
		const enum gt_json_token token = gt_json_member(&reader->json, key, sizeof(key));

		if (token == GT_TOKEN_OBJECT_END)
			break;
		take_property(reader, key, token, &device);
		if (!gt_json_skip(&reader->json, token))
			return false;
	}
	*gt_array_push(&reader->devices) = device;
	return true;
}

static bool take_devices(struct reader *reader)
{
	for (;;) {
		const enum gt_json_token token = gt_json_next(&reader->json);

		if (token == GT_TOKEN_ARRAY_END)
			return true;
		if (token == GT_TOKEN_OBJECT ? !take_device(reader)
		                             : !gt_json_skip(&reader->json, token))
			return false;
	}
}

static void take_count(struct reader *reader, int64_t *count)
{
	int64_t value;

	if (gt_decimal(reader->json.text, 0, &value))
		*count = value;
}

static bool take_distributed(struct reader *reader)
{
	for (;;) {
		char key[64];
		const enum gt_json_token token = gt_json_member(&reader->json, key, sizeof(key));

		if (token == GT_TOKEN_OBJECT_END)
			return true;
		if (token == GT_TOKEN_NUMBER && strcmp(key, "rank") == 0)
			take_count(reader, &reader->rank);
		else if (token == GT_TOKEN_NUMBER && strcmp(key, "world_size") == 0)
			take_count(reader, &reader->ranks);
		if (!gt_json_skip(&reader->json, token))
			return false;
	}
}

static bool take_member(struct reader *reader, const char *key, enum gt_json_token token)
{
	if (token == GT_TOKEN_ARRAY && strcmp(key, "traceEvents") == 0)
		return take_events(reader);
	if (token == GT_TOKEN_ARRAY && strcmp(key, "deviceProperties") == 0)
		return take_devices(reader);
	if (token == GT_TOKEN_OBJECT && strcmp(key, "distributedInfo") == 0)
		return take_distributed(reader);
	if (token == GT_TOKEN_NUMBER && strcmp(key, "baseTimeNanoseconds") == 0)
		take_count(reader, &reader->base_ns);
	else if (token == GT_TOKEN_NUMBER && strcmp(key, "cuda_driver_version") == 0)
		take_count(reader, &reader->driver);
	else if (token == GT_TOKEN_NUMBER && strcmp(key, "cupti_version") == 0)
		take_count(reader, &reader->cupti);
	else if (token == GT_TOKEN_TEXT && strcmp(key, "host_name") == 0)
		snprintf(reader->host, sizeof(reader->host), "%.63s", reader->json.text);
	return gt_json_skip(&reader->json, token);
}

/* The whole file. False: it is broken, or no JSON at all. */
static bool take_file(struct reader *reader)
{
	const enum gt_json_token first = gt_json_next(&reader->json);

	if (first == GT_TOKEN_ARRAY)
		return take_events(reader);
	if (first != GT_TOKEN_OBJECT)
		return gt_json_skip(&reader->json, first);
	for (;;) {
		char key[64];
		const enum gt_json_token token = gt_json_member(&reader->json, key, sizeof(key));

		if (token == GT_TOKEN_OBJECT_END)
			return true;
		if (!take_member(reader, key, token))
			return false;
	}
}

/* ---- the end ---- */

/* Why nothing can be imported; 0: something can. */
static int check(const struct reader *reader, bool whole, struct gt_error *err)
{
	const struct gt_import_counts *counts = &reader->builder->counts;
	const char *name = reader->file->name;

	if (!whole && reader->events == 0)
		return gt_fail(err, EBADMSG, "%s is no trace of torch.profiler: %s (byte %llu)",
		               name, reader->json.problem,
		               (unsigned long long)gt_json_offset(&reader->json));
	if (!reader->has_events)
		return gt_fail(err, EBADMSG,
		               "%s is no trace of torch.profiler: it is JSON without traceEvents",
		               name);
	if (reader->other_pid != GT_KINETO_NONE)
		return gt_fail(err, ENOTSUP,
		               "%s has CUDA calls of several processes, %lld and %lld: import the "
		               "file of each",
		               name, (long long)reader->call_pid, (long long)reader->other_pid);
	if (counts->kernels + counts->copies + counts->fills + counts->calls + counts->ranges == 0)
		return gt_fail(err, ENODATA,
		               "%s has no event that torch.profiler writes: nothing to import",
		               name);
	return 0;
}

static void add_names(struct reader *reader)
{
	gt_array_each(const struct named, named, &reader->names)
		if (named->pid == reader->pid)
			gt_builder_add(reader->builder, thread, .tid = (uint32_t)named->tid,
			               .name = named->text);
	gt_array_each(const struct gt_record_device, device, &reader->devices)
		gt_builder_device(reader->builder, device);
}

/* Facts that are true of all such files, and all that people would miss in this one. */
static void add_notes(struct reader *reader)
{
	struct gt_builder *builder = reader->builder;

	gt_builder_note(
		builder,
		"imported from %s, which torch.profiler wrote: it does not say what it lost, "
		"whether calls failed, which memory was allocated, or what GPUs drew",
		reader->file->name);
	if (reader->rank != GT_KINETO_NONE && reader->ranks > 0)
		gt_builder_note(builder, "the process was rank %lld of %lld",
		                (long long)reader->rank, (long long)reader->ranks);
	if (builder->counts.kernels == 0)
		gt_builder_remark(builder, "no kernels in this file");
	if (builder->counts.unsized)
		gt_builder_remark(
			builder,
			"%llu copies and fills do not say how large they were, and count as "
			"0 bytes",
			(unsigned long long)builder->counts.unsized);
	for (size_t i = 0; i < reader->left_out_count; i++)
		gt_builder_remark(builder, "%llu events of category %s are not imported",
		                  (unsigned long long)reader->left_out[i].count,
		                  reader->left_out[i].category);
}

/* Files without a base have microseconds since 1970, if they are large. */
static int64_t realtime_offset(const struct reader *reader)
{
	if (reader->base_ns != GT_KINETO_NONE)
		return reader->base_ns;
	return reader->builder->anchor_ns > (int64_t)1000000000 * 1000000000 ? 0 : GT_NO_TIME;
}

static int finish(struct reader *reader, bool whole, struct gt_error *err)
{
	const struct gt_built_process process = {
		.pid = gt_kineto_number(reader->pid, 0),
		.host = reader->host,
		.program = program_of(reader),
		.cuda_driver = gt_kineto_number(reader->driver, 0),
		.cupti = gt_kineto_number(reader->cupti, 0),
		.realtime_offset_ns = realtime_offset(reader),
	};
	const int result = check(reader, whole, err);

	if (result < 0)
		return result;
	if (!whole)
		gt_builder_cut(reader->builder, reader->file->name, reader->json.problem);
	add_names(reader);
	add_notes(reader);
	return gt_builder_end(reader->builder, &process, err);
}

static int open_file(struct reader *reader, struct gt_error *err)
{
	struct stat status;

	if (stat(reader->file->path, &status) < 0)
		return gt_fail(err, errno, "cannot read %s: %s", reader->file->path,
		               gt_errno_text(errno));
	reader->bytes = (uint64_t)status.st_size;
	reader->gz = gzopen(reader->file->path, "rbe");
	if (!reader->gz)
		return gt_fail(err, errno, "cannot read %s: %s", reader->file->path,
		               gt_errno_text(errno));
	(void)gzbuffer(reader->gz, GT_JSON_BUFFER);
	return 0;
}

static int read_file(const struct gt_foreign *file, struct gt_builder *builder,
                     struct gt_error *err)
{
	struct reader *reader = gt_allocate_zeroed(1, sizeof(*reader));
	int result;

	reader->file = file;
	reader->builder = builder;
	reader->pid = reader->call_pid = reader->other_pid = GT_KINETO_NONE;
	reader->base_ns = reader->driver = reader->cupti = GT_KINETO_NONE;
	reader->rank = reader->ranks = GT_KINETO_NONE;
	gt_json_init(&reader->json, (struct gt_json_input){read_bytes, reader});
	result = open_file(reader, err);
	if (result == 0)
		result = gt_builder_begin(builder, err);
	if (result == 0)
		result = finish(reader, take_file(reader), err);
	if (reader->gz)
		(void)gzclose(reader->gz);
	gt_json_release(&reader->json);
	gt_array_release(&reader->names);
	gt_array_release(&reader->programs);
	gt_array_release(&reader->devices);
	gt_array_free(reader);
	return result;
}

/* JSON, perhaps behind a byte order mark that no JSON has, or what gzip packs. */
static bool accepts(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return true;
	while (at < size && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at < size && (bytes[at] == '{' || bytes[at] == '[');
}

const struct gt_importer gt_importer_kineto = {
	.name = "kineto",
	.product = "torch.profiler",
	.summary = "JSON of torch.profiler (Kineto), also .gz",
	.accepts = accepts,
	.read = read_file,
};
