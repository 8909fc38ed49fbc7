/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int gt_fail(struct gt_error *err, int code, const char *fmt, ...)
{
	if (err) {
		va_list args;

		va_start(args, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, args);
		va_end(args);
		err->code = code;
	}
	return -code;
}

const char *gt_errno_text(int code)
{
	const char *text = strerrordesc_np(code);

	return text ? text : "unknown error";
}
