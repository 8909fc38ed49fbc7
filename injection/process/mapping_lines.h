/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_PROCESS_MAPPING_LINES_H
#define GT_INJECTION_PROCESS_MAPPING_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The mappings of the process as the kernel tells them, in the order of their addresses: no lock of
 * the loader's is needed. Any thread, with a buffer of its own.
 */
struct gt_mapping_line {
	uintptr_t start;
	uintptr_t end;
	bool is_code;
	bool is_writable;
	const char *path; /* "": it has none; valid during the call */
};

typedef void gt_use_mapping(void *context, const struct gt_mapping_line *line);

/* False: not all could be read. text: room for a line and more. */
bool gt_mapping_lines_each(char *text, size_t size, gt_use_mapping *use, void *context);

/* CUDA's libraries and ours: they pass a call on, and ask for nothing themselves. */
bool gt_is_passed_over(const char *path);

#endif
