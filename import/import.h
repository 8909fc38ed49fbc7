/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_IMPORT_H
#define GT_IMPORT_IMPORT_H

#include "import/builder.h"

struct gt_error;
struct gt_importer;
struct gt_watch;

/*
 * Makes captures of another profiler's file, by the first of import/formats.def that accepts it,
 * which *importer is then. watch: who wants to know how far it is, NULL: nobody. -EBADMSG: it is no
 * file of any of them; -ENODATA: it holds nothing; anything else as the system gave it.
 */
int gt_import(const char *path, const struct gt_capture_place *place, const struct gt_watch *watch,
              const struct gt_importer **importer, struct gt_import_counts *counts,
              struct gt_error *err);

#endif
