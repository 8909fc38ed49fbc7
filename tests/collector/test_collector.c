/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/collector.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strings.h"
#include "base/watch.h"
#include "collector/collect.h"

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(collector, .init = make, .fini = drop);

/* The error of collecting a path; the trace must come back empty. */
static int failure(const char *path, struct gt_error *err)
{
	struct gt_trace trace;
	int result;

	*err = (struct gt_error){0};
	gt_trace_init(&trace);
	result = gt_collect(path, &trace, err);
	cr_expect(lt(int, result, 0));
	cr_expect(eq(int, err->code, -result));
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		cr_expect(eq(sz, gt_trace_table(&trace, i).row_count, 0));
	cr_expect(eq(sz, gt_strings_count(trace.strings), 1));
	gt_trace_release(&trace);
	return result;
}

/* "the folder of the recording/name" in a buffer of the caller's. */
static const char *inside(char path[256], const char *name)
{
	snprintf(path, 256, "%s/%s", recording.path, name);
	return path;
}

static void add_process(const char *name, uint32_t pid)
{
	recording_begin(&recording, name);
	recording_add_basics(&recording, pid);
	recording_add_call(&recording, 1000 + pid, 1);
	recording_add_kernel(&recording, 1100 + pid, 1);
	recording_end(&recording, true);
}

Test(collector, says_that_a_path_does_not_exist)
{
	char path[256];
	struct gt_error err;

	cr_expect(eq(int, failure(inside(path, "nowhere"), &err), -ENOENT));
	cr_expect(ne(ptr, strstr(err.text, "nowhere"), NULL));
}

Test(collector, says_that_a_folder_holds_no_captures)
{
	struct gt_error err;

	recording_add_file(&recording, "manifest.json", "{}", 2);
	recording_add_file(&recording, ".capture", "x", 1); /* an ending is not a name */
	cr_expect(eq(int, failure(recording.path, &err), -ENODATA));
	cr_expect(ne(ptr, strstr(err.text, recording.path), NULL));
	cr_expect(ne(ptr, strstr(err.text, "holds no captures"), NULL));
}

Test(collector, says_that_a_file_is_no_recording)
{
	char path[256];
	struct gt_error err;

	recording_add_file(&recording, "notes.txt", "hello", 5);
	cr_expect(eq(int, failure(inside(path, "notes.txt"), &err), -EBADMSG));
	cr_expect(ne(ptr, strstr(err.text, "notes.txt is not a recording"), NULL));

	recording_add_file(&recording, "a.capture", "hello, world, this is text", 26);
	cr_expect(eq(int, failure(inside(path, "a.capture"), &err), -EBADMSG));
	cr_expect(ne(ptr, strstr(err.text, "a.capture: it is not a gputrace capture"), NULL));
	cr_expect(eq(int, failure(recording.path, &err), -EBADMSG));
}

Test(collector, says_that_a_recording_is_of_a_newer_version)
{
	char path[256];
	struct gt_error err;

	add_process("node-1-1", 1);
	recording.capture.bytes[8] = 99;
	recording_end(&recording, false);
	cr_expect(eq(int, failure(recording.path, &err), -EPROTO));
	cr_expect(ne(ptr, strstr(err.text, "node-1-1.capture"), NULL));
	cr_expect(ne(ptr, strstr(err.text, "newer gputrace"), NULL));
	cr_expect(eq(int, failure(inside(path, "node-1-1.capture"), &err), -EPROTO));

	/* With others nothing can be read of, the first is as good as any. */
	recording_add_file(&recording, "node-2-1.capture", "hello, world, this is text", 26);
	cr_expect(eq(int, failure(recording.path, &err), -EPROTO));
	cr_expect(ne(ptr, strstr(err.text, "cannot read any of 2 captures; "), NULL));
	cr_expect(ne(ptr, strstr(err.text, "node-1-1.capture: it was written by a newer"), NULL));
}

/* The last thing a test does: the files cannot be removed by whom it becomes. */
static void become_nobody(void)
{
	cr_assert(eq(int, chmod(recording.path, 0755), 0));
	if (geteuid() == 0)
		cr_assert(eq(int, seteuid(65534), 0));
}

static const struct gt_process *process_of(const struct gt_trace *trace, const char *capture)
{
	gt_array_each(const struct gt_process, process, &trace->processes)
		if (strcmp(gt_trace_text(trace, process->capture), capture) == 0)
			return process;
	cr_assert(false, "no process of %s", capture);
	return NULL;
}

Test(collector, leaves_out_the_captures_that_it_cannot_read)
{
	static const char *const unreadable[] = {"node-1-7.capture", "node-2-7.capture",
	                                         "node-3-7.capture", "node-4-7.capture"};
	struct gt_error err = {0};
	struct gt_trace trace;
	char path[256];

	add_process("node-1-7", 1);
	recording.capture.bytes[8] = 99;
	recording_end(&recording, false);
	recording_add_file(&recording, "node-2-7.capture", "hello, world, this is text", 26);
	add_process("node-3-7", 3);
	cr_assert(eq(int, chmod(inside(path, "node-3-7.capture"), 0), 0));
	cr_assert(eq(int, symlink("nowhere", inside(path, "node-4-7.capture")), 0));
	recording_add_file(&recording, "node-5-7.capture", "", 0);
	add_process("node-6-7", 6);
	cr_assert(eq(int, chmod(inside(path, "node-6-7.capture"), 0644), 0));
	cr_assert(eq(int, chmod(inside(path, "node-5-7.capture"), 0644), 0));
	cr_assert(eq(int, chmod(inside(path, "node-2-7.capture"), 0644), 0));
	cr_assert(eq(int, chmod(inside(path, "node-1-7.capture"), 0644), 0));
	become_nobody();
	gt_trace_init(&trace);
	cr_assert(eq(int, gt_collect(recording.path, &trace, &err), 0), "%s", err.text);
	(void)!seteuid(0);
	cr_assert(eq(sz, trace.processes.count, 6));
	cr_expect(eq(sz, trace.kernels.count, 1));
	for (gt_id i = 0; i < 4; i++) {
		const struct gt_process *process = process_of(&trace, unreadable[i]);

		cr_expect(eq(u32, process->ended, GT_END_UNREAD));
		cr_expect(eq(u32, process->pid, i + 1), "its name says which process it was");
	}
	cr_expect(eq(u32, trace.processes.rows[4].ended, GT_END_TORN));
	cr_expect(eq(u32, trace.processes.rows[5].ended, GT_END_CLEAN));
	cr_expect(eq(sz, trace.notes.count, 5));
	cr_expect(
		has_note(&trace, 1, "node-2-7.capture was left out: it is not a gputrace capture"));
	cr_expect(has_note(&trace, 2,
	                   "node-3-7.capture was left out: cannot open it: Permission denied"));
	cr_expect(has_note(
		&trace, 3,
		"node-4-7.capture was left out: cannot open it: No such file or directory"));
	cr_expect(has_note(&trace, 4, "node-5-7.capture is empty"));
	gt_trace_release(&trace);
}

/* Until its parent ends, however that does. */
static void toggle_size(const char *path, off_t size)
{
	const pid_t parent = getppid();

	while (getppid() == parent)
		if (truncate(path, 20) < 0 || truncate(path, size) < 0)
			break;
	_exit(0);
}

/* Someone cuts the file again and again while it is read. */
Test(collector, survives_a_capture_that_is_cut_while_it_is_read, .timeout = 60)
{
	char path[256];
	struct stat status;
	pid_t child;

	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	for (uint32_t i = 0; i < 2000; i++)
		recording_add_call(&recording, 1000 + 10 * i, i + 1);
	recording_end(&recording, true);
	cr_assert(eq(int, stat(inside(path, "node-1-1.capture"), &status), 0));
	child = fork();
	if (child == 0)
		toggle_size(path, status.st_size);
	for (int i = 0; i < 300; i++) {
		struct gt_trace trace = collect(&recording);

		cr_expect(eq(sz, trace.processes.count, 1));
		gt_trace_release(&trace);
	}
	cr_assert(eq(int, kill(child, SIGKILL), 0));
	cr_assert(eq(int, waitpid(child, NULL, 0), child));
}

/* The part behind the host may be a number of its own. */
Test(collector, tells_the_pid_from_a_name_only_where_there_is_no_doubt)
{
	static const struct {
		const char *name;
		uint32_t pid;
	} names[] = {{"node-40-123.capture", 40},       {"a.b-c-41-1.capture", 41},
	             {"node-5-42-123.capture", 0},      {"node-42-123-2.capture", 0},
	             {"node-x-123.capture", 0},         {"other.capture", 0},
	             {"node-99999999999-1.capture", 0}, {"-1.capture", 0}};
	struct gt_trace trace;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		recording_add_file(&recording, names[i].name, "", 0);
	trace = collect(&recording);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect(eq(u32, process_of(&trace, names[i].name)->pid, names[i].pid), "%s",
		          names[i].name);
	gt_trace_release(&trace);
}

Test(collector, reads_all_captures_of_a_folder_by_their_names)
{
	struct gt_trace trace;

	add_process("node-30-1", 30);
	add_process("node-10-1", 10);
	add_process("node-20-1", 20);
	recording_add_file(&recording, "manifest.json", "{}", 2);
	recording_add_file(&recording, "node-40-1.capture.tmp", "half", 4);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 3));
	for (gt_id i = 0; i < 3; i++)
		cr_expect(eq(u32, trace.processes.rows[i].pid, 10 * (i + 1)));
	expect_text(gt_trace_text(&trace, trace.processes.rows[0].capture), "node-10-1.capture");
	cr_expect(eq(sz, trace.kernels.count, 3));
	cr_expect(eq(sz, trace.notes.count, 0));
	gt_trace_release(&trace);
}

Test(collector, reads_one_capture_of_several)
{
	const char *const names[] = {"node-2-1.capture", "node-2-1.arena"};
	struct test_arena arena;
	char path[256];

	add_process("node-1-1", 1);
	add_process("node-2-1", 2);
	test_arena_init(&arena, 1, 4096, "node-2-1.capture");
	recording_add_arena(&recording, &arena);
	test_arena_release(&arena);
	for (size_t i = 0; i < 2; i++) {
		struct gt_error err = {0};
		struct gt_trace trace;

		gt_trace_init(&trace);
		cr_assert(eq(int, gt_collect(inside(path, names[i]), &trace, &err), 0), "%s",
		          err.text);
		cr_assert(eq(sz, trace.processes.count, 1));
		cr_expect(eq(u32, trace.processes.rows[0].pid, 2));
		gt_trace_release(&trace);
	}
}

Test(collector, finds_nothing_in_an_arena_that_was_never_used)
{
	static const uint8_t zeros[8192];
	struct gt_trace trace;
	struct gt_error err;
	char path[256];

	recording_add_file(&recording, "node-2-1.arena", zeros, sizeof(zeros));
	recording_add_file(&recording, "node-3-1.arena", "", 0);
	cr_expect(eq(int, failure(recording.path, &err), -ENODATA));
	cr_expect(ne(ptr, strstr(err.text, "holds no captures"), NULL));
	cr_expect(eq(int, failure(inside(path, "node-2-1.arena"), &err), -ENODATA));
	cr_expect(ne(ptr, strstr(err.text, "the arena was never used"), NULL));
	add_process("node-1-1", 1);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.processes.count, 1));
	cr_expect(eq(sz, trace.notes.count, 0));
	gt_trace_release(&trace);
}

Test(collector, says_why_an_arena_without_a_capture_cannot_be_read)
{
	struct gt_error err;

	recording_add_file(&recording, "node-2-1.arena", "hello, world, this is text", 26);
	cr_expect(lt(int, failure(recording.path, &err), 0));
	cr_expect(ne(ptr, strstr(err.text, "its arena cannot be salvaged: "), NULL), "%s",
	          err.text);
}

Test(collector, reads_a_capture_of_the_working_folder)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	add_process("node-1-1", 1);
	cr_assert(eq(int, chdir(recording.path), 0));
	gt_trace_init(&trace);
	cr_assert(eq(int, gt_collect("node-1-1.capture", &trace, &err), 0), "%s", err.text);
	cr_expect(eq(sz, trace.kernels.count, 1));
	gt_trace_release(&trace);
}

Test(collector, never_writes_into_the_folder)
{
	struct test_arena arena;
	struct gt_trace trace;
	struct stat before;
	struct stat after;
	char path[256];

	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	capture_add_bytes(&recording.capture, "GTCK", 4); /* a torn tail */
	recording_end(&recording, false);
	test_arena_init(&arena, 1, 4096, "node-1-1.capture");
	recording_add_arena(&recording, &arena);
	test_arena_release(&arena);
	cr_assert(eq(int, stat(inside(path, "node-1-1.capture"), &before), 0));
	cr_assert(eq(int, chmod(recording.path, 0500), 0));
	trace = collect(&recording);
	cr_expect(eq(sz, trace.processes.count, 1));
	gt_trace_release(&trace);
	cr_assert(eq(int, chmod(recording.path, 0700), 0));
	cr_assert(eq(int, stat(path, &after), 0));
	cr_expect(eq(i64, before.st_size, after.st_size));
	cr_expect(eq(int, access(inside(path, "node-1-1.arena"), F_OK), 0));
}

static void add_node(const char *name, mode_t mode)
{
	char path[256];

	cr_assert(eq(int, mknod(inside(path, name), mode | 0600, 0), 0));
}

/* A FIFO or a device would keep whoever opens it waiting. */
Test(collector, skips_what_is_only_named_like_a_capture_or_an_arena, .timeout = 10)
{
	struct gt_trace trace;
	char path[256];

	add_process("node-1-1", 1);
	add_node("node-1-1.arena", S_IFIFO);
	add_node("node-2-1.capture", S_IFIFO);
	add_node("node-3-1.capture", S_IFSOCK);
	add_node("node-3-1.arena", S_IFSOCK);
	cr_assert(eq(int, symlink("/dev/tty", inside(path, "node-4-1.capture")), 0));
	cr_assert(eq(int, mkdir(inside(path, "node-5-1.capture"), 0700), 0));
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 1));
	cr_expect(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_CLEAN));
	cr_expect(eq(sz, trace.notes.count, 6));
	cr_expect(
		has_note(&trace, GT_NONE, "node-1-1.arena was skipped: it is a FIFO, not a file"));
	cr_expect(has_note(&trace, GT_NONE,
	                   "node-2-1.capture was skipped: it is a FIFO, not a file"));
	cr_expect(has_note(&trace, GT_NONE,
	                   "node-3-1.capture was skipped: it is a socket, not a file"));
	cr_expect(has_note(&trace, GT_NONE,
	                   "node-3-1.arena was skipped: it is a socket, not a file"));
	cr_expect(has_note(&trace, GT_NONE,
	                   "node-4-1.capture was skipped: it is a device, not a file"));
	cr_expect(has_note(&trace, GT_NONE,
	                   "node-5-1.capture was skipped: it is a folder, not a file"));
	gt_trace_release(&trace);
	rmdir(path);
}

Test(collector, says_what_stands_where_a_recording_should_be, .timeout = 10)
{
	char path[256];
	char text[400];
	struct gt_error err;

	add_node("node-2-1.capture", S_IFIFO);
	cr_expect(eq(int, failure(recording.path, &err), -EBADMSG));
	snprintf(text, sizeof(text),
	         "%s holds no captures: node-2-1.capture was skipped: it is a FIFO, not a file",
	         recording.path);
	expect_text(err.text, text);
	cr_expect(eq(int, failure(inside(path, "node-2-1.capture"), &err), -EBADMSG));
	snprintf(text, sizeof(text), "%s is not a recording: it is a FIFO, not a file", path);
	expect_text(err.text, text);
}

/* Several processes: ids that each counts for itself must not meet. */
Test(collector, keeps_processes_apart)
{
	struct gt_trace trace;

	for (uint32_t pid = 1; pid <= 2; pid++) {
		recording_begin(&recording, pid == 1 ? "node-1-1" : "node-2-1");
		recording_add_basics(&recording, pid);
		recording_add_call(&recording, 1000 * pid, 7);
		recording_add_kernel(&recording, 1000 * pid + 100, 7);
		recording_end(&recording, true);
	}
	trace = collect(&recording);
	cr_assert(eq(sz, trace.kernels.count, 2));
	cr_expect(eq(sz, trace.devices.count, 1)); /* one GPU, by its UUID */
	cr_expect(eq(sz, trace.contexts.count, 2));
	cr_expect(eq(sz, trace.streams.count, 2));
	cr_expect(eq(sz, trace.threads.count, 2)); /* the same tid, in two pid namespaces perhaps */
	cr_expect(eq(sz, trace.launch_shapes.count, 1));
	for (gt_id i = 0; i < 2; i++) {
		const struct gt_kernel *kernel = &trace.kernels.rows[i];

		cr_expect(eq(u32, gt_trace_stream_process(&trace, kernel->stream), i));
		cr_expect(eq(u32, kernel->device, 0));
		cr_expect(eq(u32, trace.contexts.rows[i].device, 0));
		cr_assert(lt(u32, kernel->api_call, trace.api_calls.count));
		cr_expect(eq(i64, trace.api_calls.rows[kernel->api_call].start_ns, 1000 * (i + 1)));
	}
	gt_trace_release(&trace);
}

/* The last of what a watch was told. */
struct told {
	uint64_t done;
	uint64_t times;
};

static void note_how_far(void *context, uint64_t done, uint64_t total)
{
	struct told *told = context;

	cr_expect(ge(u64, done, told->done), "never backwards");
	cr_expect(lt(u64, done, total));
	told->done = done;
	told->times++;
}

Test(collector, tells_how_far_it_is)
{
	struct told told = {0};
	const struct gt_watch watch = {note_how_far, &told};
	struct gt_error err = {0};
	struct gt_trace trace;

	for (uint32_t i = 1; i <= 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "node-%u-7", i);
		add_process(name, i);
	}
	gt_trace_init(&trace);
	cr_assert(eq(int, gt_collect_watched(recording.path, &trace, &watch, &err), 0), "%s",
	          err.text);
	cr_expect(gt(u64, told.times, 12));
	cr_expect(gt(u64, told.done, 900));
	gt_trace_release(&trace);
}
