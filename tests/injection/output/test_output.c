/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "format/arena/arena.h"
#include "format/settings.h"
#include "support/check.h"

/* The capture's file, while the program does what it likes with descriptors and folders. */

static char folder[] = "/tmp/gputrace-output-XXXXXX";
static char chosen[64];
static struct gt_settings settings = {
	.buffer_count = 4, .buffer_bytes = 64 << 10, .output = chosen, .run = ""};
static struct gt_arena arena;
static struct gt_output output = {.settings = &settings, .arena = &arena};

static int reserve_error; /* 0: space can be reserved */

/* In the place of libc's: not every file system can. */
int fallocate(int fd, int mode, off_t offset, off_t size)
{
	(void)mode;
	if (reserve_error) {
		errno = reserve_error;
		return -1;
	}
	return posix_fallocate(fd, offset, size) == 0 ? 0 : -1;
}

static void make(void)
{
	struct gt_error err = {0};

	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	snprintf(chosen, sizeof(chosen), "%s/X.gputrace", folder);
	cr_assert(eq(int, gt_capture_file_open(&output, &err), 0), "%s", err.text);
}

static void drop(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_expect(eq(int, system(command), 0));
}

TestSuite(output, .init = make, .fini = drop);

static void path_of_capture(char *path, size_t size)
{
	snprintf(path, size, "%s/%s", output.folder, output.capture_name);
}

/* Contents of a file, as text; "" for none. */
static const char *content(const char *path)
{
	static char text[256];
	FILE *file = fopen(path, "re");

	text[file ? fread(text, 1, sizeof(text) - 1, file) : 0] = '\0';
	if (file)
		(void)fclose(file);
	return text;
}

static const char *captured(void)
{
	char path[PATH_MAX];

	path_of_capture(path, sizeof(path));
	return content(path);
}

static int write_text(const char *text)
{
	return gt_capture_file_write(&output, text, strlen(text));
}

/* A file of the program's on the number that the capture had. */
static void take_number(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, dup2(fd, output.capture_fd), output.capture_fd));
	close(fd);
}

Test(output, goes_on_after_the_program_closed_every_descriptor)
{
	const int fd = output.capture_fd;

	cr_expect(eq(int, write_text("one "), 0));
	close(fd);
	cr_expect(eq(int, write_text("two "), 0));
	cr_expect(eq(int, write_text("three"), 0));
	expect_text(captured(), "one two three");
}

Test(output, leaves_a_file_of_the_program_on_its_number_alone)
{
	const int fd = output.capture_fd;
	char theirs[PATH_MAX];

	snprintf(theirs, sizeof(theirs), "%s/theirs", folder);
	cr_expect(eq(int, write_text("one "), 0));
	take_number(theirs);
	cr_expect(eq(int, write_text("two"), 0));
	expect_text(captured(), "one two");
	expect_text(content(theirs), "");
	cr_expect(ne(int, output.capture_fd, fd));
	cr_expect(ge(int, fcntl(fd, F_GETFD), 0), "the program's descriptor was closed");
}

Test(output, finds_its_file_from_whatever_folder_the_program_went_to)
{
	cr_assert(eq(int, chdir("/"), 0));
	close(output.capture_fd);
	cr_expect(eq(int, write_text("one"), 0));
	expect_text(captured(), "one");
}

Test(output, writes_into_no_other_file_that_got_the_captures_name)
{
	char path[PATH_MAX];
	char moved[PATH_MAX + 8];

	path_of_capture(path, sizeof(path));
	snprintf(moved, sizeof(moved), "%s.moved", path);
	cr_expect(eq(int, write_text("one"), 0));
	cr_assert(eq(int, rename(path, moved), 0));
	take_number(path);
	cr_expect(lt(int, write_text("two"), 0));
	expect_text(content(path), "");
	expect_text(content(moved), "one");
}

Test(output, closes_no_descriptor_of_the_program_at_its_end)
{
	const int fd = output.capture_fd;
	char theirs[PATH_MAX];

	snprintf(theirs, sizeof(theirs), "%s/theirs", folder);
	take_number(theirs);
	gt_capture_file_close(&output, 1);
	cr_expect(ge(int, fcntl(fd, F_GETFD), 0));
	cr_expect(lt(int, access(output.arena_path, F_OK), 0));
}

Test(output, keeps_out_of_the_numbers_that_programs_use)
{
	cr_expect(ge(int, output.capture_fd, 500));
	cr_expect(eq(int, fcntl(output.capture_fd, F_GETFD), FD_CLOEXEC));
}

/* Files may be made in such a folder, but root may read it all the same. */
Test(output, goes_into_a_folder_that_may_not_be_read)
{
	const uid_t user = geteuid();
	const uid_t other = user == 0 ? 65534 : user;
	struct gt_error err = {0};

	gt_capture_file_close(&output, 1);
	cr_assert(eq(int, chmod(folder, 0711), 0));
	cr_assert(eq(int, chown(chosen, other, (gid_t)-1), 0));
	cr_assert(eq(int, chmod(chosen, 0300), 0));
	cr_assert(eq(int, seteuid(other), 0));
	cr_expect(eq(ptr, opendir(chosen), NULL));
	cr_expect(eq(int, gt_capture_file_open(&output, &err), 0), "%s", err.text);
	cr_expect(eq(int, write_text("one"), 0));
	expect_text(captured(), "one");
	cr_assert(eq(int, chmod(chosen, 0700), 0));
	cr_assert(eq(int, seteuid(user), 0));
}

static int open_again(struct gt_error *err)
{
	gt_capture_file_close(&output, 1);
	return gt_capture_file_open(&output, err);
}

/* As on NFS. */
Test(output, has_an_arena_where_no_space_can_be_reserved)
{
	static const int errors[] = {EOPNOTSUPP, ENOSYS};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct gt_error err = {0};
		struct stat status;

		reserve_error = errors[i];
		cr_assert(eq(int, open_again(&err), 0), "%s", err.text);
		cr_assert(eq(int, stat(output.arena_path, &status), 0));
		cr_expect(eq(sz, (size_t)status.st_size, output.arena_bytes));
		cr_expect(eq(int, write_text("one"), 0));
		expect_text(captured(), "one");
	}
}

Test(output, is_refused_where_there_is_no_space)
{
	struct gt_error err = {0};

	reserve_error = ENOSPC;
	cr_expect(eq(int, open_again(&err), -ENOSPC));
	cr_expect(lt(int, access(output.arena_path, F_OK), 0), "nothing is left");
}

/* Who makes a mapped file shorter ends the processes that use it. */
Test(output, lets_nobody_write_the_arena)
{
	struct stat status;

	cr_assert(eq(int, stat(output.arena_path, &status), 0));
	cr_expect(eq(u32, status.st_mode & 0777, 0400));
}
