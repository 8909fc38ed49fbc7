/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_RECORDS_H
#define GT_FORMAT_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The records of a capture as structs, and a description of each that the encoder and the
 * decoder walk. All of it comes from records.def.
 */

typedef uint32_t gt_field_u32;
typedef uint64_t gt_field_u64;

/* clang-format off */
#define RECORD(name, number, help) struct gt_record_##name {
#define FIELD(record, type, name, number, coding, help) gt_field_##type name;
#define END(name) };
#include "format/records.def"

enum gt_record_kind {
	GT_RECORD_META = 1,    /* pairs of texts, see docs/capture-format.md */
	GT_RECORD_STRINGS = 2, /* texts with their ids */
#define RECORD(name, number, help) GT_RECORD_##name = number,
#define FIELD(record, type, name, number, coding, help)
#define END(name)
#include "format/records.def"
	GT_RECORD_KIND_COUNT
};
/* clang-format on */

/* The bits of every field "flags". In files: never change or reuse one. */
enum gt_record_flag {
	GT_RECORD_UNFINISHED = 1,
	GT_RECORD_SALVAGED = 2,
	GT_RECORD_ASYNC = 4,
	GT_RECORD_DRIVER_API = 8,
	GT_RECORD_NESTED = 16,
	GT_RECORD_DEVICE_LAUNCHED = 32,
};

enum gt_coding { GT_CODING_plain = 0, GT_CODING_delta = 1, GT_CODING_span = 2 };

struct gt_field {
	const char *name;
	const char *help;
	uint8_t number;
	uint8_t width; /* 4 or 8 bytes in memory */
	uint8_t coding;
	uint8_t offset; /* inside the struct */
};

struct gt_record_info {
	const char *name;
	const char *help;
	const struct gt_field *fields;
	uint32_t field_count;
	uint32_t size; /* of the struct */
};

#define GT_RECORD_MAX_FIELDS 24
#define GT_RECORD_MAX_SIZE   128

/* NULL for a kind that is not a record with fields, or not known. */
const struct gt_record_info *gt_record_info(uint32_t kind);

#endif
