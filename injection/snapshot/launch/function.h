/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_LAUNCH_FUNCTION_H
#define GT_INJECTION_SNAPSHOT_LAUNCH_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#include "format/bundle/bundle.h"
#include "injection/calls/launch.h"
#include "injection/driver/capture_driver.h"

struct gt_error;

/*
 * A launch that is captured: the function with what the driver says of it, and the parameters byte
 * by byte. Read at the entry of the call, on the thread that makes it.
 */

enum { GT_CAPTURE_PARAMETERS = 4096 }; /* of a function; the driver allows 32764 bytes */

/* The driver's facts about a function. */
struct gt_function_facts {
	int registers;
	int shared_bytes;
	int local_bytes;
	int constant_bytes;
	int max_threads;
	int max_dynamic_bytes;
	int carveout;
	int cluster[3];
	int cluster_other;
};

struct gt_captured_parameter {
	uint32_t offset;
	uint32_t size;
};

struct gt_captured_function {
	CUfunction handle; /* of the context, whatever the call named */
	CUmodule module;
	struct gt_function_facts facts;
	uint32_t parameter_count;
	struct gt_captured_parameter parameters[GT_CAPTURE_PARAMETERS];
	uint32_t block_bytes;
	uint8_t block[GT_BUNDLE_MOST_PARAMETERS + 4];
};

/*
 * Fails in a sentence: -EIO the driver does not tell, -E2BIG more parameters than there is room
 * for, -EINVAL the call gives none though the function has some.
 */
int gt_captured_function_read(struct gt_captured_function *function,
                              const struct gt_capture_driver *driver,
                              const struct gt_launch_shape *launch, struct gt_error *err);

#endif
