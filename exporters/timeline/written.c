/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/timeline/written.h"

#include "base/error.h"

void gt_written_add(struct gt_written *written, const void *bytes, size_t size)
{
	int result;

	if (written->error || size == 0)
		return;
	result = written->sink.write(written->sink.context, bytes, size);
	if (result < 0)
		written->error = -result;
	written->bytes += size;
}

void gt_written_fail(struct gt_written *written, int code)
{
	if (!written->error)
		written->error = code;
}

int gt_written_check(const struct gt_written *written, struct gt_error *err)
{
	if (!written->error)
		return 0;
	return gt_fail(err, written->error, "cannot write the trace: %s",
	               gt_errno_text(written->error));
}
