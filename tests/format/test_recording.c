/* SPDX-License-Identifier: Apache-2.0 */
#include "format/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

Test(recording, knows_a_suffix_from_a_whole_name)
{
	cr_expect(gt_has_suffix("a.arena", ".arena"));
	cr_expect(not(gt_has_suffix(".arena", ".arena")));
	cr_expect(not(gt_has_suffix("a.arena.new", ".arena")));
	cr_expect(not(gt_has_suffix("", ".arena")));
}

Test(recording, maps_what_was_written)
{
	static char text[100000];
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct gt_mapping mapping;

	memset(text, 'x', sizeof(text));
	cr_assert(eq(int, gt_write_all(fd, text, sizeof(text)), 0));
	close(fd);
	cr_assert(eq(int, gt_map_file(&mapping, path, false, NULL), 0));
	cr_assert(eq(sz, mapping.size, sizeof(text)));
	cr_expect(eq(int, memcmp(mapping.bytes, text, sizeof(text)), 0));
	gt_unmap(&mapping);
	cr_expect(eq(ptr, mapping.bytes, NULL));
	gt_unmap(&mapping);
}

Test(recording, changes_to_a_private_mapping_reach_no_file)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct gt_mapping mapping;
	struct gt_mapping again;

	gt_write_all(fd, "text", 4);
	close(fd);
	cr_assert(eq(int, gt_map_file(&mapping, path, true, NULL), 0));
	mapping.bytes[0] = 'n';
	cr_assert(eq(int, gt_map_file(&again, path, false, NULL), 0));
	cr_expect(eq(int, memcmp(again.bytes, "text", 4), 0));
	gt_unmap(&mapping);
	gt_unmap(&again);
}

Test(recording, maps_an_empty_file_as_no_bytes)
{
	struct gt_mapping mapping = {(uint8_t *)path, 7};

	cr_expect(eq(int, gt_map_file(&mapping, path, false, NULL), 0));
	cr_expect(eq(ptr, mapping.bytes, NULL));
	cr_expect(eq(sz, mapping.size, 0));
}

Test(recording, says_why_a_file_cannot_be_mapped)
{
	struct gt_mapping mapping;
	struct gt_error err = {0};

	cr_expect(eq(int, gt_map_file(&mapping, "/nonexistent/file", false, &err), -ENOENT));
	expect_text(err.text, "cannot open it: No such file or directory");
	cr_expect(eq(int, gt_map_file(&mapping, "/tmp", false, &err), -EBADMSG));
	expect_text(err.text, "it is not a regular file");
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
