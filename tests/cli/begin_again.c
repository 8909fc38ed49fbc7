/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/replay/again.h"

/* Says how often it began again, and with which words, until it does so no more. */
int main(int argc, char **argv)
{
	printf("%u", gt_begun_again());
	for (int i = 1; i < argc; i++)
		printf(" [%s]", argv[i]);
	printf("\n");
	(void)fflush(stdout);
	gt_begin_again();
	printf("end\n");
	return 0;
}
