/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "model/bundle/bundle.h"
#include "replay/memory/layout.h"

/* Memory of any bundle, laid out in every way: what is in a layout lies inside of it. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check_piece(const struct gt_layout *layout, const struct gt_layout_piece *piece)
{
	const struct gt_layout_range *range = &layout->ranges.rows[piece->range];
	const uint64_t page = range->host ? 4096 : 2u << 20;

	must(piece->size > 0 && piece->size % page == 0 && piece->address % page == 0);
	must(piece->address >= range->address &&
	     piece->address + piece->size <= range->address + range->size);
}

static void check_layout(const struct gt_layout *layout, const struct gt_bundle *bundle)
{
	gt_array_each(const struct gt_layout_piece, piece, &layout->pieces)
		check_piece(layout, piece);
	must(layout->places.count == bundle->memory.count);
	for (uint32_t i = 0; i < layout->places.count; i++) {
		const struct gt_layout_place *place = &layout->places.rows[i];
		const struct gt_bundle_memory *memory = &bundle->memory.rows[i];
		const struct gt_layout_range *range = &layout->ranges.rows[place->range];

		must(gt_layout_translate(layout, bundle, memory->address) == place->address);
		if (memory->kind == GT_BUNDLE_MEMORY_variable ||
		    memory->kind == GT_BUNDLE_MEMORY_array)
			continue;
		must(place->address - place->before >= range->address);
		must(place->address + memory->size + place->behind <= range->address + range->size);
	}
}

/* Contents of zeros, with the address at every place where there is to be one. */
static void relocate(const struct gt_bundle *bundle, const struct gt_layout *layout)
{
	struct gt_relocation relocation;
	uint8_t bytes[4096] = {0};
	struct gt_relocated contents = {bytes, sizeof(bytes)};
	struct gt_error err = {0};
	char text[256];

	gt_relocation_init(&relocation, bundle);
	must(gt_relocation_trust(&relocation, layout, text, sizeof(text), &err) >= 0 ||
	     err.text[0] != '\0');
	gt_array_each(const struct gt_bundle_pointer, pointer, &bundle->pointers) {
		const uint64_t address = bundle->memory.rows[pointer->target].address;

		if (pointer->offset <= sizeof(bytes) - sizeof(address))
			memcpy(bytes + pointer->offset, &address, sizeof(address));
		must(gt_relocation_apply(&relocation, layout, pointer->memory, pointer->step,
		                         &contents, &err) >= 0 ||
		     err.text[0] != '\0');
	}
	gt_relocation_release(&relocation);
}

static void plan(const struct gt_bundle *bundle, const struct gt_layout_options *options)
{
	struct gt_layout layout;
	struct gt_error err = {0};

	if (gt_layout_plan(&layout, bundle, options, &err) == 0) {
		must(gt_layout_is_recorded(&layout, bundle));
		check_layout(&layout, bundle);
		gt_layout_release(&layout);
	} else {
		must(err.text[0] != '\0');
	}
	if (gt_layout_plan_anywhere(&layout, bundle, options, &err) == 0) {
		for (uint32_t i = 0; i < layout.ranges.count; i++)
			gt_layout_move(&layout, i, (uint64_t)(i + 1) << 60);
		check_layout(&layout, bundle);
		relocate(bundle, &layout);
		gt_layout_release(&layout);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_layout_options options = {.granularity = 2u << 20, .host_granularity = 4096};
	struct gt_bundle bundle;

	if (gt_bundle_parse(&bundle, (const char *)data, size, "it", NULL) < 0)
		return 0;
	for (unsigned i = 0; i < 2 * GT_LAYOUT_ATTEMPTS; i++) {
		options.attempt = i / 2;
		options.guards = i % 2;
		options.zone_bytes = i % 3 * 1000;
		options.most_bytes = i % 4 ? 0 : 1u << 30;
		plan(&bundle, &options);
	}
	gt_bundle_close(&bundle);
	return 0;
}
