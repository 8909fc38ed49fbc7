/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/process/process.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/host.h"
#include "format/file/meta.h"

#define FORKED_WITHOUT_EXEC 0x40 /* PF_FORKNOEXEC of linux/sched.h */

/* Reads what a small file holds, at most size bytes; a zero byte follows it. */
static size_t read_file(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got = 1;

	while (fd >= 0 && used < size - 1 && got > 0) {
		got = read(fd, text + used, size - 1 - used);
		if (got > 0)
			used += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	text[used] = '\0';
	return used;
}

static uint64_t read_stat(int wanted)
{
	char text[1024];

	read_file("/proc/self/stat", text, sizeof(text));
	return gt_host_stat_field(text, wanted);
}

uint64_t gt_process_started(void)
{
	return read_stat(22);
}

bool gt_process_is_forked(void)
{
	return read_stat(9) & FORKED_WITHOUT_EXEC;
}

bool gt_process_is_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}

void gt_process_program(char *name, size_t size)
{
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	snprintf(name, size, "%s", slash && slash[1] ? slash + 1 : "program");
}

static void describe_machine(struct gt_meta *meta)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname names;

	if (cpus > 0)
		gt_meta_add_number(meta, GT_META_CPUS, (unsigned long long)cpus);
	if (uname(&names) < 0)
		return;
	gt_meta_add(meta, GT_META_KERNEL, names.release);
	gt_meta_add(meta, GT_META_MACHINE, names.machine);
}

void gt_process_describe(struct gt_meta *meta, char *text, size_t size)
{
	ssize_t length;
	size_t used;

	gt_host_name(text, HOST_NAME_MAX + 1);
	gt_meta_add(meta, GT_META_HOST, text);
	used = read_file("/proc/sys/kernel/random/boot_id", text, size);
	gt_meta_add_bytes(meta, GT_META_BOOT_ID, text,
	                  strcspn(text, "\n") < used ? strcspn(text, "\n") : used);
	describe_machine(meta);
	gt_meta_add_number(meta, GT_META_PID, (unsigned long long)getpid());
	gt_meta_add_number(meta, GT_META_PPID, (unsigned long long)getppid());
	gt_meta_add_number(meta, GT_META_STARTED, gt_process_started());
	length = readlink("/proc/self/exe", text, size - 1);
	if (length > 0)
		gt_meta_add_bytes(meta, GT_META_PROGRAM, text, (size_t)length);
	used = read_file("/proc/self/cmdline", text, size);
	gt_meta_add_bytes(meta, GT_META_COMMAND, text, used);
}
