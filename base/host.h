/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_HOST_H
#define GT_BASE_HOST_H

#include <stddef.h>
#include <stdint.h>

/*
 * The host's name as files are called after it: with everything but letters, digits, '-', '_' and
 * '.' made '-', and "host" when it cannot be told. size is 2 at least; HOST_NAME_MAX + 1 holds any.
 */
void gt_host_name(char *host, size_t size);

/*
 * A numeric field of the text of /proc/PID/stat, by its number in proc(5), from 3 on: they stand
 * behind the name of the program, which may hold blanks. 0 when there is no such field.
 */
uint64_t gt_host_stat_field(const char *stat, int wanted);

/* How many filters of system calls (seccomp) the calling thread has; 1 where nobody counts them. */
uint64_t gt_host_filters(void);

/* Nanoseconds of CLOCK_BOOTTIME, the common timeline of what the host records. */
int64_t gt_host_boottime(void);

#endif
