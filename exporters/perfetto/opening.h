/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_OPENING_H
#define GT_EXPORTERS_PERFETTO_OPENING_H

#include <stdbool.h>

struct gt_perfetto;

/* How viewers are to open a trace, as a text that the trace itself carries. */
enum { GT_OPENING_BYTES = 256 }; /* of the text with its end */

/*
 * Reads the text that a Perfetto trace was written with (options->opening). It stands in the first
 * block of the file. False: the file is no trace of ours, or has none. The file may be anything.
 */
bool gt_perfetto_read_opening(int file, char text[GT_OPENING_BYTES]);

/* Puts it there. */
void gt_perfetto_write_opening(struct gt_perfetto *perfetto, const char *text);

#endif
