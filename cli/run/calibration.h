/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_CALIBRATION_H
#define GT_CLI_CALIBRATION_H

#include <stddef.h>

struct gt_error;

/*
 * Results of gputrace calibrate go along with recordings, as HOST-PID.calibration: those of the
 * GPUs of this machine which the kernel's driver names (/proc/driver/nvidia/gpus); where it names
 * none, as in some containers, all that the user has. Writes the file's name, "" for nothing
 * measured.
 */
int gt_calibration_add(const char *folder, char *name, size_t size, struct gt_error *err);

/* Removes that file. */
void gt_calibration_remove(const char *folder, const char *name);

#endif
