/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPORT_SCHEMA_H
#define GT_CLI_REPORT_SCHEMA_H

#include <stdio.h>

#include "cli/render/show.h"

struct gt_answers;
struct gt_error;

/*
 * Writes the JSON Schema (draft 2020-12) of what --json has of these reports: each table with its
 * columns, their types, units and meaning, from the headings themselves (docs/json.md).
 */
int gt_report_schema(const struct gt_show_args *args, const struct gt_answers *answers,
                     struct gt_error *err);

#endif
