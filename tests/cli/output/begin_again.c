/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/replay/again.h"

/*
 * Says how often it began again, with which words and with what was left to it, until it does so no
 * more: of each other process one that only goes on.
 */
int main(int argc, char **argv)
{
	struct gt_error err = {0};
	char text[64];
	void *left = NULL;
	size_t size = 0;

	if (gt_take_left(&left, &size, &err) < 0) {
		printf("%s\n", err.text);
		return 1;
	}
	printf("%u", gt_begun_again());
	for (int i = 1; i < argc; i++)
		printf(" [%s]", argv[i]);
	printf(" %.*s\n", left ? (int)size : 7, left ? (const char *)left : "nothing");
	(void)fflush(stdout);
	snprintf(text, sizeof(text), "left by %u", gt_begun_again());
	if (size < strlen(text) + 1) {
		free(left);
		gt_go_on_elsewhere(text, strlen(text) + 1);
		return 1;
	}
	free(left);
	gt_begin_again(text, strlen(text));
	printf("end\n");
	return 0;
}
