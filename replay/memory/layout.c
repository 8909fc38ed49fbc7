/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/memory/layout.h"

#include <errno.h>

#include "base/error.h"
#include "base/units.h"
#include "model/bundle/bundle.h"

#define MIB              ((uint64_t)1 << 20)
#define LEAST_ALIGNMENT  512 /* of what CUDA allocates */
#define ANYWHERE_ATTEMPT 2   /* whose ranges are moved as they are */

/* An attempt's rules: ranges begin and end at multiples of step, and share those with less than
 * gap between them. */
static const struct attempt {
	uint64_t step;
	uint64_t gap;
} attempts[GT_LAYOUT_ATTEMPTS] = {
	{32 * MIB, 1024 * MIB}, {32 * MIB, 64 * MIB}, {32 * MIB, 0}, {16 * MIB, 0}, {0, 0},
};

/* Memory of one kind, of the GPU's or of the host's, that is being laid out. */
struct planner {
	struct gt_layout *layout;
	const struct gt_bundle *bundle;
	const struct gt_layout_options *options;
	struct attempt attempt;
	bool host;
	uint64_t page;
	gt_array(uint32_t) numbers; /* of this memory, by address */
	size_t first_range;         /* of it in the layout */
	size_t first_piece;
	uint64_t bytes; /* mapped */
};

static uint64_t down(uint64_t value, uint64_t step)
{
	return value - value % step;
}

static uint64_t up(uint64_t value, uint64_t step)
{
	return down(value + step - 1, step);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static const struct gt_bundle_memory *memory_of(const struct planner *planner, size_t index)
{
	return &planner->bundle->memory.rows[planner->numbers.rows[index]];
}

static struct gt_layout_place *place_of(const struct planner *planner, size_t index)
{
	return &planner->layout->places.rows[planner->numbers.rows[index]];
}

static void begin(struct planner *planner, struct gt_layout *layout, const struct gt_bundle *bundle,
                  const struct gt_layout_options *options, bool host)
{
	*planner = (struct planner){.layout = layout,
	                            .bundle = bundle,
	                            .options = options,
	                            .attempt = attempts[options->attempt],
	                            .host = host,
	                            .page = host ? options->host_granularity : options->granularity,
	                            .first_range = layout->ranges.count,
	                            .first_piece = layout->pieces.count};
	/* mmap() maps at the address that it is told, whatever the size. */
	if (host)
		planner->attempt = (struct attempt){0, 0};
	planner->attempt.step = larger(planner->attempt.step, planner->page);
	for (uint32_t i = 0; i < bundle->memory.count; i++) {
		const enum gt_bundle_memory_kind kind = bundle->memory.rows[i].kind;

		if (kind != GT_BUNDLE_MEMORY_variable && kind != GT_BUNDLE_MEMORY_array &&
		    (kind == GT_BUNDLE_MEMORY_host) == host)
			*gt_array_push(&planner->numbers) = i;
	}
}

/* Bytes between a memory of the bundle and the one behind it, of whatever kind. */
static uint64_t gap_behind(const struct planner *planner, size_t number)
{
	const struct gt_bundle_memory *memory = &planner->bundle->memory.rows[number];

	if (number + 1 == planner->bundle->memory.count)
		return UINT64_MAX;
	return memory[1].address - memory->address - memory->size;
}

/* Red zones at the program's addresses: neighbours share what is between them. */
static void plan_zones(struct planner *planner, size_t index)
{
	const struct gt_bundle_memory *memory = memory_of(planner, index);
	const uint32_t number = planner->numbers.rows[index];
	const uint64_t end = memory->address + memory->size;
	const uint64_t zone = planner->options->zone_bytes;
	const uint64_t gap = gap_behind(planner, number);
	struct gt_layout_place *place = place_of(planner, index);

	place->before = smaller(zone, memory->address - planner->page);
	if (number > 0)
		place->before = smaller(place->before, gap_behind(planner, number - 1) / 2);
	place->behind = smaller(zone, gap - gap / 2);
	if (planner->options->guards) {
		place->before = smaller(place->before, memory->address % planner->page);
		place->behind = smaller(place->behind, up(end, planner->page) - end);
	}
}

/* The pages of a memory with its zones, in the piece before it where that touches them. */
static void plan_pieces(struct planner *planner)
{
	struct gt_layout *layout = planner->layout;

	for (size_t i = 0; i < planner->numbers.count; i++) {
		const struct gt_bundle_memory *memory = memory_of(planner, i);
		const struct gt_layout_place *place = place_of(planner, i);
		const uint64_t first = down(memory->address - place->before, planner->page);
		const uint64_t end =
			up(memory->address + memory->size + place->behind, planner->page);
		struct gt_layout_piece *last = layout->pieces.count > planner->first_piece
		                                       ? gt_array_end(&layout->pieces) - 1
		                                       : NULL;

		if (last && first <= last->address + last->size)
			last->size = larger(last->size, end - last->address);
		else
			*gt_array_push(&layout->pieces) =
				(struct gt_layout_piece){.address = first, .size = end - first};
	}
}

static void plan_ranges(struct planner *planner)
{
	struct gt_layout *layout = planner->layout;
	const struct attempt *attempt = &planner->attempt;
	/* In the last attempt what is beside the pages is not ours. */
	const uint64_t beside =
		planner->options->guards && attempt->step > planner->page ? planner->page : 0;

	for (size_t i = planner->first_piece; i < layout->pieces.count; i++) {
		struct gt_layout_piece *piece = &layout->pieces.rows[i];
		const uint64_t first =
			larger(down(piece->address - beside, attempt->step), planner->page);
		const uint64_t end = up(piece->address + piece->size + beside, attempt->step);
		struct gt_layout_range *last = layout->ranges.count > planner->first_range
		                                       ? gt_array_end(&layout->ranges) - 1
		                                       : NULL;

		if (last && first <= last->address + last->size + attempt->gap)
			last->size = larger(last->size, end - last->address);
		else
			*gt_array_push(&layout->ranges) = (struct gt_layout_range){
				.address = first, .size = end - first, .host = planner->host};
		piece->range = (uint32_t)layout->ranges.count - 1;
		planner->bytes += piece->size;
	}
}

/* How far it is from a memory to pages that stay unmapped, inside of its range. */
static void find_guards(const struct planner *planner, size_t index,
                        const struct gt_layout_piece *piece)
{
	const struct gt_layout *layout = planner->layout;
	const struct gt_layout_range *range = &layout->ranges.rows[piece->range];
	struct gt_layout_place *place = place_of(planner, index);
	const uint64_t end = place->address + memory_of(planner, index)->size;
	const uint64_t piece_end = piece->address + piece->size;

	place->range = piece->range;
	place->guard_before = place->address - piece->address;
	place->guard_behind = piece_end - end;
	if (piece->address == range->address ||
	    (index > 0 && place_of(planner, index - 1)->address >= piece->address))
		place->guard_before = GT_LAYOUT_NOT_NEAR;
	if (piece_end == range->address + range->size ||
	    (index + 1 < planner->numbers.count &&
	     place_of(planner, index + 1)->address < piece_end))
		place->guard_behind = GT_LAYOUT_NOT_NEAR;
}

static void plan_guards(const struct planner *planner)
{
	size_t at = planner->first_piece;

	for (size_t i = 0; i < planner->numbers.count; i++) {
		const struct gt_layout_piece *pieces = planner->layout->pieces.rows;

		while (place_of(planner, i)->address >= pieces[at].address + pieces[at].size)
			at++;
		find_guards(planner, i, &pieces[at]);
	}
}

/* All at the program's addresses. */
static void plan_recorded(struct planner *planner)
{
	for (size_t i = 0; i < planner->numbers.count; i++)
		plan_zones(planner, i);
	plan_pieces(planner);
	plan_ranges(planner);
	plan_guards(planner);
}

/* Variables, which stay where modules put them, and where all else was. */
static void plan_places(struct gt_layout *layout, const struct gt_bundle *bundle)
{
	*layout = (struct gt_layout){0};
	gt_array_each(const struct gt_bundle_memory, memory, &bundle->memory)
		*gt_array_push(&layout->places) = (struct gt_layout_place){
			.range = GT_BUNDLE_NONE,
			.address = memory->address,
			.guard_before = GT_LAYOUT_NOT_NEAR,
			.guard_behind = GT_LAYOUT_NOT_NEAR,
		};
}

/* Bytes that arrays take beside it; the driver makes them larger as it likes. */
static uint64_t array_bytes(const struct gt_bundle *bundle)
{
	uint64_t bytes = 0;

	gt_array_each(const struct gt_bundle_memory, memory, &bundle->memory)
		if (memory->kind == GT_BUNDLE_MEMORY_array)
			bytes += memory->size;
	return bytes;
}

static int check_room(struct gt_layout *layout, const struct gt_layout_options *options,
                      struct gt_error *err)
{
	const uint64_t bytes = layout->device_bytes;

	if (options->most_bytes == 0 || bytes <= options->most_bytes)
		return 0;
	gt_layout_release(layout);
	return gt_fail(err, ENOMEM,
	               "the launches need %s of the GPU's memory, of which %s are free",
	               gt_figure_binary((int64_t)bytes).text,
	               gt_figure_binary((int64_t)options->most_bytes).text);
}

static int check_addresses(const struct gt_bundle *bundle, const struct gt_layout_options *options,
                           struct gt_error *err)
{
	const uint64_t first = bundle->memory.count ? bundle->memory.rows[0].address : UINT64_MAX;

	if (first < 2 * larger(options->granularity, options->host_granularity))
		return gt_fail(err, EADDRINUSE, "no process can have memory at 0x%llx",
		               (unsigned long long)first);
	return 0;
}

int gt_layout_plan(struct gt_layout *layout, const struct gt_bundle *bundle,
                   const struct gt_layout_options *options, struct gt_error *err)
{
	struct planner planner;
	int result = check_addresses(bundle, options, err);

	if (result < 0)
		return result;
	if (options->attempt >= GT_LAYOUT_ATTEMPTS)
		return gt_fail(
			err, EADDRINUSE,
			"addresses of the bundle's memory are taken in this process, in each "
			"of %d layouts",
			GT_LAYOUT_ATTEMPTS);
	plan_places(layout, bundle);
	begin(&planner, layout, bundle, options, false);
	plan_recorded(&planner);
	layout->device_bytes = planner.bytes + array_bytes(bundle);
	gt_array_release(&planner.numbers);
	begin(&planner, layout, bundle, options, true);
	plan_recorded(&planner);
	layout->host_bytes = planner.bytes;
	gt_array_release(&planner.numbers);
	return check_room(layout, options, err);
}

/* An address of which no fewer of the low bits are those of the program's. */
static uint64_t alignment_of(const struct planner *planner, uint64_t address)
{
	const uint64_t lowest = address & (0 - address);

	return smaller(larger(lowest, LEAST_ALIGNMENT), planner->page);
}

/* One memory in pages of its own from *at on, as near to their end as its alignment lets it be. */
static void plan_alone(struct planner *planner, size_t index, uint64_t *at)
{
	const struct gt_bundle_memory *memory = memory_of(planner, index);
	struct gt_layout_place *place = place_of(planner, index);
	const uint64_t zone = planner->options->zone_bytes;
	const bool guards = planner->options->guards;
	const uint64_t behind = guards ? 0 : zone;
	const uint64_t before = guards ? 0 : zone;
	const uint64_t alignment = alignment_of(planner, memory->address);
	uint64_t end = up(*at + before + memory->size + behind, planner->page);
	uint64_t address;

	/* Low bits of the address beyond a multiple of the alignment may take another page. */
	for (;; end += planner->page) {
		const uint64_t most = end - behind - memory->size;
		const uint64_t extra = (most - memory->address) & (alignment - 1);

		address = most - extra;
		if (extra <= most - *at && address - *at >= before)
			break;
	}
	place->address = address;
	place->before = smaller(zone, address - *at);
	place->behind = smaller(zone, end - address - memory->size);
	*gt_array_push(&planner->layout->pieces) =
		(struct gt_layout_piece){.range = (uint32_t)planner->layout->ranges.count,
	                                 .address = *at,
	                                 .size = end - *at};
	planner->bytes += end - *at;
	*at = end + planner->page;
}

/* Every memory between pages that are not mapped, from address 0 on. */
static void plan_all_alone(struct planner *planner)
{
	uint64_t at = planner->page;

	if (planner->numbers.count == 0)
		return;
	for (size_t i = 0; i < planner->numbers.count; i++)
		plan_alone(planner, i, &at);
	*gt_array_push(&planner->layout->ranges) =
		(struct gt_layout_range){.size = at, .host = planner->host};
	plan_guards(planner);
}

/* Ranges of memory at the program's addresses one after the other, as one. */
static void join_ranges(struct planner *planner)
{
	struct gt_layout *layout = planner->layout;
	const uint32_t first = (uint32_t)planner->first_range;
	const size_t count = layout->ranges.count - first;
	uint64_t *moves;
	uint64_t at = 0;

	if (count == 0)
		return;
	moves = gt_allocate(count * sizeof(*moves));
	for (size_t i = 0; i < count; i++) {
		moves[i] = at - layout->ranges.rows[first + i].address;
		at += layout->ranges.rows[first + i].size;
	}
	for (size_t i = planner->first_piece; i < layout->pieces.count; i++) {
		layout->pieces.rows[i].address += moves[layout->pieces.rows[i].range - first];
		layout->pieces.rows[i].range = first;
	}
	for (size_t i = 0; i < planner->numbers.count; i++) {
		place_of(planner, i)->address += moves[place_of(planner, i)->range - first];
		place_of(planner, i)->range = first;
	}
	layout->ranges.count = first + 1;
	layout->ranges.rows[first] = (struct gt_layout_range){.size = at, .host = planner->host};
	gt_array_free(moves);
}

static void plan_kind_anywhere(struct planner *planner, bool alone)
{
	if (alone) {
		plan_all_alone(planner);
		return;
	}
	plan_recorded(planner);
	join_ranges(planner);
}

static void plan_anywhere(struct gt_layout *layout, const struct gt_bundle *bundle,
                          const struct gt_layout_options *options, bool alone)
{
	const struct gt_layout_options same = {.granularity = options->granularity,
	                                       .host_granularity = options->host_granularity,
	                                       .zone_bytes = options->zone_bytes,
	                                       .guards = options->guards,
	                                       .attempt = ANYWHERE_ATTEMPT};
	struct planner planner;

	plan_places(layout, bundle);
	begin(&planner, layout, bundle, &same, false);
	plan_kind_anywhere(&planner, alone);
	layout->device_bytes = planner.bytes + array_bytes(bundle);
	gt_array_release(&planner.numbers);
	begin(&planner, layout, bundle, &same, true);
	plan_kind_anywhere(&planner, alone);
	layout->host_bytes = planner.bytes;
	gt_array_release(&planner.numbers);
}

int gt_layout_plan_anywhere(struct gt_layout *layout, const struct gt_bundle *bundle,
                            const struct gt_layout_options *options, struct gt_error *err)
{
	int result = check_addresses(bundle, options, err);

	if (result < 0)
		return result;
	plan_anywhere(layout, bundle, options, true);
	if (options->most_bytes && layout->device_bytes > options->most_bytes) {
		gt_layout_release(layout);
		plan_anywhere(layout, bundle, options, false);
	}
	return check_room(layout, options, err);
}

void gt_layout_move(struct gt_layout *layout, uint32_t range, uint64_t address)
{
	const uint64_t by = address - layout->ranges.rows[range].address;

	layout->ranges.rows[range].address = address;
	gt_array_each(struct gt_layout_piece, piece, &layout->pieces)
		if (piece->range == range)
			piece->address += by;
	gt_array_each(struct gt_layout_place, place, &layout->places)
		if (place->range == range)
			place->address += by;
}

void gt_layout_put(struct gt_layout *layout, uint32_t memory, uint64_t address)
{
	layout->places.rows[memory].address = address;
}

bool gt_layout_is_recorded(const struct gt_layout *layout, const struct gt_bundle *bundle)
{
	for (size_t i = 0; i < layout->places.count; i++)
		if (layout->places.rows[i].address != bundle->memory.rows[i].address)
			return false;
	return true;
}

uint64_t gt_layout_translate(const struct gt_layout *layout, const struct gt_bundle *bundle,
                             uint64_t address)
{
	const uint32_t memory = gt_bundle_find(bundle, address);

	if (memory == GT_BUNDLE_NONE)
		return 0;
	return layout->places.rows[memory].address + address - bundle->memory.rows[memory].address;
}

void gt_layout_release(struct gt_layout *layout)
{
	gt_array_release(&layout->ranges);
	gt_array_release(&layout->pieces);
	gt_array_release(&layout->places);
	*layout = (struct gt_layout){0};
}
