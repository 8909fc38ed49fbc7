/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RECORDING_OF_PROCESS_H
#define GT_CLI_RECORDING_OF_PROCESS_H

#include <stdbool.h>

struct gt_error;

/* Whether a word is a process id rather than the name of a recording. */
bool gt_recording_is_pid(const char *word);

/*
 * The folder of the recording that a running process writes, or one that it started: by the arena
 * in its memory map, which is read and nothing else. The caller frees *path. Fails with -ESRCH when
 * there is no such process, -EACCES when it is somebody else's, -ENODATA when it is not recorded.
 */
int gt_recording_of_process(const char *pid, char **path, struct gt_error *err);

/*
 * The folder of the recording that a word of a command means: one that is named, or that a process
 * of this id writes; NULL: the one that would be read. The caller frees *folder. Fails too where it
 * is a file.
 */
int gt_recording_being_written(const char *word, char **folder, struct gt_error *err);

#endif
