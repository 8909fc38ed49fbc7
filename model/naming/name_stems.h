/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_NAME_STEMS_H
#define GT_MODEL_NAMING_NAME_STEMS_H

#include "model/naming/name_parts.h"

/*
 * The part of a functor's name, or of a function's that holds a lambda, that is its own, without
 * what all names of its sort have: by the endings and beginnings of short_names.def.
 */
struct gt_name_part gt_name_stem(const struct gt_name *name, struct gt_name_part base);

#endif
