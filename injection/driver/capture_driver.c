/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/driver/capture_driver.h"

#include <errno.h>
#include <stddef.h>

#include "base/error.h"
#include "injection/driver/driver_calls.h"

static const struct gt_driver_call calls[] = {
#define CALL(name, symbol, parameters) {symbol, offsetof(struct gt_capture_driver, name)},
#include "injection/driver/capture_calls.def"
};

int gt_capture_driver_open(struct gt_capture_driver *driver, struct gt_error *err)
{
	return gt_driver_calls_find(driver, calls, sizeof(calls) / sizeof(calls[0]),
	                            "no launches are captured", err);
}

int gt_capture_driver_check(const struct gt_capture_driver *driver, CUresult code, const char *what,
                            struct gt_error *err)
{
	const char *name = NULL;

	if (code == CUDA_SUCCESS)
		return 0;
	(void)driver->error_name(code, &name);
	return gt_fail(err, EIO, "%s: %s", what,
	               name ? name : "an error that the driver does not name");
}
