/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/search.h"
#include "model/bundle/bundle.h"
#include "replay/memory/objects.h"

static int to_first(const void *row, const void *wanted)
{
	const struct gt_handle_place *place = row;
	const struct gt_bundle_handle *limit = wanted;

	if (place->memory != limit->memory)
		return place->memory < limit->memory ? -1 : 1;
	return (gt_handle_step(place) > limit->step) - (gt_handle_step(place) < limit->step);
}

static int to_memory(const void *row, const void *wanted)
{
	const struct gt_handle_place *place = row;
	const uint32_t memory = *(const uint32_t *)wanted;

	return (place->memory > memory) - (place->memory < memory);
}

/* The same 8 bytes may be the handle of several objects: the first one is it. */
static bool is_first(const struct gt_handle_place *rows, size_t begin, size_t at)
{
	return at == begin || rows[at - 1].offset != rows[at].offset;
}

static uint64_t recorded_of(const struct gt_objects *objects, const struct gt_handle_place *place)
{
	return objects->bundle->objects.rows[place->handle->object].value;
}

static uint64_t here_of(const struct gt_objects *objects, const struct gt_handle_place *place)
{
	return objects->values[place->handle->object];
}

int gt_objects_apply(const struct gt_objects *objects, uint32_t memory, uint32_t step, void *bytes,
                     struct gt_error *err)
{
	const struct gt_bundle_handle wanted = {.memory = memory,
	                                        .step = memory == GT_BUNDLE_NONE ? step : 0};
	const size_t begin = gt_count_before(&objects->first, &wanted, to_first);
	const size_t end = gt_count_up_to(&objects->first, &wanted, to_first);

	for (size_t i = begin; i < end; i++) {
		const struct gt_handle_place *place = &objects->first.rows[i];
		const uint64_t here = here_of(objects, place);
		uint8_t *at = (uint8_t *)bytes + place->offset;

		if (!is_first(objects->first.rows, begin, i))
			continue;
		if (gt_get_u64(at) != recorded_of(objects, place) && gt_get_u64(at) != here)
			return gt_fail(err, EBADMSG,
			               "there is no handle of object %u at byte %llu of %s %u",
			               place->handle->object, (unsigned long long)place->offset,
			               memory == GT_BUNDLE_NONE ? "the parameters of step"
			                                        : "memory",
			               memory == GT_BUNDLE_NONE ? step : memory);
		gt_put_u64(at, here);
	}
	return 0;
}

void gt_objects_apply_after(const struct gt_objects *objects, uint32_t memory, void *bytes)
{
	const size_t begin = gt_count_before(&objects->later, &memory, to_memory);
	const size_t end = gt_count_up_to(&objects->later, &memory, to_memory);

	for (size_t i = begin; i < end; i++) {
		const struct gt_handle_place *place = &objects->later.rows[i];
		uint8_t *at = (uint8_t *)bytes + place->offset;

		if (is_first(objects->later.rows, begin, i) &&
		    gt_get_u64(at) == recorded_of(objects, place))
			gt_put_u64(at, here_of(objects, place));
	}
}

void gt_objects_undo(const struct gt_objects *objects, uint32_t memory, void *bytes)
{
	const size_t begin = gt_count_before(&objects->later, &memory, to_memory);
	const size_t end = gt_count_up_to(&objects->later, &memory, to_memory);
	uint64_t done = UINT64_MAX; /* the last offset where one was changed */

	for (size_t i = begin; i < end; i++) {
		const struct gt_handle_place *place = &objects->later.rows[i];
		uint8_t *at = (uint8_t *)bytes + place->offset;

		if (place->offset == done || gt_get_u64(at) != here_of(objects, place))
			continue;
		gt_put_u64(at, recorded_of(objects, place));
		done = place->offset;
	}
}

void gt_objects_say(const struct gt_objects *objects, char *text, size_t size)
{
	const struct gt_bundle *bundle = objects->bundle;
	const struct gt_bundle_handle *first = NULL;
	size_t changed = 0;

	gt_array_each(const struct gt_bundle_handle, handle, &bundle->handles) {
		if (objects->values[handle->object] == bundle->objects.rows[handle->object].value)
			continue;
		first = first ? first : handle;
		changed++;
	}
	snprintf(text, size, "%s", "");
	if (first)
		snprintf(
			text, size,
			"%zu of %zu handles of textures and surfaces are other numbers here, the "
			"first at byte %llu of %s %u: a number that only looks like one was changed "
			"as well",
			changed, bundle->handles.count, (unsigned long long)first->offset,
			first->memory == GT_BUNDLE_NONE ? "the parameters of step" : "memory",
			first->memory == GT_BUNDLE_NONE ? first->step : first->memory);
}
