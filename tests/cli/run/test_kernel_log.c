/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/machine/kernel_log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/host.h"
#include "support/check.h"
#include "support/folder.h"

/* A log in a folder, which is a recording as well: it holds something that is called a capture. */

static char folder[] = "/tmp/gputrace-log-XXXXXX";
static char log_path[64];

static void write_to(const char *path, const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);

	cr_assert(ne(ptr, file, NULL));
	fputs(text, file);
	fclose(file);
}

static void make(void)
{
	char capture[64];

	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	snprintf(log_path, sizeof(log_path), "%s/kmsg", folder);
	snprintf(capture, sizeof(capture), "%s/a.capture", folder);
	write_to(capture, "w", "");
	write_to(log_path, "w", "4,1,1000,-;NVRM: Xid (PCI:0000:00:06): 13, before\n");
	setenv(GT_KERNEL_LOG_VARIABLE, log_path, 1);
}

static void drop(void)
{
	(void)folder_remove(folder);
}

TestSuite(kernel_log, .init = make, .fini = drop);

/* The text that the recording has of the log; "" where it has no file. */
static void read_recorded(char *text, size_t size)
{
	char host[HOST_NAME_MAX + 1];
	char path[PATH_MAX];
	FILE *file;

	gt_host_name(host, sizeof(host));
	snprintf(path, sizeof(path), "%s/%s.kernel-log", folder, host);
	file = fopen(path, "r");
	text[file ? fread(text, 1, size - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
}

/* Opens the log, adds the text to it as the kernel would meanwhile, and records. */
static void record(const char *meanwhile, char *text, size_t size)
{
	struct gt_kernel_log log = GT_KERNEL_LOG_INIT;

	gt_kernel_log_open(&log);
	if (meanwhile)
		write_to(log_path, "a", meanwhile);
	gt_kernel_log_record(&log, folder);
	read_recorded(text, size);
}

Test(kernel_log, has_the_messages_that_came_while_the_program_ran)
{
	char text[1024];

	record("6,2,2000,-;usb 1-1: new device\n"
	       "4,3,31639714,-;NVRM: Xid (PCI:0000:00:06): 31, pid=532, name=b\n"
	       " SUBSYSTEM=pci\n",
	       text, sizeof(text));
	expect_text(text,
	            "[   31.639714] NVRM: Xid (PCI:0000:00:06): 31, pid=532, name=b\nwas read\n");
}

Test(kernel_log, without_messages_says_that_it_was_read)
{
	char text[1024];

	record(NULL, text, sizeof(text));
	expect_text(text, "was read\n");
}

Test(kernel_log, is_said_to_be_unreadable_where_it_is)
{
	char text[1024];

	setenv(GT_KERNEL_LOG_VARIABLE, "/nowhere/kmsg", 1);
	record(NULL, text, sizeof(text));
	expect_text(text, "is not readable: No such file or directory\n");
}

/* Something that is no log, and that nobody writes to: nobody waits for it. */
Test(kernel_log, that_is_a_pipe_is_not_waited_for)
{
	char text[1024];
	char pipe[64];

	snprintf(pipe, sizeof(pipe), "%s/pipe", folder);
	cr_assert(eq(int, mkfifo(pipe, 0600), 0));
	setenv(GT_KERNEL_LOG_VARIABLE, pipe, 1);
	record(NULL, text, sizeof(text));
	expect_text(text, "is not readable: Illegal seek\n");
}

Test(kernel_log, of_damaged_records_has_what_is_whole)
{
	char text[1024];

	record("NVRM: Xid (PCI:0000:00:06): 31\n"
	       ";NVRM: Xid (PCI:0000:00:06): 32\n"
	       "4,5,x,-;NVRM: Xid (PCI:0000:00:06): 33\n"
	       "4,5,6000007,-;NVRM: Xid (PCI:0000:00:06): 34",
	       text, sizeof(text));
	expect_text(text, "[    0.000000] NVRM: Xid (PCI:0000:00:06): 32\n"
	                  "[    0.000000] NVRM: Xid (PCI:0000:00:06): 33\n"
	                  "[    6.000007] NVRM: Xid (PCI:0000:00:06): 34\nwas read\n");
}

Test(kernel_log, keeps_the_first_hundred_of_a_flood)
{
	char line[600];
	char text[100 * 600];
	struct gt_kernel_log log = GT_KERNEL_LOG_INIT;
	size_t lines = 0;

	snprintf(line, sizeof(line), "4,5,6000007,-;NVRM: Xid (PCI:0000:00:06): 34, %0500d\n", 1);
	gt_kernel_log_open(&log);
	for (int i = 0; i < 300; i++)
		write_to(log_path, "a", line);
	gt_kernel_log_record(&log, folder);
	read_recorded(text, sizeof(text));
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	cr_expect(eq(sz, lines, 101));
	cr_expect(lt(sz, strlen(text), 100 * 410));
}

Test(kernel_log, is_not_in_a_folder_without_a_capture)
{
	char text[1024];
	char capture[64];

	snprintf(capture, sizeof(capture), "%s/a.capture", folder);
	cr_assert(eq(int, remove(capture), 0));
	record(NULL, text, sizeof(text));
	expect_text(text, "");
}
