/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/output/variable.h"

/* For file systems that cannot make a file without a name. */
static int open_and_unlink(const char *folder)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/gputrace-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

int gt_temporary_open(struct gt_error *err)
{
	const char *named = gt_variable("TMPDIR");
	const char *folder = named ? named : "/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = open_and_unlink(folder);
	if (fd < 0)
		return gt_fail(err, errno, "cannot make a temporary file in %s: %s", folder,
		               gt_errno_text(errno));
	return fd;
}
