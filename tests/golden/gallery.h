/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_GOLDEN_GALLERY_H
#define GT_TESTS_GOLDEN_GALLERY_H

struct digests;

/*
 * Digests the recordings that a script of the gallery tells, in the lines of gallery/README.md.
 * They are made below the working directory.
 */
void digest_gallery(struct digests *digests, const char *folder, const char *name);

#endif
