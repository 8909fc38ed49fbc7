/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
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
