/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_RECORDING_H
#define GT_FORMAT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_error;

/* Files of a recording folder: their names, and reading and writing them whole. */

#define GT_RECORDING_SUFFIX   ".gputrace"
#define GT_CAPTURE_SUFFIX     ".capture"
#define GT_ARENA_SUFFIX       ".arena"
#define GT_TRIMMED_SUFFIX     ".trimmed"     /* behind a capture's name: injection/output/trim.h */
#define GT_NOTES_SUFFIX       ".notes"       /* HOST-PID.notes: see collector/stages/notes.c */
#define GT_CALIBRATION_SUFFIX ".calibration" /* HOST-PID.calibration: collector/stages/ceilings.c */
#define GT_TOPOLOGY_SUFFIX    ".topology"    /* HOST.topology: see collector/stages/topology.c */
#define GT_KERNEL_LOG_SUFFIX  ".kernel-log"  /* HOST.kernel-log: see cli/run/machine/kernel_log.h */
#define GT_PYTHON_ARCHIVE     "python.zip"   /* during a run: see cli/run/python.h */
#define GT_MODULES_FOLDER     "modules"  /* in it, of kept modules, each by its content's hash */
#define GT_LAUNCHES_FOLDER    "launches" /* in it, of captured launches, a bundle each */
#define GT_CUBIN_SUFFIX       ".cubin"
#define GT_MANIFEST_STEM      "manifest."     /* of every run's manifest: manifest.2.json, ... */
#define GT_MANIFEST_NAME      "manifest.json" /* of the first run */

/*
 * Opens a file as openat() does, close-on-exec, but never waits and never touches what is no
 * regular file: opening a FIFO would wait for its other end, and a device may do something. The
 * descriptor, or negative: -EBADMSG with a sentence that says what it is instead of a file, others
 * as the system gave them.
 */
int gt_open_file(int folder, const char *path, int flags, struct gt_error *err);

/*
 * A descriptor out of the program's way, never 0 to 2, which it may have closed on purpose; the
 * one that was given is closed. Negative, with errno: there is none.
 */
int gt_move_up(int fd);

/*
 * Whether that would refuse the path for what it is: -EBADMSG and the same sentence; 0 for a
 * regular file, and for one that cannot be looked at.
 */
int gt_check_file(int folder, const char *path, struct gt_error *err);

/*
 * A file's bytes, read into memory of our own: whoever changes or cuts the file meanwhile changes
 * nothing here, and none of it is in the file when these change. Empty files have no bytes.
 */
struct gt_content {
	uint8_t *bytes;
	size_t size;
	size_t there;    /* bytes of it in pages that are not all zeros; no more than size */
	uint8_t *pages;  /* a bit for each page, in the same memory: such a page is set */
	size_t reserved; /* bytes of memory */
};

/*
 * Holes of the file, and whole pages of zeros, which a file system without holes makes of them,
 * take no memory. A file that is cut meanwhile gives what was still there.
 */
int gt_load_file(struct gt_content *content, const char *path, struct gt_error *err);
int gt_load_fd(struct gt_content *content, int fd, struct gt_error *err);
void gt_unload(struct gt_content *content);

/*
 * The next part of a content from *at on that is there: *at moves to where it begins, and where it
 * ends is returned. Both are the size when there is none.
 */
size_t gt_content_part(const struct gt_content *content, size_t *at);

/*
 * A hold on a recording's folder, by a descriptor that is given back with gt_folder_leave. It ends
 * with its process, whatever happens to that. Many share a folder to write into it; who holds it
 * alone, which no sharer and nobody else does at the same time, may move or remove it. Nobody
 * waits: at most half a second for holds that are short. Returns the descriptor, or
 * -EWOULDBLOCK: it is held otherwise; -ENOTDIR: no folder, or a link to one;
 * -ENOENT: there is none (any more); anything else as the system gave it.
 */
enum gt_hold { GT_HOLD_SHARED, GT_HOLD_ALONE };
int gt_folder_hold(const char *path, enum gt_hold hold);

/* Drops the hold, also that of a copy of the descriptor that a fork made, and closes it. */
void gt_folder_leave(int fd);

/*
 * Locks an open file, alone or with others who share it, without waiting; 0, or a negative errno
 * value. The kernel drops the lock with the last descriptor and mapping of this opening of the
 * file. A program's filter of system calls (seccomp) knows fcntl where it does not know flock.
 */
int gt_file_lock(int fd, enum gt_hold hold);

/* Writes all bytes, going on after interruptions. 0 or a negative errno value. */
int gt_write_all(int fd, const void *data, size_t size);

#endif
