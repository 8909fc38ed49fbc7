/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/check.h"

/* The thread that has descriptors of its own. */

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static struct gt_files files;

static int opened = -1;

static int open_null(void *context)
{
	(void)context;
	opened = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return opened < 0 ? -errno : 0;
}

static int write_one(void *context)
{
	return write(*(const int *)context, "x", 1) == 1 ? 0 : -errno;
}

static int say_thread(void *context)
{
	*(long *)context = syscall(SYS_gettid);
	return 7;
}

/* The file that it opens is in no table of the program, whose end of a pipe is the only one. */
static void expect_own_table(void)
{
	int ends[2];
	char byte;

	cr_assert(eq(int, pipe(ends), 0));
	gt_files_start(&files);
	cr_assert(files.runs);
	cr_expect(eq(int, gt_files_do(&files, open_null, NULL), 0));
	cr_expect(eq(int, opened, 0), "nothing else is in the table");
	cr_expect(eq(int, gt_files_do(&files, write_one, &opened), 0));
	cr_expect(eq(int, gt_files_do(&files, write_one, &ends[1]), -EBADF));
	close(ends[1]);
	cr_expect(eq(sz, (size_t)read(ends[0], &byte, 1), 0), "the pipe has no other end");
	close(ends[0]);
	gt_files_stop(&files);
}

Test(files, has_a_table_of_its_own)
{
	expect_own_table();
}

/* A system call is not known from now on, as in an older kernel, or not allowed. */
static void refuse(uint32_t call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = 4, .filter = code};

	cr_assert(eq(int, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0));
	cr_assert(eq(int, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0));
}

Test(files, has_one_on_older_kernels_too)
{
	refuse(SYS_close_range);
	expect_own_table();
}

Test(files, does_without_where_there_is_none)
{
	long thread = 0;

	refuse(SYS_close_range);
	refuse(SYS_unshare);
	gt_files_start(&files);
	cr_expect(not(files.runs));
	cr_expect(eq(int, gt_files_do(&files, say_thread, &thread), 7));
	cr_expect(eq(i64, thread, syscall(SYS_gettid)));
	gt_files_stop(&files);
}

Test(files, does_jobs_on_its_thread_until_it_stops)
{
	long first = 0;
	long second = 0;
	long third = 0;

	gt_files_start(&files);
	cr_expect(eq(int, gt_files_do(&files, say_thread, &first), 7));
	cr_expect(eq(int, gt_files_do(&files, say_thread, &second), 7));
	cr_expect(ne(i64, first, syscall(SYS_gettid)));
	cr_expect(eq(i64, first, second));
	gt_files_stop(&files);
	gt_files_stop(&files);
	cr_expect(eq(int, gt_files_do(&files, say_thread, &third), 7));
	cr_expect(eq(i64, third, syscall(SYS_gettid)));
}

static void *ask_often(void *context)
{
	long *wrong = context;

	for (int i = 0; i < 500; i++) {
		long thread = 0;

		*wrong += gt_files_do(&files, say_thread, &thread) != 7 || thread == 0;
	}
	return NULL;
}

Test(files, answers_each_who_asks)
{
	pthread_t threads[4];
	long wrong[4] = {0};

	gt_files_start(&files);
	for (int i = 0; i < 4; i++)
		cr_assert(eq(int, pthread_create(&threads[i], NULL, ask_often, &wrong[i]), 0));
	usleep(1000);
	gt_files_stop(&files); /* while they ask: the others do it themselves */
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		cr_expect(eq(i64, wrong[i], 0));
	}
}
