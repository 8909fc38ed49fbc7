/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_KINETO_EVENT_H
#define GT_IMPORT_KINETO_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

struct gt_json;

/* An event of torch.profiler's JSON (pytorch/kineto, libkineto/src/output_json.cpp). */

/* A number that the event does not have. */
#define GT_KINETO_NONE INT64_MIN

enum { GT_KINETO_MOST_SIZES = 4096 };

struct gt_kineto_event {
	char phase; /* X: it has a duration; M: it names a process or thread; others */
	char category[48];
	char name[GT_TEXT_MAX + 1];
	char label[256]; /* args.name, of phase M */
	char sync[32];   /* args.cuda_sync_kind */
	int64_t start_ns;
	int64_t duration_ns;
	int64_t pid; /* of the process, or a device's ordinal */
	int64_t tid; /* of the thread, or a stream */
	int64_t grid[3];
	int64_t block[3];
	char sizes[GT_KINETO_MOST_SIZES]; /* of operands: "[[2, 3], []]" */
					  /* clang-format off */
#define MEMBER(name, key) int64_t name;
#include "import/kineto/members.def"
					  /* clang-format on */
};

/* Reads an object that was entered. False: the file is broken in it. */
bool gt_kineto_read_event(struct gt_json *json, struct gt_kineto_event *event);

#endif
