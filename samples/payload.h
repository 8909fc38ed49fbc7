/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_SAMPLES_PAYLOAD_H
#define GT_SAMPLES_PAYLOAD_H

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

/* A member of a struct that goes along with ranges, marks or counters. */
static inline nvtxPayloadSchemaEntry_t payload_entry(uint64_t type, const char *name, size_t offset)
{
	nvtxPayloadSchemaEntry_t result = {};

	result.type = type;
	result.name = name;
	result.offset = offset;
	return result;
}

/* Such a struct of so many bytes; returns its id. */
static inline uint64_t payload_schema(nvtxDomainHandle_t domain, const char *name,
                                      const nvtxPayloadSchemaEntry_t *entries, size_t count,
                                      size_t size)
{
	nvtxPayloadSchemaAttr_t schema = {};

	schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
	                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
	                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
	                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
	                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
	schema.name = name;
	schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	schema.entries = entries;
	schema.numEntries = count;
	schema.payloadStaticSize = size;
	return nvtxPayloadSchemaRegister(domain, &schema);
}

/* Pushes a range with one. */
static inline void payload_push(nvtxDomainHandle_t domain, const char *name, uint64_t schema,
                                const void *payload, size_t size)
{
	nvtxEventAttributes_t event = {};

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = name;
	NVTX_PAYLOAD_EVTATTR_SET(&event, schema, payload, size);
	nvtxDomainRangePushEx(domain, &event);
}

#endif
