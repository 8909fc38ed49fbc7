/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/memory_calls.h"

#include "exporters/perfetto/annotations.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

size_t gt_memory_call_annotate(struct gt_perfetto *perfetto, const struct gt_memory_call *call,
                               struct gt_annotation *annotations)
{
	struct gt_annotations list = {.names = &perfetto->names, .rows = annotations};

	gt_annotations_add_text(&list, "memory", gt_memory_call_name(call->kind));
	if (call->size_bytes > 0)
		gt_annotations_add_size(&list, "bytes", call->size_bytes);
	if (perfetto->trace->memory_calls.count <= GT_MEMORY_CALLS_WITH_ADDRESS) {
		gt_annotations_add_address(&list, "address", call->address);
		gt_annotations_add_address(&list, "handle", call->handle);
	}
	return list.count;
}
