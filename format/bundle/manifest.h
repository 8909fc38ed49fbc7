/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_BUNDLE_MANIFEST_H
#define GT_FORMAT_BUNDLE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

struct gt_bundle_writer;

/* The text of bundle.json: the writer collects it and appends it to the file. */

/* Bytes of it that are collected at most. */
#define GT_BUNDLE_TEXT ((size_t)1 << 16)

/* Writes all that is still collected: the manifest is complete. */
void gt_bundle_end_manifest(struct gt_bundle_writer *writer);

/* ---- the writer's own, which its manifest needs ---- */

/* Notes the first failure; returns it, negative. */
int gt_bundle_note(struct gt_bundle_writer *writer, int code);

/* Whether the folder is still behind its descriptor: the program may have closed it. */
bool gt_bundle_has_folder(struct gt_bundle_writer *writer);

#endif
