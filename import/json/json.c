/* SPDX-License-Identifier: Apache-2.0 */
#include "import/json/json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void gt_json_init(struct gt_json *json, struct gt_json_input input)
{
	*json = (struct gt_json){
		.input = input,
		.buffer = gt_allocate(GT_JSON_BUFFER),
		.text = gt_allocate(GT_JSON_MOST_TEXT + 8),
	};
	*json->text = '\0';
}

void gt_json_release(struct gt_json *json)
{
	free(json->buffer);
	free(json->text);
	*json = (struct gt_json){0};
}

static enum gt_json_token broken(struct gt_json *json, const char *problem)
{
	if (!json->problem)
		json->problem = problem;
	return GT_TOKEN_BROKEN;
}

/* The next byte, which stays; -1: there is none. */
static int peek(struct gt_json *json)
{
	int size;

	if (json->at < json->filled)
		return (unsigned char)json->buffer[json->at];
	json->offset += json->filled;
	json->at = json->filled = 0;
	size = json->problem ? -1
	                     : json->input.read(json->input.context, json->buffer, GT_JSON_BUFFER);
	if (size <= 0) {
		if (size < 0)
			(void)broken(json, "it cannot be read further");
		return -1;
	}
	json->filled = (unsigned)size;
	return (unsigned char)json->buffer[0];
}

static int take(struct gt_json *json)
{
	const int byte = peek(json);

	json->at += byte >= 0;
	return byte;
}

static int visible(struct gt_json *json)
{
	int byte = peek(json);

	while (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') {
		json->at++;
		byte = peek(json);
	}
	return byte;
}

uint64_t gt_json_offset(const struct gt_json *json)
{
	return json->offset + json->at;
}

/* ---- texts ---- */

static void put(struct gt_json *json, int byte)
{
	if (json->size < GT_JSON_MOST_TEXT)
		json->text[json->size++] = (char)byte;
}

/* As UTF-8; halves of pairs that stand alone are none. */
static void put_character(struct gt_json *json, uint32_t code)
{
	if (code == 0 || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	if (code < 0x80) {
		put(json, (int)code);
	} else if (code < 0x800) {
		put(json, (int)(0xc0 | code >> 6));
		put(json, (int)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		put(json, (int)(0xe0 | code >> 12));
		put(json, (int)(0x80 | (code >> 6 & 0x3f)));
		put(json, (int)(0x80 | (code & 0x3f)));
	} else {
		put(json, (int)(0xf0 | code >> 18));
		put(json, (int)(0x80 | (code >> 12 & 0x3f)));
		put(json, (int)(0x80 | (code >> 6 & 0x3f)));
		put(json, (int)(0x80 | (code & 0x3f)));
	}
}

/* Four digits; what is none ends them. */
static uint32_t take_hexadecimal(struct gt_json *json)
{
	uint32_t code = 0;

	for (int i = 0; i < 4 && peek(json) >= 0 && isxdigit(peek(json)); i++) {
		const int digit = tolower(take(json));

		code = code << 4 | (uint32_t)(isdigit(digit) ? digit - '0' : digit - 'a' + 10);
	}
	return code;
}

static void take_code(struct gt_json *json)
{
	uint32_t code = take_hexadecimal(json);

	if (code >= 0xd800 && code < 0xdc00 && peek(json) == '\\') {
		uint32_t low;

		json->at++;
		if (peek(json) != 'u') {
			put_character(json, 0xfffd);
			put(json, take(json));
			return;
		}
		json->at++;
		low = take_hexadecimal(json);
		code = low >= 0xdc00 && low < 0xe000
		               ? 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff))
		               : 0xfffd;
	}
	put_character(json, code);
}

static void take_escape(struct gt_json *json)
{
	static const char letters[] = "bfnrt";
	static const char meanings[] = "\b\f\n\r\t";
	const int byte = take(json);
	const char *letter = byte > 0 ? strchr(letters, byte) : NULL;

	if (byte == 'u')
		take_code(json);
	else if (letter)
		put(json, meanings[letter - letters]);
	else if (byte > 0)
		put(json, byte);
}

/* Behind its first quote. False: it has no end. */
static bool take_text(struct gt_json *json)
{
	json->size = 0;
	for (;;) {
		const int byte = take(json);

		if (byte < 0)
			return false;
		if (byte == '"')
			break;
		if (byte == '\\')
			take_escape(json);
		else
			put(json, byte ? byte : ' ');
	}
	/* No half of a character where it was cut. */
	while (json->size == GT_JSON_MOST_TEXT &&
	       ((unsigned char)json->text[json->size - 1] & 0xc0) == 0x80)
		json->size--;
	json->text[json->size] = '\0';
	return true;
}

static void take_word(struct gt_json *json)
{
	json->size = 0;
	for (int byte = peek(json); byte > 0 && (isalnum(byte) || strchr("+-._", byte));
	     byte = peek(json)) {
		put(json, byte);
		json->at++;
	}
	json->text[json->size] = '\0';
}

/* ---- structure ---- */

static bool in_object(const struct gt_json *json)
{
	return json->depth > 0 && json->objects >> (json->depth - 1) & 1;
}

static enum gt_json_token open_level(struct gt_json *json, bool object)
{
	if (json->depth == GT_JSON_MOST_DEPTH)
		return broken(json, "its values lie too deep in each other");
	json->at++;
	json->objects = (json->objects & ~((uint64_t)1 << json->depth)) | (uint64_t)object
	                                                                          << json->depth;
	json->depth++;
	json->has_value = json->has_key = false;
	return object ? GT_TOKEN_OBJECT : GT_TOKEN_ARRAY;
}

static enum gt_json_token close_level(struct gt_json *json, int byte)
{
	if (json->depth == 0 || in_object(json) != (byte == '}') || json->has_key)
		return broken(json, "it is no JSON from there on");
	json->at++;
	json->depth--;
	json->has_value = true;
	return byte == '}' ? GT_TOKEN_OBJECT_END : GT_TOKEN_ARRAY_END;
}

static enum gt_json_token read_key(struct gt_json *json)
{
	json->at++;
	if (!take_text(json))
		return broken(json, "it ends early");
	if (visible(json) != ':')
		return broken(json,
		              peek(json) < 0 ? "it ends early" : "it is no JSON from there on");
	json->at++;
	json->has_key = true;
	return GT_TOKEN_KEY;
}

static enum gt_json_token read_value(struct gt_json *json, int byte)
{
	enum gt_json_token token = GT_TOKEN_WORD;

	if (byte == '{' || byte == '[')
		return open_level(json, byte == '{');
	if (byte == '"') {
		json->at++;
		if (!take_text(json))
			return broken(json, "it ends early");
		token = GT_TOKEN_TEXT;
	} else {
		take_word(json);
		if (json->size == 0)
			return broken(json, "it is no JSON from there on");
		if (json->depth > 0 && peek(json) < 0)
			return broken(json, "it ends early");
		if (isdigit((unsigned char)*json->text) ||
		    (*json->text == '-' && isdigit((unsigned char)json->text[1])))
			token = GT_TOKEN_NUMBER;
	}
	json->has_key = false;
	json->has_value = true;
	return token;
}

enum gt_json_token gt_json_next(struct gt_json *json)
{
	int byte;

	if (json->problem)
		return GT_TOKEN_BROKEN;
	if (json->depth == 0 && json->has_value)
		return GT_TOKEN_END;
	byte = visible(json);
	if (byte == ',' && json->depth > 0 && json->has_value && !json->has_key) {
		json->at++;
		json->has_value = false;
		byte = visible(json);
	}
	if (byte < 0)
		return broken(json, json->offset + json->at > 0 ? "it ends early" : "it is empty");
	if (byte == '}' || byte == ']')
		return close_level(json, byte);
	if (json->depth > 0 && json->has_value && !json->has_key)
		return broken(json, "it is no JSON from there on");
	if (in_object(json) && !json->has_key)
		return byte == '"' ? read_key(json) : broken(json, "it is no JSON from there on");
	if (byte == '{' || byte == '[')
		json->has_key = false;
	return read_value(json, byte);
}

bool gt_json_skip(struct gt_json *json, enum gt_json_token first)
{
	const unsigned depth = json->depth;

	if (first != GT_TOKEN_OBJECT && first != GT_TOKEN_ARRAY)
		return first != GT_TOKEN_BROKEN;
	while (json->depth >= depth)
		if (gt_json_next(json) == GT_TOKEN_BROKEN)
			return false;
	return true;
}

enum gt_json_token gt_json_member(struct gt_json *json, char *key, size_t size)
{
	const enum gt_json_token token = gt_json_next(json);

	if (token != GT_TOKEN_KEY)
		return token;
	snprintf(key, size, "%s", json->text);
	return gt_json_next(json);
}
