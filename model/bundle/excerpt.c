/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/excerpt.h"

#include <string.h>

#include "base/bytes.h"

static void add_memory(struct gt_excerpt *excerpt)
{
	gt_array_each(const struct gt_bundle_memory, memory, &excerpt->whole->memory) {
		struct gt_bundle_memory *added = gt_array_push(&excerpt->bundle.memory);

		*added = *memory;
		memset(&added->after, 0, sizeof(added->after));
		added->same = false;
	}
}

/* Those in memory, and those of the step. */
static void add_pointers(struct gt_excerpt *excerpt)
{
	gt_array_each(const struct gt_bundle_pointer, pointer, &excerpt->whole->pointers) {
		struct gt_bundle_pointer *added;

		if (pointer->memory == GT_BUNDLE_NONE && pointer->step != excerpt->step)
			continue;
		added = gt_array_push(&excerpt->bundle.pointers);
		*added = *pointer;
		if (pointer->memory == GT_BUNDLE_NONE)
			added->step = 0;
	}
}

/* Those in the step's parameters, and in memory. */
static void add_handles(struct gt_excerpt *excerpt)
{
	gt_array_each(const struct gt_bundle_handle, handle, &excerpt->whole->handles) {
		if (handle->memory == GT_BUNDLE_NONE && handle->step != excerpt->step)
			continue;
		*gt_array_push(&excerpt->bundle.handles) = *handle;
		if (handle->memory == GT_BUNDLE_NONE)
			excerpt->bundle.handles.rows[excerpt->bundle.handles.count - 1].step = 0;
	}
}

/* Sets those of the sequence's figures that are the step's own. */
static void set_origin(struct gt_excerpt *excerpt, const struct gt_bundle_step *step)
{
	struct gt_bundle_origin *origin = &excerpt->bundle.origin;
	const bool timed = step->start_ns >= 0 && step->end_ns > step->start_ns;

	origin->correlation = step->correlation;
	origin->job_ns = timed ? (uint64_t)(step->end_ns - step->start_ns) : 0;
	origin->job_launches = timed ? origin->job_launches : 0;
	origin->local_bytes = -1;
}

void gt_excerpt_init(struct gt_excerpt *excerpt, const struct gt_bundle *whole, uint32_t step)
{
	const struct gt_bundle_step *row = &whole->steps.rows[step];
	struct gt_bundle_step *added;

	*excerpt = (struct gt_excerpt){.bundle = *whole, .whole = whole, .step = step};
	/* The excerpt's own parts; all else is the same for any step. */
	memset(&excerpt->bundle.memory, 0, sizeof(excerpt->bundle.memory));
	memset(&excerpt->bundle.pointers, 0, sizeof(excerpt->bundle.pointers));
	memset(&excerpt->bundle.handles, 0, sizeof(excerpt->bundle.handles));
	memset(&excerpt->bundle.streams, 0, sizeof(excerpt->bundle.streams));
	memset(&excerpt->bundle.steps, 0, sizeof(excerpt->bundle.steps));
	excerpt->bundle.focus = GT_BUNDLE_NONE;
	set_origin(excerpt, row);
	add_memory(excerpt);
	add_pointers(excerpt);
	add_handles(excerpt);
	*gt_array_push(&excerpt->bundle.streams) = whole->streams.rows[row->stream];
	added = gt_array_push(&excerpt->bundle.steps);
	*added = *row;
	added->stream = 0;
	added->graph = 0;
}

static void drop(struct gt_blob *blob)
{
	gt_array_free(blob->held);
	*blob = (struct gt_blob){0};
}

void gt_excerpt_release(struct gt_excerpt *excerpt)
{
	gt_array_each(struct gt_bundle_memory, memory, &excerpt->bundle.memory) {
		drop(&memory->before);
		drop(&memory->after);
	}
	gt_array_release(&excerpt->bundle.memory);
	gt_array_release(&excerpt->bundle.pointers);
	gt_array_release(&excerpt->bundle.handles);
	gt_array_release(&excerpt->bundle.streams);
	gt_array_release(&excerpt->bundle.steps);
	*excerpt = (struct gt_excerpt){0};
}

static struct gt_blob held(uint8_t *bytes, uint64_t size)
{
	struct gt_blob blob = {.size = size, .held = bytes};
	struct gt_blob_hasher hasher;

	gt_blob_hasher_begin(&hasher);
	gt_blob_hasher_add(&hasher, bytes, size);
	gt_blob_hasher_end(&hasher, blob.hash);
	return blob;
}

void gt_excerpt_hold(struct gt_excerpt *excerpt, size_t memory, uint8_t *before, uint8_t *after)
{
	struct gt_bundle_memory *row = &excerpt->bundle.memory.rows[memory];

	drop(&row->before);
	drop(&row->after);
	row->before = before ? held(before, row->size) : excerpt->whole->memory.rows[memory].before;
	row->after = after ? held(after, row->size) : (struct gt_blob){0};
	row->same = !after;
}

/* Whether there is still an address, of the memory that the pointer says then. */
static bool leads_somewhere(const struct gt_bundle *bundle, struct gt_bundle_pointer *pointer)
{
	const struct gt_bundle_memory *target = &bundle->memory.rows[pointer->target];
	const uint8_t *bytes = pointer->memory == GT_BUNDLE_NONE
	                               ? NULL
	                               : bundle->memory.rows[pointer->memory].before.held;
	uint64_t address;
	uint32_t found;

	if (!bytes)
		return true;
	address = gt_get_u64(bytes + pointer->offset);
	if (address - target->address <= target->size)
		return true;
	found = gt_bundle_find(bundle, address);
	pointer->target = found == GT_BUNDLE_NONE ? pointer->target : found;
	return found != GT_BUNDLE_NONE;
}

/* The handle of an object at a place of a memory that is held, instead of another one's there. */
static void put_handle(struct gt_excerpt *excerpt, const struct gt_bundle_handle *wanted)
{
	struct gt_bundle *bundle = &excerpt->bundle;

	gt_array_each(struct gt_bundle_handle, handle, &bundle->handles) {
		if (handle->memory != wanted->memory || handle->offset != wanted->offset)
			continue;
		*handle = *wanted;
		return;
	}
	*gt_array_push(&bundle->handles) = *wanted;
	bundle->memory.rows[wanted->memory].handles = true;
}

/* Those that were there before the first step, as far as they still are. */
static void keep_handles(struct gt_excerpt *excerpt)
{
	struct gt_bundle *bundle = &excerpt->bundle;
	size_t kept = 0;

	bundle->handles.count = 0;
	add_handles(excerpt);
	for (size_t i = 0; i < bundle->handles.count; i++) {
		const struct gt_bundle_handle handle = bundle->handles.rows[i];
		const uint8_t *bytes = handle.memory == GT_BUNDLE_NONE
		                               ? NULL
		                               : bundle->memory.rows[handle.memory].before.held;

		if (!bytes ||
		    gt_get_u64(bytes + handle.offset) == bundle->objects.rows[handle.object].value)
			bundle->handles.rows[kept++] = handle;
	}
	bundle->handles.count = kept;
}

/* And those that copies have brought before the step. */
static void add_brought(struct gt_excerpt *excerpt)
{
	const struct gt_bundle *whole = excerpt->whole;

	gt_array_each(const struct gt_bundle_handle, handle, &whole->handles) {
		struct gt_bundle_handle placed = *handle;
		const uint8_t *bytes;

		if (handle->memory != GT_BUNDLE_NONE || handle->step >= excerpt->step ||
		    !gt_bundle_handle_place(whole, handle, &placed.memory, &placed.offset))
			continue;
		bytes = excerpt->bundle.memory.rows[placed.memory].before.held;
		if (bytes &&
		    gt_get_u64(bytes + placed.offset) == whole->objects.rows[handle->object].value)
			put_handle(excerpt, &placed);
	}
}

void gt_excerpt_settle(struct gt_excerpt *excerpt)
{
	struct gt_bundle *bundle = &excerpt->bundle;
	size_t kept = 0;

	bundle->pointers.count = 0;
	add_pointers(excerpt);
	for (size_t i = 0; i < bundle->pointers.count; i++) {
		struct gt_bundle_pointer pointer = bundle->pointers.rows[i];

		if (leads_somewhere(bundle, &pointer))
			bundle->pointers.rows[kept++] = pointer;
	}
	bundle->pointers.count = kept;
	keep_handles(excerpt);
	add_brought(excerpt);
}
