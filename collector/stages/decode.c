/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/strings.h"
#include "base/watch.h"
#include "collector/collector.h"
#include "collector/decode/decoder.h"
#include "collector/decode/long_ago.h"
#include "collector/decode/looks.h"
#include "format/arena/files.h"
#include "format/arena/live.h"
#include "format/arena/salvage.h"
#include "format/ranges.h"

/*
 * Captures into rows: each chunk goes to whoever knows its kind (collector/decode/decoder.h). Later
 * stages put times on one clock and resolve what the rows still call by the capture's own ids.
 */

bool gt_decoder_take(struct gt_decoder *decoder, uint64_t bytes)
{
	if (bytes > decoder->room)
		return false;
	decoder->room -= bytes;
	return true;
}

/* For what is in so many bytes of a file. */
static void make_room(struct gt_decoder *decoder, size_t file_bytes)
{
	decoder->room += GT_ROOM_SHARE * (uint64_t)file_bytes;
}

/* Texts by ids that were left out are "". False when there is no room for so many. */
static bool reach(struct gt_decoder *decoder, uint32_t id)
{
	struct gt_capture *capture = decoder->capture;
	const size_t known = capture->strings.count;

	if (id >= known && !gt_decoder_take(decoder, (id - known + 1) * sizeof(gt_string)))
		return false;
	while (capture->strings.count <= id)
		*gt_array_push(&capture->strings) = 0;
	return true;
}

/* Its first bytes, without a part of a character at the end. */
static void cut(struct gt_decoder *decoder, struct gt_text *text)
{
	if (text->size <= GT_TEXT_MAX)
		return;
	decoder->cut++;
	text->size = GT_TEXT_MAX;
	for (int i = 0; i < 3 && ((unsigned char)text->bytes[text->size] & 0xc0) == 0x80; i++)
		text->size--;
}

static void decode_strings(struct gt_decoder *decoder, const struct gt_chunk *chunk)
{
	struct gt_capture *capture = decoder->capture;
	struct gt_text text;
	size_t offset = 0;

	while (gt_chunk_next_string(chunk, &offset, &text) > 0) {
		if (text.id > GT_MAX_ID) {
			decoder->misnumbered++;
			continue;
		}
		cut(decoder, &text);
		if (!gt_decoder_take(decoder, GT_ROOM_OF_TEXT(text.size)) ||
		    !reach(decoder, text.id)) {
			decoder->refused++;
			return;
		}
		capture->strings.rows[text.id] = gt_strings_add_bytes(
			decoder->collection->trace->strings, text.bytes, text.size);
	}
}

/* Room for the rows that ids in the chunks so far stand for; any id may be a new one. */
static uint64_t room_of_places(const struct gt_trace *trace)
{
	return GT_ROOM_OF_DEVICE * (uint64_t)trace->devices.count +
	       GT_ROOM_OF_PLACE * ((uint64_t)trace->contexts.count + trace->streams.count +
	                           trace->threads.count + trace->events.count);
}

/* Kinds that a file about a machine holds. Other kinds are of a process, which it has not. */
static bool is_of_machine(uint32_t kind)
{
	return kind == GT_RECORD_STRINGS || kind == GT_RECORD_note || kind == GT_RECORD_numa_node ||
	       kind == GT_RECORD_pci_device || kind == GT_RECORD_gpu_pair;
}

static void decode_chunk(struct gt_decoder *decoder, const struct gt_chunk *chunk)
{
	const struct gt_trace *trace = decoder->collection->trace;
	const uint64_t before = room_of_places(trace);
	uint64_t taken;

	if (decoder->capture->process == GT_NONE && !is_of_machine(chunk->header.kind)) {
		decoder->unknown++;
		return;
	}
	if (chunk->header.kind < GT_RECORD_KIND_COUNT)
		decoder->capture->written[chunk->header.kind].read += chunk->header.count;
	if (chunk->header.kind == GT_RECORD_STRINGS)
		decode_strings(decoder, chunk);
	else if (chunk->header.kind == GT_RECORD_META)
		gt_decode_meta(decoder, chunk);
	else if (chunk->header.kind == GT_RECORD_SERIES)
		gt_decode_series(decoder, chunk);
	else
		gt_decode_records(decoder, chunk);
	/* Only now is it known; a chunk has few thousand records. */
	taken = room_of_places(trace) - before;
	decoder->room -= taken < decoder->room ? taken : decoder->room;
}

/* The captures may have grown since they were looked at. */
static void tell(const struct gt_decoder *decoder, size_t offset)
{
	const uint64_t done = decoder->bytes_done + offset;

	if (done < decoder->bytes)
		gt_watch_tell(decoder->collection->watch,
		              GT_SHARE_OF_DECODE * done / decoder->bytes,
		              GT_SHARE_OF_DECODE + GT_SHARE_OF_REST);
}

/* The first size bytes of a content, or bytes that have no holes. */
static int decode_bytes(struct gt_decoder *decoder, const struct gt_content *content, size_t size,
                        struct gt_reader *reader, struct gt_error *err)
{
	struct gt_chunk chunk;
	const int result = gt_reader_init(reader, content->bytes, size, decoder->scratch, err);

	if (result < 0)
		return result;
	gt_reader_use(reader, decoder->decompressor);
	if (content->pages)
		gt_reader_skip_holes(reader, content);
	if (content->pages && decoder->collection->live)
		reader->passes = gt_is_long_ago;
	while (gt_reader_next(reader, &chunk) > 0) {
		decode_chunk(decoder, &chunk);
		tell(decoder, reader->offset);
	}
	return 0;
}

/* Bytes in memory that a salvager appends to. */
struct bytes {
	gt_array(uint8_t) all;
};

static int append(void *context, const void *data, size_t size)
{
	struct bytes *bytes = context;

	if (bytes->all.count + size > bytes->all.capacity) {
		bytes->all.capacity = 2 * (bytes->all.count + size);
		bytes->all.rows = gt_array_resize(bytes->all.rows, bytes->all.capacity, 1);
	}
	memcpy(bytes->all.rows + bytes->all.count, data, size);
	bytes->all.count += size;
	return 0;
}

static int salvage(struct gt_decoder *decoder, const struct gt_content *arena,
                   const struct gt_content *capture, struct gt_sink sink, struct gt_error *err)
{
	return decoder->capture->running
	               ? gt_salvage_live(arena, capture, sink, err)
	               : gt_salvage_arena(arena->bytes, arena->size, capture->bytes, capture->size,
	                                  sink, err);
}

static int decode_arena(struct gt_decoder *decoder, const struct gt_content *arena,
                        const struct gt_content *capture, struct gt_error *err)
{
	uint8_t header[GT_FILE_HEADER_SIZE] = GT_FILE_MAGIC;
	struct bytes bytes = {0};
	struct gt_reader reader;
	int result;

	gt_put_u32(header + 8, GT_FORMAT_VERSION);
	gt_put_u32(header + 12, GT_FILE_HEADER_SIZE);
	append(&bytes, header, sizeof(header));
	result = salvage(decoder, arena, capture, (struct gt_sink){append, &bytes}, err);
	make_room(decoder, bytes.all.count);
	if (result == 0)
		result = decode_bytes(decoder,
		                      &(struct gt_content){.bytes = bytes.all.rows,
		                                           .size = bytes.all.count},
		                      bytes.all.count, &reader, err);
	gt_array_release(&bytes.all);
	return result;
}

/* The arena of a process that died is read after the capture, when nobody writes either. */
static int load_dead_arena(struct gt_decoder *decoder, const struct gt_content *capture,
                           struct gt_error *err)
{
	struct gt_content arena;
	int result = gt_load_file(&arena, decoder->capture->arena_path, err);

	if (result == 0)
		result = decode_arena(decoder, &arena, capture, err);
	gt_unload(&arena);
	return result;
}

/* That of one that runs, where it is asked for, before the capture. */
static void load_live_arena(struct gt_decoder *decoder, struct gt_content *arena)
{
	struct gt_capture *capture = decoder->capture;
	struct gt_error why = {0};

	*arena = (struct gt_content){0};
	if (!decoder->collection->live || !capture->arena_path ||
	    !gt_arena_is_live(capture->arena_path))
		return;
	capture->running = true;
	if (gt_arena_load_live(arena, capture->arena_path, &why) < 0 && why.code != ENODATA)
		gt_collection_note(decoder->collection, capture->process, "decode",
		                   "%s could not be read: %s", capture->arena_path, why.text);
}

/*
 * Takes what a dead process left in its arena; of a running process only what it has written
 * counts, and the copy of its arena where there is one. When that fails for an arena without a
 * capture, err says why nothing is known of the process.
 */
static void add_arena(struct gt_decoder *decoder, const struct gt_content *live,
                      const struct gt_content *capture, struct gt_error *err)
{
	struct gt_capture *to = decoder->capture;
	struct gt_error why = {0};

	if (!to->arena_path)
		return;
	if (live->bytes) {
		if (decode_arena(decoder, live, capture, &why) < 0)
			gt_collection_note(decoder->collection, to->process, "decode",
			                   "%s could not be read: %s", to->arena_path, why.text);
	} else if (gt_arena_is_live(to->arena_path)) {
		to->running = true;
		gt_collection_note(
			decoder->collection, to->process, "decode",
			"the process still runs: the latest events are not in its capture "
			"yet");
	} else if (load_dead_arena(decoder, capture, &why) < 0 && why.code != ENODATA) {
		gt_collection_note(decoder->collection, to->process, "decode",
		                   "%s could not be salvaged: %s", to->arena_path, why.text);
		if (to->missing)
			(void)gt_fail(err, why.code, "its arena cannot be salvaged: %s", why.text);
	}
}

static enum gt_end end_of(const struct gt_capture *capture)
{
	if (capture->running)
		return GT_END_RUNNING;
	if (capture->unread)
		return GT_END_UNREAD;
	if (capture->imported)
		return GT_END_IMPORTED;
	if (capture->clean)
		return GT_END_CLEAN;
	if (capture->dumped)
		return GT_END_DUMPED;
	return capture->died ? GT_END_DIED : GT_END_TORN;
}

/* Unreadable parts of the file become a note, and part of the condition of the whole recording. */
static void remark_condition(struct gt_decoder *decoder, const struct gt_reader *reader,
                             const char *problem)
{
	const struct gt_capture *capture = decoder->capture;
	struct gt_condition condition = {
		.name = capture->name,
		.problem = problem,
		.has_end = capture->process == GT_NONE || capture->clean || capture->died,
		.missing = capture->missing,
		.running = capture->running,
	};
	char text[GT_CONDITION_BYTES];

	gt_condition_take(&condition, reader);
	gt_recording_condition_add(&decoder->condition, &condition);
	if (gt_condition_text(&condition, text, sizeof(text)))
		gt_collection_note(decoder->collection, capture->process, "decode", "%s", text);
}

static void remark(struct gt_decoder *decoder, const struct gt_reader *reader)
{
	struct gt_collection *collection = decoder->collection;
	const struct gt_capture *capture = decoder->capture;

	if (decoder->unknown)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s holds %llu chunks of kinds that a later gputrace writes",
		                   capture->name, (unsigned long long)decoder->unknown);
	if (decoder->damaged)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s holds %llu chunks whose contents do not fit their kind",
		                   capture->name, (unsigned long long)decoder->damaged);
	if (decoder->misnumbered)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s holds %llu names or launch shapes with numbers that cannot "
		                   "be right",
		                   capture->name, (unsigned long long)decoder->misnumbered);
	if (decoder->cut)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s holds %llu texts that are longer than any that gputrace "
		                   "writes: the first %d bytes of each are here",
		                   capture->name, (unsigned long long)decoder->cut, GT_TEXT_MAX);
	decoder->capture->chunks_left_out = decoder->refused;
	decoder->capture->chunks_damaged = decoder->damaged;
	decoder->capture->bytes_damaged = reader->skipped;
	/* Behind its end too: of one without an end it is known that it was cut short. */
	if (reader->torn && (capture->clean || capture->died))
		decoder->capture->bytes_damaged += reader->size - reader->good_bytes;
	if (decoder->refused)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s asks for more memory than what is in it can need: %llu of "
		                   "its chunks were left out",
		                   capture->name, (unsigned long long)decoder->refused);
}

/* Nothing was counted of it yet. */
static void begin_file(struct gt_decoder *decoder)
{
	decoder->unknown = decoder->damaged = decoder->misnumbered = 0;
	decoder->cut = decoder->refused = 0;
}

/* The file that the process itself wrote. */
static int decode_file(struct gt_decoder *decoder, struct gt_content *content,
                       struct gt_reader *reader, struct gt_error *err)
{
	struct gt_capture *capture = decoder->capture;
	const struct gt_look *look = capture->process == GT_NONE ? NULL : decoder->collection->look;
	size_t own = SIZE_MAX;
	int result = look ? gt_looks_load(look->looks, capture, look->since_ns, content, err)
	                  : gt_load_file(content, capture->path, err);

	make_room(decoder, content->there);
	/* A salvage that was cut short left the arena: what it appended is read from there. */
	if (result == 0 && capture->arena_path)
		result = gt_capture_own_bytes(content->bytes, content->size, &own, err);
	if (result == 0)
		result = decode_bytes(decoder, content, own < content->size ? own : content->size,
		                      reader, err);
	if (result < 0)
		gt_unload(content);
	return result;
}

/*
 * Names that the program gave: here, as several processes' rows of a device become one later, and
 * at the end, as a device may be named before anything else is said of it.
 */
static void name_devices(struct gt_trace *trace, struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_given_name, name, &capture->raw_given_names) {
		const gt_id device = name->kind == GT_NAMED_DEVICE && name->number < GT_MAX_ID
		                             ? gt_known_find(&capture->devices, name->number)
		                             : GT_NONE;

		if (device != GT_NONE)
			trace->devices.rows[device].label = gt_capture_string(capture, name->text);
	}
}

/* Negative, with err set, when nothing could be read of it. */
static int decode_capture(struct gt_decoder *decoder, struct gt_error *err)
{
	struct gt_capture *capture = decoder->capture;
	struct gt_trace *trace = decoder->collection->trace;
	struct gt_content arena;
	struct gt_content content = {0};
	struct gt_reader reader = {0};
	const gt_count pid = gt_pid_of_name(capture->name);
	struct gt_error problem;
	int result;

	capture->process = (gt_id)trace->processes.count;
	*gt_array_push(&trace->processes) = (struct gt_process){
		.pid = pid, .capture = gt_strings_add(trace->strings, capture->name)};
	load_live_arena(decoder, &arena);
	result = decode_file(decoder, &content, &reader, err);
	/* The captures of other processes are none the worse for one that cannot be read. */
	capture->unread = result < 0;
	problem = *err;
	add_arena(decoder, &arena, &content, err);
	remark_condition(decoder, &reader, result < 0 ? problem.text : NULL);
	if (result == 0)
		remark(decoder, &reader);
	name_devices(trace, capture);
	trace->processes.rows[capture->process].ended = end_of(capture);
	gt_unload(&content);
	gt_unload(&arena);
	return capture->died || capture->running ? 0 : result;
}

/* The topology of a machine. One that cannot be read is missed by nothing else. */
static void decode_machine(struct gt_decoder *decoder, struct gt_capture *machine)
{
	struct gt_content content = {0};
	struct gt_reader reader = {0};
	struct gt_error why = {0};

	decoder->capture = machine;
	begin_file(decoder);
	const int result = decode_file(decoder, &content, &reader, &why);

	remark_condition(decoder, &reader, result < 0 ? why.text : NULL);
	if (result == 0)
		remark(decoder, &reader);
	gt_unload(&content);
}

static uint64_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

static uint64_t size_of_all(const struct gt_collection *collection)
{
	uint64_t bytes = 0;

	gt_array_each(const struct gt_capture, capture, &collection->captures)
		bytes += size_of(capture->path);
	return bytes;
}

static int decode_all(struct gt_decoder *decoder, struct gt_error *err)
{
	struct gt_collection *collection = decoder->collection;
	const size_t count = collection->captures.count;
	struct gt_error first = {0};
	const char *path = NULL;
	size_t unread = 0;

	gt_array_each(struct gt_capture, capture, &collection->captures) {
		struct gt_error why = {0};

		if (decoder->bytes && decoder->capture)
			decoder->bytes_done += size_of(decoder->capture->path);
		decoder->capture = capture;
		begin_file(decoder);
		if (decode_capture(decoder, &why) == 0)
			continue;
		if (unread++ == 0) {
			first = why;
			path = capture->path;
		}
	}
	if (count == 0 || unread < count)
		return 0;
	return gt_fail_unread(err, count, path, &first);
}

static void tell_condition(struct gt_trace *trace, const struct gt_recording_condition *condition)
{
	char text[GT_RECORDING_CONDITION_BYTES];

	if (gt_recording_condition_text(condition, text, sizeof(text)))
		trace->condition = gt_strings_add(trace->strings, text);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_decoder decoder = {
		.collection = collection,
		.scratch = gt_allocate(GT_CHUNK_MAX_RAW),
		.decompressor = gt_allocate(gt_reader_memory()),
		.records = gt_allocate((size_t)GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE),
		.room = GT_ROOM_BASE,
		.bytes = collection->watch ? size_of_all(collection) : 0,
	};
	const int result = decode_all(&decoder, err);

	gt_array_each(struct gt_capture, machine, &collection->machines)
		decode_machine(&decoder, machine);
	if (collection->live)
		decoder.condition.running = 0; /* what they have not written yet is here too */
	tell_condition(collection->trace, &decoder.condition);
	free(decoder.scratch);
	free(decoder.decompressor);
	free(decoder.records);
	return result;
}

const struct gt_stage gt_stage_decode = {.name = "decode", .run = run};
