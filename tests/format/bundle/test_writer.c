/* SPDX-License-Identifier: Apache-2.0 */
#include "format/bundle/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "base/error.h"
#include "format/recording.h"
#include "support/check.h"
#include "support/folder.h"

static char parent[] = "/tmp/gputrace-writer-XXXXXX";
static char folder[128];
static void *memory;
static struct gt_bundle_writer writer;

static void prepare(void)
{
	cr_assert(mkdtemp(parent) != NULL);
	snprintf(folder, sizeof(folder), "%s/launches/1-saxpy", parent);
	memory = aligned_alloc(64, gt_bundle_writer_memory());
	gt_bundle_writer_init(&writer, memory);
}

static void drop(void)
{
	gt_bundle_writer_drop(&writer);
	free(memory);
	(void)folder_remove(parent);
}

TestSuite(bundle_writer, .init = prepare, .fini = drop);

static void open_folder(uint64_t most)
{
	struct gt_error err = {0};

	cr_assert(eq(int, gt_bundle_writer_open(&writer, folder, most, &err), 0), "%s", err.text);
}

static bool has(const char *name)
{
	char path[256];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return lstat(path, &status) == 0;
}

/* A file of the bundle; the caller unloads it. */
static struct gt_content load(const char *name)
{
	struct gt_content content = {0};
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0), "%s", path);
	return content;
}

static void expect_manifest(const char *text)
{
	struct gt_content content = load(GT_BUNDLE_MANIFEST);
	char *copy = calloc(1, content.size + 1);

	memcpy(copy, content.bytes, content.size);
	expect_text(copy, text);
	free(copy);
	gt_unload(&content);
}

static void expect_blob(const char *hash, const void *bytes, size_t size)
{
	char name[64];
	char *plain = malloc(size + 1);
	struct gt_content content;

	snprintf(name, sizeof(name), "blobs/%s", hash);
	content = load(name);
	cr_expect(eq(sz, ZSTD_decompress(plain, size, content.bytes, content.size), size));
	cr_expect(memcmp(plain, bytes, size) == 0);
	free(plain);
	gt_unload(&content);
}

Test(bundle_writer, names_contents_by_their_hash_and_packs_them)
{
	static const char text[] = "abcabcabcabc";
	char hash[GT_BUNDLE_HASH_BYTES];

	open_folder(UINT64_MAX);
	cr_assert(eq(int, gt_bundle_blob(&writer, text, 3, hash, NULL), 0));
	/* XXH3-128 of "abc", as xxh128sum has it. */
	expect_text(hash, "06b05ab6733a618578af5f94892f3950");
	expect_blob(hash, text, 3);
	cr_expect(eq(int, gt_bundle_blob(&writer, text, sizeof(text), hash, NULL), 0));
	expect_blob(hash, text, sizeof(text));
}

Test(bundle_writer, writes_the_same_contents_once)
{
	char first[GT_BUNDLE_HASH_BYTES];
	char second[GT_BUNDLE_HASH_BYTES];
	uint64_t bytes;

	open_folder(UINT64_MAX);
	cr_assert(eq(int, gt_bundle_blob(&writer, "same", 4, first, NULL), 0));
	bytes = writer.bytes;
	cr_expect(gt(u64, bytes, 0));
	cr_assert(eq(int, gt_bundle_blob(&writer, "same", 4, second, NULL), 0));
	cr_assert(eq(int, gt_bundle_blob_begin(&writer, 4, NULL), 0));
	cr_assert(eq(int, gt_bundle_blob_append(&writer, "sa", 2, NULL), 0));
	cr_assert(eq(int, gt_bundle_blob_append(&writer, "me", 2, NULL), 0));
	cr_assert(eq(int, gt_bundle_blob_end(&writer, second, NULL), 0));
	expect_text(first, second);
	cr_expect(eq(u64, writer.bytes, bytes));
	cr_expect(not(has("blobs/part")));
}

Test(bundle_writer, takes_large_contents_in_pieces)
{
	enum { SIZE = 5 << 20, PIECE = 300001 };
	uint32_t *words = malloc(SIZE);
	const uint8_t *bytes = (const uint8_t *)words;
	char whole[GT_BUNDLE_HASH_BYTES];
	char hash[GT_BUNDLE_HASH_BYTES];

	for (uint32_t i = 0; i < SIZE / sizeof(*words); i++)
		words[i] = i * 2654435761u; /* does not pack */
	open_folder(UINT64_MAX);
	cr_assert(eq(int, gt_bundle_blob_begin(&writer, SIZE, NULL), 0));
	for (size_t at = 0; at < SIZE; at += PIECE)
		cr_assert(eq(int,
		             gt_bundle_blob_append(&writer, bytes + at,
		                                   SIZE - at < PIECE ? SIZE - at : PIECE, NULL),
		             0));
	cr_assert(eq(int, gt_bundle_blob_end(&writer, hash, NULL), 0));
	gt_blob_hash(words, SIZE, whole);
	expect_text(hash, whole);
	expect_blob(hash, words, SIZE);
	free(words);
}

Test(bundle_writer, takes_contents_of_no_bytes)
{
	char hash[GT_BUNDLE_HASH_BYTES];

	open_folder(UINT64_MAX);
	cr_assert(eq(int, gt_bundle_blob(&writer, "", 0, hash, NULL), 0));
	expect_blob(hash, "", 0);
}

Test(bundle_writer, writes_json)
{
	open_folder(UINT64_MAX);
	gt_bundle_begin_object(&writer, "origin");
	gt_bundle_text(&writer, "host", "a\"b\\c\n\x01\xff\xc3\xa9");
	gt_bundle_number(&writer, "pid", -7);
	gt_bundle_end_object(&writer);
	gt_bundle_begin_list(&writer, "empty");
	gt_bundle_end_list(&writer);
	gt_bundle_begin_list(&writer, "memory");
	for (int i = 0; i < 2; i++) {
		gt_bundle_begin_object(&writer, NULL);
		gt_bundle_address(&writer, "address", 0x7f1200000000);
		gt_bundle_flag(&writer, "same", i);
		gt_bundle_contents(&writer, "before", "0123", 4);
		gt_bundle_end_object(&writer);
	}
	gt_bundle_end_list(&writer);
	gt_bundle_triple(&writer, "grid", (const uint32_t[]){4294967295u, 2, 3});
	cr_expect(not(has(GT_BUNDLE_MANIFEST)));
	cr_assert(eq(int, gt_bundle_writer_close(&writer, NULL), 0));
	expect_manifest("{\n\"version\":1,\n\"origin\":{\n"
	                "\"host\":\"a\\u0022b\\u005cc\\u000a\\u0001\xef\xbf\xbd\xc3\xa9\",\n"
	                "\"pid\":-7},\n\"empty\":[],\n\"memory\":[{\n"
	                "\"address\":\"0x7f1200000000\",\n\"same\":false,\n\"before\":{\n"
	                "\"hash\":\"0123\",\n\"size\":4}},{\n\"address\":\"0x7f1200000000\",\n"
	                "\"same\":true,\n\"before\":{\n\"hash\":\"0123\",\n\"size\":4}}],\n"
	                "\"grid\":[4294967295,2,3]}\n");
	cr_expect(not(has(GT_BUNDLE_PART)));
}

Test(bundle_writer, writes_more_text_than_it_holds)
{
	struct gt_content content;

	open_folder(UINT64_MAX);
	gt_bundle_begin_list(&writer, "missing");
	for (int i = 0; i < 20000; i++)
		gt_bundle_text(&writer, NULL, "ten bytes.");
	gt_bundle_end_list(&writer);
	cr_assert(eq(int, gt_bundle_writer_close(&writer, NULL), 0));
	content = load(GT_BUNDLE_MANIFEST);
	cr_expect(eq(sz, content.size,
	             strlen("{\n\"version\":1,\n\"missing\":[]}\n") + 20000 * 13 - 1));
	gt_unload(&content);
}

Test(bundle_writer, does_not_touch_a_folder_that_is_there)
{
	struct gt_error err = {0};
	char want[256];

	open_folder(UINT64_MAX);
	cr_assert(eq(int, gt_bundle_writer_close(&writer, NULL), 0));
	cr_expect(eq(int, gt_bundle_writer_open(&writer, folder, UINT64_MAX, &err), -EEXIST));
	snprintf(want, sizeof(want), "cannot make %s: File exists", folder);
	expect_text(err.text, want);
	cr_expect(has(GT_BUNDLE_MANIFEST));
	cr_expect(eq(int, gt_bundle_writer_close(&writer, &err), -EINVAL));
	expect_text(err.text, "no bundle is open");
}

Test(bundle_writer, leaves_nothing_of_a_bundle_that_became_too_large)
{
	char hash[GT_BUNDLE_HASH_BYTES];
	struct gt_error err = {0};
	uint32_t words[4096];

	for (uint32_t i = 0; i < 4096; i++)
		words[i] = i * 2654435761u;
	open_folder(10000);
	cr_assert(eq(int, gt_bundle_blob(&writer, "little", 6, hash, NULL), 0));
	cr_expect(eq(int, gt_bundle_blob(&writer, words, sizeof(words), hash, &err), -EFBIG));
	expect_text(err.text, "it takes more than the 10000 bytes that it may take");
	cr_expect(eq(int, gt_bundle_blob(&writer, "little", 6, hash, NULL), -EFBIG),
	          "from then on");
	cr_expect(has("blobs"));
	err = (struct gt_error){0};
	cr_expect(eq(int, gt_bundle_writer_close(&writer, &err), -EFBIG));
	expect_text(err.text, "it takes more than the 10000 bytes that it may take");
	cr_expect(not(has(".")), "the folder is gone");
	cr_expect(eq(int, access(parent, F_OK), 0));
	open_folder(UINT64_MAX);
	cr_expect(eq(int, gt_bundle_writer_close(&writer, NULL), 0),
	          "the writer can be used again");
}

Test(bundle_writer, leaves_nothing_when_a_file_cannot_be_written)
{
	const struct rlimit little = {8192, 8192};
	char hash[GT_BUNDLE_HASH_BYTES];
	struct gt_error err = {0};
	uint32_t words[4096];

	for (uint32_t i = 0; i < 4096; i++)
		words[i] = i * 2654435761u;
	(void)signal(SIGXFSZ, SIG_IGN);
	open_folder(UINT64_MAX);
	cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &little), 0));
	cr_expect(eq(int, gt_bundle_blob(&writer, words, sizeof(words), hash, &err), -EFBIG));
	expect_text(err.text, "it cannot be written: File too large");
	cr_expect(eq(int, gt_bundle_writer_close(&writer, &err), -EFBIG));
	cr_expect(not(has(".")));
}

Test(bundle_writer, leaves_nothing_when_it_is_dropped)
{
	char hash[GT_BUNDLE_HASH_BYTES];

	open_folder(UINT64_MAX);
	for (uint32_t i = 0; i < 3000; i++)
		cr_assert(eq(int, gt_bundle_blob(&writer, &i, sizeof(i), hash, NULL), 0));
	cr_assert(eq(int, gt_bundle_blob_begin(&writer, 8, NULL), 0));
	gt_bundle_writer_drop(&writer);
	cr_expect(not(has(".")));
	gt_bundle_writer_drop(&writer);
}

Test(bundle_writer, refuses_contents_of_another_size_than_was_said)
{
	char hash[GT_BUNDLE_HASH_BYTES];
	struct gt_error err = {0};

	open_folder(UINT64_MAX);
	cr_assert(eq(int, gt_bundle_blob_begin(&writer, 8, NULL), 0));
	cr_assert(eq(int, gt_bundle_blob_append(&writer, "1234", 4, NULL), 0));
	cr_expect(eq(int, gt_bundle_blob_end(&writer, hash, &err), -EINVAL));
	cr_expect(eq(int, gt_bundle_writer_close(&writer, NULL), -EINVAL));
	cr_expect(not(has(".")));
}

Test(bundle_writer, is_not_whole_while_something_of_it_is_open)
{
	open_folder(UINT64_MAX);
	gt_bundle_begin_list(&writer, "steps");
	cr_expect(eq(int, gt_bundle_writer_close(&writer, NULL), -EINVAL));
	cr_expect(not(has(".")));
	open_folder(UINT64_MAX);
	gt_bundle_end_object(&writer);
	gt_bundle_end_object(&writer);
	cr_expect(eq(int, gt_bundle_writer_close(&writer, NULL), -EINVAL));
	cr_expect(not(has(".")));
}

Test(bundle_writer, writes_into_no_folder_of_the_programs)
{
	char hash[GT_BUNDLE_HASH_BYTES];
	char other[128];
	struct gt_error err = {0};
	int fd;

	snprintf(other, sizeof(other), "%s/other", parent);
	open_folder(UINT64_MAX);
	cr_assert(eq(int, mkdir(other, 0700), 0));
	fd = open(other, O_RDONLY | O_DIRECTORY);
	cr_assert(eq(int, dup2(fd, writer.folder), writer.folder));
	cr_expect(eq(int, gt_bundle_blob(&writer, "1234", 4, hash, &err), -EBADF));
	cr_expect(eq(int, gt_bundle_writer_close(&writer, &err), -EBADF));
	cr_expect(eq(int, rmdir(other), 0), "nothing is in it");
	close(fd);
}
