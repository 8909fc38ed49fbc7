/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/one_capture.h"

#include <string.h>

#include "format/file/chunk.h"
#include "fuzz/recipe.h"
#include "support/recording.h"

bool is_one_capture(const uint8_t *data, size_t size)
{
	return size >= GT_FILE_HEADER_SIZE && memcmp(data, GT_FILE_MAGIC, 8) == 0;
}

void record_one_capture(struct recording *recording, const uint8_t *data, size_t size)
{
	recording_begin(recording, "node-1-1");
	if (is_one_capture(data, size)) {
		recording->capture.size = 0;
		capture_add_bytes(&recording->capture, data, size);
		recording_end(recording, false);
	} else {
		recording_add_basics(recording, 1);
		add_recipe(&recording->capture, data, size);
		recording_end(recording, size % 2);
	}
	/* The same as what is said of a machine, which has some of the records alone. */
	recording_add_file(recording, "node.topology", recording->capture.bytes,
	                   recording->capture.size);
}
