/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_GOLDEN_DIGEST_H
#define GT_TESTS_GOLDEN_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gt_result;
struct gt_section;
struct gt_table;
struct gt_trace;

/*
 * Text that is hashed while it is made: all that gputrace made of a recording. Numbers are added as
 * they are, reals with nine digits: the last bits of a double are the compiler's and the C
 * library's. Nothing is added that a machine, its time or its user could change.
 */
struct digest {
	uint64_t hash; /* 0: nothing was added */
	uint64_t rows;
	FILE *shown; /* where the text goes as well, NULL: nowhere */
};

void digest_add_bytes(struct digest *digest, const void *bytes, size_t size);
void digest_add_text(struct digest *digest, const char *text);

/* Tables without rows add nothing, so that one that is new leaves the others as they are. */
void digest_add_section(struct digest *digest, const struct gt_section *section);
void digest_add_table(struct digest *digest, const struct gt_trace *trace,
                      const struct gt_table *table);
void digest_add_series(struct digest *digest, const struct gt_trace *trace);

/* All that a result says besides its tables. */
void digest_add_remarks(struct digest *digest, const struct gt_result *result);
void digest_add_charts(struct digest *digest, const struct gt_result *result);

/* A file, without the version of gputrace that wrote it. */
void digest_add_file(struct digest *digest, const char *bytes, size_t size);

#endif
