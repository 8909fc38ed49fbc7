/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DRIVER_CAPTURE_DRIVER_H
#define GT_INJECTION_DRIVER_CAPTURE_DRIVER_H

#include <cuda.h>

struct gt_error;

/*
 * The driver's functions that capturing launches needs (injection/driver/capture_calls.def), found
 * in the libcuda that the process has loaded.
 */
struct gt_capture_driver {
#define CALL(name, symbol, parameters) CUresult(*name) parameters;
#include "injection/driver/capture_calls.def"
};

/* 0, or -ENOTSUP with a sentence where one of them is not there. Any thread. */
int gt_capture_driver_open(struct gt_capture_driver *driver, struct gt_error *err);

/* 0, or -EIO with a sentence: what, and what the driver calls the error. */
int gt_capture_driver_check(const struct gt_capture_driver *driver, CUresult code, const char *what,
                            struct gt_error *err);

#endif
