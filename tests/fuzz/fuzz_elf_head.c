/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cli/doctor/elf_head.h"

/* A program's file, whatever stands in it: what is said of its loader is a text. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_elf_head head;
	const int is_elf = gt_elf_head_parse(&head, data, size);

	must(memchr(head.loader, '\0', sizeof(head.loader)) != NULL);
	must(is_elf || !head.has_segments);
	must(head.has_segments || !head.is_dynamic);
	must(head.is_dynamic || !*head.loader);
	return 0;
}
