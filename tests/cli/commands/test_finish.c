/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/command_line/command.h"
#include "collector/collector.h"
#include "format/recording.h"
#include "model/trace.h"
#include "support/check.h"
#include "support/recording.h"

extern const struct gt_command gt_command_finish;

static struct recording recording;

/* A process that was killed: a call in its capture, a kernel and another call in its arena. */
static void make(void)
{
	struct test_arena arena;
	struct gt_slot *slot;

	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	recording_add_call(&recording, 1000, 1);
	recording_end(&recording, false);
	test_arena_init(&arena, 2, 1 << 16, "node-1-1.capture");
	slot = gt_arena_take(&arena.arena, GT_SLOT_ACTIVITY);
	add_name(&arena, 4096, "_Z5saxpyPfS_f");
	add_raw_kernel(&arena, slot, 1, 4096);
	slot = gt_arena_take(&arena.arena, GT_SLOT_RECORDS);
	slot->tid = 100;
	add_call(&arena, slot, 2);
	recording_add_arena(&recording, &arena);
	test_arena_release(&arena);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(finish, .init = make, .fini = drop);

static int finish(const char *folder, struct gt_error *err)
{
	char quiet[] = "--quiet";
	char path[256];
	char *words[] = {quiet, path, NULL};

	*err = (struct gt_error){0};
	snprintf(path, sizeof(path), "%s", folder);
	return gt_command_finish.run(2, words, err);
}

static char *inside(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", recording.path, name);
	return path;
}

static void expect_all_there(size_t processes)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	gt_trace_init(&trace);
	cr_assert(eq(int, gt_collect(recording.path, &trace, &err), 0), "%s", err.text);
	cr_expect(eq(sz, trace.processes.count, processes));
	cr_expect(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(sz, trace.api_calls.count, 2));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_DIED));
	gt_trace_release(&trace);
}

static void expect_file(const char *name, const struct gt_content *before)
{
	struct gt_content now;

	cr_assert(eq(int, gt_load_file(&now, inside(name), NULL), 0));
	cr_assert(eq(sz, now.size, before->size));
	cr_expect(eq(int, memcmp(now.bytes, before->bytes, now.size), 0));
	gt_unload(&now);
}

Test(finish, puts_the_arena_into_the_capture_and_removes_it)
{
	struct gt_error err;

	expect_all_there(1);
	cr_expect(eq(int, finish(recording.path, &err), 0), "%s", err.text);
	cr_expect(ne(int, access(inside("node-1-1.arena"), F_OK), 0));
	expect_all_there(1);
}

Test(finish, changes_nothing_the_second_time)
{
	struct gt_content before;
	struct gt_error err;

	cr_assert(eq(int, finish(recording.path, &err), 0), "%s", err.text);
	cr_assert(eq(int, gt_load_file(&before, inside("node-1-1.capture"), NULL), 0));
	cr_expect(eq(int, finish(recording.path, &err), 0), "%s", err.text);
	expect_file("node-1-1.capture", &before);
	gt_unload(&before);
}

/* Neither the process that writes nor any other: what is there stays one whole. */
Test(finish, refuses_while_a_process_writes)
{
	struct gt_content before;
	struct gt_error err;
	char text[200];
	int fd;

	recording_add_file(&recording, "node-2-1.arena", "", 0);
	fd = open(inside("node-2-1.arena"), O_RDWR | O_CLOEXEC);
	cr_assert(eq(int, gt_file_lock(fd, GT_HOLD_ALONE), 0));
	cr_assert(eq(int, gt_load_file(&before, inside("node-1-1.capture"), NULL), 0));
	cr_expect(eq(int, finish(recording.path, &err), -EBUSY));
	snprintf(text, sizeof(text),
	         "%s is still being written by 1 process: finish it when that has ended",
	         recording.path);
	expect_text(err.text, text);
	expect_file("node-1-1.capture", &before);
	cr_expect(eq(int, access(inside("node-1-1.arena"), F_OK), 0));
	gt_unload(&before);

	close(fd);
	cr_expect(eq(int, finish(recording.path, &err), 0), "%s", err.text);
	cr_expect(ne(int, access(inside("node-1-1.arena"), F_OK), 0));
	cr_expect(ne(int, access(inside("node-2-1.arena"), F_OK), 0));
	expect_all_there(1);
}

Test(finish, goes_on_where_another_try_was_interrupted)
{
	struct gt_content arena;
	struct stat status;
	struct gt_error err;

	cr_assert(eq(int, gt_load_file(&arena, inside("node-1-1.arena"), NULL), 0));
	cr_assert(eq(int, finish(recording.path, &err), 0), "%s", err.text);
	/* Killed before the last chunk was whole, and so before the arena was removed. */
	cr_assert(eq(int, stat(inside("node-1-1.capture"), &status), 0));
	cr_assert(eq(int, truncate(inside("node-1-1.capture"), status.st_size - 5), 0));
	recording_add_file(&recording, "node-1-1.arena", arena.bytes, arena.size);
	expect_all_there(1);
	cr_expect(eq(int, finish(recording.path, &err), 0), "%s", err.text);
	cr_expect(ne(int, access(inside("node-1-1.arena"), F_OK), 0));
	expect_all_there(1);
	gt_unload(&arena);
}

Test(finish, says_which_arena_it_cannot_finish)
{
	struct gt_error err;

	recording_add_file(&recording, "node-2-1.arena", "hello, world, this is text", 26);
	cr_expect(eq(int, finish(recording.path, &err), -EBADMSG));
	expect_text(err.text, "node-2-1.arena: it is not an arena of gputrace");
	cr_expect(eq(int, access(inside("node-2-1.arena"), F_OK), 0));
	cr_expect(ne(int, access(inside("node-1-1.arena"), F_OK), 0), "others are finished");
}

Test(finish, wants_a_folder)
{
	struct gt_error err;

	cr_expect(eq(int, finish("/nonexistent", &err), -ENOENT));
	cr_expect(eq(int, finish(inside("node-1-1.capture"), &err), -ENOTDIR));
}
