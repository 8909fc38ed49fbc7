/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpus/lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "support/check.h"

static char runtime[] = "/tmp/gputrace-runtime-XXXXXX";
static char folder[64];

static void make(void)
{
	cr_assert(ne(ptr, mkdtemp(runtime), NULL));
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	snprintf(folder, sizeof(folder), "%s/gputrace", runtime);
}

static void drop(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", runtime);
	cr_expect(eq(int, system(command), 0));
}

TestSuite(gpu_lock, .init = make, .fini = drop);

Test(gpu_lock, is_a_file_of_the_gpu_in_a_folder_of_this_user_alone)
{
	struct gt_error err = {0};
	struct stat status;
	char path[128];
	const int lock = gt_gpu_lock("GPU-1/../x", &err);

	cr_assert(ge(int, lock, 0), "%s", err.text);
	cr_assert(eq(int, stat(folder, &status), 0));
	cr_expect(eq(u32, status.st_mode & 0777, 0700));
	snprintf(path, sizeof(path), "%s/GPU-1_.._x.lock", folder);
	cr_expect(eq(int, access(path, R_OK), 0));
	gt_gpu_unlock(lock);
}

/* Whoever else may write there could put something else in the place of a lock. */
Test(gpu_lock, is_not_made_where_others_may_write)
{
	static const mode_t modes[] = {0770, 0720, 0702, 0777};
	struct gt_error err = {0};
	int lock;

	cr_assert(eq(int, mkdir(folder, 0700), 0));
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		cr_assert(eq(int, chmod(folder, modes[i]), 0));
		lock = gt_gpu_lock("GPU-1", &err);
		cr_expect(eq(int, lock, -EACCES), "%o", (unsigned)modes[i]);
		gt_gpu_unlock(lock);
	}
	cr_assert(eq(int, chmod(folder, 0755), 0));
	lock = gt_gpu_lock("GPU-1", &err);
	cr_expect(ge(int, lock, 0), "%s", err.text);
	gt_gpu_unlock(lock);
}
