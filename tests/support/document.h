/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_DOCUMENT_H
#define GT_TESTS_SUPPORT_DOCUMENT_H

/*
 * Parts of docs/ that are made from lists of the code. The target "documents", which
 * `scripts/check fix` builds, runs their tests with GT_WRITE_DOCUMENTS in the environment.
 */

/* The whole of docs/<name>; the caller frees it. */
char *document_read(const char *name);

/*
 * The text stands in docs/<name> between the lines <!-- part --> and <!-- end -->; with
 * GT_WRITE_DOCUMENTS it is put there instead of being looked for.
 */
void expect_document(const char *name, const char *part, const char *text);

#endif
