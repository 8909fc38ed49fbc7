/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DRIVER_DEVICE_DRIVER_H
#define GT_INJECTION_DRIVER_DEVICE_DRIVER_H

#include <cuda.h>

struct gt_error;

/*
 * The driver's functions that device events need (injection/driver/device_calls.def), found in the
 * libcuda that the process has loaded.
 */
struct gt_device_driver {
#define CALL(name, symbol, parameters) CUresult(*name) parameters;
#include "injection/driver/device_calls.def"
};

/* 0, or -ENOTSUP with a sentence where one of them is not there. Any thread. */
int gt_device_driver_open(struct gt_device_driver *driver, struct gt_error *err);

/* 0, or a negative errno value with a sentence on what failed: -ENOMEM, -EIO. */
int gt_device_driver_check(const struct gt_device_driver *driver, CUresult code, const char *what,
                           struct gt_error *err);

#endif
