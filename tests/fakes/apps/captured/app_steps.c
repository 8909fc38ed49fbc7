/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/apps/captured/app_steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/apps/app_calls.h"

enum { MOST_IMAGE = 8 << 20 };

const char *how = "plain";
uint64_t steps = 1;
char image[MOST_IMAGE];

void app_read_image(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file || fread(image, 1, sizeof(image) - 1, file) == 0)
		app_fail(path, errno);
	(void)fclose(file);
}

void app_read_words(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--cubin") == 0)
			app_read_image(argv[i + 1]);
		else if (strcmp(argv[i], "--how") == 0)
			how = argv[i + 1];
		else if (strcmp(argv[i], "--steps") == 0)
			steps = strtoull(argv[i + 1], NULL, 10);
	}
}

int is(const char *wanted)
{
	return strcmp(how, wanted) == 0;
}
