/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/bytes.h"
#include "base/parse.h"
#include "format/cubin.h"
#include "replay/tune/variant.h"

#define INFO ".nv.info."

/* In .nv.info of a function; NVIDIA's tools call it EIATTR_REQNTID. */
enum { ATTRIBUTE_WANTED_THREADS = 0x10 };

enum { MOST_WORD = 1024 }; /* longer words of PTX are none that are looked for */

/* Takes x, y, z where a GPU could have such a block. */
static void take_block(uint32_t block[3], const uint32_t threads[3])
{
	for (int i = 0; i < 3; i++)
		if (threads[i] == 0 || threads[i] > 1024)
			return;
	memcpy(block, threads, 3 * sizeof(*block));
}

static void read_attributes(struct gt_variant_code *code, const struct gt_cubin_section *section)
{
	const uint8_t *at = section->bytes;
	uint64_t left = at ? section->size : 0;
	struct gt_cubin_attribute attribute;

	while (gt_cubin_attribute_next(&at, &left, &attribute)) {
		uint32_t threads[3];

		if (attribute.number != ATTRIBUTE_WANTED_THREADS || attribute.size < 12)
			continue;
		for (int i = 0; i < 3; i++)
			threads[i] = gt_get_u32(attribute.bytes + 4 * (size_t)i);
		take_block(code->block, threads);
	}
}

/* Whether a name of a file ends in .py there: it ends with a 0 in a cubin, with " in PTX. */
static bool names_python(const void *bytes, uint64_t size, char end)
{
	const char name[] = {'.', 'p', 'y', end};

	return bytes && memmem(bytes, size, name, sizeof(name));
}

static void read_cubin(struct gt_variant_code *code, const struct gt_cubin *cubin,
                       const char *function)
{
	bool python = false;
	bool found = false;

	for (uint32_t i = 0; i < cubin->section_count; i++) {
		struct gt_cubin_section section;

		if (!gt_cubin_section(cubin, i, &section))
			continue;
		if (strcmp(section.name, ".debug_line") == 0)
			python |= names_python(section.bytes, section.size, '\0');
		if (strncmp(section.name, INFO, sizeof(INFO) - 1) != 0 ||
		    strcmp(section.name + sizeof(INFO) - 1, function) != 0)
			continue;
		found = true;
		read_attributes(code, &section);
	}
	code->python = found && python && strncmp(function, "_Z", 2) != 0;
}

/* The rest of a text in PTX. */
struct ptx {
	const char *at;
	const char *end;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$' || c == '%';
}

/* Skips all in front of that text, and the text itself. */
static void skip_behind(struct ptx *ptx, const char *text)
{
	const char *found = memmem(ptx->at, (size_t)(ptx->end - ptx->at), text, strlen(text));

	ptx->at = found ? found + strlen(text) : ptx->end;
}

static bool begins(const struct ptx *ptx, const char *text)
{
	return (size_t)(ptx->end - ptx->at) >= strlen(text) &&
	       memcmp(ptx->at, text, strlen(text)) == 0;
}

static void skip_blanks(struct ptx *ptx)
{
	while (ptx->at < ptx->end) {
		if (begins(ptx, "//"))
			skip_behind(ptx, "\n");
		else if (begins(ptx, "/*"))
			skip_behind(ptx, "*/");
		else if (strchr(" \t\r\n", *ptx->at))
			ptx->at++;
		else
			return;
	}
}

/* A name, a number, or one other character; false: the text ends. */
static bool next_word(struct ptx *ptx, char word[MOST_WORD])
{
	size_t size = 0;

	skip_blanks(ptx);
	if (ptx->at >= ptx->end)
		return false;
	do {
		if (size < MOST_WORD - 1)
			word[size++] = *ptx->at;
		ptx->at++;
	} while (ptx->at < ptx->end && is_word(ptx->at[-1]) && is_word(*ptx->at));
	word[size] = '\0';
	return true;
}

/* ".reqntid 128", "128, 2" or "128, 2, 1"; what is not named is 1. */
static void read_wanted_threads(struct ptx *ptx, uint32_t block[3])
{
	uint32_t threads[3] = {1, 1, 1};
	char word[MOST_WORD];

	for (int i = 0; i < 3; i++) {
		struct ptx behind;
		uint64_t value;

		if (!next_word(ptx, word) || gt_parse_count(word, &value) < 0 || value > 1024)
			return;
		threads[i] = (uint32_t)value;
		behind = *ptx;
		if (!next_word(&behind, word) || strcmp(word, ",") != 0)
			break;
		*ptx = behind;
	}
	take_block(block, threads);
}

/* Reads what stands between an entry's name and its code. */
static void read_entry(struct ptx *ptx, struct gt_variant_code *code)
{
	char word[MOST_WORD];

	while (next_word(ptx, word) && strcmp(word, "{") != 0 && strcmp(word, ";") != 0)
		if (strcmp(word, ".reqntid") == 0)
			read_wanted_threads(ptx, code->block);
}

static void read_ptx(struct gt_variant_code *code, const char *text, size_t size,
                     const char *function)
{
	struct ptx ptx = {text, text + size};
	char word[MOST_WORD];

	while (next_word(&ptx, word)) {
		if (strcmp(word, ".entry") != 0)
			continue;
		if (!next_word(&ptx, word) || strcmp(word, function) != 0)
			continue;
		code->ptx = true;
		read_entry(&ptx, code);
	}
	code->python =
		code->ptx && strncmp(function, "_Z", 2) != 0 && names_python(text, size, '"');
}

void gt_variant_code_read(struct gt_variant_code *code, const void *image, size_t size,
                          const char *function)
{
	struct gt_cubin cubin;

	*code = (struct gt_variant_code){0};
	if (gt_cubin_open(&cubin, image, size, NULL) == 0)
		read_cubin(code, &cubin, function);
	else
		read_ptx(code, image, size, function);
}
