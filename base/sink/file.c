/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sink/file.h"

#include <errno.h>

static int write_to_file(void *context, const void *data, size_t size)
{
	errno = 0;
	if (fwrite(data, 1, size, context) == size)
		return 0;
	return errno ? -errno : -EIO;
}

struct gt_sink gt_file_sink(FILE *file)
{
	return (struct gt_sink){write_to_file, file};
}
