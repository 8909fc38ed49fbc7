/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_TEXTS_H
#define GT_INJECTION_NVTX_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

/* A text of the program on its way behind a record: at most so many bytes of it. */
#define GT_NVTX_TEXT_MAX 16000

struct gt_nvtx_text {
	const char *narrow;  /* UTF-8 or whatever the program takes for a text, or */
	const wchar_t *wide; /* what becomes UTF-8; both NULL: none */
	uint32_t size;       /* bytes of UTF-8 */
	bool cut;            /* it was longer */
};

/* As much of a text that is longer as fits into so many bytes: whole characters. */
__attribute__((cold)) struct gt_nvtx_text gt_nvtx_cut(const char *text, uint32_t size);
struct gt_nvtx_text gt_nvtx_wide(const wchar_t *text);

/* Here, as each push of a range does it. */
static inline struct gt_nvtx_text gt_nvtx_narrow(const char *text)
{
	struct gt_nvtx_text result = {.narrow = text};

	if (!text)
		return result;
	result.size = (uint32_t)strnlen(text, GT_NVTX_TEXT_MAX + 1);
	return result.size > GT_NVTX_TEXT_MAX ? gt_nvtx_cut(text, GT_NVTX_TEXT_MAX) : result;
}

/* Writes its bytes, text->size of them. */
void gt_nvtx_copy_text(uint8_t *out, const struct gt_nvtx_text *text);

/* Puts it behind a record as gt_emit_text does; returns what its string field is to hold. */
uint32_t gt_nvtx_put_text(void *record, size_t record_bytes, const struct gt_nvtx_text *text);

#endif
