/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_TUNE_TUNED_H
#define GT_REPLAY_TUNE_TUNED_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct gt_error;

/*
 * Results of tuning, kept from run to run: for each function, size and device the best and the last
 * results. The file is JSON that anybody may have changed.
 */

#define GT_TUNED_VERSION   1
#define GT_TUNED_MOST_SIZE (4 << 20) /* of a file, in bytes */

enum {
	GT_TUNED_KEPT = 10,  /* results of one function, size and device */
	GT_TUNED_MOST = 300, /* functions, sizes and devices */
	GT_TUNED_SIZE = 96,  /* bytes of the text of a size */
};

/* One search. */
struct gt_tuned_result {
	char variant[256];  /* gt_variant_describe */
	char date[40];      /* RFC 3339, UTC */
	double ns;          /* median of the best that was verified */
	double recorded_ns; /* of the launch as recorded; NAN: not measured */
};

struct gt_tuned {
	char function[512];       /* mangled; what is longer is cut */
	char size[GT_TUNED_SIZE]; /* gt_tuned_size */
	char device[96];          /* product name */
	struct gt_tuned_result best;
	gt_array(struct gt_tuned_result) last; /* GT_TUNED_KEPT at most, oldest first */
};

struct gt_tuned_list {
	gt_array(struct gt_tuned) list; /* by when a result was last added */
};

/* Size of a launch's work, as far as its shape shows: "1048576x1x1 threads". */
void gt_tuned_size(const uint32_t grid[3], const uint32_t block[3], char text[GT_TUNED_SIZE]);

/* Until the list changes. NULL: nothing was kept of that function, size and device. */
const struct gt_tuned *gt_tuned_find(const struct gt_tuned_list *list, const char *function,
                                     const char *size, const char *device);

/*
 * Adds one result. The best is the one of the least time among all that were ever added of that
 * function, size and device; what is too much is forgotten, the oldest first.
 */
void gt_tuned_add(struct gt_tuned_list *list, const char *function, const char *size,
                  const char *device, const struct gt_tuned_result *result);

/* -EBADMSG for what is no such file, in a sentence that calls it what; the list is then empty. */
int gt_tuned_parse(struct gt_tuned_list *list, const char *text, size_t size, const char *what,
                   struct gt_error *err);

/* The text of a file. The caller frees it. */
char *gt_tuned_text(const struct gt_tuned_list *list);

void gt_tuned_release(struct gt_tuned_list *list);

#endif
