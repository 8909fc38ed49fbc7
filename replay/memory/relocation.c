/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/search.h"
#include "model/bundle/bundle.h"
#include "replay/memory/layout.h"

/* By what they stand in, then by their offset there. */
static int by_place(const void *a, const void *b)
{
	const struct gt_bundle_pointer *one = *(const struct gt_bundle_pointer *const *)a;
	const struct gt_bundle_pointer *other = *(const struct gt_bundle_pointer *const *)b;

	if (one->memory != other->memory)
		return one->memory < other->memory ? -1 : 1;
	if (one->memory == GT_BUNDLE_NONE && one->step != other->step)
		return one->step < other->step ? -1 : 1;
	return (one->offset > other->offset) - (one->offset < other->offset);
}

void gt_relocation_init(struct gt_relocation *relocation, const struct gt_bundle *bundle)
{
	*relocation = (struct gt_relocation){.bundle = bundle};
	gt_array_each(const struct gt_bundle_pointer, pointer, &bundle->pointers)
		*gt_array_push(&relocation->order) = pointer;
	if (relocation->order.count)
		qsort(relocation->order.rows, relocation->order.count,
		      sizeof(*relocation->order.rows), by_place);
}

void gt_relocation_release(struct gt_relocation *relocation)
{
	gt_array_release(&relocation->order);
	*relocation = (struct gt_relocation){0};
}

/* Those in one memory, or in the parameters of one step. */
struct found {
	const struct gt_bundle_pointer *const *rows;
	size_t count;
};

static struct found find(const struct gt_relocation *relocation, uint32_t memory, uint32_t step)
{
	const struct gt_bundle_pointer first = {.memory = memory, .step = step};
	const struct gt_bundle_pointer last = {
		.memory = memory, .step = step, .offset = UINT64_MAX};
	const struct gt_bundle_pointer *wanted = &first;
	const size_t begin = gt_count_before(&relocation->order, &wanted, by_place);

	if (begin == relocation->order.count)
		return (struct found){NULL, 0};
	wanted = &last;
	return (struct found){relocation->order.rows + begin,
	                      gt_count_up_to(&relocation->order, &wanted, by_place) - begin};
}

static bool moved(const struct gt_relocation *relocation, const struct gt_layout *layout,
                  uint32_t memory)
{
	return layout->places.rows[memory].address !=
	       relocation->bundle->memory.rows[memory].address;
}

/* Names the place of the address, for sentences. */
static void say_where(const struct gt_bundle_pointer *pointer, char text[static 64])
{
	const bool in_step = pointer->memory == GT_BUNDLE_NONE;

	snprintf(text, 64, "%s %u, byte %llu", in_step ? "the parameters of step" : "memory",
	         in_step ? pointer->step : pointer->memory, (unsigned long long)pointer->offset);
}

static int check(const struct gt_relocation *relocation, struct found found, size_t index,
                 const uint8_t *bytes, uint64_t size, struct gt_error *err)
{
	const struct gt_bundle_pointer *pointer = found.rows[index];
	const struct gt_bundle_memory *target = &relocation->bundle->memory.rows[pointer->target];
	char where[64];

	say_where(pointer, where);
	if (size < sizeof(uint64_t) || pointer->offset > size - sizeof(uint64_t))
		return gt_fail(err, EBADMSG, "the address in %s is behind its %llu bytes", where,
		               (unsigned long long)size);
	if (index > 0 && pointer->offset - found.rows[index - 1]->offset < sizeof(uint64_t))
		return gt_fail(err, EBADMSG, "the address in %s overlaps the one before", where);
	/* One that is just behind the memory may be its end. */
	if (gt_get_u64(bytes + pointer->offset) - target->address > target->size)
		return gt_fail(err, EBADMSG, "the address in %s does not lead to memory %u", where,
		               pointer->target);
	return 0;
}

int64_t gt_relocation_apply(const struct gt_relocation *relocation, const struct gt_layout *layout,
                            uint32_t memory, uint32_t step, struct gt_relocated *contents,
                            struct gt_error *err)
{
	const struct found found = find(relocation, memory, step);
	uint8_t *bytes = contents->bytes;
	int64_t rewritten = 0;

	for (size_t i = 0; i < found.count; i++) {
		const int result = moved(relocation, layout, found.rows[i]->target)
		                           ? check(relocation, found, i, bytes, contents->size, err)
		                           : 0;

		if (result < 0)
			return result;
	}
	for (size_t i = 0; i < found.count; i++) {
		const uint32_t target = found.rows[i]->target;
		uint8_t *at = bytes + found.rows[i]->offset;

		if (!moved(relocation, layout, target))
			continue;
		gt_put_u64(at, gt_get_u64(at) - relocation->bundle->memory.rows[target].address +
		                       layout->places.rows[target].address);
		rewritten++;
	}
	return rewritten;
}

/* New value of an address, of a pointer to that memory; 0, or the same: it stays. */
typedef uint64_t translate(const struct gt_relocation *relocation, const struct gt_layout *layout,
                           uint32_t target, uint64_t address);

/* Addresses where some were before the first step, as far as there are any now. */
static uint64_t rewrite(const struct gt_relocation *relocation, const struct gt_layout *layout,
                        uint32_t memory, struct gt_relocated *contents, translate *translated)
{
	const struct found found = find(relocation, memory, 0);
	uint8_t *bytes = contents->bytes;
	uint64_t rewritten = 0;
	uint64_t free_from = 0; /* behind the last address that was rewritten */

	for (size_t i = 0; i < found.count; i++) {
		const uint64_t offset = found.rows[i]->offset;
		uint64_t address;
		uint64_t other;

		if (contents->size < sizeof(address) || offset < free_from ||
		    offset > contents->size - sizeof(address))
			continue;
		address = gt_get_u64(bytes + offset);
		other = translated(relocation, layout, found.rows[i]->target, address);
		if (other == 0 || other == address)
			continue;
		gt_put_u64(bytes + offset, other);
		free_from = offset + sizeof(address);
		rewritten++;
	}
	return rewritten;
}

static uint64_t address_here(const struct gt_relocation *relocation, const struct gt_layout *layout,
                             uint32_t target, uint64_t there)
{
	(void)target;
	return gt_layout_translate(layout, relocation->bundle, there);
}

uint64_t gt_relocation_apply_after(const struct gt_relocation *relocation,
                                   const struct gt_layout *layout, uint32_t memory,
                                   struct gt_relocated *contents)
{
	return rewrite(relocation, layout, memory, contents, address_here);
}

/* The program's address of one of here, which may be the end of what is asked first; 0: of none. */
static uint64_t address_there(const struct gt_relocation *relocation,
                              const struct gt_layout *layout, uint32_t first, uint64_t here)
{
	const struct gt_bundle *bundle = relocation->bundle;
	const uint64_t inside = here - layout->places.rows[first].address;

	if (inside <= bundle->memory.rows[first].size)
		return bundle->memory.rows[first].address + inside;
	for (uint32_t i = 0; i < bundle->memory.count; i++) {
		const struct gt_bundle_memory *memory = &bundle->memory.rows[i];

		if (here - layout->places.rows[i].address < memory->size)
			return memory->address + here - layout->places.rows[i].address;
	}
	return 0;
}

uint64_t gt_relocation_undo(const struct gt_relocation *relocation, const struct gt_layout *layout,
                            uint32_t memory, struct gt_relocated *contents)
{
	return rewrite(relocation, layout, memory, contents, address_there);
}

/* Whether anything but variables, which every process has elsewhere, is not where it was. */
static bool any_moved(const struct gt_relocation *relocation, const struct gt_layout *layout)
{
	const struct gt_bundle *bundle = relocation->bundle;

	for (uint32_t i = 0; i < bundle->memory.count; i++)
		if (bundle->memory.rows[i].kind != GT_BUNDLE_MEMORY_variable &&
		    moved(relocation, layout, i))
			return true;
	return false;
}

static int check_noted(const struct gt_relocation *relocation, struct gt_error *err)
{
	const struct gt_bundle *bundle = relocation->bundle;

	for (uint32_t i = 0; i < bundle->memory.count; i++)
		if (bundle->memory.rows[i].pointers && find(relocation, i, 0).count == 0)
			return gt_fail(err, ENOTSUP,
			               "memory %u holds addresses, and where is not known: the "
			               "memory cannot be moved",
			               i);
	return 0;
}

int gt_relocation_trust(const struct gt_relocation *relocation, const struct gt_layout *layout,
                        char *text, size_t size, struct gt_error *err)
{
	const struct gt_bundle_pointer *first = NULL;
	size_t count = 0;
	size_t guessed = 0;
	char where[64];
	int result = any_moved(relocation, layout) ? check_noted(relocation, err) : 0;

	snprintf(text, size, "%s", "");
	if (result < 0)
		return result;
	for (size_t i = 0; i < relocation->order.count; i++) {
		const struct gt_bundle_pointer *pointer = relocation->order.rows[i];

		if (!moved(relocation, layout, pointer->target))
			continue;
		count++;
		guessed += !pointer->declared;
		if (!pointer->declared && !first)
			first = pointer;
	}
	if (!first)
		return 0;
	say_where(first, where);
	snprintf(text, size,
	         "%zu of %zu addresses of memory that was moved are guessed, the first in %s: "
	         "numbers that look like addresses were changed as well",
	         guessed, count, where);
	return 1;
}
