/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/arena/drain.h"
#include "format/arena/files.h"
#include "format/file/meta.h"
#include "format/recording.h"
#include "support/arena.h"
#include "support/capture.h"
#include "support/check.h"

enum { SLOT_BYTES = 4 << 20 };

static uint8_t scratch[GT_CHUNK_MAX_RAW];

/* Every correlation id of a process's records is used once: 1 to last. */
struct process {
	struct test_arena test;
	struct capture capture; /* what it had written itself */
	uint32_t last;
	uint32_t calls;
};

static uint32_t name_of(void *context, uint64_t pointer)
{
	const struct gt_name *name = gt_arena_name(context, pointer);

	return name && name->pointer == pointer ? name->string : 0;
}

static uint32_t string_of(void *context, const char *text, uint32_t size)
{
	return gt_arena_add_string(context, text, size);
}

static struct gt_slot *fill_activity(struct process *process, uint32_t kernels)
{
	struct gt_slot *slot = gt_arena_take(&process->test.arena, GT_SLOT_ACTIVITY);

	for (uint32_t i = 0; i < kernels; i++) {
		const uint32_t id = ++process->last;
		const uint64_t pointer = 0x1000 + id / 30 * 16;
		uint8_t *record = add_raw_kernel(&process->test, slot, id, pointer);

		put_raw(&process->test, record, GT_RAW_kernel_grid_x, id % 700);
		if (!gt_arena_name(&process->test.arena, pointer)->pointer)
			add_name(&process->test, pointer, "a kernel");
		if (i % 5 == 0) {
			record = add_raw(&process->test, slot, GT_ACTIVITY_memcpy);
			put_raw(&process->test, record, GT_RAW_memcpy_start_ns, id);
			put_raw(&process->test, record, GT_RAW_memcpy_end_ns, id + 1);
			put_raw(&process->test, record, GT_RAW_memcpy_correlation, ++process->last);
		}
	}
	return slot;
}

static struct gt_slot *fill_calls(struct process *process, uint32_t tid, uint32_t calls)
{
	struct gt_slot *slot = gt_arena_take(&process->test.arena, GT_SLOT_RECORDS);

	slot->tid = tid;
	memcpy(slot->thread_name, "worker", 6);
	for (uint32_t i = 0; i < calls; i++)
		add_call(&process->test, slot, ++process->calls);
	return slot;
}

/*
 * Dies with slots in every state. The one that was being drained had more than one chunk, and
 * its disk took the first limit bytes of the capture.
 */
static void die(struct process *process, size_t limit)
{
	struct gt_arena *arena = &process->test.arena;
	const struct gt_drain_config config = {
		.arena = arena,
		.writer = &process->capture.writer,
		.name_of = name_of,
		.string_of = string_of,
		.context = arena,
	};
	const size_t size = gt_drain_memory();
	struct gt_drain *drain;
	void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
	struct gt_slot *draining;
	struct gt_slot *lent;
	struct gt_slot *full;
	const uint8_t *at;

	*process = (struct process){0};
	test_arena_init(&process->test, 6, SLOT_BYTES, "host-1-2.capture");
	capture_begin(&process->capture, limit);
	process->capture.writer.written = arena->header->written;
	drain = gt_drain_init(&config, memory, size);
	draining = fill_activity(process, 10000);
	gt_slot_hand_over(draining, draining->used);
	draining->state = GT_SLOT_DRAINING;
	full = fill_activity(process, 50);
	gt_slot_hand_over(full, full->used);
	lent = fill_activity(process, 30);
	lent->used = 0; /* nobody knows what CUPTI has filled */
	fill_calls(process, 11, 100);
	full = fill_calls(process, 12, 40);
	gt_slot_hand_over(full, full->used);

	gt_drain_begin(drain, draining);
	at = gt_slot_memory(arena, draining);
	for (uint32_t left = draining->used; left > 0;) {
		const uint32_t bytes = gt_raw_size(arena, at, left);

		gt_drain_activity(drain, at);
		at += bytes;
		left -= bytes;
	}
	gt_drain_end(drain);
	/* It died in there: the buffer was not counted yet. */
	arena->header->ledger[GT_LEDGER_activity_records] = 0;
	process->capture.limit = CAPTURE_UNLIMITED;
	free(memory);
}

static void bury(struct process *process)
{
	test_arena_release(&process->test);
	capture_release(&process->capture);
}

/* The capture with what is salvaged behind it. */
static void salvage(const struct process *process, struct capture *whole)
{
	struct test_arena copy;
	struct gt_error err = {0};
	size_t own = 0;

	capture_init(whole, CAPTURE_UNLIMITED);
	cr_assert(
		eq(int,
	           gt_capture_own_bytes(process->capture.bytes, process->capture.size, &own, &err),
	           0));
	if (own)
		capture_add_bytes(whole, process->capture.bytes, own);
	else
		gt_writer_file_header(&whole->writer);
	test_arena_copy(&process->test, &copy);
	cr_assert(eq(int,
	             gt_salvage_arena(copy.memory, copy.size, process->capture.bytes, own,
	                              capture_sink(whole), &err),
	             0),
	          "%s", err.text);
	test_arena_release(&copy);
}

static uint64_t ledger_of(const struct capture *capture, enum gt_ledger_id id)
{
	size_t count;
	struct gt_record_ledger *rows =
		read_records(capture->bytes, capture->size, GT_RECORD_ledger, &count);
	uint64_t value = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		if (rows[i].name == (uint32_t)id + 1)
			value = rows[i].value;
	free(rows);
	return value;
}

/* Strings and shapes by id, as a collector would join them. */
static void expect_kernels_have_names(const struct capture *capture)
{
	static char texts[5000][16];
	static uint32_t names[100000];
	struct gt_record_kernel *kernels;
	struct gt_record_shape *shapes;
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t count;

	memset(texts, 0, sizeof(texts));
	memset(names, 0, sizeof(names));
	capture_read(&reader, capture->bytes, capture->size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0) {
		struct gt_text text;
		size_t offset = 0;

		while (chunk.header.kind == GT_RECORD_STRINGS &&
		       gt_chunk_next_string(&chunk, &offset, &text) > 0)
			if (text.size < sizeof(texts[0]))
				memcpy(texts[text.id], text.bytes, text.size);
	}
	shapes = read_records(capture->bytes, capture->size, GT_RECORD_shape, &count);
	for (size_t i = 0; i < count; i++)
		names[shapes[i].id] = shapes[i].name;
	kernels = read_records(capture->bytes, capture->size, GT_RECORD_kernel, &count);
	for (size_t i = 0; i < count; i++)
		cr_assert(eq(str, texts[names[kernels[i].shape]], "a kernel"));
	free(shapes);
	free(kernels);
}

/* By the last count of each kind; the end, and these records themselves, come behind them. */
static void expect_counted(const struct capture *capture)
{
	uint64_t found[GT_RECORD_KIND_COUNT] = {0};
	uint64_t told[GT_RECORD_KIND_COUNT] = {0};
	struct gt_record_written *rows;
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t count;

	capture_read(&reader, capture->bytes, capture->size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0)
		found[chunk.header.kind] += chunk.header.count;
	rows = read_records(capture->bytes, capture->size, GT_RECORD_written, &count);
	for (size_t i = 0; i < count; i++)
		told[rows[i].kind] = rows[i].rows;
	free(rows);
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (kind != GT_RECORD_META && kind != GT_RECORD_written)
			cr_expect(eq(u64, told[kind], found[kind]), "kind %u", kind);
}

static void expect_each_once(const struct process *process, const struct capture *capture)
{
	expect_counted(capture);
	uint8_t *seen = calloc(process->last + 1, 1);
	uint8_t *called = calloc(process->calls + 1, 1);
	size_t kernel_count;
	size_t copy_count;
	size_t call_count;
	struct gt_record_kernel *kernels =
		read_records(capture->bytes, capture->size, GT_RECORD_kernel, &kernel_count);
	struct gt_record_copy *copies =
		read_records(capture->bytes, capture->size, GT_RECORD_copy, &copy_count);
	struct gt_record_api_call *calls =
		read_records(capture->bytes, capture->size, GT_RECORD_api_call, &call_count);

	cr_expect(eq(sz, kernel_count + copy_count, process->last));
	cr_expect(eq(sz, call_count, process->calls));
	for (size_t i = 0; i < kernel_count; i++)
		cr_assert(eq(u8, seen[kernels[i].correlation]++, 0));
	for (size_t i = 0; i < copy_count; i++)
		cr_assert(eq(u8, seen[copies[i].correlation]++, 0));
	for (size_t i = 0; i < call_count; i++)
		cr_assert(eq(u8, called[calls[i].correlation]++, 0));
	cr_expect(eq(u64, ledger_of(capture, GT_LEDGER_activity_records), process->last));
	cr_expect(eq(u64, ledger_of(capture, GT_LEDGER_api_calls), process->calls));
	free(kernels);
	free(copies);
	free(calls);
	free(seen);
	free(called);
}

Test(salvage, finds_every_record_once_wherever_the_process_died)
{
	struct process process;
	size_t ends[64] = {0, 7, GT_FILE_HEADER_SIZE};
	size_t count = 3;
	struct gt_reader reader;
	struct gt_chunk chunk;

	die(&process, CAPTURE_UNLIMITED);
	capture_read(&reader, process.capture.bytes, process.capture.size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0 && count < 60) {
		ends[count++] = chunk.at + 70; /* torn */
		ends[count++] = reader.offset; /* between two writes */
	}
	cr_expect(ge(sz, count, 15), "there is more than one chunk of a kind");
	bury(&process);
	for (size_t i = 0; i < count; i++) {
		struct capture whole;

		die(&process, ends[i]);
		salvage(&process, &whole);
		expect_each_once(&process, &whole);
		expect_kernels_have_names(&whole);
		capture_release(&whole);
		bury(&process);
	}
}

Test(salvage, marks_what_it_found)
{
	struct process process;
	struct capture whole;
	struct gt_record_kernel *kernels;
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t own;
	size_t all;

	die(&process, CAPTURE_UNLIMITED);
	salvage(&process, &whole);
	capture_read(&reader, whole.bytes, whole.size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0) {
		const bool salvaged = chunk.header.flags & GT_CHUNK_SALVAGED;

		cr_expect(eq(int, salvaged, chunk.at >= process.capture.size));
	}
	cr_expect(not(reader.torn));
	free(read_records(process.capture.bytes, process.capture.size, GT_RECORD_kernel, &own));
	kernels = read_records(whole.bytes, whole.size, GT_RECORD_kernel, &all);
	cr_expect(gt(sz, own, 0));
	cr_expect(gt(sz, all, own));
	for (size_t i = 0; i < all; i++)
		cr_expect(eq(u32, kernels[i].flags, i < own ? 0 : GT_RECORD_SALVAGED));
	free(kernels);
	capture_release(&whole);
	bury(&process);
}

Test(salvage, says_that_the_process_died)
{
	struct process process;
	struct capture whole;
	struct gt_reader reader;
	struct gt_chunk chunk;
	struct gt_text key = {0};
	struct gt_text value = {0};
	size_t offset = 0;

	die(&process, GT_FILE_HEADER_SIZE);
	salvage(&process, &whole);
	capture_read(&reader, whole.bytes, whole.size, scratch);
	do
		cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
	while (chunk.header.kind != GT_RECORD_META);
	cr_assert(eq(int, gt_chunk_next_pair(&chunk, &offset, &key, &value), 1));
	cr_expect(eq(u32, key.size, strlen(GT_META_END)));
	cr_expect(eq(int, memcmp(key.bytes, GT_META_END, key.size), 0));
	cr_expect(eq(u32, value.size, strlen(GT_META_END_DIED)));
	cr_expect(eq(int, memcmp(value.bytes, GT_META_END_DIED, value.size), 0));
	capture_release(&whole);
	bury(&process);
}

Test(salvage, numbers_strings_by_their_place_even_if_they_were_not_counted)
{
	struct process process;
	struct capture whole;

	die(&process, GT_FILE_HEADER_SIZE);
	/* Killed between storing a string and counting it, and between writing and noting. */
	process.test.arena.header->string_count -= 3;
	process.test.arena.header->strings_written = 5;
	salvage(&process, &whole);
	expect_kernels_have_names(&whole);
	expect_each_once(&process, &whole);
	capture_release(&whole);
	bury(&process);
}

Test(salvage, counts_what_was_discarded_and_what_it_cannot_read)
{
	struct process process;
	struct capture whole;
	struct gt_slot *slot;
	const uint32_t unknown = 4711;
	uint8_t *record;

	die(&process, GT_FILE_HEADER_SIZE);
	slot = gt_arena_take(&process.test.arena, GT_SLOT_DISCARD);
	for (uint32_t i = 0; i < 7; i++)
		add_raw_kernel(&process.test, slot, i, 0);
	gt_slot_hand_over(slot, slot->used);
	slot = gt_arena_take(&process.test.arena, GT_SLOT_ACTIVITY);
	add_raw_kernel(&process.test, slot, ++process.last, 0x1000);
	record = add_raw_kernel(&process.test, slot, 0, 0);
	memcpy(record, &unknown, sizeof(unknown));
	gt_slot_hand_over(slot, slot->used);
	salvage(&process, &whole);
	expect_each_once(&process, &whole);
	cr_expect(eq(u64, ledger_of(&whole, GT_LEDGER_discarded_no_buffer), 7));
	cr_expect(eq(u64, ledger_of(&whole, GT_LEDGER_unknown_records), 1));
	capture_release(&whole);
	bury(&process);
}

Test(salvage, takes_nothing_from_a_slot_that_is_free)
{
	struct process process;
	struct capture whole;
	size_t count;

	die(&process, GT_FILE_HEADER_SIZE);
	for (uint32_t i = 0; i < process.test.arena.header->slot_count; i++)
		process.test.arena.slots[i].state = GT_SLOT_FREE;
	salvage(&process, &whole);
	free(read_records(whole.bytes, whole.size, GT_RECORD_kernel, &count));
	cr_expect(eq(sz, count, 0));
	free(read_records(whole.bytes, whole.size, GT_RECORD_api_call, &count));
	cr_expect(eq(sz, count, 0));
	capture_release(&whole);
	bury(&process);
}

Test(salvage, reports_a_sink_that_is_full_and_what_it_took_is_readable)
{
	struct process process;
	struct capture whole;
	size_t all;

	die(&process, GT_FILE_HEADER_SIZE);
	salvage(&process, &whole);
	all = whole.size;
	capture_release(&whole);
	for (size_t limit = GT_FILE_HEADER_SIZE; limit < all; limit += all / 50) {
		struct gt_error err = {0};
		struct test_arena copy;
		struct gt_reader reader;
		struct gt_chunk chunk;

		capture_begin(&whole, limit);
		test_arena_copy(&process.test, &copy);
		cr_expect(lt(int,
		             gt_salvage_arena(copy.memory, copy.size, NULL, 0, capture_sink(&whole),
		                              &err),
		             0));
		cr_expect(gt(sz, strlen(err.text), 0));
		cr_assert(eq(int, capture_read(&reader, whole.bytes, whole.size, scratch), 0));
		while (gt_reader_next(&reader, &chunk) > 0)
			continue;
		cr_expect(eq(u64, reader.skipped, 0));
		test_arena_release(&copy);
		capture_release(&whole);
	}
	bury(&process);
}

Test(salvage, survives_an_arena_that_was_scribbled_on)
{
	struct process process;
	uint64_t state = 42;
	unsigned opened = 0;

	die(&process, 3000);
	for (int round = 0; round < 100; round++) {
		struct test_arena copy;
		struct capture whole;
		struct gt_error err = {0};
		size_t count;
		int result;

		test_arena_copy(&process.test, &copy);
		for (uint64_t i = next_random(&state) % 8; i < 8; i++) {
			struct gt_slot *slots = copy.arena.slots;
			/* the copy's own may have been scribbled on already */
			const struct gt_slot *slot =
				&process.test.arena.slots[next_random(&state) % 3];
			uint8_t *const places[] = {
				copy.memory + next_random(&state) % sizeof(struct gt_arena_header),
				(uint8_t *)slots + next_random(&state) % (9 * sizeof(*slots)),
				copy.arena.heap + next_random(&state) % 4096,
				(uint8_t *)copy.arena.names + next_random(&state) % 4096,
				gt_slot_memory(&process.test.arena, slot) - process.test.memory +
					copy.memory + next_random(&state) % 5000,
			};

			places[next_random(&state) % 5][0] = (uint8_t)next_random(&state);
		}
		capture_begin(&whole, CAPTURE_UNLIMITED);
		result = gt_salvage_arena(copy.memory, copy.size, process.capture.bytes,
		                          process.capture.size, capture_sink(&whole), &err);
		if (result == 0) {
			opened++;
			free(read_records(whole.bytes, whole.size, GT_RECORD_kernel, &count));
			free(read_records(whole.bytes, whole.size, GT_RECORD_api_call, &count));
		} else {
			cr_expect(gt(sz, strlen(err.text), 0));
		}
		capture_release(&whole);
		test_arena_release(&copy);
	}
	cr_expect(gt(u32, opened, 10));
	bury(&process);
}

Test(salvage, refuses_an_arena_that_was_cut)
{
	struct process process;
	struct capture whole;
	struct gt_error err = {0};

	die(&process, 3000);
	capture_begin(&whole, CAPTURE_UNLIMITED);
	for (size_t size = 0; size < process.test.size; size += process.test.size / 100)
		cr_expect(lt(int,
		             gt_salvage_arena(process.test.memory, size, NULL, 0,
		                              capture_sink(&whole), &err),
		             0));
	cr_expect(eq(sz, whole.size, GT_FILE_HEADER_SIZE));
	capture_release(&whole);
	bury(&process);
}

Test(salvage, knows_which_part_of_a_capture_its_process_wrote)
{
	const struct gt_record_ledger row = {.value = 1, .name = 1};
	const struct gt_origin none = {0};
	struct capture capture;
	size_t own = 77;
	size_t before;

	capture_begin(&capture, CAPTURE_UNLIMITED);
	gt_writer_records(&capture.writer, GT_RECORD_ledger, &row, 1, none);
	capture_add_bytes(&capture, "some damage", 11);
	gt_writer_records(&capture.writer, GT_RECORD_ledger, &row, 1, none);
	before = capture.size;
	capture_add_bytes(&capture, "GTCK torn", 9);
	cr_expect(eq(int, gt_capture_own_bytes(capture.bytes, capture.size, &own, NULL), 0));
	cr_expect(eq(sz, own, before), "a chunk behind damage is kept, a torn end is not");
	capture.writer.flags = GT_CHUNK_SALVAGED;
	gt_writer_records(&capture.writer, GT_RECORD_ledger, &row, 1, none);
	cr_expect(eq(int, gt_capture_own_bytes(capture.bytes, capture.size, &own, NULL), 0));
	cr_expect(eq(sz, own, before), "nor what somebody salvaged");
	cr_expect(eq(int, gt_capture_own_bytes("GPU", 3, &own, NULL), 0));
	cr_expect(eq(sz, own, 0));
	cr_expect(eq(int, gt_capture_own_bytes("{\"manifest\"}", 12, &own, NULL), -EBADMSG));
	capture_release(&capture);
}

/* ---- folders ---- */

static char folder[64];

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/gputrace-test-XXXXXX");
	cr_assert(mkdtemp(folder) != NULL);
}

static char *path_of(const char *name)
{
	static char path[2][256];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static void remove_folder(void)
{
	static const char *const names[] = {"a.arena", "a.capture", "b.arena",      "b.capture",
	                                    "c.arena", "c.capture", "manifest.json"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	cr_expect(eq(int, rmdir(folder), 0), "something else is in there");
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	const int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, gt_write_all(fd, bytes, size), 0));
	close(fd);
}

/* Leaves the arena and the capture of a process in the folder. */
static void leave(struct process *process, const char *arena, const char *capture)
{
	snprintf(process->test.arena.header->capture, sizeof(process->test.arena.header->capture),
	         "%s", capture);
	write_file(arena, process->test.memory, process->test.size);
	write_file(capture, process->capture.bytes, process->capture.size);
}

static void read_file(const char *name, struct capture *capture)
{
	struct gt_content content;

	cr_assert(eq(int, gt_load_file(&content, path_of(name), NULL), 0));
	capture_init(capture, CAPTURE_UNLIMITED);
	capture_add_bytes(capture, content.bytes, content.size);
	gt_unload(&content);
}

static bool exists(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

static void expect_salvaged(const struct process *process, const char *arena, const char *name)
{
	struct capture whole;

	cr_expect(not(exists(arena)));
	read_file(name, &whole);
	expect_each_once(process, &whole);
	capture_release(&whole);
}

TestSuite(folder, .init = make_folder, .fini = remove_folder);

Test(folder, gives_up_its_dead_arenas_and_keeps_the_living)
{
	struct gt_salvage result;
	struct process process;
	struct gt_error err = {0};
	int fd;

	die(&process, 3000);
	leave(&process, "a.arena", "a.capture");
	leave(&process, "b.arena", "b.capture");
	fd = open(path_of("b.arena"), O_RDWR | O_CLOEXEC);
	cr_assert(eq(int, gt_file_lock(fd, GT_HOLD_ALONE), 0));
	cr_expect(gt_arena_is_live(path_of("b.arena")));
	cr_expect(not(gt_arena_is_live(path_of("a.arena"))));
	cr_expect(not(gt_arena_is_live(path_of("none.arena"))));

	cr_assert(eq(int, gt_salvage_folder(folder, &result, &err), 0), "%s", err.text);
	cr_expect(eq(u32, result.arenas, 1));
	cr_expect(eq(u32, result.running, 1));
	cr_expect(eq(u32, result.failed, 0));
	cr_expect(gt(u64, result.bytes, 1000));
	expect_salvaged(&process, "a.arena", "a.capture");
	cr_expect(exists("b.arena"));

	close(fd); /* the process ends */
	cr_assert(eq(int, gt_salvage_folder(folder, &result, &err), 0), "%s", err.text);
	cr_expect(eq(u32, result.arenas, 1));
	expect_salvaged(&process, "b.arena", "b.capture");
	cr_assert(eq(int, gt_salvage_folder(folder, &result, &err), 0), "%s", err.text);
	cr_expect(eq(u32, result.arenas, 0));
	bury(&process);
}

Test(folder, gets_a_capture_begun_that_was_not)
{
	struct gt_salvage result;
	struct process process;
	struct gt_error err = {0};

	die(&process, 7); /* in the middle of the file header */
	leave(&process, "a.arena", "a.capture");
	leave(&process, "b.arena", "b.capture");
	unlink(path_of("b.capture"));
	cr_assert(eq(int, gt_salvage_folder(folder, &result, &err), 0), "%s", err.text);
	cr_expect(eq(u32, result.arenas, 2));
	expect_salvaged(&process, "a.arena", "a.capture");
	expect_salvaged(&process, "b.arena", "b.capture");
	bury(&process);
}

Test(folder, keeps_what_was_written_behind_damage)
{
	const struct gt_record_note note = {.topic = 1, .text = 2};
	struct gt_salvage result;
	struct process process;
	struct capture whole;
	size_t count;

	die(&process, 3000);
	/* The disk was full for a while: half a chunk, then a whole one. */
	gt_writer_records(&process.capture.writer, GT_RECORD_note, &note, 1, (struct gt_origin){0});
	leave(&process, "a.arena", "a.capture");
	cr_assert(eq(int, gt_salvage_folder(folder, &result, NULL), 0));
	read_file("a.capture", &whole);
	free(read_records(whole.bytes, whole.size, GT_RECORD_note, &count));
	cr_expect(eq(sz, count, 1));
	expect_each_once(&process, &whole);
	capture_release(&whole);
	bury(&process);
}

Test(folder, is_salvaged_once_even_if_an_earlier_try_was_interrupted)
{
	struct gt_salvage result;
	struct process process;
	struct capture whole;

	die(&process, 3000);
	salvage(&process, &whole);
	leave(&process, "a.arena", "a.capture");
	/* Somebody appended most of it and was killed before the arena was removed. */
	write_file("a.capture", whole.bytes, whole.size - 100);
	capture_release(&whole);
	cr_assert(eq(int, gt_salvage_folder(folder, &result, NULL), 0));
	expect_salvaged(&process, "a.arena", "a.capture");
	bury(&process);
}

Test(folder, on_a_full_disk_is_left_as_it_was)
{
	const struct rlimit small = {3500, RLIM_INFINITY};
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	struct gt_salvage result;
	struct process process;
	struct capture before;
	struct capture after;
	struct gt_error err = {0};

	die(&process, 3000);
	leave(&process, "a.arena", "a.capture");
	signal(SIGXFSZ, SIG_IGN);
	cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &small), 0));
	cr_expect(lt(int, gt_salvage_folder(folder, &result, &err), 0));
	cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &unlimited), 0));
	cr_expect(eq(u32, result.failed, 1));
	expect_text(err.text, "a.arena: cannot append to its capture: File too large");
	cr_expect(exists("a.arena"));
	read_file("a.capture", &before);
	cr_expect(le(sz, before.size, 3000));
	cr_expect(eq(int, memcmp(before.bytes, process.capture.bytes, before.size), 0));
	capture_release(&before);

	cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), 0));
	expect_salvaged(&process, "a.arena", "a.capture");
	read_file("a.capture", &after);
	expect_kernels_have_names(&after);
	capture_release(&after);
	bury(&process);
}

Test(folder, loses_only_the_arena_that_is_damaged)
{
	struct gt_salvage result;
	struct process process;
	struct gt_error err = {0};

	die(&process, 3000);
	leave(&process, "a.arena", "a.capture");
	process.test.arena.header->heap_offset++;
	leave(&process, "b.arena", "b.capture");
	cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), -EBADMSG));
	cr_expect(eq(u32, result.arenas, 1));
	cr_expect(eq(u32, result.failed, 1));
	expect_text(err.text, "b.arena: the arena's header is damaged");
	cr_expect(exists("b.arena"));
	expect_salvaged(&process, "a.arena", "a.capture");
	bury(&process);
}

Test(folder, changes_no_file_that_is_not_a_capture)
{
	static const char manifest[] = "{\"version\": 1, \"command\": [\"./app\"]}";
	struct gt_salvage result;
	struct process process;
	struct gt_error err = {0};
	struct capture after;

	die(&process, 3000);
	leave(&process, "a.arena", "manifest.json");
	write_file("manifest.json", manifest, sizeof(manifest));
	cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), -EBADMSG));
	expect_text(err.text, "a.arena: it is of another capture than the one beside it");
	read_file("manifest.json", &after);
	cr_assert(eq(sz, after.size, sizeof(manifest)));
	cr_expect(eq(int, memcmp(after.bytes, manifest, sizeof(manifest)), 0));
	capture_release(&after);
	bury(&process);
}

Test(folder, leaves_the_capture_of_a_newer_version_alone)
{
	uint8_t header[GT_FILE_HEADER_SIZE] = GT_FILE_MAGIC;
	struct gt_salvage result;
	struct process process;
	struct capture after;

	gt_put_u32(header + 8, GT_FORMAT_VERSION + 1);
	gt_put_u32(header + 12, sizeof(header));
	die(&process, 3000);
	leave(&process, "a.arena", "a.capture");
	write_file("a.capture", header, sizeof(header));
	cr_expect(eq(int, gt_salvage_folder(folder, &result, NULL), -EPROTO));
	cr_expect(exists("a.arena"));
	read_file("a.capture", &after);
	cr_expect(eq(sz, after.size, sizeof(header)));
	capture_release(&after);
	bury(&process);
}

Test(folder, loses_arenas_that_were_never_used)
{
	static const uint8_t zeros[100000];
	struct gt_salvage result;

	write_file("a.arena", zeros, sizeof(zeros));
	write_file("b.arena", zeros, 0);
	cr_expect(eq(int, gt_salvage_folder(folder, &result, NULL), 0));
	cr_expect(not(exists("a.arena")));
	cr_expect(not(exists("b.arena")));
	cr_expect(eq(u32, result.arenas, 0));
	cr_expect(eq(u32, result.running, 0));
}

/* Removing it as an arena that was never used would be a loss to whoever made it. */
Test(folder, keeps_what_is_only_named_like_an_arena, .timeout = 10)
{
	struct gt_salvage result;
	struct process process;
	struct gt_error err = {0};

	cr_assert(eq(int, mknod(path_of("a.arena"), S_IFIFO | 0600, 0), 0));
	cr_assert(eq(int, mkdir(path_of("b.arena"), 0700), 0));
	die(&process, 3000);
	leave(&process, "c.arena", "c.capture");
	cr_expect(not(gt_arena_is_live(path_of("a.arena"))));
	cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), -EBADMSG));
	cr_expect(ne(ptr, strstr(err.text, ", not a file"), NULL), "%s", err.text);
	cr_expect(eq(u32, result.failed, 2));
	cr_expect(eq(u32, result.arenas, 1));
	expect_salvaged(&process, "c.arena", "c.capture");
	cr_expect(exists("a.arena"));
	cr_expect(exists("b.arena"));
	rmdir(path_of("b.arena"));
	bury(&process);
}

/* A short file of somebody else's is no arena that was just begun: that one is all zeros. */
Test(folder, keeps_a_small_file_that_is_no_arena)
{
	struct gt_salvage result;
	struct gt_error err = {0};

	write_file("a.arena", "hello", 5);
	write_file("b.arena", "\0\0\0\0\0", 5);
	cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), -EBADMSG));
	expect_text(err.text, "a.arena: it is not an arena of gputrace");
	cr_expect(exists("a.arena"));
	cr_expect(not(exists("b.arena")));
}

/* Opening it to append would wait for somebody who reads. */
Test(folder, appends_to_no_fifo, .timeout = 10)
{
	struct gt_salvage result;
	struct process process;
	struct gt_error err = {0};

	die(&process, 3000);
	leave(&process, "a.arena", "a.capture");
	unlink(path_of("a.capture"));
	cr_assert(eq(int, mknod(path_of("a.capture"), S_IFIFO | 0600, 0), 0));
	cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), -EBADMSG));
	expect_text(err.text, "a.arena: its capture a.capture cannot be completed: it is a FIFO, "
	                      "not a file");
	cr_expect(exists("a.arena"));
	bury(&process);
}

Test(folder, that_is_not_there_is_an_error)
{
	struct gt_salvage result;
	struct gt_error err = {0};

	cr_expect(eq(int, gt_salvage_folder(path_of("none"), &result, &err), -ENOENT));
	cr_expect(ne(ptr, strstr(err.text, "No such file"), NULL));
	cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), 0));
}

/* An arena is not believed where it would make a file of another name. */
Test(folder, makes_no_file_but_the_capture_beside_the_arena)
{
	static const char another[] = "a.arena: it is of another capture than the one beside it";
	static const char damaged[] = "a.arena: the arena's header is damaged";
	static const struct {
		const char *name;
		const char *said;
	} named[] = {{"b.capture", another},
	             {"aa.capture", another},
	             {"a.capturex", another},
	             {"../a.capture", damaged},
	             {"", damaged}};
	struct gt_salvage result;
	struct process process;
	struct gt_error err = {0};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct gt_arena_header *header;

		die(&process, 3000);
		header = process.test.arena.header;
		snprintf(header->capture, sizeof(header->capture), "%s", named[i].name);
		write_file("a.arena", process.test.memory, process.test.size);
		cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), -EBADMSG), "%s",
		          named[i].name);
		expect_text(err.text, named[i].said);
		cr_expect(exists("a.arena"));
		cr_expect(not(exists("a.capture")));
		cr_expect(not(exists("../a.capture")));
		cr_expect(not(exists("b.capture")));
		unlink(path_of("a.arena"));
		bury(&process);
	}
}

/* A process lets nobody write its arena. Root may nevertheless, others have to be let. */
Test(folder, gives_up_an_arena_that_nobody_may_write)
{
	struct gt_salvage result;
	struct process process;
	struct gt_error err = {0};

	cr_assert(geteuid() != 0 || (chown(folder, 65534, (gid_t)-1) == 0 && seteuid(65534) == 0));
	die(&process, 3000);
	leave(&process, "a.arena", "a.capture");
	cr_assert(eq(int, chmod(path_of("a.arena"), 0400), 0));
	cr_expect(eq(int, gt_salvage_folder(folder, &result, &err), 0), "%s", err.text);
	cr_expect(eq(u32, result.arenas, 1));
	expect_salvaged(&process, "a.arena", "a.capture");
	bury(&process);
	(void)!seteuid(getuid());
}
