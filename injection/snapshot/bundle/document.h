/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_DOCUMENT_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_DOCUMENT_H

/*
 * The bundle's bundle.json: where and when it was captured, its code, memory, steps and pointers,
 * and what is missing.
 */

struct gt_launch_capture;

/* All that is captured is in capture then. */
void gt_capture_write_document(struct gt_launch_capture *capture);

#endif
