/* SPDX-License-Identifier: Apache-2.0 */
#include "support/terminal.h"

#include <fcntl.h>
#include <stdlib.h>

#include "support/check.h"

FILE *open_terminal(void)
{
	const int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	cr_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	return fopen(ptsname(terminal), "w");
}
