/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "base/error.h"
#include "format/recording.h"
#include "support/bundle.h"
#include "support/check.h"
#include "support/document.h"

static struct test_bundle made;
static struct gt_bundle bundle;

static void prepare(void)
{
	test_bundle_begin(&made);
}

static void drop(void)
{
	gt_bundle_close(&bundle);
	test_bundle_release(&made);
}

TestSuite(bundle, .init = prepare, .fini = drop);

static void open_made(void)
{
	struct gt_error err = {0};

	test_bundle_end(&made);
	cr_assert(eq(int, gt_bundle_open(&bundle, made.folder, &err), 0), "%s", err.text);
}

Test(bundle, of_a_launch_comes_back_as_it_was_written)
{
	const struct gt_bundle_function *function;
	const struct gt_bundle_step *step;

	test_bundle_add_launch(&made);
	open_made();
	expect_text(bundle.folder, made.folder);
	expect_text(bundle.origin.device, "NVIDIA H200");
	expect_text(bundle.origin.date, "2026-01-02T03:04:05Z");
	cr_expect(eq(u32, bundle.origin.correlation, 7));
	cr_expect(eq(u64, bundle.origin.memory_bytes, 141ull << 30));
	cr_expect(eq(i64, bundle.origin.local_bytes, -1));
	cr_assert(eq(sz, bundle.modules.count, 1));
	cr_expect(eq(u32, bundle.modules.rows[0].arch, 90));
	cr_expect(not(bundle.modules.rows[0].ptx));
	cr_assert(eq(sz, bundle.functions.count, 1));
	function = &bundle.functions.rows[0];
	expect_text(function->name, "_Z5saxpyifPKfPf");
	cr_expect(eq(u32, function->registers, 16));
	cr_expect(eq(i32, function->carveout, -1));
	cr_assert(eq(sz, function->parameters.count, 4));
	cr_expect(eq(u32, function->parameters.rows[3].offset, 16));
	cr_expect(eq(u32, function->parameters.rows[3].size, 8));
	cr_assert(eq(sz, bundle.memory.count, 2));
	cr_expect(eq(u64, bundle.memory.rows[BUNDLE_Y].address, BUNDLE_Y_ADDRESS));
	cr_expect(eq(u64, bundle.memory.rows[BUNDLE_Y].size, 1024));
	cr_expect(eq(u32, bundle.memory.rows[BUNDLE_Y].module, GT_BUNDLE_NONE));
	expect_text(bundle.memory.rows[BUNDLE_Y].name, "");
	cr_expect(bundle.memory.rows[BUNDLE_X].same);
	cr_expect(not(bundle.memory.rows[BUNDLE_Y].same));
	cr_assert(eq(sz, bundle.pointers.count, 2));
	cr_expect(eq(u32, bundle.pointers.rows[1].memory, GT_BUNDLE_NONE));
	cr_expect(eq(u32, bundle.pointers.rows[1].step, 0));
	cr_expect(eq(u64, bundle.pointers.rows[1].offset, 16));
	cr_expect(eq(u32, bundle.pointers.rows[1].target, BUNDLE_Y));
	cr_expect(bundle.pointers.rows[1].declared);
	cr_assert(eq(sz, bundle.steps.count, 1));
	step = &bundle.steps.rows[0];
	cr_expect(eq(int, step->kind, GT_BUNDLE_STEP_launch));
	cr_expect(eq(u32, step->grid[0], 2));
	cr_expect(eq(u32, step->block[0], 128));
	cr_expect(eq(u32, step->cluster[0], 0));
	cr_expect(eq(i64, step->end_ns, 5000));
	cr_expect(eq(i64, step->call_ns, -3000));
	cr_expect(eq(u64, step->parameters.size, 24));
	expect_text(step->range, "step/forward");
	cr_expect(eq(u64, gt_bundle_memory_bytes(&bundle), 2048));
}

Test(bundle, of_a_sequence_comes_back_as_it_was_written)
{
	static const enum gt_bundle_step_kind kinds[] = {
		GT_BUNDLE_STEP_copy,      GT_BUNDLE_STEP_fill, GT_BUNDLE_STEP_launch,
		GT_BUNDLE_STEP_record,    GT_BUNDLE_STEP_wait, GT_BUNDLE_STEP_launch,
		GT_BUNDLE_STEP_host_wait,
	};
	const struct gt_bundle_memory *memory;

	test_bundle_add_sequence(&made);
	open_made();
	cr_assert(eq(sz, bundle.steps.count, GT_COUNT_OF(kinds)));
	for (size_t i = 0; i < GT_COUNT_OF(kinds); i++)
		cr_expect(eq(int, bundle.steps.rows[i].kind, kinds[i]));
	cr_expect(eq(u64, bundle.steps.rows[0].to, BUNDLE_X_ADDRESS));
	cr_expect(eq(u64, bundle.steps.rows[0].from, 0));
	cr_expect(eq(u64, bundle.steps.rows[0].rows, 1));
	cr_expect(eq(u32, bundle.steps.rows[1].value_bytes, 4));
	cr_expect(eq(u32, bundle.steps.rows[3].event, 0));
	cr_expect(eq(u32, bundle.steps.rows[4].event, 0));
	cr_expect(eq(u32, bundle.steps.rows[4].stream, 1));
	cr_expect(eq(u32, bundle.steps.rows[6].event, GT_BUNDLE_NONE));
	cr_assert(eq(sz, bundle.streams.count, 2));
	cr_expect(eq(u32, bundle.streams.rows[1].number, 13));
	cr_expect(eq(i32, bundle.streams.rows[1].priority, -5));
	cr_expect(bundle.streams.rows[1].nonblocking);
	memory = bundle.memory.rows;
	expect_text(memory[BUNDLE_Z].before.hash, "");
	cr_expect(memory[BUNDLE_TABLE].pointers);
	expect_text(memory[BUNDLE_TABLE].name, "torch");
	cr_expect(eq(int, memory[BUNDLE_FACTOR].kind, GT_BUNDLE_MEMORY_variable));
	cr_expect(eq(u32, memory[BUNDLE_FACTOR].module, 0));
	cr_expect(eq(u64, gt_bundle_memory_bytes(&bundle), 3 * 1024 + 16), "without the variable");
	cr_assert(eq(sz, bundle.missing.count, 1));
	expect_text(bundle.missing.rows[0], "a surface object was not captured");
}

Test(bundle, finds_the_memory_of_an_address)
{
	test_bundle_add_sequence(&made);
	open_made();
	cr_expect(eq(u32, gt_bundle_find(&bundle, BUNDLE_X_ADDRESS), BUNDLE_X));
	cr_expect(eq(u32, gt_bundle_find(&bundle, BUNDLE_X_ADDRESS + 1023), BUNDLE_X));
	cr_expect(eq(u32, gt_bundle_find(&bundle, BUNDLE_X_ADDRESS + 1024), BUNDLE_Y));
	cr_expect(eq(u32, gt_bundle_find(&bundle, BUNDLE_Y_ADDRESS + 1024), GT_BUNDLE_NONE));
	cr_expect(eq(u32, gt_bundle_find(&bundle, BUNDLE_X_ADDRESS - 1), GT_BUNDLE_NONE));
	cr_expect(eq(u32, gt_bundle_find(&bundle, UINT64_MAX), GT_BUNDLE_NONE));
}

/* Contents. */

Test(bundle, reads_contents_and_checks_all_of_them)
{
	float values[BUNDLE_ELEMENTS];
	size_t blobs = 0;

	test_bundle_add_launch(&made);
	open_made();
	cr_assert(eq(int,
	             gt_bundle_read(&bundle, &bundle.memory.rows[BUNDLE_Y].after, values, NULL),
	             0));
	cr_expect(eq(flt, values[0], 1));
	cr_expect(eq(flt, values[255], 511));
	cr_expect(eq(int, gt_bundle_check(&bundle, &blobs, NULL), 0));
	cr_expect(eq(sz, blobs, 5), "x, y before and after, the image and the parameters");
}

Test(bundle, reads_contents_of_many_pieces)
{
	enum { COUNT = 1 << 20 };
	uint32_t *words = malloc(COUNT * sizeof(*words));
	uint32_t *back = calloc(COUNT, sizeof(*words));

	for (uint32_t i = 0; i < COUNT; i++)
		words[i] = i * 2654435761u; /* does not pack */
	test_bundle_add_launch(&made);
	made.bundle.memory.rows[BUNDLE_Y].size = COUNT * sizeof(*words);
	made.bundle.memory.rows[BUNDLE_Y].after = (struct gt_blob){0};
	made.bundle.memory.rows[BUNDLE_Y].before =
		test_bundle_blob(&made, words, COUNT * sizeof(*words));
	open_made();
	cr_expect(eq(int, gt_bundle_read(&bundle, &bundle.memory.rows[BUNDLE_Y].before, back, NULL),
	             0));
	cr_expect(memcmp(words, back, COUNT * sizeof(*words)) == 0);
	free(words);
	free(back);
}

static void path_of(const struct gt_blob *blob, char path[512])
{
	snprintf(path, 512, "%s/blobs/%s", made.folder, blob->hash);
}

/* Reading y's contents before fails so, with this sentence after its path. */
static void expect_unread(int code, const char *why)
{
	const struct gt_blob *blob = &bundle.memory.rows[BUNDLE_Y].before;
	uint8_t bytes[1024 + 1];
	struct gt_error err = {0};
	char want[700];
	char path[512];
	size_t blobs = 77;

	bytes[1024] = 42;
	path_of(blob, path);
	snprintf(want, sizeof(want), "%s%s", path, why);
	cr_expect(eq(int, gt_bundle_read(&bundle, blob, bytes, &err), code));
	expect_text(err.text, want);
	cr_expect(eq(u8, bytes[1024], 42));
	cr_expect(eq(int, gt_bundle_check(&bundle, &blobs, &err), code));
	cr_expect(eq(sz, blobs, 77));
}

static void write_blob(const void *bytes, size_t size)
{
	char path[512];
	FILE *file;

	path_of(&bundle.memory.rows[BUNDLE_Y].before, path);
	(void)unlink(path);
	file = fopen(path, "wbe");
	cr_assert(file != NULL);
	cr_assert(eq(sz, fwrite(bytes, 1, size, file), size));
	(void)fclose(file);
}

static void write_packed(const void *bytes, size_t size)
{
	char packed[8192];

	write_blob(packed, ZSTD_compress(packed, sizeof(packed), bytes, size, 3));
}

Test(bundle, says_what_is_wrong_with_contents)
{
	static const uint8_t zeros[2048];
	struct gt_content good;
	float y[BUNDLE_ELEMENTS];
	char path[512];

	test_bundle_add_launch(&made);
	open_made();
	path_of(&bundle.memory.rows[BUNDLE_Y].before, path);
	cr_assert(eq(int, gt_load_file(&good, path, NULL), 0));
	write_blob(good.bytes, good.size - 1);
	expect_unread(-EBADMSG, " is cut: it has 0 of 1024 bytes");
	write_blob("", 0);
	expect_unread(-EBADMSG, " is cut: it has 0 of 1024 bytes");
	write_packed(zeros, 100);
	expect_unread(-EBADMSG, " is cut: it has 100 of 1024 bytes");
	write_packed(zeros, 1024);
	expect_unread(-EBADMSG, " was changed: its contents are not those of its name");
	write_packed(zeros, 1025);
	expect_unread(-EBADMSG, " holds more than the 1024 bytes that bundle.json says");
	write_blob("no zstd", 7);
	expect_unread(-EBADMSG, " was changed: its contents are not those of its name");
	good.bytes[good.size / 2] ^= 1;
	write_blob(good.bytes, good.size);
	cr_expect(eq(int, gt_bundle_read(&bundle, &bundle.memory.rows[BUNDLE_Y].before, y, NULL),
	             -EBADMSG));
	gt_unload(&good);
	(void)unlink(path);
	expect_unread(-ENOENT, " is missing: the bundle is not whole");
	cr_assert(eq(int, symlink("/dev/zero", path), 0));
	expect_unread(-EBADMSG, ": it is a symbolic link, not a file");
	(void)unlink(path);
	cr_assert(eq(int, mkfifo(path, 0600), 0));
	expect_unread(-EBADMSG, ": it is a FIFO, not a file");
}

Test(bundle, refuses_what_stands_behind_contents)
{
	struct gt_content good;
	uint8_t more[4096];
	char path[512];

	test_bundle_add_launch(&made);
	open_made();
	path_of(&bundle.memory.rows[BUNDLE_Y].before, path);
	cr_assert(eq(int, gt_load_file(&good, path, NULL), 0));
	memcpy(more, good.bytes, good.size);
	more[good.size] = 0;
	write_blob(more, good.size + 1);
	expect_unread(-EBADMSG, " was changed: its contents are not those of its name");
	gt_unload(&good);
}

Test(bundle, refuses_contents_of_two_sizes)
{
	struct gt_error err = {0};
	char want[200];
	size_t blobs;

	test_bundle_add_launch(&made);
	made.bundle.memory.rows[BUNDLE_Y].after = made.bundle.memory.rows[BUNDLE_X].before;
	made.bundle.modules.rows[0].image = made.bundle.memory.rows[BUNDLE_X].before;
	made.bundle.modules.rows[0].image.size = 1025;
	open_made();
	cr_expect(eq(int, gt_bundle_check(&bundle, &blobs, &err), -EBADMSG));
	snprintf(want, sizeof(want), "bundle.json says two sizes of blobs/%s",
	         bundle.modules.rows[0].image.hash);
	expect_text(err.text, want);
}

Test(bundle, has_no_contents_that_were_not_captured)
{
	struct gt_error err = {0};
	uint8_t bytes[1];

	test_bundle_add_sequence(&made);
	open_made();
	cr_expect(eq(int,
	             gt_bundle_read(&bundle, &bundle.memory.rows[BUNDLE_Z].before, bytes, &err),
	             -ENOENT));
	expect_text(err.text, "these contents were not captured");
	strcpy(bundle.memory.rows[BUNDLE_X].before.hash, "../../../../etc/passwd");
	cr_expect(eq(int,
	             gt_bundle_read(&bundle, &bundle.memory.rows[BUNDLE_X].before, bytes, &err),
	             -ENOENT));
}

/* bundle.json. */

static void expect_closed(void)
{
	cr_expect(bundle.folder == NULL);
	cr_expect(eq(sz, bundle.memory.count + bundle.steps.count, 0));
}

Test(bundle, says_what_is_not_there)
{
	struct gt_error err = {0};
	char want[400];
	char path[300];

	cr_expect(eq(int, gt_bundle_open(&bundle, "/tmp/no-such-bundle", &err), -ENOENT));
	expect_text(err.text, "there is no folder /tmp/no-such-bundle");
	cr_expect(eq(int, gt_bundle_open(&bundle, made.folder, &err), -ENOENT));
	snprintf(want, sizeof(want),
	         "%s is not whole: it has no bundle.json, as what captured it did not end",
	         made.folder);
	expect_text(err.text, want);
	snprintf(path, sizeof(path), "%s/bundle.json", made.folder);
	cr_assert(eq(int, mkfifo(path, 0600), 0));
	cr_expect(eq(int, gt_bundle_open(&bundle, made.folder, &err), -EBADMSG));
	snprintf(want, sizeof(want), "%s: it is a FIFO, not a file", path);
	expect_text(err.text, want);
	(void)unlink(path);
	cr_assert(eq(int, close(open(path, O_CREAT | O_WRONLY, 0600)), 0));
	cr_expect(eq(int, gt_bundle_open(&bundle, made.folder, &err), -EBADMSG));
	snprintf(want, sizeof(want), "%s is damaged: it is empty", path);
	expect_text(err.text, want);
	cr_assert(eq(int, truncate(path, (off_t)1 << 40), 0));
	cr_expect(eq(int, gt_bundle_open(&bundle, made.folder, &err), -EBADMSG));
	snprintf(want, sizeof(want), "%s: it has more than 67108864 bytes", path);
	expect_text(err.text, want);
	expect_closed();
}

/* bundle.json of the sequence, with the first of a text replaced by another one. */
struct change {
	const char *from;
	const char *to;
	const char *why;
};

/* The caller frees it. */
static char *changed(const char *text, const struct change *change)
{
	const char *at = strstr(text, change->from);
	const size_t size = strlen(text) + strlen(change->to) + 1;
	char *copy = malloc(size);

	cr_assert(at != NULL, "%s", change->from);
	snprintf(copy, size, "%.*s%s%s", (int)(at - text), text, change->to,
	         at + strlen(change->from));
	return copy;
}

static char *manifest(void)
{
	struct gt_content content;
	char path[300];
	char *text;

	test_bundle_add_sequence(&made);
	test_bundle_end(&made);
	snprintf(path, sizeof(path), "%s/bundle.json", made.folder);
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	text = calloc(1, content.size + 1);
	memcpy(text, content.bytes, content.size);
	gt_unload(&content);
	return text;
}

static void expect_refused(const char *text, int code, const char *why)
{
	struct gt_error err = {0};

	cr_expect(eq(int, gt_bundle_parse(&bundle, text, strlen(text), "b", &err), code), "%s",
	          why);
	expect_text(err.text, why);
	expect_closed();
}

#define SAXPY_STEP "\"kind\":\"launch\",\n\"stream\":0,"
#define IN         "b/bundle.json is damaged: "
#define NUMBER     " is not a whole number from "

static const struct change changes[] = {
	{"\"version\":1", "\"version\":0", IN "it has no version"},
	{"\"version\":1", "\"version\":\"1\"", IN "it has no version"},
	{"\"origin\":{", "\"origin\":7,\"other\":{", IN "origin is not an object"},
	{"\"pid\":100", "\"pid\":-1", IN "pid" NUMBER "0 to 4294967295"},
	{"\"host\":\"node\"", "\"host\":1", IN "host is not a text"},
	{"\"pid\":100", "\"host\":\"\"", IN "line 11, duplicate object key near '\"host\"'"},
	/* modules and functions */
	{"\"modules\":[", "\"modules\":{},\"m\":[", IN "modules is not a list"},
	{"\"modules\":[", "\"modules\":[1,", IN "module 0: it is not an object"},
	{"\"modules\":[{\n\"image\"", "\"modules\":[{\n\"picture\"",
         IN "module 0: it has no image"},
	{"\"ptx\":false", "\"ptx\":0", IN "module 0: ptx is neither true nor false"},
	{"\"arch\":90", "\"arch\":90.5", IN "module 0: arch" NUMBER "0 to 10000"},
	{"\"module\":0", "\"module\":1", IN "function 0: there is no module 1"},
	{"\"module\":0", "\"mod\":0", IN "function 0: module is missing"},
	{"_Z5saxpyifPKfPf", "", IN "function 0: it has no name"},
	{"\"carveout\":-1", "\"carveout\":101", IN "function 0: carveout" NUMBER "-1 to 100"},
	{"\"cluster\":[0,0,0]", "\"cluster\":[0,0]",
         IN "function 0: cluster is not a list of three numbers"},
	{"\"cluster\":[0,0,0]", "\"cluster\":[0,0,65]", IN "function 0: cluster" NUMBER "0 to 64"},
	{"\"parameters\":[", "\"parameters\":1,\"p\":[", IN "function 0: parameters is not a list"},
	{"\"offset\":16,\n\"size\":8", "\"offset\":32760,\n\"size\":8",
         IN "function 0: parameter 3 ends behind 32764 bytes"},
	{"\"offset\":16,\n\"size\":8", "\"offset\":16", IN "function 0: size is missing"},
	{"\"offset\":16,\n\"size\":8", "\"offset\":24,\n\"size\":8",
         IN "step 2: its parameters are cut"},
	/* memory */
	{"\"kind\":\"device\"", "\"kind\":\"core\"",
         IN "memory 0: kind is \"core\", which is not known here"},
	{"\"kind\":\"device\"", "\"kind\":7", IN "memory 0: kind is not a text"},
	{"\"0x7f1200000400\"", "\"7f1200000400\"",
         IN "memory 1: address is not an address, \"0x\" and digits"},
	{"\"0x7f1200000400\"", "\"0x7f12000004000000f\"",
         IN "memory 1: address is not an address, \"0x\" and digits"},
	{"\"0x7f1200000400\"", "\"0x\"",
         IN "memory 1: address is not an address, \"0x\" and digits"},
	{"\"0x7f1200000400\"", "\"0x3ffffffffffffff\"", IN "memory 1: no GPU has its addresses"},
	{"\"0x7f1200000000\"", "\"0x0\"", IN "memory 0: no GPU has its addresses"},
	{"\"0x7f1200000400\"", "\"0x7f12000003ff\"",
         IN "memory 1: it overlaps the memory before it"},
	{"\"0x7f1200000400\"", "\"0x7f1100000000\"",
         IN "memory 1: it is not in the order of addresses"},
	{"\"size\":1024,\n\"name\"", "\"size\":0,\n\"name\"",
         IN "memory 0: size" NUMBER "1 to 144115188075855872"},
	{"\"size\":1024,\n\"name\"", "\"size\":144115188075855872,\n\"name\"",
         IN "memory 0: before has 1024 bytes of 144115188075855872"},
	{"\"size\":1024,\n\"name\"", "\"size\":1e3,\n\"name\"",
         IN "memory 0: size" NUMBER "1 to 144115188075855872"},
	{"\"same\":false", "\"same\":true",
         IN "memory 1: it stayed the same, but after is not before"},
	{"\"module\":0,\n\"name\":\"factor\"", "\"name\":\"factor\"",
         IN "memory 4: its module is not in the bundle"},
	{"\"name\":\"factor\"", "\"name\":\"\"", IN "memory 4: a variable without a name"},
	/* pointers */
	{"\"target\":3", "\"target\":5", IN "pointer 4: there is no memory 5"},
	{"\"memory\":3,\n\"offset\":8", "\"memory\":3,\n\"offset\":9",
         IN "pointer 1: it ends behind what it stands in"},
	{"\"memory\":3,\n\"offset\":8", "\"memory\":5,\n\"offset\":8",
         IN "pointer 1: there is no memory 5"},
	{"\"step\":2,\n\"offset\":8", "\"offset\":8",
         IN "pointer 2: it is in no memory and no step"},
	{"\"step\":2,\n\"offset\":8", "\"step\":3,\n\"offset\":8",
         IN "pointer 2: it ends behind what it stands in"},
	/* steps */
	{"\"steps\":[", "\"steps\":[],\"s\":[", IN "pointer 2: it is in no memory and no step"},
	{SAXPY_STEP, "\"kind\":\"jump\",\n\"stream\":0,",
         IN "step 2: kind is \"jump\", which is not known here"},
	{SAXPY_STEP, "\"kind\":\"launch\",\n\"stream\":2,", IN "step 2: there is no stream 2"},
	{SAXPY_STEP, "\"kind\":\"launch\",", IN "step 2: it says no stream"},
	{"\"function\":0", "\"function\":2", IN "step 2: its function is not in the bundle"},
	{"\"function\":0,", "", IN "step 2: its function is not in the bundle"},
	{"\"grid\":[2,1,1]", "\"grid\":[0,1,1]", IN "step 2: grid" NUMBER "1 to 2147483647"},
	{"\"grid\":[2,1,1],", "", IN "step 2: it has no grid or no block"},
	{"\"grid\":[2,1,1]", "\"grid\":[2,65536,1]", IN "step 2: no GPU runs a grid of its size"},
	{"\"block\":[128,1,1]", "\"block\":[128,3,3]",
         IN "step 2: its blocks have more than 1024 threads"},
	{"\"block\":[128,1,1],\n\"cluster\":[0,0,0]", "\"block\":[128,1,1],\n\"cluster\":[0,1,1]",
         IN "step 2: no GPU runs clusters of their size"},
	{"\"block\":[128,1,1],\n\"cluster\":[0,0,0]", "\"block\":[128,1,1],\n\"cluster\":[9,9,1]",
         IN "step 2: no GPU runs clusters of their size"},
	{"\"from\":\"0x0\",\n\"bytes\":1024", "\"from\":\"0x0\",\n\"bytes\":1023",
         IN "step 0: the bytes that it copies from the host are not all there"},
	{"\"from\":\"0x0\",\n\"bytes\":1024,\n\"rows\":1",
         "\"from\":\"0x0\",\n\"bytes\":1024,\n\"rows\":2", IN "step 0: to has rows that overlap"},
	{"\"from\":\"0x0\",\n\"bytes\":1024,\n\"rows\":1,\n\"to_pitch\":0",
         "\"from\":\"0x0\",\n\"bytes\":512,\n\"rows\":2,\n\"to_pitch\":513",
         IN "step 0: to ends behind its memory"},
	{"\"from\":\"0x0\",\n\"bytes\":1024,\n\"rows\":1,\n\"to_pitch\":0",
         "\"from\":\"0x0\",\n\"bytes\":1,\n\"rows\":144115188075855872,\n\"to_pitch\":"
         "144115188075855872",
         IN "step 0: to ends behind its memory"},
	{"\"from\":\"0x0\",\n\"bytes\":1024", "\"from\":\"0x0\",\n\"bytes\":1025",
         IN "step 0: to ends behind its memory"},
	{"\"from\":\"0x0\"", "\"from\":\"0x7f1400000000\"",
         IN "step 0: from is in no memory of the bundle"},
	{"\"to\":\"0x7f1200000000\"", "\"to\":\"0x0\"",
         IN "step 0: it copies nothing of the GPU's"},
	{"\"to\":\"0x7f1202000000\"", "\"to\":\"0x0\"",
         IN "step 1: to is in no memory of the bundle"},
	{"\"value_bytes\":4", "\"value_bytes\":3", IN "step 1: value_bytes is not 1, 2 or 4"},
	{"\"to\":\"0x7f1202000000\",\n\"bytes\":1024", "\"to\":\"0x7f1202000000\",\n\"bytes\":1022",
         IN "step 1: it does not fill whole values"},
	{"\"to\":\"0x7f1202000000\",\n\"bytes\":1024,", "\"to\":\"0x7f1202000000\",",
         IN "step 1: to is of no bytes"},
	{"\"event\":0", "\"event\":7", IN "step 3: event 7 of 7 steps"},
	{"\"event\":0,", "", IN "step 3: it is about no event"},
	/* contents */
	{"\"before\":{\n\"hash\":\"", "\"before\":{\n\"hash\":\"../",
         IN "memory 0: before has no hash of 32 digits"},
	{"\"before\":{\n\"hash\":\"", "\"before\":{\n\"hash\":\"0",
         IN "memory 0: before has no hash of 32 digits"},
	{"\"before\":{", "\"before\":7,\"b\":{", IN "memory 0: before has no hash of 32 digits"},
	{"\"size\":1024},\n\"after\"", "\"size\":-1},\n\"after\"",
         IN "memory 0: before has no size from 0 to 144115188075855872"},
	{"\"missing\":[", "\"missing\":[{},", IN "missing 0: it is not a text"},
};

Test(bundle, says_what_is_wrong_and_where)
{
	char *text = manifest();

	for (size_t i = 0; i < GT_COUNT_OF(changes); i++) {
		char *other = changed(text, &changes[i]);

		expect_refused(other, -EBADMSG, changes[i].why);
		free(other);
	}
	free(text);
}

Test(bundle, says_what_is_wrong_as_a_whole)
{
	char *text;

	expect_refused("[1", -EBADMSG, IN "line 1, ']' expected near end of file");
	expect_refused("[]", -EBADMSG, IN "it has no version");
	expect_refused("{\"version\":1}", -EBADMSG, IN "it has no steps");
	expect_refused("{\"version\":2,\"steps\":7}", -ENOTSUP,
	               "b/bundle.json was written by a newer gputrace");
	text = calloc(1, (5u << 20) + 1);
	memset(text, '{', 5u << 20);
	expect_refused(text, -EBADMSG, IN "nothing that gputrace captures is as large");
	free(text);
}

Test(bundle, cut_anywhere_is_refused_with_a_sentence)
{
	char *text = manifest();
	const size_t size = strlen(text) - 2; /* the last bracket and the end of its line */

	for (size_t cut = 0; cut <= size; cut += cut > 100 ? 37 : 1) {
		struct gt_error err = {0};

		cr_expect(eq(int, gt_bundle_parse(&bundle, text, cut, "b", &err), -EBADMSG));
		cr_expect(strncmp(err.text, IN, strlen(IN)) == 0, "%s", err.text);
	}
	free(text);
}

Test(bundle, with_members_of_a_later_release_is_read_without_them)
{
	static const struct change change = {"\"kind\":\"device\"",
	                                     "\"kind\":\"device\",\"colour\":[{}]", ""};
	char *text = manifest();
	char *other = changed(text, &change);

	cr_expect(eq(int, gt_bundle_parse(&bundle, other, strlen(other), "b", NULL), 0));
	free(other);
	free(text);
}

/* What docs/bundles.md shows is one. */
Test(bundle, of_the_documentation_is_one)
{
	char *page = document_read("bundles.md");
	const char *begin = strstr(page, "```json\n");
	const char *end = begin ? strstr(begin + 8, "```") : NULL;
	struct gt_error err = {0};

	cr_assert(end != NULL);
	cr_expect(eq(int, gt_bundle_parse(&bundle, begin + 8, (size_t)(end - begin - 8), "b", &err),
	             0),
	          "%s", err.text);
	cr_expect(eq(sz, bundle.steps.count, 1));
	cr_expect(eq(sz, bundle.memory.count, 2));
	free(page);
}
