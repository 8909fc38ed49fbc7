/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/file/chunk.h"
#include "fuzz/one_capture.h"
#include "hostile/everything.h"
#include "hostile/mutate.h"
#include "support/recording.h"

/*
 * All of gputrace on a recording of one capture: collected, every report, every export.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static struct recording recording;

static void remove_recording(void)
{
	recording_release(&recording);
}

#ifdef GT_FUZZ
/* Chunks are changed inside, and get their checksums again. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	struct gt_reader reader;
	struct capture capture;
	uint64_t state = seed;
	size_t made = 0;

	if (!is_one_capture(data, size) || capture_read(&reader, data, size, NULL) < 0)
		return LLVMFuzzerMutate(data, size, most);
	capture_begin(&capture, CAPTURE_UNLIMITED);
	mutate_capture(&capture, data, size, &state);
	if (capture.size <= most) {
		memcpy(data, capture.bytes, capture.size);
		made = capture.size;
	}
	capture_release(&capture);
	return made ? made : LLVMFuzzerMutate(data, size, most);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*recording.path) {
		recording_init(&recording);
		(void)atexit(remove_recording);
	}
	record_one_capture(&recording, data, size);
	(void)read_everything(recording.path);
	return 0;
}
