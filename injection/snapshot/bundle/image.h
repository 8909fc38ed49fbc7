/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_IMAGE_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_IMAGE_H

/*
 * The image of the module that a launch's function is of, among the files that the recording keeps
 * (kept_modules.h).
 */

struct gt_error;
struct gt_launch_capture;

/* Maps it, as capture->image; fails where the recording has none with that function. */
int gt_capture_find_image(struct gt_launch_capture *capture, struct gt_error *err);
void gt_capture_close_image(struct gt_launch_capture *capture);

#endif
