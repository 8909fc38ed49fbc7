/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/memory_calls.h"

#include "exporters/perfetto/writer.h"
#include "model/names.h"

size_t gt_memory_call_annotate(struct gt_perfetto *perfetto, const struct gt_memory_call *call,
                               struct gt_annotation *annotations)
{
	struct gt_names *names = &perfetto->names;
	const bool few = perfetto->trace->memory_calls.count <= GT_MEMORY_CALLS_WITH_ADDRESS;
	size_t count = 0;

	annotations[count++] = (struct gt_annotation){
		.type = GT_VALUE_TEXT,
		.name = gt_names_add(names, "memory"),
		.number = gt_names_add(names, gt_memory_call_name(call->kind)),
	};
	if (call->size_bytes > 0)
		annotations[count++] = (struct gt_annotation){
			.type = GT_VALUE_NUMBER,
			.name = gt_names_add(names, "bytes"),
			.number = (int64_t)call->size_bytes,
		};
	if (call->address && few)
		annotations[count++] = (struct gt_annotation){
			.type = GT_VALUE_ADDRESS,
			.name = gt_names_add(names, "address"),
			.number = (int64_t)call->address,
		};
	if (call->handle && few)
		annotations[count++] = (struct gt_annotation){
			.type = GT_VALUE_ADDRESS,
			.name = gt_names_add(names, "handle"),
			.number = (int64_t)call->handle,
		};
	return count;
}
