/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/recording/recording.h"
#include "format/recording.h"

#define MOST_OLDER 10000 /* NAME.old-1.gputrace, NAME.old-2.gputrace, ... */
#define MAKE_TRIES 100

static int exists(const char *folder, struct gt_error *err)
{
	return gt_fail(err, EEXIST,
	               "%s exists already; choose another name with --output or overwrite it with "
	               "--force",
	               folder);
}

static int no_hold(const char *folder, int result, struct gt_error *err)
{
	if (result == -EWOULDBLOCK)
		return gt_fail(err, EBUSY,
		               "%s is being recorded: another gputrace run, or a process that "
		               "starts to record, writes into it",
		               folder);
	if (result == -ENOTDIR)
		return gt_fail(err, ENOTDIR, "%s is not a recording: it is not replaced", folder);
	return gt_fail(err, -result, "cannot use %s: %s", folder, gt_errno_text(-result));
}

/*
 * Makes a folder and holds it. Somebody may replace the empty folder by theirs between the two:
 * theirs is held from the start, so that it cannot be held alone and taken for ours.
 */
static int make(const char *folder, int *fd, struct gt_error *err)
{
	int result = gt_recording_make(folder, err);

	if (result == -EEXIST)
		return exists(folder, err);
	if (result < 0)
		return result;
	*fd = gt_folder_hold(folder, GT_HOLD_ALONE);
	if (*fd >= 0 && flock(*fd, LOCK_SH | LOCK_NB) == 0)
		return 0;
	result = *fd < 0 ? *fd : -EWOULDBLOCK;
	gt_folder_leave(*fd);
	*fd = -1;
	if (result != -EWOULDBLOCK && result != -ENOENT)
		(void)rmdir(folder); /* locks do not work here: nobody else has one */
	return no_hold(folder, result, err);
}

/* The folder is held alone: refuses what is no recording, and one that processes write. */
static int check_replaceable(const char *folder, struct gt_error *err)
{
	const int result = gt_recording_check(folder, err);
	unsigned writers;

	if (result < 0)
		return result;
	writers = gt_recording_writers(folder);
	if (writers > 0)
		return gt_fail(err, EBUSY, "%s is being recorded: %u process%s write%s into it",
		               folder, writers, writers == 1 ? "" : "es", writers == 1 ? "s" : "");
	return 0;
}

/* An empty folder for the older recording, held; its path is the caller's. */
static int make_place(const char *folder, char **place, int *fd, struct gt_error *err)
{
	char *stem = gt_recording_stem(folder);
	int result = -EEXIST;

	for (unsigned i = 1; result == -EEXIST && i <= MOST_OLDER; i++) {
		char suffix[64];

		snprintf(suffix, sizeof(suffix), ".old-%u" GT_RECORDING_SUFFIX, i);
		*place = gt_recording_path(stem, suffix);
		result = make(*place, fd, err);
		if (result < 0) {
			free(*place);
			*place = NULL;
		}
	}
	free(stem);
	return result;
}

/*
 * The new, empty folder and the older one change names in one step. Where the file system cannot
 * do that (NFS), the older one goes into the empty folder's place and a new one is made; the
 * name may be taken in between, and then the older one is put back or stays where it is.
 */
static int change_places(struct gt_claim *claim, const char *place, struct gt_error *err)
{
	int result;

	if (renameat2(AT_FDCWD, place, AT_FDCWD, claim->folder, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS && errno != EXDEV)
		return gt_fail(err, errno, "cannot rename %s: %s", claim->folder,
		               gt_errno_text(errno));
	gt_folder_leave(claim->fd);
	claim->fd = -1;
	if (rename(claim->folder, place) < 0)
		return gt_fail(err, errno, "cannot rename %s: %s", claim->folder,
		               gt_errno_text(errno));
	result = make(claim->folder, &claim->fd, err);
	if (result < 0 && rename(place, claim->folder) < 0)
		return gt_fail(err, -result,
		               "cannot make %s; the recording that was there is now %s",
		               claim->folder, place);
	return result;
}

/* The folder is held alone, by older_fd, and may be replaced. */
static int put_aside(struct gt_claim *claim, struct gt_error *err)
{
	char *place = NULL;
	int result = make_place(claim->folder, &place, &claim->fd, err);

	if (result < 0)
		return result;
	result = change_places(claim, place, err);
	if (result < 0) {
		(void)rmdir(place); /* only ours, as only that is empty */
		gt_folder_leave(claim->fd);
		claim->fd = -1;
		free(place);
		return result;
	}
	claim->older = place;
	return 0;
}

static int replace(struct gt_claim *claim, struct gt_error *err)
{
	int result;

	claim->older_fd = gt_folder_hold(claim->folder, GT_HOLD_ALONE);
	if (claim->older_fd == -ENOENT)
		return -EAGAIN;
	if (claim->older_fd < 0)
		return no_hold(claim->folder, claim->older_fd, err);
	result = check_replaceable(claim->folder, err);
	if (result == 0)
		result = put_aside(claim, err);
	return result;
}

/* Programs are run by what lies in the folder, so that nobody else may put anything there. */
static int check_owner(const struct gt_claim *claim, struct gt_error *err)
{
	struct stat status;

	if (fstat(claim->fd, &status) < 0)
		return gt_fail(err, errno, "cannot use %s: %s", claim->folder,
		               gt_errno_text(errno));
	if (status.st_uid != geteuid())
		return gt_fail(err, EPERM,
		               "%s belongs to another user (%u): a run joins only recordings of "
		               "its own user",
		               claim->folder, (unsigned)status.st_uid);
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return gt_fail(err, EPERM,
		               "others may write into %s: say chmod go-w %s before a run joins it",
		               claim->folder, claim->folder);
	return 0;
}

/* Makes the folder or takes the one that is there, which is as good. */
static int join(struct gt_claim *claim, struct gt_error *err)
{
	const int made = gt_recording_make(claim->folder, err);
	int result;

	if (made < 0 && made != -EEXIST)
		return made;
	claim->was_there = made < 0;
	claim->fd = gt_folder_hold(claim->folder, GT_HOLD_SHARED);
	if (claim->fd == -ENOENT)
		return -EAGAIN;
	if (claim->fd < 0)
		return no_hold(claim->folder, claim->fd, err);
	result = check_owner(claim, err);
	return result < 0 ? result : gt_recording_check(claim->folder, err);
}

int gt_claim_make(struct gt_claim *claim, const char *folder, enum gt_claim_how how,
                  struct gt_error *err)
{
	int result = -EAGAIN;

	*claim = (struct gt_claim)GT_CLAIM_INIT;
	claim->folder = folder;
	/* The folder may be gone, and something else be there, at every next step. */
	for (int i = 0; result == -EAGAIN && i < MAKE_TRIES; i++) {
		result = how == GT_CLAIM_JOIN ? join(claim, err) : make(folder, &claim->fd, err);
		if (result == -EEXIST && how == GT_CLAIM_REPLACE)
			result = replace(claim, err);
	}
	if (result == -EAGAIN)
		result = no_hold(folder, -EWOULDBLOCK, err);
	if (result < 0)
		gt_claim_release(claim);
	return result;
}

/* The older recording is called older and held alone: nobody else can have begun to write it. */
int gt_claim_keep(struct gt_claim *claim, struct gt_error *err)
{
	int result;

	if (!claim->older)
		return 0;
	result = gt_recording_remove(claim->older, err);
	gt_folder_leave(claim->older_fd);
	claim->older_fd = -1;
	free(claim->older);
	claim->older = NULL;
	return result;
}

static bool hold_alone(const struct gt_claim *claim)
{
	return claim->fd >= 0 && flock(claim->fd, LOCK_EX | LOCK_NB) == 0;
}

/* A folder of the same name may by now be another one, made by somebody else. */
static bool put_back(struct gt_claim *claim)
{
	if (renameat2(AT_FDCWD, claim->older, AT_FDCWD, claim->folder, RENAME_NOREPLACE) < 0 &&
	    ((errno != EINVAL && errno != ENOSYS) || rename(claim->older, claim->folder) < 0))
		return false;
	free(claim->older);
	claim->older = NULL;
	return true;
}

int gt_claim_drop(struct gt_claim *claim, struct gt_error *err)
{
	const bool gone =
		!claim->was_there && hold_alone(claim) && gt_recording_discard(claim->folder);
	int result = 0;

	if (claim->older && !(gone && put_back(claim)))
		result = gt_fail(err, EEXIST, "the older recording %s is now called %s",
		                 claim->folder, claim->older);
	gt_claim_release(claim);
	return result;
}

bool gt_claim_is_last(struct gt_claim *claim)
{
	const bool last = hold_alone(claim);

	if (last) {
		(void)flock(claim->fd, LOCK_SH | LOCK_NB); /* others may join again */
	} else {
		gt_folder_leave(claim->fd);
		claim->fd = -1;
	}
	return last;
}

void gt_claim_release(struct gt_claim *claim)
{
	gt_folder_leave(claim->fd);
	gt_folder_leave(claim->older_fd);
	claim->fd = -1;
	claim->older_fd = -1;
	free(claim->older);
	claim->older = NULL;
}
