/* SPDX-License-Identifier: Apache-2.0 */
#include "format/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "support/check.h"

static char path[64];

static void make(void)
{
	snprintf(path, sizeof(path), "/tmp/gputrace-test-XXXXXX");
	close(mkstemp(path));
}

static void drop(void)
{
	unlink(path);
}

TestSuite(recording, .init = make, .fini = drop);

static void add_bytes(const void *bytes, size_t size)
{
	const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	cr_assert(eq(int, gt_write_all(fd, bytes, size), 0));
	close(fd);
}

static long resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

Test(recording, reads_what_was_written)
{
	static char text[100000];
	struct gt_content content;

	memset(text, 'x', sizeof(text));
	add_bytes(text, sizeof(text));
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	cr_assert(eq(sz, content.size, sizeof(text)));
	cr_expect(eq(int, memcmp(content.bytes, text, sizeof(text)), 0));
	gt_unload(&content);
	cr_expect(eq(ptr, content.bytes, NULL));
	gt_unload(&content);
}

Test(recording, changes_to_what_was_read_reach_no_file)
{
	struct gt_content content;
	struct gt_content again;

	add_bytes("text", 4);
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	content.bytes[0] = 'n';
	cr_assert(eq(int, gt_load_file(&again, path, NULL), 0));
	cr_expect(eq(int, memcmp(again.bytes, "text", 4), 0));
	gt_unload(&content);
	gt_unload(&again);
}

/* A mapped file would end whoever touches what is not there any more. */
Test(recording, keeps_what_was_read_when_the_file_is_cut)
{
	static uint8_t bytes[100000];
	struct gt_content content;

	memset(bytes, 'x', sizeof(bytes));
	add_bytes(bytes, sizeof(bytes));
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	cr_assert(eq(int, truncate(path, 10), 0));
	cr_assert(eq(sz, content.size, sizeof(bytes)));
	cr_expect(eq(int, memcmp(content.bytes, bytes, sizeof(bytes)), 0));
	gt_unload(&content);
}

Test(recording, reads_holes_as_zeros_without_memory_for_them)
{
	static const uint8_t zeros[100000];
	const size_t far = (size_t)1 << 30;
	struct gt_content content;

	add_bytes("begin", 5);
	cr_assert(eq(int, truncate(path, (off_t)far), 0));
	add_bytes("end", 3);
	cr_assert(eq(int, truncate(path, (off_t)far + sizeof(zeros)), 0));
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	cr_assert(eq(sz, content.size, far + sizeof(zeros)));
	cr_expect(eq(int, memcmp(content.bytes, "begin", 5), 0));
	cr_expect(eq(int, memcmp(content.bytes + far - sizeof(zeros), zeros, sizeof(zeros)), 0));
	cr_expect(eq(int, memcmp(content.bytes + far, "end", 3), 0));
	cr_expect(eq(int, memcmp(content.bytes + far + 3, zeros, sizeof(zeros) - 3), 0));
	cr_expect(lt(long, resident_kib(), 256L << 10));
	gt_unload(&content);
}

/* On file systems that know of no holes, a file of holes is one of zeros. */
Test(recording, counts_neither_holes_nor_pages_of_zeros_as_there)
{
	static const uint8_t zeros[8 << 20];
	const size_t far = (size_t)1 << 30;
	const size_t last = far + sizeof(zeros);
	struct gt_content content;
	size_t at = 0;

	add_bytes("begin", 5);
	cr_assert(eq(int, truncate(path, (off_t)far), 0));
	add_bytes(zeros, sizeof(zeros));
	add_bytes("end", 3);
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	cr_expect(eq(sz, content.size, last + 3));
	cr_expect(eq(sz, content.there, 4096 + 3));
	cr_expect(eq(sz, gt_content_part(&content, &at), 4096));
	cr_expect(eq(sz, at, 0));
	at = 4096;
	cr_expect(eq(sz, gt_content_part(&content, &at), last + 3));
	cr_expect(eq(sz, at, last));
	at = last + 3;
	cr_expect(eq(sz, gt_content_part(&content, &at), last + 3));
	cr_expect(eq(sz, at, last + 3));
	gt_unload(&content);
}

enum { PAGES = 26, PAGE = 4096 }; /* the last one is half of one */

/* Whether each page of a file is there, from one on. */
static void expect_parts(const bool *there, size_t first)
{
	const size_t size = PAGES * PAGE - PAGE / 2;
	bool found[PAGES] = {false};
	struct gt_content content;
	size_t at = first * PAGE;

	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	while (at < content.size) {
		const size_t end = gt_content_part(&content, &at);

		for (size_t page = at / PAGE; at < end && page * PAGE < end; page++)
			found[page] = true;
		cr_assert(at == content.size || end > at, "no end");
		at = end;
	}
	cr_expect(eq(sz, content.size, size));
	for (size_t page = first; page < PAGES; page++)
		cr_expect(eq(int, found[page], there[page]), "page %zu, from page %zu on", page,
		          first);
	gt_unload(&content);
}

/* Wherever a hole begins and ends, and wherever it is looked from. */
Test(recording, finds_each_page_that_is_there)
{
	static uint8_t bytes[PAGES * PAGE];

	for (size_t begin = 0; begin < PAGES; begin++)
		for (size_t end = begin + 1; end <= PAGES; end++) {
			bool there[PAGES];

			for (size_t page = 0; page < PAGES; page++) {
				there[page] = page < begin || page >= end;
				memset(bytes + page * PAGE, there[page] ? 'x' : 0, PAGE);
			}
			cr_assert(eq(int, truncate(path, 0), 0));
			add_bytes(bytes, sizeof(bytes) - PAGE / 2);
			expect_parts(there, 0);
			expect_parts(there, begin);
			expect_parts(there, (begin + end) / 2 % PAGES);
		}
}

Test(recording, reads_a_file_that_claims_more_than_there_is_memory)
{
	const off_t claimed = (off_t)1 << 40;
	struct gt_content content;
	size_t at = 5000;

	add_bytes("begin", 5);
	cr_assert(eq(int, truncate(path, claimed), 0));
	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	cr_expect(eq(sz, content.there, 4096));
	cr_expect(eq(sz, gt_content_part(&content, &at), (size_t)claimed));
	cr_expect(lt(long, resident_kib(), 256L << 10));
	gt_unload(&content);
}

Test(recording, reads_an_empty_file_as_no_bytes)
{
	struct gt_content content = {.bytes = (uint8_t *)path, .size = 7};

	cr_expect(eq(int, gt_load_file(&content, path, NULL), 0));
	cr_expect(eq(ptr, content.bytes, NULL));
	cr_expect(eq(sz, content.size, 0));
}

Test(recording, says_why_a_file_cannot_be_read)
{
	struct gt_content content;
	struct gt_error err = {0};

	cr_expect(eq(int, gt_load_file(&content, "/nonexistent/file", &err), -ENOENT));
	expect_text(err.text, "cannot open it: No such file or directory");
	cr_expect(eq(int, gt_load_file(&content, "/tmp", &err), -EBADMSG));
	expect_text(err.text, "it is a folder, not a file");
}

/* In a process of its own with a time limit: what it is about would wait for ever. */
Test(recording, opens_nothing_but_files_and_waits_for_nobody, .timeout = 10)
{
	static const struct {
		mode_t mode;
		const char *what;
	} kinds[] = {{S_IFIFO, "a FIFO"}, {S_IFSOCK, "a socket"}};
	struct gt_error err = {0};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char expected[64];

		unlink(path);
		cr_assert(eq(int, mknod(path, kinds[i].mode | 0600, 0), 0));
		snprintf(expected, sizeof(expected), "it is %s, not a file", kinds[i].what);
		cr_expect(eq(int, gt_open_file(AT_FDCWD, path, O_RDONLY, &err), -EBADMSG));
		expect_text(err.text, expected);
		cr_expect(
			eq(int, gt_open_file(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, &err), -EBADMSG));
		cr_expect(eq(int, gt_check_file(AT_FDCWD, path, &err), -EBADMSG));
		expect_text(err.text, expected);
	}
	cr_expect(eq(int, gt_open_file(AT_FDCWD, "/dev/null", O_RDWR, &err), -EBADMSG));
	expect_text(err.text, "it is a device, not a file");
	cr_expect(eq(int, gt_check_file(AT_FDCWD, "/nonexistent/file", &err), 0));
}

Test(recording, follows_links_to_files_unless_told_otherwise)
{
	struct gt_error err = {0};
	char link[80];
	int fd;

	snprintf(link, sizeof(link), "%s-link", path);
	cr_assert(eq(int, symlink(path, link), 0));
	fd = gt_open_file(AT_FDCWD, link, O_RDONLY, &err);
	cr_expect(ge(int, fd, 0), "%s", err.text);
	close(fd);
	cr_expect(eq(int, gt_check_file(AT_FDCWD, link, &err), 0));
	cr_expect(eq(int, gt_open_file(AT_FDCWD, link, O_RDONLY | O_NOFOLLOW, &err), -EBADMSG));
	expect_text(err.text, "it is a symbolic link, not a file");
	unlink(link);
}

Test(recording, reports_what_a_write_met)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	cr_expect(eq(int, gt_write_all(fd, "x", 1), -EBADF));
	cr_expect(eq(int, gt_write_all(full, "x", 1), -ENOSPC));
	cr_expect(eq(int, gt_write_all(-1, "", 0), 0));
	close(fd);
	close(full);
}

static void make_folder(void)
{
	make();
	unlink(path);
	mkdir(path, 0700);
}

static void drop_folder(void)
{
	rmdir(path);
}

TestSuite(folder, .init = make_folder, .fini = drop_folder);

Test(folder, is_held_by_many_or_by_one_alone)
{
	const int first = gt_folder_hold(path, GT_HOLD_SHARED);
	const int second = gt_folder_hold(path, GT_HOLD_SHARED);
	int alone;

	cr_assert(ge(int, first, 0));
	cr_assert(ge(int, second, 0));
	cr_expect(eq(int, gt_folder_hold(path, GT_HOLD_ALONE), -EWOULDBLOCK));
	gt_folder_leave(first);
	cr_expect(eq(int, gt_folder_hold(path, GT_HOLD_ALONE), -EWOULDBLOCK));
	gt_folder_leave(second);
	alone = gt_folder_hold(path, GT_HOLD_ALONE);
	cr_assert(ge(int, alone, 0));
	cr_expect(eq(int, gt_folder_hold(path, GT_HOLD_SHARED), -EWOULDBLOCK));
	gt_folder_leave(alone);
}

/* A fork of the holder has the descriptor too. */
Test(folder, is_left_for_every_copy_of_the_descriptor)
{
	const int held = gt_folder_hold(path, GT_HOLD_ALONE);
	const int copy = dup(held);
	int again;

	gt_folder_leave(held);
	again = gt_folder_hold(path, GT_HOLD_ALONE);
	cr_expect(ge(int, again, 0));
	gt_folder_leave(again);
	close(copy);
}

Test(folder, is_no_file_no_link_and_there)
{
	char other[80];

	snprintf(other, sizeof(other), "%s.other", path);
	cr_expect(eq(int, gt_folder_hold(other, GT_HOLD_SHARED), -ENOENT));
	cr_assert(eq(int, symlink(path, other), 0));
	cr_expect(eq(int, gt_folder_hold(other, GT_HOLD_SHARED), -ENOTDIR));
	unlink(other);
	close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	cr_expect(eq(int, gt_folder_hold(other, GT_HOLD_SHARED), -ENOTDIR));
	unlink(other);
	gt_folder_leave(-1);
}
