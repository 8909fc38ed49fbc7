/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DECODE_CUT_H
#define GT_COLLECTOR_DECODE_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_capture;
struct gt_collection;
struct gt_kind;

/*
 * Takes rows out of the tables of the captures, before anything names them and before stage order
 * mixes them. stays() is asked about each row that a capture brought as a record of that number.
 * Returns how many went.
 */
size_t gt_cut_rows(struct gt_collection *collection,
                   bool (*stays)(const struct gt_capture *capture, uint32_t record,
                                 const struct gt_kind *kind, const uint8_t *row));

#endif
