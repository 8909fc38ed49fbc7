/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/nvtx/payload_types.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "collector/nvtx/payloads.h"

void gt_payload_add(struct gt_payload_text *out, const char *format, ...)
{
	const size_t left = GT_PAYLOAD_TEXT_MAX - out->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(out->text + out->used, left, format, arguments);
	va_end(arguments);
	if (length > 0)
		out->used += (size_t)length < left ? (size_t)length : left - 1;
}

void gt_payload_add_text(struct gt_payload_text *out, const char *text)
{
	gt_payload_add(out, "\"");
	while (*text) {
		const size_t size = gt_utf8_size(text);

		if (size == 0)
			gt_payload_add(out, GT_UTF8_REPLACEMENT);
		else if (size == 1 &&
		         ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\'))
			gt_payload_add(out, "\\u%04x", (unsigned char)*text);
		else
			gt_payload_add(out, "%.*s", (int)size, text);
		text += size ? size : 1;
	}
	gt_payload_add(out, "\"");
}

void gt_payload_add_digits(struct gt_payload_text *out, const uint8_t *bytes, size_t size)
{
	gt_payload_add(out, "\"0x");
	for (size_t i = 0; i < size && out->used + 8 < GT_PAYLOAD_TEXT_MAX; i++)
		gt_payload_add(out, "%02x", bytes[i]);
	gt_payload_add(out, "\"");
}

size_t gt_payload_bytes_of_type(uint64_t type)
{
	static const uint8_t bytes[] = {
		0, 1, 1, 2, 2, 4, 4,  8,  8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8,  4, 8, 16, 8, 8, 4, 1, 2,
		4, 0, 0, 0, 0, 1, 16, 16, 0, 0, 0, 0, 0, 0, 0, 2, 4, 8, 16, 0, 0, 0,  0, 2, 0, 4,
	};

	if (type < sizeof(bytes))
		return bytes[type];
	if (type == GT_PAYLOAD_TYPE_CATEGORY || type == GT_PAYLOAD_TYPE_COLOR ||
	    type == GT_PAYLOAD_TYPE_PID32 || type == GT_PAYLOAD_TYPE_TID32)
		return 4;
	return (type >= GT_PAYLOAD_TYPE_SCOPE && type <= GT_PAYLOAD_TYPE_TEXT_UTF8 + 2) ||
	                       type == GT_PAYLOAD_TYPE_REGISTERED
	               ? 8
	               : 0;
}

bool gt_payload_is_text(uint64_t type)
{
	return type == GT_PAYLOAD_TYPE_TEXT || type == GT_PAYLOAD_TYPE_TEXT_UTF8;
}

uint64_t gt_payload_whole_at(const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = bytes < sizeof(value) ? bytes : sizeof(value); i-- > 0;)
		value = value << 8 | at[i];
	return value;
}

static int64_t signed_at(const uint8_t *at, size_t bytes)
{
	const uint64_t value = gt_payload_whole_at(at, bytes);
	const unsigned shift = bytes < sizeof(value) ? 64 - 8 * (unsigned)bytes : 0;

	return (int64_t)(value << shift) >> shift;
}

static void add_real(struct gt_payload_text *out, double value)
{
	if (isfinite(value))
		gt_payload_add(out, "%.17g", value);
	else
		gt_payload_add(out, "\"%f\"", value); /* JSON has no such numbers */
}

void gt_payload_add_scalar(struct gt_payload_text *out, uint64_t type, const uint8_t *at,
                           size_t bytes)
{
	float narrow;
	double real;

	switch (type) {
	case GT_PAYLOAD_TYPE_SHORT:
	case GT_PAYLOAD_TYPE_INT:
	case GT_PAYLOAD_TYPE_LONG:
	case GT_PAYLOAD_TYPE_LONGLONG:
	case GT_PAYLOAD_TYPE_INT8:
	case GT_PAYLOAD_TYPE_INT16:
	case GT_PAYLOAD_TYPE_INT32:
	case GT_PAYLOAD_TYPE_INT64:
		gt_payload_add(out, "%" PRId64, signed_at(at, bytes));
		break;
	case GT_PAYLOAD_TYPE_FLOAT:
	case GT_PAYLOAD_TYPE_FLOAT32:
		memcpy(&narrow, at, sizeof(narrow));
		add_real(out, (double)narrow);
		break;
	case GT_PAYLOAD_TYPE_DOUBLE:
	case GT_PAYLOAD_TYPE_FLOAT64:
		memcpy(&real, at, sizeof(real));
		add_real(out, real);
		break;
	case GT_PAYLOAD_TYPE_ADDRESS:
		gt_payload_add(out, "\"0x%" PRIx64 "\"", gt_payload_whole_at(at, bytes));
		break;
	case GT_PAYLOAD_TYPE_CHAR:
	case GT_PAYLOAD_TYPE_CHAR8:
		if (*at >= 0x20 && *at < 0x7f)
			gt_payload_add_text(out, (const char[]){(char)*at, '\0'});
		else
			gt_payload_add(out, "%u", *at);
		break;
	default: /* what is no number of at most 64 bits is shown as it is */
		if (bytes <= sizeof(uint64_t) &&
		    (type < GT_PAYLOAD_TYPE_BYTE || type >= GT_PAYLOAD_TYPE_CATEGORY))
			gt_payload_add(out, "%" PRIu64, gt_payload_whole_at(at, bytes));
		else
			gt_payload_add_digits(out, at, bytes);
		break;
	}
}
