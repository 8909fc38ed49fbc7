/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_ACCESS_H
#define GT_MODEL_ACCESS_H

/* What the column "kind" of accesses says; the numbers are those of captures. */
enum gt_access_kind {
#define ACCESS_KIND(name, number, words, writes) GT_ACCESS_##name = (number),
#include "format/access_kinds.def"
};

#endif
