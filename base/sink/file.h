/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_SINK_FILE_H
#define GT_BASE_SINK_FILE_H

#include <stdio.h>

#include "base/sink/sink.h"

/* Writes to a file of the caller's, who flushes and closes it. For programs only. */
struct gt_sink gt_file_sink(FILE *file);

#endif
