/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/output/variable.h"

#define LIBRARY "libgputrace-injection.so"

/* bin/../lib/LIBRARY as lib/LIBRARY: what a user reads and can look for. */
static int beside_executable(char *path, size_t size)
{
	char self[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return -errno;
	self[length] = '\0';
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(self, '/');

		if (slash)
			*slash = '\0';
	}
	return snprintf(path, size, "%s/lib/" LIBRARY, self) < (int)size ? 0 : -ENAMETOOLONG;
}

int gt_library_find(char **path, struct gt_error *err)
{
	const char *named = gt_variable("GPUTRACE_INJECTION");
	char beside[PATH_MAX];

	if (named) {
		*path = realpath(named, NULL);
		return *path ? 0
		             : gt_fail(err, errno, "cannot use GPUTRACE_INJECTION=%s: %s", named,
		                       gt_errno_text(errno));
	}
	if (beside_executable(beside, sizeof(beside)) < 0)
		return gt_fail(err, ENOENT,
		               "cannot find " LIBRARY "; name it with GPUTRACE_INJECTION");
	*path = realpath(beside, NULL);
	return *path ? 0
	             : gt_fail(err, errno,
	                       "cannot record without gputrace's library, and %s cannot be used: %s; "
	                       "a build without the CUDA toolkit has none, an installation has it "
	                       "there, GPUTRACE_INJECTION can name another",
	                       beside, gt_errno_text(errno));
}
