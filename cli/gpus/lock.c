/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpus/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/output/say.h"
#include "cli/output/variable.h"
#include "format/recording.h"

/* A folder in one for temporary files may be somebody else's. */
static bool is_ours(const char *folder)
{
	struct stat status;

	return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == geteuid() && (status.st_mode & 022) == 0;
}

static int make_folder(char *folder, size_t size, struct gt_error *err)
{
	const char *runtime = gt_variable("XDG_RUNTIME_DIR");
	const char *temporary = gt_variable("TMPDIR");

	/* One that is not absolute is to be ignored, says the specification. */
	if (runtime && *runtime == '/')
		snprintf(folder, size, "%s/gputrace", runtime);
	else
		snprintf(folder, size, "%s/gputrace-%u", temporary ? temporary : "/tmp",
		         (unsigned)geteuid());
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return gt_fail(err, errno, "cannot make the folder %s, for locks of GPUs: %s",
		               folder, gt_errno_text(errno));
	if (!is_ours(folder))
		return gt_fail(err, EACCES,
		               "%s is not a folder that this user alone writes to: no lock of a "
		               "GPU is made in it",
		               folder);
	return 0;
}

/* A UUID is letters, digits and dashes; whatever else the driver says cannot leave the folder. */
static void name_file(char *path, size_t size, const char *folder, const char *uuid)
{
	const size_t begin = (size_t)snprintf(path, size, "%s/", folder);

	snprintf(path + begin, size - begin, "%.64s.lock", *uuid ? uuid : "gpu");
	for (char *at = path + begin; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '-' && *at != '.')
			*at = '_';
}

/* Who holds it: the process wrote its number. */
static void say_who(int lock, const char *uuid)
{
	char text[32] = "";
	const ssize_t size = pread(lock, text, sizeof(text) - 1, 0);

	text[size > 0 ? strspn(text, "0123456789") : 0] = '\0';
	gt_say("waiting for process %s, which measures on %s", *text ? text : "of another gputrace",
	       *uuid ? uuid : "this GPU");
}

static int take(int lock, const char *uuid)
{
	if (flock(lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return -errno;
	say_who(lock, uuid);
	while (flock(lock, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int gt_gpu_lock(const char *uuid, struct gt_error *err)
{
	char folder[PATH_MAX - 128];
	char path[PATH_MAX];
	char text[32];
	int result = make_folder(folder, sizeof(folder), err);
	int lock;

	if (result < 0)
		return result;
	name_file(path, sizeof(path), folder, uuid);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	result = lock < 0 ? -errno : take(lock, uuid);
	if (result < 0) {
		if (lock >= 0)
			(void)close(lock);
		return gt_fail(err, -result, "cannot lock %s: %s", path, gt_errno_text(-result));
	}
	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (ftruncate(lock, 0) == 0)
		(void)gt_write_all(lock, text, strlen(text)); /* who waits is told so */
	return lock;
}

void gt_gpu_unlock(int lock)
{
	if (lock >= 0)
		(void)close(lock);
}
