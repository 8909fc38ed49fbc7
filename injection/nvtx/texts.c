/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/texts.h"

#include <string.h>

#include "injection/session/emit.h"

#define MOST_CHARACTER 0x10ffffu
#define REPLACEMENT    0xfffdu /* for what is no character: RFC 3629 has no surrogates */

/* Whether a byte is not the first of its character. */
static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

struct gt_nvtx_text gt_nvtx_cut(const char *text, uint32_t size)
{
	struct gt_nvtx_text result = {.narrow = text, .size = size, .cut = true};

	for (; result.size > 0 && continues(text[result.size]); result.size--)
		;
	return result;
}

static uint32_t character_of(wchar_t wide)
{
	const uint32_t character = (uint32_t)wide;

	if (character > MOST_CHARACTER || (character >= 0xd800 && character <= 0xdfff))
		return REPLACEMENT;
	return character;
}

static uint32_t bytes_of(uint32_t character)
{
	if (character < 0x80)
		return 1;
	if (character < 0x800)
		return 2;
	return character < 0x10000 ? 3 : 4;
}

struct gt_nvtx_text gt_nvtx_wide(const wchar_t *text)
{
	struct gt_nvtx_text result = {.wide = text};

	for (; text && *text; text++) {
		const uint32_t bytes = bytes_of(character_of(*text));

		result.cut = result.size + bytes > GT_NVTX_TEXT_MAX;
		if (result.cut)
			break;
		result.size += bytes;
	}
	return result;
}

static uint8_t *put_character(uint8_t *out, uint32_t character)
{
	static const uint8_t firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};
	const uint32_t bytes = bytes_of(character);

	for (uint32_t i = bytes - 1; i > 0; i--) {
		out[i] = (uint8_t)(0x80 | (character & 0x3f));
		character >>= 6;
	}
	out[0] = (uint8_t)(firsts[bytes] | character);
	return out + bytes;
}

void gt_nvtx_copy_text(uint8_t *out, const struct gt_nvtx_text *text)
{
	const uint8_t *end = out + text->size;

	if (text->narrow)
		memcpy(out, text->narrow, text->size);
	for (const wchar_t *at = text->wide; at && out < end; at++)
		out = put_character(out, character_of(*at));
}

uint32_t gt_nvtx_put_text(void *record, size_t record_bytes, const struct gt_nvtx_text *text)
{
	const uint16_t size = (uint16_t)text->size;
	uint8_t *out = (uint8_t *)record + record_bytes;

	if (size == 0)
		return 0;
	memcpy(out, &size, sizeof(size));
	gt_nvtx_copy_text(out + sizeof(size), text);
	return GT_TEXT_BEHIND | (uint32_t)record_bytes;
}
