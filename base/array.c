/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *or_stop(void *memory)
{
	if (!memory) {
		fputs("gputrace: out of memory\n", stderr);
		_Exit(1);
	}
	return memory;
}

void *gt_allocate(size_t size)
{
	return or_stop(malloc(size ? size : 1));
}

void *gt_allocate_zeroed(size_t count, size_t size)
{
	return or_stop(calloc(count ? count : 1, size ? size : 1));
}

void *gt_array_grow(void *rows, size_t count, size_t *capacity, size_t row_size)
{
	if (count < *capacity)
		return rows;

	const size_t bigger = *capacity ? *capacity * 2 : 16;

	rows = or_stop(bigger > SIZE_MAX / row_size ? NULL : realloc(rows, bigger * row_size));
	*capacity = bigger;
	return rows;
}

void *gt_array_resize(void *rows, size_t count, size_t row_size)
{
	const size_t size = count * row_size;

	return or_stop(row_size && count > SIZE_MAX / row_size ? NULL
	                                                       : realloc(rows, size ? size : 1));
}

void gt_array_free(void *rows)
{
	free(rows);
}
