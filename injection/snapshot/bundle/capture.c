/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/capture.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "injection/process/now.h"

/* The last of the names that an Itanium name is nested in, before its template arguments. */
static size_t short_name(const char *name, const char **begin)
{
	const char *at = name + 2;
	size_t length = 0;

	*begin = name;
	if (strncmp(name, "_Z", 2) != 0)
		return strlen(name);
	at += strspn(at, "NKVL");
	while (isdigit((unsigned char)*at)) {
		size_t size = 0;

		for (; isdigit((unsigned char)*at) && size < UINT16_MAX; at++)
			size = size * 10 + (size_t)(*at - '0');
		if (size == 0 || size > strlen(at))
			break;
		*begin = at;
		length = size;
		at += size;
	}
	return length ? length : strlen(name);
}

void gt_capture_folder(char *folder, size_t size, uint64_t number, const char *name)
{
	enum { MOST_NAME = 64 };
	const char *text;
	const size_t length = short_name(name, &text);
	int used = snprintf(folder, size, "%d-%" PRIu64 "-", (int)getpid(), number);

	for (size_t i = 0; i < length && i < MOST_NAME && (size_t)used + 1 < size; i++)
		folder[used++] = isalnum((unsigned char)text[i]) || text[i] == '_' ? text[i] : '_';
	folder[used] = '\0';
}

void gt_capture_get_on(const struct gt_launch_capture *capture)
{
	atomic_store_explicit(capture->alive_ns, gt_now(), memory_order_relaxed);
}

int gt_capture_check_wanted(const struct gt_launch_capture *capture, struct gt_error *err)
{
	if (atomic_load_explicit(capture->abandoned, memory_order_relaxed))
		return gt_fail(err, ECANCELED, "it took too long");
	return 0;
}

int gt_capture_wait_for_device(const struct gt_launch_capture *capture, const char *when,
                               struct gt_error *err)
{
	gt_capture_get_on(capture);
	return gt_capture_driver_check(capture->driver, capture->driver->context_wait(), when, err);
}

int gt_capture_device_attribute(const struct gt_launch_capture *capture,
                                CUdevice_attribute attribute)
{
	int value = 0;

	(void)capture->driver->device_attribute(&value, attribute, capture->device);
	return value;
}
