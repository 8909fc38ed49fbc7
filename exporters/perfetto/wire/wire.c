/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/wire/wire.h"

#include <assert.h>

uint32_t gt_wire_tag(const ProtobufCMessageDescriptor *message, const char *field)
{
	const ProtobufCFieldDescriptor *found =
		protobuf_c_message_descriptor_get_field_by_name(message, field);

	assert(found);
	return found->id << 3 |
	       (found->type == PROTOBUF_C_TYPE_MESSAGE || found->type == PROTOBUF_C_TYPE_BYTES
	                ? 2u
	                : 0u);
}
