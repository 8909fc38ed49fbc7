/* SPDX-License-Identifier: Apache-2.0 */
/* Covers STAGE(notes). */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "collector/collect.h"
#include "collector/left_notes.h"

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	recording_end(&recording, true);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(left_notes, .init = make, .fini = drop);

static void leave(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", recording.path, name);
	file = fopen(path, "w");
	cr_assert(ne(ptr, file, NULL));
	fputs(text, file);
	fclose(file);
}

/* How many notes of Python's there are; the last is copied. */
static size_t notes_of_python(char *last, gt_id *process)
{
	struct gt_trace trace = collect(&recording);
	size_t count = 0;

	gt_array_each(const struct gt_note, note, &trace.notes)
		if (strcmp(gt_trace_text(&trace, note->topic), "python") == 0) {
			snprintf(last, 1024, "%s", gt_trace_text(&trace, note->text));
			*process = note->process;
			count++;
		}
	gt_trace_release(&trace);
	return count;
}

Test(left_notes, are_notes_of_the_process_that_left_them)
{
	struct gt_trace trace = collect(&recording);
	const struct gt_process *first = &trace.processes.rows[0];
	char name[128];
	char last[1024] = "";
	gt_id process = GT_NONE;

	snprintf(name, sizeof(name), "%s-%u.notes", gt_trace_text(&trace, first->host), first->pid);
	leave(name, "one\n\ntwo, at the end");
	cr_expect(eq(sz, notes_of_python(last, &process), 2));
	expect_text(last, "two, at the end");
	cr_expect(eq(u32, process, 0));
	gt_trace_release(&trace);
}

Test(left_notes, of_a_process_without_a_capture_name_it)
{
	char last[1024] = "";
	gt_id process = 0;

	leave("other-host-77.notes", "modules have ranges\n");
	cr_expect(eq(sz, notes_of_python(last, &process), 1));
	expect_text(last, "process 77: modules have ranges");
	cr_expect(eq(u32, process, GT_NONE));
}

Test(left_notes, are_nobody_s_text)
{
	char text[4 * GT_LEFT_NOTES_BYTES];
	char last[1024] = "";
	gt_id process = 0;

	leave("h-1.notes", "a\x1b[31m\xff\xc3\xa9\n");
	cr_expect(eq(sz, notes_of_python(last, &process), 1));
	expect_text(last, "process 1: a?[31m?\xc3\xa9");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	leave("h-1.notes", text);
	cr_expect(eq(sz, notes_of_python(last, &process), 1));
	cr_expect(lt(sz, strlen(last), 600));
	memset(text, '\n', sizeof(text) - 1);
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		text[i] = 'x';
	for (unsigned i = 0; i < 10; i++) {
		char name[32];

		snprintf(name, sizeof(name), "h-%u.notes", i);
		leave(name, text);
	}
	cr_expect(eq(sz, notes_of_python(last, &process), GT_LEFT_NOTES_MOST));
}

Test(left_notes, that_are_no_such_file_are_none)
{
	char path[PATH_MAX];
	char last[1024] = "";
	gt_id process = 0;

	leave("nohost.notes", "x");
	leave("host-.notes", "x");
	leave("host-12a.notes", "x");
	leave("host-99999999999.notes", "x");
	leave("host-3.notes", "");
	snprintf(path, sizeof(path), "%s/pipe-4.notes", recording.path);
	cr_assert(eq(int, mkfifo(path, 0600), 0));
	cr_expect(eq(sz, notes_of_python(last, &process), 0));
	cr_expect(eq(int, unlink(path), 0));
}

#define XID "NVRM: Xid (PCI:0000:00:06): 31, pid="

/* How many notes there are of kernel logs; the last, its process, and what is known of the logs. */
static size_t notes_of_log(char *last, gt_id *process, char *state)
{
	struct gt_trace trace = collect(&recording);
	size_t count = 0;

	snprintf(state, 256, "%s", gt_trace_text(&trace, trace.kernel_log));
	gt_array_each(const struct gt_note, note, &trace.notes)
		if (strcmp(gt_trace_text(&trace, note->topic), GT_KERNEL_LOG_TOPIC) == 0) {
			snprintf(last, 1024, "%s", gt_trace_text(&trace, note->text));
			*process = note->process;
			count++;
		}
	gt_trace_release(&trace);
	return count;
}

Test(left_notes, of_a_kernel_log_are_of_the_process_that_a_message_names)
{
	struct gt_trace trace = collect(&recording);
	const struct gt_process *first = &trace.processes.rows[0];
	const char *host = gt_trace_text(&trace, first->host);
	char name[128];
	char text[256];
	char wanted[256];
	char last[1024] = "";
	char state[256];
	gt_id process = GT_NONE;

	snprintf(name, sizeof(name), "%s.kernel-log", host);
	snprintf(text, sizeof(text), "[    1.000000] " XID "%u, name=app\nwas read\n", first->pid);
	leave(name, text);
	cr_expect(eq(sz, notes_of_log(last, &process, state), 1));
	snprintf(wanted, sizeof(wanted), "%s: [    1.000000] " XID "%u, name=app", host,
	         first->pid);
	expect_text(last, wanted);
	expect_text(state, GT_KERNEL_LOG_READ);
	cr_expect(eq(u32, process, 0));
	gt_trace_release(&trace);
}

/* Two runs on one machine see the same message; that of the other machine says why it has none. */
Test(left_notes, of_several_kernel_logs_have_each_message_once)
{
	char last[1024] = "";
	char state[256];
	gt_id process = 0;

	leave("node.kernel-log", "[    1.000000] " XID "'<unknown>'\nwas read\n"
	                         "[    1.000000] " XID "'<unknown>'\nwas read\n");
	leave("other-2.kernel-log", "is not readable: Permission denied\n");
	cr_expect(eq(sz, notes_of_log(last, &process, state), 1));
	cr_expect(eq(u32, process, GT_NONE));
	expect_text(state, "of other-2 is not readable: Permission denied");
	cr_expect(eq(sz, notes_of_python(last, &process), 0));
}

Test(left_notes, of_no_kernel_log_are_none)
{
	char last[1024] = "";
	char state[256];
	gt_id process = 0;

	cr_expect(eq(sz, notes_of_log(last, &process, state), 0));
	expect_text(state, "");
	leave(".kernel-log", "[ 1.0] x\nwas read\n");
	cr_expect(eq(sz, notes_of_log(last, &process, state), 0));
	expect_text(state, "");
}
