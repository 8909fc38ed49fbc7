/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_NVTX_PAYLOAD_TYPES_H
#define GT_COLLECTOR_NVTX_PAYLOAD_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of NVTX's payloads, and values of them as JSON. */

/* Numbers of nvToolsExtPayload.h, of NVTX 3.2. In files. */
enum {
	GT_PAYLOAD_FLAG_POINTER = 2,
	GT_PAYLOAD_FLAG_ARRAYS = 7 << 4,
	GT_PAYLOAD_FLAG_ARRAY_FIXED = 1 << 4,
	GT_PAYLOAD_FLAG_ARRAY_ZERO = 2 << 4,
	GT_PAYLOAD_FLAG_ARRAY_LENGTH = 3 << 4,
	GT_PAYLOAD_FLAG_MESSAGE = 1 << 10,
	GT_PAYLOAD_TYPE_CHAR = 1,
	GT_PAYLOAD_TYPE_UCHAR,
	GT_PAYLOAD_TYPE_SHORT,
	GT_PAYLOAD_TYPE_USHORT,
	GT_PAYLOAD_TYPE_INT,
	GT_PAYLOAD_TYPE_UINT,
	GT_PAYLOAD_TYPE_LONG,
	GT_PAYLOAD_TYPE_ULONG,
	GT_PAYLOAD_TYPE_LONGLONG,
	GT_PAYLOAD_TYPE_ULONGLONG,
	GT_PAYLOAD_TYPE_INT8,
	GT_PAYLOAD_TYPE_UINT8,
	GT_PAYLOAD_TYPE_INT16,
	GT_PAYLOAD_TYPE_UINT16,
	GT_PAYLOAD_TYPE_INT32,
	GT_PAYLOAD_TYPE_UINT32,
	GT_PAYLOAD_TYPE_INT64,
	GT_PAYLOAD_TYPE_UINT64,
	GT_PAYLOAD_TYPE_FLOAT,
	GT_PAYLOAD_TYPE_DOUBLE,
	GT_PAYLOAD_TYPE_LONGDOUBLE,
	GT_PAYLOAD_TYPE_SIZE,
	GT_PAYLOAD_TYPE_ADDRESS,
	GT_PAYLOAD_TYPE_WCHAR,
	GT_PAYLOAD_TYPE_CHAR8,
	GT_PAYLOAD_TYPE_CHAR16,
	GT_PAYLOAD_TYPE_CHAR32,
	GT_PAYLOAD_TYPE_BYTE = 32,
	GT_PAYLOAD_TYPE_FLOAT32 = 43,
	GT_PAYLOAD_TYPE_FLOAT64 = 44,
	GT_PAYLOAD_TYPE_CATEGORY = 68,
	GT_PAYLOAD_TYPE_COLOR = 69,
	GT_PAYLOAD_TYPE_SCOPE = 70,
	GT_PAYLOAD_TYPE_PID32 = 71,
	GT_PAYLOAD_TYPE_PID64 = 72,
	GT_PAYLOAD_TYPE_TID32 = 73,
	GT_PAYLOAD_TYPE_TID64 = 74,
	GT_PAYLOAD_TYPE_TEXT = 75,
	GT_PAYLOAD_TYPE_TEXT_UTF8 = 76,
	GT_PAYLOAD_TYPE_REGISTERED = 80,
	GT_PAYLOAD_TYPE_SELECTOR = 100, /* of the union that it is in */
	GT_PAYLOAD_SCHEMA_UNION = 3,
	GT_PAYLOAD_SCHEMA_UNION_INTERNAL = 4,
};

/* JSON in the making, which may come to its end at any letter. */
struct gt_payload_text {
	char *text;
	size_t used;
};

/* Adds to the text, as far as there is room. */
__attribute__((format(printf, 2, 3))) void gt_payload_add(struct gt_payload_text *out,
                                                          const char *format, ...);

/* A text of JSON. */
void gt_payload_add_text(struct gt_payload_text *out, const char *text);

/* Bytes as a text of hexadecimal digits. */
void gt_payload_add_digits(struct gt_payload_text *out, const uint8_t *bytes, size_t size);

/* Bytes of a value; programs are of machines with 64 bits. 0: it has no fixed size. */
size_t gt_payload_bytes_of_type(uint64_t type);
bool gt_payload_is_text(uint64_t type);

/* A number of these bytes, the lowest first. */
uint64_t gt_payload_whole_at(const uint8_t *at, size_t bytes);
void gt_payload_add_scalar(struct gt_payload_text *out, uint64_t type, const uint8_t *at,
                           size_t bytes);

#endif
