/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_FILE_COLUMNS_H
#define GT_FORMAT_FILE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

struct gt_record_info;

/*
 * Records as columns of varints: what is inside a chunk before compression. Per column: its
 * field number, its coding, the bytes it takes, the values (docs/capture-format.md).
 */

/* Bytes that count records of a kind take at most. */
#define GT_COLUMNS_BOUND(field_count, count)                                                       \
	((size_t)(field_count) * (GT_COLUMN_HEADER_SIZE + (size_t)(count)*10))
#define GT_COLUMN_HEADER_SIZE 6

/*
 * Encodes count records that lie size bytes apart at rows. The output must hold
 * GT_COLUMNS_BOUND. Returns the bytes written.
 */
size_t gt_columns_encode(const struct gt_record_info *info, const void *rows, size_t count,
                         uint8_t *out);

/*
 * Decodes count records into rows (count x info->size bytes). Fields that the bytes do not
 * have read as 0, columns that are not known are skipped. Returns 0 or -EBADMSG when the
 * bytes are not count records or count is above GT_CHUNK_MAX_RECORDS.
 */
int gt_columns_decode(const struct gt_record_info *info, const uint8_t *bytes, size_t size,
                      void *rows, size_t count);

#endif
