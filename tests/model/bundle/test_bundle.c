/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/bundle.h"

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

static char *manifest_of(void (*add)(struct test_bundle *made))
{
	struct gt_content content;
	char path[300];
	char *text;

	add(&made);
	test_bundle_end(&made);
	snprintf(path, sizeof(path), "%s/bundle.json", made.folder);
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	text = calloc(1, content.size + 1);
	memcpy(text, content.bytes, content.size);
	gt_unload(&content);
	return text;
}

static char *manifest(void)
{
	return manifest_of(test_bundle_add_sequence);
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
#define COPIED     "\"from\":\"0x0\",\n\"bytes\":1024,\n\"rows\":1,\n\"to_pitch\":0"
#define SLICES(bytes, rows, slices, pitch, slice_pitch)                                            \
	"\"from\":\"0x0\",\n\"bytes\":" bytes ",\n\"rows\":" rows ",\n\"slices\":" slices          \
	",\n\"to_pitch\":" pitch ",\n\"to_slice_pitch\":" slice_pitch

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
	{"\"0x201200000400\"", "\"201200000400\"",
         IN "memory 1: address is not an address, \"0x\" and digits"},
	{"\"0x201200000400\"", "\"0x2012000004000000f\"",
         IN "memory 1: address is not an address, \"0x\" and digits"},
	{"\"0x201200000400\"", "\"0x\"",
         IN "memory 1: address is not an address, \"0x\" and digits"},
	{"\"0x201200000400\"", "\"0x3ffffffffffffff\"", IN "memory 1: no GPU has its addresses"},
	{"\"address\":\"0x201200000400\",", "", IN "memory 1: address is missing"},
	{"\"0x201200000000\"", "\"0x0\"", IN "memory 0: no GPU has its addresses"},
	{"\"0x201200000400\"", "\"0x2012000003ff\"",
         IN "memory 1: it overlaps the memory before it"},
	{"\"0x201200000400\"", "\"0x201100000000\"",
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
	{COPIED, SLICES("16", "2", "4", "32", "63"),
         IN "step 0: to has slices that are no whole rows apart"},
	{COPIED, SLICES("16", "4", "2", "32", "64"),
         IN "step 0: to has slices that are no whole rows apart"},
	{COPIED, SLICES("16", "1", "64", "32", "64"), IN "step 0: its slices are of one row"},
	{COPIED, SLICES("16", "2", "17", "32", "64"), IN "step 0: to ends behind its memory"},
	{COPIED, SLICES("16", "2", "144115188075855872", "32", "144115188075855872"),
         IN "step 0: to ends behind its memory"},
	{COPIED, SLICES("16", "2", "16", "32", "64"),
         IN "step 0: the bytes that it copies from the host are not all there"},
	{COPIED, SLICES("16", "2", "0", "32", "64"),
         IN "step 0: slices" NUMBER "1 to 144115188075855872"},
	{"\"from\":\"0x0\",\n\"bytes\":1024", "\"from\":\"0x0\",\n\"bytes\":1025",
         IN "step 0: to ends behind its memory"},
	{"\"from\":\"0x0\"", "\"from\":\"0x201400000000\"",
         IN "step 0: from is in no memory of the bundle"},
	{"\"to\":\"0x201200000000\"", "\"to\":\"0x0\"",
         IN "step 0: it copies nothing of the GPU's"},
	{"\"to\":\"0x201202000000\"", "\"to\":\"0x0\"",
         IN "step 1: to is in no memory of the bundle"},
	{"\"value_bytes\":4", "\"value_bytes\":3", IN "step 1: value_bytes is not 1, 2 or 4"},
	{"\"to\":\"0x201202000000\",\n\"bytes\":1024", "\"to\":\"0x201202000000\",\n\"bytes\":1022",
         IN "step 1: it does not fill whole values"},
	{"\"to\":\"0x201202000000\",\n\"bytes\":1024,", "\"to\":\"0x201202000000\",",
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

/* The same of the textures. */
static const struct change changes_of_textures[] = {
	{"\"array\":{", "\"arrays\":{", IN "memory 1: it does not say what the array is like"},
	{"\"width\":16", "\"width\":0", IN "memory 1: width" NUMBER "1 to 144115188075855872"},
	{"\"width\":16", "\"width\":1048576", IN "memory 1: no GPU has such an array"},
	{"\"width\":16", "\"width\":8", IN "memory 1: the array has 512 bytes, not 1024"},
	{"\"format\":32", "\"format\":33", IN "memory 1: no GPU has such an array"},
	{"\"flags\":0", "\"flags\":64", IN "memory 1: no GPU has such an array"},
	{"\"levels\":0", "\"levels\":6", IN "memory 1: no GPU has such an array"},
	{"\"levels\":0", "\"levels\":2", IN "memory 1: the array has 1280 bytes, not 1024"},
	{"\"kind\":\"array\"", "\"kind\":\"device\"", IN "memory 1: address is missing"},
	{"\"memory\":[",
         "\"memory\":[{\"kind\":\"array\",\"size\":4,\"array\":{\"width\":1,\"format\":32,\"channels\":1}},",
         IN "memory 1: it stands behind an array"},
	{"\"pointers\":[", "\"pointers\":[{\"step\":0,\"offset\":0,\"target\":1}",
         IN "pointer 0: arrays neither have addresses nor hold any"},
	{"\"pointers\":[", "\"pointers\":[{\"memory\":1,\"offset\":0,\"target\":0}",
         IN "pointer 0: arrays neither have addresses nor hold any"},
	{"\"kind\":\"texture\"", "\"kind\":\"sampler\"",
         IN "object 0: kind is \"sampler\", which is not known here"},
	{"\"value\":\"0x2\"", "\"value\":\"0x0\"", IN "object 0: it has no handle"},
	{"\"resource\":\"array\",\n\"memory\":1", "\"resource\":\"array\",\n\"memory\":3",
         IN "object 0: there is no memory 3"},
	{"\"resource\":\"array\",\n\"memory\":1", "\"resource\":\"array\",\n\"memory\":0",
         IN "object 0: memory 0 is no array"},
	{"\"resource\":\"array\"", "\"resource\":\"mipmap\"",
         IN "object 0: memory 1 has no levels"},
	{"\"level\":0", "\"level\":1", IN "object 0: memory 1 has no level 1"},
	{"\"border\":[0,7,0,0]", "\"border\":[0,7,0]",
         IN "object 0: border is not a list of four numbers"},
	{"\"border\":[0,7,0,0]", "\"border\":[0,7,0,-1]",
         IN "object 0: border is not a list of four numbers"},
	{"\"filter\":1", "\"view\":7", IN "object 0: view is not an object"},
	{"\"memory\":0,\n\"offset\":0", "\"memory\":1,\n\"offset\":0",
         IN "object 1: memory 1 is an array"},
	{"\"memory\":0,\n\"offset\":0", "\"memory\":0,\n\"offset\":4",
         IN "object 1: it ends behind its memory"},
	{"\"memory\":0,\n\"offset\":0", "\"memory\":0,\n\"offset\":65",
         IN "object 1: it ends behind its memory"},
	{"\"channels\":1,\n\"bytes\":64", "\"channels\":3,\n\"bytes\":64",
         IN "object 1: it has elements of no known format"},
	{"\"bytes\":64", "\"b\":64", IN "object 1: it has no elements, or rows that overlap"},
	{"\"resource\":\"linear\"", "\"height\":2,\"width\":4,\"pitch\":8,\"resource\":\"pitch\"",
         IN "object 1: it has no elements, or rows that overlap"},
	{"\"resource\":\"linear\"", "\"height\":4,\"width\":4,\"pitch\":17,\"resource\":\"pitch\"",
         IN "object 1: it ends behind its memory"},
	{"\"kind\":\"texture\",\n\"value\":\"0x1\"", "\"kind\":\"surface\",\n\"value\":\"0x1\"",
         IN "object 1: a surface is of an array"},
	{"\"step\":0,\n\"offset\":16,\n\"object\":2", "\"step\":1,\n\"offset\":16,\n\"object\":2",
         IN "handle 2: it is in no memory and no step"},
	{"\"step\":0,\n\"offset\":16,\n\"object\":2", "\"step\":0,\n\"offset\":25,\n\"object\":2",
         IN "handle 2: it ends behind what it stands in"},
	{"\"step\":0,\n\"offset\":16,\n\"object\":2", "\"step\":0,\n\"offset\":16,\n\"object\":3",
         IN "handle 2: there is no object 3"},
	{"\"step\":0,\n\"offset\":16,\n\"object\":2", "\"memory\":1,\n\"offset\":16,\n\"object\":2",
         IN "handle 2: there is no memory 1 with handles"},
	{"\"step\":0,\n\"offset\":16,\n\"object\":2", "\"memory\":0,\n\"offset\":57,\n\"object\":2",
         IN "handle 2: it ends behind what it stands in"},
};

Test(bundle, says_what_is_wrong_with_textures)
{
	char *text = manifest_of(test_bundle_add_textures);

	for (size_t i = 0; i < GT_COUNT_OF(changes_of_textures); i++) {
		char *other = changed(text, &changes_of_textures[i]);

		expect_refused(other, -EBADMSG, changes_of_textures[i].why);
		free(other);
	}
	free(text);
}

Test(bundle, of_textures_comes_back_as_it_was_written)
{
	const struct gt_bundle_memory *out;
	const struct gt_bundle_object *picture;

	test_bundle_add_textures(&made);
	made.bundle.objects.rows[0].has_view = true;
	made.bundle.objects.rows[0].view =
		(struct gt_bundle_view){.format = 9, .width = 16, .height = 15, .last_layer = 3};
	open_made();
	cr_assert(eq(sz, bundle.memory.count, 3));
	out = &bundle.memory.rows[BUNDLE_OUT];
	cr_expect(eq(int, out->kind, GT_BUNDLE_MEMORY_array));
	cr_expect(eq(u64, out->array.width, BUNDLE_SIDE));
	cr_expect(eq(u64, out->array.depth, 0));
	cr_expect(eq(u32, out->array.flags, GT_ARRAY_SURFACES));
	cr_expect(not(out->same));
	cr_expect(eq(u64, out->address, out[-1].address + 1024), "each has addresses of its own");
	cr_expect(ge(u64, out[-1].address, 1ull << 57), "that no GPU has");
	cr_assert(eq(sz, bundle.objects.count, 3));
	picture = bundle.objects.rows;
	cr_expect(eq(int, picture[0].kind, GT_BUNDLE_OBJECT_texture));
	cr_expect(eq(u64, picture[0].value, 2));
	cr_expect(eq(u32, picture[0].sampler.filter, 1));
	cr_expect(eq(u32, picture[0].sampler.border[1], 7));
	cr_expect(picture[0].has_view);
	cr_expect(eq(u64, picture[0].view.height, 15));
	cr_expect(eq(u32, picture[0].view.last_layer, 3));
	cr_expect(not(picture[1].has_view));
	cr_expect(eq(int, picture[1].resource, GT_BUNDLE_RESOURCE_linear));
	cr_expect(eq(u64, picture[1].bytes, 64));
	cr_expect(eq(int, picture[2].kind, GT_BUNDLE_OBJECT_surface));
	cr_assert(eq(sz, bundle.handles.count, 3));
	cr_expect(eq(u64, bundle.handles.rows[2].offset, 16));
	cr_expect(eq(u32, bundle.handles.rows[2].object, 2));
	cr_expect(bundle.handles.rows[2].declared);
	cr_expect(eq(u32, bundle.handles.rows[2].memory, GT_BUNDLE_NONE));
	cr_expect(not(bundle.memory.rows[BUNDLE_WEIGHTS].handles));
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

/* bundle.json of the sequence with a graph, in which steps 1 to 9 are one launch of it. */
static char *manifest_of_graph(uint32_t focus)
{
	struct gt_content content;
	char path[300];
	char *text;

	test_bundle_add_graph(&made);
	made.bundle.focus = focus;
	test_bundle_end(&made);
	snprintf(path, sizeof(path), "%s/bundle.json", made.folder);
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	text = calloc(1, content.size + 1);
	memcpy(text, content.bytes, content.size);
	gt_unload(&content);
	return text;
}

Test(bundle, tells_launches_of_graphs_and_the_step_that_was_chosen)
{
	char *text = manifest_of_graph(BUNDLE_GRAPH_SCALE);

	cr_assert(eq(int, gt_bundle_parse(&bundle, text, strlen(text), "b", NULL), 0));
	cr_assert(eq(sz, bundle.steps.count, 11));
	cr_expect(eq(u32, bundle.focus, BUNDLE_GRAPH_SCALE));
	for (size_t i = 0; i < bundle.steps.count; i++) {
		cr_expect(eq(u32, bundle.steps.rows[i].graph, i > 0 && i < 10));
		cr_expect(eq(int, gt_bundle_goes_on_with_graph(&bundle, i), i > 1 && i < 10));
	}
	cr_expect(not(gt_bundle_is_work(&bundle.steps.rows[1])));
	cr_expect(gt_bundle_is_work(&bundle.steps.rows[BUNDLE_GRAPH_SAXPY]));
	free(text);
	gt_bundle_close(&bundle);
	drop();
	prepare();
	text = manifest();
	cr_assert(eq(int, gt_bundle_parse(&bundle, text, strlen(text), "b", NULL), 0));
	cr_expect(eq(u32, bundle.focus, GT_BUNDLE_NONE));
	cr_expect(eq(u32, bundle.steps.rows[0].graph, 0));
	free(text);
}

Test(bundle, says_what_is_wrong_with_launches_of_graphs)
{
	/* Errors of a text that is changed everywhere, in steps from first to last. */
	static const struct {
		struct change change;
		int first;
		int last;
	} wrong[] = {
		{{"\"graph\":1", "\"graph\":2",
	          IN "step 1: it is of graph 2, and 0 began before it"},
	         0,
	         8},
		{{"\"graph\":1", "\"graph\":3",
	          IN "step 5: it is of graph 3, and 1 began before it"},
	         4,
	         8},
		{{"\"graph\":1", "\"graph\":0",
	          IN "step 5: it is of graph 1, and 1 began before it"},
	         3,
	         3},
		{{"\"graph\":1", "\"graph\":2", IN "step 2: graph 1 ends there without work"}, 2, 8},
		{{"\"graph\":1", "\"graph\":2", IN "step 9: graph 2 ends there without work"}, 7, 8},
		{{"\"graph\":1", "\"graph\":-1", IN "step 1: graph" NUMBER "0 to 4294967294"}, 0, 0},
		{{"\"kind\":\"wait\"", "\"kind\":\"host_wait\"",
	          IN "step 2: the host does not wait in a graph"},
	         0,
	         0},
		{{"\"focus\":4", "\"focus\":11", IN "focus is on step 11, which is no launch"},
	         0,
	         0},
		{{"\"focus\":4", "\"focus\":3", IN "focus is on step 3, which is no launch"}, 0, 0},
		{{"\"focus\":4", "\"focus\":\"4\"", IN "focus" NUMBER "0 to 4294967294"}, 0, 0},
	};
	char *text = manifest_of_graph(BUNDLE_GRAPH_SAXPY);

	for (size_t i = 0; i < GT_COUNT_OF(wrong); i++) {
		const char *from = wrong[i].change.from;
		const size_t length = strlen(wrong[i].change.to);
		char *other = calloc(1, 2 * strlen(text));
		char *to = other;
		int place = 0;

		for (const char *at = text; *at;) {
			const bool found = strncmp(at, from, strlen(from)) == 0;

			if (found && place >= wrong[i].first && place <= wrong[i].last) {
				memcpy(to, wrong[i].change.to, length);
				to += length;
				at += strlen(from);
			} else {
				*to++ = *at++;
			}
			place += found;
		}
		expect_refused(other, -EBADMSG, wrong[i].change.why);
		free(other);
	}
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

Test(bundle, has_copies_of_slices_and_of_the_host)
{
	static const struct change change = {
		COPIED, SLICES("8", "4", "32", "8", "32") ",\n\"by_host\":true,\n\"pinned\":true",
		""};
	struct gt_error err = {0};
	char *text = manifest();
	char *other = changed(text, &change);

	cr_assert(eq(int, gt_bundle_parse(&bundle, other, strlen(other), "b", &err), 0), "%s",
	          err.text);
	cr_expect(eq(u64, bundle.steps.rows[0].slices, 32));
	cr_expect(eq(u64, bundle.steps.rows[0].to_slice_pitch, 32));
	cr_expect(bundle.steps.rows[0].by_host);
	cr_expect(bundle.steps.rows[0].pinned);
	cr_expect(eq(u64, bundle.steps.rows[1].slices, 1));
	cr_expect(not(bundle.steps.rows[1].by_host));
	cr_expect(not(bundle.steps.rows[1].pinned));
	free(other);
	free(text);
}

Test(bundle, has_launches_of_the_largest_grid_that_gpus_run)
{
	static const struct change change = {"\"grid\":[2,1,1]",
	                                     "\"grid\":[2147483647,65535,65535]", ""};
	struct gt_error err = {0};
	char *text = manifest();
	char *other = changed(text, &change);

	cr_assert(eq(int, gt_bundle_parse(&bundle, other, strlen(other), "b", &err), 0), "%s",
	          err.text);
	cr_expect(eq(u32, bundle.steps.rows[2].grid[0], 2147483647));
	cr_expect(eq(u32, bundle.steps.rows[2].grid[1], 65535));
	cr_expect(eq(u32, bundle.steps.rows[2].grid[2], 65535));
	free(other);
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

/* The example in docs/bundles.md is one. */
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
