/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

void gt_host_name(char *host, size_t size)
{
	if (gethostname(host, size - 1) < 0)
		snprintf(host, size, "host");
	host[size - 1] = '\0';
	for (char *c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
			*c = '-';
}

uint64_t gt_host_stat_field(const char *stat, int wanted)
{
	const char *at = strrchr(stat, ')');

	for (int field = 2; at && field < wanted; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t gt_host_filters(void)
{
	static const char key[] = "\nSeccomp_filters:"; /* since Linux 5.9 */
	char text[3072];
	const char *at;
	ssize_t size;
	int fd;

	if (prctl(PR_GET_SECCOMP) <= 0)
		return 0;
	fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	at = strstr(text, key);
	return at ? strtoull(at + sizeof(key) - 1, NULL, 10) : 1;
}

int64_t gt_host_boottime(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
