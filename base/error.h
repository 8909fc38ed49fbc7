/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_ERROR_H
#define GT_BASE_ERROR_H

/* Why an operation failed, as one sentence a user can act on. */
struct gt_error {
	int code; /* positive errno value; 0 while nothing has failed */
	char text[512];
};

/*
 * Notes the failure in err and returns -code, so that a function can end with
 * "return gt_fail(err, EBADMSG, ...)". err may be NULL.
 */
__attribute__((format(printf, 3, 4))) int gt_fail(struct gt_error *err, int code, const char *fmt,
                                                  ...);

/* The system's text for an errno value. Thread-safe; the text is never freed. */
const char *gt_errno_text(int code);

#endif
