/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_FILE_META_H
#define GT_FORMAT_FILE_META_H

#include <stddef.h>

#include "format/file/writer.h"

/*
 * Facts about a process and its recording, as pairs of texts in META chunks. A later pair of
 * the same key holds. docs/capture-format.md lists the keys.
 */
#define GT_META_TOOL          "tool" /* version of gputrace */
#define GT_META_HOST          "host"
#define GT_META_BOOT_ID       "boot_id"
#define GT_META_KERNEL        "kernel"  /* release of the operating system's kernel */
#define GT_META_MACHINE       "machine" /* x86_64, aarch64, ... */
#define GT_META_CPUS          "cpus"    /* that are online */
#define GT_META_PID           "pid"
#define GT_META_PPID          "ppid"
#define GT_META_STARTED       "started_ticks" /* field 22 of /proc/PID/stat */
#define GT_META_PROGRAM       "program"       /* path of the executable */
#define GT_META_COMMAND       "command"       /* words, each ended by a zero byte */
#define GT_META_CUPTI_PATH    "cupti_path"
#define GT_META_CUPTI_VERSION "cupti_version"  /* cuptiGetVersion */
#define GT_META_DRIVER        "driver_version" /* cuDriverGetVersion, 13000 for 13.0 */
#define GT_META_SETTINGS      "settings"       /* NAME=value lines that differ from the default */
#define GT_META_ENVIRONMENT   "environment"    /* NAME=value lines of format/environment.h */
#define GT_META_API           "api"            /* none, light, outer or all */
#define GT_META_WRITTEN       "written"        /* counted: records of kind written say how many */
#define GT_META_END           "end" /* clean, died, dumped or imported; absent: none happened yet */

#define GT_META_DUMPED        "dumped_ns" /* CLOCK_BOOTTIME: what began later is there in part */

#define GT_META_COUNTED       "counted"

#define GT_META_END_CLEAN     "clean"
#define GT_META_END_DIED      "died"
#define GT_META_END_DUMPED    "dumped"   /* the process runs on: a dump of its recording */
#define GT_META_END_IMPORTED  "imported" /* made of another profiler's file */

/* Collects pairs in memory of the caller; what does not fit is left out. */
struct gt_meta {
	unsigned char *bytes;
	size_t capacity;
	size_t size;
	unsigned count;
};

void gt_meta_add(struct gt_meta *meta, const char *key, const char *value);
void gt_meta_add_bytes(struct gt_meta *meta, const char *key, const void *value, size_t size);
void gt_meta_add_number(struct gt_meta *meta, const char *key, unsigned long long value);

int gt_meta_write(struct gt_writer *writer, const struct gt_meta *meta);
int gt_meta_write_one(struct gt_writer *writer, const char *key, const char *value);

#endif
