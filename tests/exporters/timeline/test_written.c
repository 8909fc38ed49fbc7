/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/timeline/written.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

/* A place for four bytes. */
static struct {
	char bytes[4];
	size_t count;
	unsigned asked;
} disk;

static int keep(void *context, const void *data, size_t size)
{
	(void)context;
	disk.asked++;
	if (size > sizeof(disk.bytes) - disk.count)
		return -ENOSPC;
	memcpy(disk.bytes + disk.count, data, size);
	disk.count += size;
	return 0;
}

static struct gt_written written;
static struct gt_error err;

static void begin(void)
{
	written = (struct gt_written){{keep, NULL}};
}

TestSuite(written, .init = begin);

Test(written, counts_what_was_taken)
{
	gt_written_add(&written, "ab", 2);
	gt_written_add(&written, "", 0);
	gt_written_add(&written, "c", 1);
	cr_expect(eq(u64, written.bytes, 3));
	cr_expect(eq(u32, disk.asked, 2), "nothing is not written");
	cr_expect(eq(int, gt_written_check(&written, &err), 0));
}

Test(written, is_over_after_the_first_failure)
{
	gt_written_add(&written, "abcde", 5);
	gt_written_add(&written, "f", 1);
	gt_written_fail(&written, EIO);
	cr_expect(eq(u32, disk.asked, 1));
	cr_expect(eq(int, gt_written_check(&written, &err), -ENOSPC));
	expect_text(err.text, "cannot write the trace: No space left on device");
}

Test(written, fails_with_what_somebody_else_says)
{
	gt_written_fail(&written, EIO);
	gt_written_add(&written, "a", 1);
	cr_expect(eq(u32, disk.asked, 0));
	cr_expect(eq(int, gt_written_check(&written, &err), -EIO));
}
