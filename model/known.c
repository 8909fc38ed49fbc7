/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* The entry that has the number, or the free one for it. */
static size_t place_of(const struct gt_known *known, uint64_t number)
{
	size_t at = (size_t)gt_hash_number(number, known->entries) & known->mask;

	while (known->entries[at].row != GT_NONE && known->entries[at].number != number)
		at = (at + 1) & known->mask;
	return at;
}

static void grow(struct gt_known *known)
{
	const struct gt_known old = *known;
	const size_t count = old.entries ? 2 * (old.mask + 1) : 16;

	known->entries = gt_allocate(count * sizeof(*known->entries));
	memset(known->entries, 0xff, count * sizeof(*known->entries));
	known->mask = count - 1;
	known->last = 0;
	for (size_t i = 0; old.entries && i <= old.mask; i++)
		if (old.entries[i].row != GT_NONE)
			known->entries[place_of(known, old.entries[i].number)] = old.entries[i];
	gt_array_free(old.entries);
}

gt_id gt_known_find(struct gt_known *known, uint64_t number)
{
	const struct gt_known_entry *last;

	if (!known->entries)
		return GT_NONE;
	last = &known->entries[known->last];
	if (last->number == number && last->row != GT_NONE)
		return last->row;
	known->last = place_of(known, number);
	return known->entries[known->last].row;
}

/* With room for one more. */
static struct gt_known_entry *entry_of(struct gt_known *known, uint64_t number)
{
	if (!known->entries || 2 * known->count > known->mask)
		grow(known);
	return &known->entries[place_of(known, number)];
}

void gt_known_add(struct gt_known *known, uint64_t number, gt_id row)
{
	*entry_of(known, number) = (struct gt_known_entry){.number = number, .row = row};
	known->count++;
}

void gt_known_set(struct gt_known *known, uint64_t number, gt_id row)
{
	struct gt_known_entry *entry = entry_of(known, number);

	known->count += entry->row == GT_NONE;
	*entry = (struct gt_known_entry){.number = number, .row = row};
}

bool gt_known_is_new(struct gt_known *known, uint64_t number, size_t next, gt_id *row)
{
	*row = gt_known_find(known, number);
	if (*row != GT_NONE)
		return false;
	*row = (gt_id)next;
	gt_known_add(known, number, *row);
	return true;
}

void gt_known_release(struct gt_known *known)
{
	gt_array_free(known->entries);
	*known = (struct gt_known){0};
}
