/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_RECORDS_H
#define GT_FORMAT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The records of a capture as structs, and a description of each that the encoder and the
 * decoder walk. All of it comes from records.def.
 */

/* The roles of fields; records.def says what each of them means. */
#define GT_ROLES                                                                                   \
	ROLE(cupti_time, uint64_t)                                                                 \
	ROLE(host_time, uint64_t)                                                                  \
	ROLE(mono_time, uint64_t)                                                                  \
	ROLE(boot_time, uint64_t)                                                                  \
	ROLE(real_time, uint64_t)                                                                  \
	ROLE(wide, uint64_t)                                                                       \
	ROLE(size, uint64_t)                                                                       \
	ROLE(real, double)                                                                         \
	ROLE(count, uint32_t)                                                                      \
	ROLE(code, int32_t)                                                                        \
	ROLE(string, uint32_t)                                                                     \
	ROLE(correlation, uint32_t)                                                                \
	ROLE(flags, uint32_t)                                                                      \
	ROLE(device, uint32_t)                                                                     \
	ROLE(peer, uint32_t)                                                                       \
	ROLE(context, uint32_t)                                                                    \
	ROLE(stream, uint32_t)                                                                     \
	ROLE(stream_handle, uint64_t)                                                              \
	ROLE(event, uint32_t)                                                                      \
	ROLE(event_handle, uint64_t)                                                               \
	ROLE(shape, uint32_t)                                                                      \
	ROLE(thread, uint32_t)

enum gt_role {
#define ROLE(name, type) GT_ROLE_##name,
	GT_ROLES
#undef ROLE
		GT_ROLE_COUNT
};

#define ROLE(name, type) typedef type gt_field_##name;
GT_ROLES
#undef ROLE

/* clang-format off */
#define RECORD(name, number, becomes, into, help) struct gt_record_##name {
#define FIELD(record, role, name, number, coding, help) gt_field_##role name;
#define END(name) };
#include "format/records.def"

enum gt_record_kind {
	GT_RECORD_META = 1,    /* pairs of texts, see docs/capture-format.md */
	GT_RECORD_STRINGS = 2, /* texts with their ids */
	GT_RECORD_SERIES = 3,  /* samples of several counters, see format/file/series.h */
#define RECORD(name, number, becomes, into, help) GT_RECORD_##name = number,
#define FIELD(record, role, name, number, coding, help)
#define END(name)
#include "format/records.def"
};

/* As large as the largest number, whatever order they stand in. */
union gt_record_numbers {
#define RECORD(name, number, becomes, into, help) char up_to_##name[(number) + 1];
#define FIELD(record, role, name, number, coding, help)
#define END(name)
#include "format/records.def"
};

enum { GT_RECORD_KIND_COUNT = sizeof(union gt_record_numbers) };
/* clang-format on */

enum gt_becomes { GT_BECOMES_row, GT_BECOMES_state, GT_BECOMES_fact, GT_BECOMES_piece };

/* The bits of every field "flags". In files: never change or reuse one. */
enum gt_record_flag {
	GT_RECORD_UNFINISHED = 1,
	GT_RECORD_SALVAGED = 2,
	GT_RECORD_ASYNC = 4,
	GT_RECORD_DRIVER_API = 8,
	GT_RECORD_NESTED = 16,
	GT_RECORD_DEVICE_LAUNCHED = 32,
	GT_RECORD_GRAPH_NODE = 64,
	GT_RECORD_CUT = 128, /* its text was longer */
};

/* Bytes of a text. Writers cut longer ones; of one that is longer all the same, so much is read. */
#define GT_TEXT_MAX 16384

/* In fields of the role thread: not known. */
#define GT_RECORD_NO_THREAD UINT32_MAX

/* The bits of the field "traits" of modules. In files: never change or reuse one. */
enum gt_record_module_trait {
	GT_RECORD_MODULE_KEPT = 1,      /* its cubin is in the recording */
	GT_RECORD_MODULE_NOT_KEPT = 2,  /* it was to be, and could not */
	GT_RECORD_MODULE_JIT = 4,       /* compilations at run time are recorded */
	GT_RECORD_MODULE_READ = 8,      /* its functions were noted, */
	GT_RECORD_MODULE_CUT = 16,      /* but not all of them */
	GT_RECORD_MODULE_ONE_ARCH = 32, /* its code runs on its very architecture alone: sm_90a */
};

enum gt_coding {
	GT_CODING_plain = 0,
	GT_CODING_delta = 1,
	GT_CODING_span = 2,
	GT_CODING_real = 3,
};

struct gt_field {
	const char *name;
	const char *help;
	uint8_t number;
	uint8_t width;   /* 4 or 8 bytes in memory */
	uint8_t coding;  /* enum gt_coding */
	uint8_t role;    /* enum gt_role */
	uint16_t offset; /* inside the struct */
};

struct gt_record_info {
	const char *name;
	const char *help;
	const struct gt_field *fields;
	uint32_t field_count;
	uint32_t size; /* of the struct */
	enum gt_becomes becomes;
};

#define GT_RECORD_MAX_FIELDS 48
#define GT_RECORD_MAX_SIZE   256

/* Whether each record of a kind is a call of NVTX by the program. */
static inline bool gt_record_is_nvtx(uint32_t kind)
{
	return kind == GT_RECORD_range_begin || kind == GT_RECORD_range_end ||
	       kind == GT_RECORD_given_name || kind == GT_RECORD_payload_schema ||
	       kind == GT_RECORD_told_memory;
}

/*
 * Whether records of the kind are about a moment only, or the last of them counts: without those of
 * old, what is left can be understood. Readings of clocks are such, too: the first is kept.
 */
bool gt_record_passes(uint32_t kind);

/* NULL for a kind that is not a record with fields, or not known. */
const struct gt_record_info *gt_record_info(uint32_t kind);

/* The first field with a role, or NULL. */
const struct gt_field *gt_record_field(const struct gt_record_info *info, enum gt_role role);

/* Whether the first two fields are start_ns and end_ns. */
bool gt_record_has_times(const struct gt_record_info *info);

#endif
