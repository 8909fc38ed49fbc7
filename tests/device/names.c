/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the id of each of its arguments. */
#include <stdio.h>

#include "include/gputrace/gputrace.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("%u\n", gputrace_device_name_id(argv[i]));
	return 0;
}
