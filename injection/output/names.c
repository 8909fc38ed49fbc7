/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/names.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "format/arena/arena.h"
#include "format/arena/drain.h"
#include "injection/output/interner.h"

#define PAGE_BYTES 4096

/* Reads a name of this process that may be gone: an address that is not mapped gives nothing. */
static size_t peek_name(uint64_t pointer, char *text, size_t size)
{
	const struct iovec to = {text, size};
	char *const there = (char *)(uintptr_t)pointer; // NOLINT(performance-no-int-to-ptr)
	const struct iovec from = {there, size};
	ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (got <= 0) {
		/* The name may end shortly before a page that is not mapped. */
		const struct iovec rest = {there, PAGE_BYTES - pointer % PAGE_BYTES};

		got = process_vm_readv(getpid(), &to, 1, &rest, 1, 0);
	}
	return got > 0 ? strnlen(text, (size_t)got) : 0;
}

static void keep_name(const struct gt_kept_names *kept, uint64_t pointer)
{
	const struct gt_name *name = gt_arena_name(kept->arena, pointer);
	char *text = kept->text; /* longer names are cut */

	if (!name || atomic_load_explicit(&name->pointer, memory_order_relaxed) == pointer)
		return;

	const size_t size = peek_name(pointer, text, kept->text_size);

	if (size)
		(void)gt_interner_add_name(kept->interner, pointer, text, size);
}

static void keep_names_of(const struct gt_kept_names *kept, struct gt_slot *slot)
{
	const struct gt_activity_layout *layout = &kept->arena->header->layout;
	const uint8_t *bytes = gt_slot_memory(kept->arena, slot);
	uint32_t at = slot->scanned;
	uint32_t size;

	while ((size = gt_raw_size(kept->arena, bytes + at, slot->size - at)) > 0) {
		uint32_t kind;

		memcpy(&kind, bytes + at, sizeof(kind));
		if (gt_activity_of_kind(kind & ~GT_RAW_KIND_OPEN) == GT_ACTIVITY_kernel) {
			const uint64_t pointer = gt_raw_get(layout, bytes + at, GT_RAW_kernel_name);

			if (!pointer)
				break; /* CUPTI is filling this one */
			keep_name(kept, pointer);
		}
		at += size;
	}
	slot->scanned = at;
}

void gt_names_keep(const struct gt_kept_names *kept)
{
	for (uint32_t i = 0; i < kept->arena->header->slot_count; i++) {
		struct gt_slot *slot = &kept->arena->slots[i];

		if (slot->kind == GT_SLOT_ACTIVITY &&
		    atomic_load_explicit(&slot->state, memory_order_acquire) == GT_SLOT_LENT)
			keep_names_of(kept, slot);
	}
}
