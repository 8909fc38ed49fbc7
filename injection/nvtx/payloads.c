/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/payloads.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "injection/nvtx/deferred.h"
#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/texts.h"
#include "injection/session/services.h"

#define MOST_ENTRIES  1024 /* of a schema that are recorded */
#define MOST_PAYLOADS 16   /* of an event */
#define MOST_BYTES    7900 /* of a payload; hexadecimal digits are twice as many */

#define ARRAY_FLAGS   (7u << 4) /* NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_... are numbers in these bits */
#define OFFSET_FLAGS                                                                               \
	(NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE)

/* ---- sizes ---- */

/* In the program's C, which is ours. */
uint32_t gt_nvtx_type_bytes(uint64_t type)
{
	static const uint8_t bytes[] = {
		[NVTX_PAYLOAD_ENTRY_TYPE_CHAR] = sizeof(char),
		[NVTX_PAYLOAD_ENTRY_TYPE_UCHAR] = sizeof(char),
		[NVTX_PAYLOAD_ENTRY_TYPE_SHORT] = sizeof(short),
		[NVTX_PAYLOAD_ENTRY_TYPE_USHORT] = sizeof(short),
		[NVTX_PAYLOAD_ENTRY_TYPE_INT] = sizeof(int),
		[NVTX_PAYLOAD_ENTRY_TYPE_UINT] = sizeof(int),
		[NVTX_PAYLOAD_ENTRY_TYPE_LONG] = sizeof(long),
		[NVTX_PAYLOAD_ENTRY_TYPE_ULONG] = sizeof(long),
		[NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG] = sizeof(long long),
		[NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG] = sizeof(long long),
		[NVTX_PAYLOAD_ENTRY_TYPE_INT8] = 1,
		[NVTX_PAYLOAD_ENTRY_TYPE_UINT8] = 1,
		[NVTX_PAYLOAD_ENTRY_TYPE_INT16] = 2,
		[NVTX_PAYLOAD_ENTRY_TYPE_UINT16] = 2,
		[NVTX_PAYLOAD_ENTRY_TYPE_INT32] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_UINT32] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_INT64] = 8,
		[NVTX_PAYLOAD_ENTRY_TYPE_UINT64] = 8,
		[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT] = sizeof(float),
		[NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE] = sizeof(double),
		[NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE] = sizeof(long double),
		[NVTX_PAYLOAD_ENTRY_TYPE_SIZE] = sizeof(size_t),
		[NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS] = sizeof(void *),
		[NVTX_PAYLOAD_ENTRY_TYPE_WCHAR] = sizeof(wchar_t),
		[NVTX_PAYLOAD_ENTRY_TYPE_CHAR8] = 1,
		[NVTX_PAYLOAD_ENTRY_TYPE_CHAR16] = 2,
		[NVTX_PAYLOAD_ENTRY_TYPE_CHAR32] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_BYTE] = 1,
		[NVTX_PAYLOAD_ENTRY_TYPE_INT128] = 16,
		[NVTX_PAYLOAD_ENTRY_TYPE_UINT128] = 16,
		[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16] = 2,
		[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64] = 8,
		[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128] = 16,
		[NVTX_PAYLOAD_ENTRY_TYPE_BF16] = 2,
		[NVTX_PAYLOAD_ENTRY_TYPE_TF32] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID] = 8,
		[NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64] = 8,
		[NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32] = 4,
		[NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64] = 8,
		[NVTX_PAYLOAD_ENTRY_TYPE_CSTRING] = sizeof(char *),
		[NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8] = sizeof(char *),
		[NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16] = sizeof(char *),
		[NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32] = sizeof(char *),
		[NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE] = sizeof(void *),
	};

	return type < sizeof(bytes) ? bytes[type] : 0;
}

static bool is_text(uint64_t type)
{
	return type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING ||
	       type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
}

/* Bytes of an entry in its payload, and what it is aligned to; 0: that depends on the payload. */
static uint64_t bytes_of(const nvtxPayloadSchemaEntry_t *entry, uint64_t *align)
{
	const struct gt_nvtx_schema *schema = gt_nvtx_schema(entry->type);
	uint64_t one = gt_nvtx_type_bytes(entry->type);

	*align = one ? one : sizeof(uint64_t);
	if (schema)
		one = schema->bytes;
	if (entry->flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) {
		*align = sizeof(void *);
		return sizeof(void *);
	}
	if (is_text(entry->type) && !(entry->flags & ARRAY_FLAGS) && entry->arrayOrUnionDetail) {
		*align = 1;
		return entry->arrayOrUnionDetail;
	}
	switch (entry->flags & ARRAY_FLAGS) {
	case 0:
		return one;
	case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE:
		return is_text(entry->type) ? entry->arrayOrUnionDetail
		                            : one * entry->arrayOrUnionDetail;
	default:
		return 0;
	}
}

/* ---- what is kept ---- */

void gt_nvtx_schemas_init(void)
{
	void *memory =
		mmap(NULL, GT_NVTX_SCHEMAS * sizeof(struct gt_nvtx_schema), PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	gt_nvtx.schemas = memory == MAP_FAILED ? NULL : memory;
}

/* The place of an id; a free one for it where claim is set; NULL: there is none. */
static struct gt_nvtx_schema *place_of(uint64_t id, bool claim)
{
	const uint64_t hash = id * 0x9e3779b97f4a7c15u >> 32;

	for (uint64_t i = 0; gt_nvtx.schemas && id && i < GT_NVTX_SCHEMAS / 2; i++) {
		struct gt_nvtx_schema *place = &gt_nvtx.schemas[(hash + i) % GT_NVTX_SCHEMAS];
		uint64_t there = atomic_load_explicit(&place->id, memory_order_relaxed);

		if (there == id)
			return place;
		if (there != 0)
			continue;
		if (!claim)
			return NULL;
		if (atomic_compare_exchange_strong(&place->id, &there, id) || there == id)
			return place;
	}
	return NULL;
}

const struct gt_nvtx_schema *gt_nvtx_schema(uint64_t id)
{
	const struct gt_nvtx_schema *place = place_of(id, false);

	return place && gt_nvtx_is_filled(&place->filled) ? place : NULL;
}

static uint64_t give_id(uint64_t wanted)
{
	return wanted ? wanted
	              : NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START +
	                        atomic_fetch_add_explicit(&gt_nvtx.schemas_given, 1,
	                                                  memory_order_relaxed) +
	                        1;
}

/* ---- schemas ---- */

static void emit_schema(struct gt_session *session, const struct gt_record_payload_schema *facts,
                        const char *name)
{
	const struct gt_nvtx_text text = gt_nvtx_narrow(name);
	struct gt_record_payload_schema *record = gt_emit_begin(
		session, GT_RECORD_payload_schema, sizeof(*record) + GT_TEXT_BYTES(text.size));

	if (!record)
		return;
	*record = *facts;
	record->name = gt_nvtx_put_text(record, sizeof(*record), &text);
	gt_emit_commit();
}

static void emit_entry(struct gt_session *session, const struct gt_record_payload_entry *facts,
                       const char *name)
{
	const struct gt_nvtx_text text = gt_nvtx_narrow(name);
	struct gt_record_payload_entry *record = gt_emit_begin(
		session, GT_RECORD_payload_entry, sizeof(*record) + GT_TEXT_BYTES(text.size));

	if (!record)
		return;
	*record = *facts;
	record->name = gt_nvtx_put_text(record, sizeof(*record), &text);
	gt_emit_commit();
}

/* Where entries stand that do not say so: as C lays out a struct, or packed. */
struct layout {
	uint64_t at;
	uint64_t pack; /* 0: not packed */
	bool known;
};

static uint64_t place_entry(struct layout *layout, const nvtxPayloadSchemaEntry_t *entry)
{
	uint64_t align;
	const uint64_t bytes = bytes_of(entry, &align);
	uint64_t offset = entry->offset;

	if (layout->pack && layout->pack < align)
		align = layout->pack;
	if (offset == 0 && !layout->known)
		return GT_OFFSET_UNKNOWN;
	if (offset == 0)
		offset = (layout->at + align - 1) / align * align;
	layout->at = offset + bytes;
	layout->known = bytes > 0;
	return offset;
}

static void keep_entry(struct gt_nvtx_schema *kept, const nvtxPayloadSchemaEntry_t *entry,
                       uint64_t offset)
{
	if (!kept || kept->count == GT_NVTX_ENTRIES_KEPT)
		return;
	kept->entries[kept->count] = (struct gt_nvtx_entry){
		.flags = entry->flags,
		.type = entry->type,
		.detail = entry->arrayOrUnionDetail,
		.offset = offset,
		.clock = gt_nvtx_clock_of(entry->semantics),
	};
	(void)snprintf(kept->names[kept->count], sizeof(kept->names[0]), "%s",
	               entry->name ? entry->name : "");
	kept->count++;
}

static void add_entries(struct gt_session *session, uint64_t id, struct gt_nvtx_schema *kept,
                        const nvtxPayloadSchemaAttr_t *attributes)
{
	struct layout layout = {.known = true};

	if (attributes->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)
		layout.pack = attributes->packAlign;
	for (size_t i = 0; i < attributes->numEntries && i < MOST_ENTRIES; i++) {
		const nvtxPayloadSchemaEntry_t *entry = &attributes->entries[i];
		const bool is_union = attributes->type >= NVTX_PAYLOAD_SCHEMA_TYPE_UNION;
		const struct gt_record_payload_entry facts = {
			.schema = id,
			.type = entry->type,
			.flags = entry->flags,
			.detail = entry->arrayOrUnionDetail,
			.offset = is_union ? entry->offset : place_entry(&layout, entry),
			.place = (uint32_t)i,
		};

		keep_entry(kept, entry, facts.offset);
		if (gt_is_recording(session))
			emit_entry(session, &facts, entry->name);
	}
}

uint64_t gt_nvtx_register_schema(struct gt_session *session, uint32_t domain,
                                 const nvtxPayloadSchemaAttr_t *attributes)
{
	const uint64_t needed =
		NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
	struct gt_record_payload_schema facts = {.domain = domain};
	struct gt_nvtx_schema *kept;
	uint64_t mask;

	if (!attributes || (attributes->fieldMask & needed) != needed || !attributes->entries)
		return 0;
	mask = attributes->fieldMask;
	facts.id = give_id((mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? attributes->schemaId
	                                                                     : 0);
	if (domain == GT_DOMAIN_UNWANTED)
		return facts.id;
	if (mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE)
		facts.type = (uint32_t)attributes->type;
	if (mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS)
		facts.flags = attributes->flags;
	if (mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)
		facts.bytes = attributes->payloadStaticSize;
	facts.entries = (uint32_t)attributes->numEntries;
	if (gt_is_recording(session))
		emit_schema(session, &facts,
		            (mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) ? attributes->name : NULL);
	kept = place_of(facts.id, true);
	if (kept && !gt_nvtx_fill(&kept->filled))
		kept = NULL; /* it was registered before */
	if (kept)
		kept->bytes = facts.bytes;
	add_entries(session, facts.id, kept, attributes);
	if (kept)
		atomic_store_explicit(&kept->filled, GT_NVTX_FILLED, memory_order_release);
	return facts.id;
}

uint64_t gt_nvtx_register_enum(struct gt_session *session, uint32_t domain,
                               const nvtxPayloadEnumAttr_t *attributes)
{
	const uint64_t needed =
		NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES;
	struct gt_record_payload_schema facts = {.domain = domain, .type = GT_SCHEMA_ENUM};
	struct gt_nvtx_schema *kept;
	uint64_t mask;

	if (!attributes || (attributes->fieldMask & needed) != needed || !attributes->entries)
		return 0;
	mask = attributes->fieldMask;
	facts.id =
		give_id((mask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) ? attributes->schemaId : 0);
	if (domain == GT_DOMAIN_UNWANTED)
		return facts.id;
	facts.bytes =
		(mask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) ? attributes->sizeOfEnum : sizeof(int);
	facts.entries = (uint32_t)attributes->numEntries;
	kept = place_of(facts.id, true);
	if (kept && gt_nvtx_fill(&kept->filled)) {
		kept->bytes = facts.bytes;
		atomic_store_explicit(&kept->filled, GT_NVTX_FILLED, memory_order_release);
	}
	if (!gt_is_recording(session))
		return facts.id;
	emit_schema(session, &facts,
	            (mask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) ? attributes->name : NULL);
	for (size_t i = 0; i < attributes->numEntries && i < MOST_ENTRIES; i++) {
		const nvtxPayloadEnum_t *value = &attributes->entries[i];

		emit_entry(session,
		           &(struct gt_record_payload_entry){.schema = facts.id,
		                                             .type = value->value,
		                                             .flags = value->isFlag != 0,
		                                             .place = (uint32_t)i},
		           value->name);
	}
	return facts.id;
}

/* ---- payloads ---- */

/* The program may leave the size to us. */
static uint64_t size_of(const nvtxPayloadData_t *data)
{
	const struct gt_nvtx_schema *schema = gt_nvtx_schema(data->schemaId);

	if (!data->payload)
		return 0;
	if (data->size != SIZE_MAX)
		return data->size;
	if (is_text(data->schemaId))
		return strnlen(data->payload, MOST_BYTES);
	return schema ? schema->bytes : gt_nvtx_type_bytes(data->schemaId);
}

static void put_digits(uint8_t *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		*out++ = (uint8_t)digits[bytes[i] >> 4];
		*out++ = (uint8_t)digits[bytes[i] & 15];
	}
}

static void emit_bytes(struct gt_session *session, const struct gt_record_range_data *facts,
                       const void *bytes)
{
	const uint16_t size = (uint16_t)(facts->bytes < MOST_BYTES ? facts->bytes : MOST_BYTES);
	const uint16_t digits = (uint16_t)(2 * size);
	struct gt_record_range_data *record = gt_emit_begin(
		session, GT_RECORD_range_data, sizeof(*record) + GT_TEXT_BYTES(digits));
	const bool cut = facts->bytes > MOST_BYTES;
	uint8_t *behind;

	if (!record)
		return;
	*record = *facts;
	behind = (uint8_t *)(record + 1);
	memcpy(behind, &digits, sizeof(digits));
	put_digits(behind + sizeof(digits), bytes, size);
	record->content = GT_TEXT_BEHIND | (uint32_t)sizeof(*record);
	if (cut)
		record->flags |= GT_RECORD_CUT;
	gt_emit_commit();
	if (cut)
		gt_count(session, GT_LEDGER_nvtx_cut, 1);
}

static void emit_text(struct gt_session *session, const struct gt_record_range_data *facts,
                      uint64_t place, const char *words)
{
	const struct gt_nvtx_text text = gt_nvtx_narrow(words);
	struct gt_record_range_data *record = gt_emit_begin(
		session, GT_RECORD_range_data, sizeof(*record) + GT_TEXT_BYTES(text.size));

	if (!record)
		return;
	*record = *facts;
	record->place = (uint32_t)place;
	record->content = gt_nvtx_put_text(record, sizeof(*record), &text);
	if (text.cut)
		record->flags |= GT_RECORD_CUT;
	gt_emit_commit();
}

/* Texts that a payload points to are gone when the recording is read. */
static void emit_texts(struct gt_session *session, const struct gt_record_range_data *facts,
                       const uint8_t *payload)
{
	const struct gt_nvtx_schema *schema = gt_nvtx_schema(facts->schema);

	for (uint32_t i = 0; schema && i < schema->count; i++) {
		const struct gt_nvtx_entry *entry = &schema->entries[i];
		const char *text;

		if (!is_text(entry->type) || entry->detail ||
		    entry->flags & (ARRAY_FLAGS | OFFSET_FLAGS) || facts->bytes < sizeof(text) ||
		    entry->offset > facts->bytes - sizeof(text))
			continue;
		memcpy(&text, payload + entry->offset, sizeof(text));
		if (text)
			emit_text(session, facts, entry->offset, text);
	}
}

void gt_nvtx_emit_data(struct gt_session *session, const struct gt_nvtx_data *data)
{
	for (size_t i = 0; i < data->count && i < MOST_PAYLOADS; i++) {
		const nvtxPayloadData_t *one = &data->all[i];
		const struct gt_record_range_data facts = {
			.time_ns = data->time_ns,
			.schema = one->schemaId,
			.bytes = size_of(one),
			.order = data->order,
			.which = (uint32_t)i,
			.place = GT_PLACE_PAYLOAD,
		};

		emit_bytes(session, &facts, one->payload);
		emit_texts(session, &facts, one->payload);
	}
}
