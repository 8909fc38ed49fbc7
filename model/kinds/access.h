/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_KINDS_ACCESS_H
#define GT_MODEL_KINDS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Values of the column "kind" of accesses; the numbers are those of captures. */
enum gt_access_kind {
#define ACCESS_KIND(name, number, words, writes) GT_ACCESS_##name = (number),
#include "format/kinds/access.def"
};

/* Whether the memory is written; false for a number that is no kind. */
bool gt_access_writes(uint32_t kind);

#endif
