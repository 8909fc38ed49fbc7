/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_MISSING_H
#define GT_COLLECTOR_MISSING_H

struct gt_capture;
struct gt_collection;

/*
 * Compares what a process counted with the records that were found in its capture, kind by kind.
 * Each kind of which records are missing gets a row in the ledger and a note. Also tells of a
 * capture that ought to have such counts and has none.
 */
void gt_missing_add(struct gt_collection *collection, const struct gt_capture *capture);

#endif
