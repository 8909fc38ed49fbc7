/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEMORY_LAYOUT_H
#define GT_REPLAY_MEMORY_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct gt_bundle;
struct gt_bundle_pointer;
struct gt_error;

/*
 * Where the memory of a bundle is put in this process: which ranges of addresses are reserved,
 * what is mapped in them, where each memory stands with its red zones; and what pointers become
 * when memory is elsewhere than in the program. Nothing here calls a driver.
 *
 * A driver takes the address that is asked for when the range is large and nothing is there, so
 * allocations near one another share a range, whose begin and size are multiples of 32 MiB. Where
 * one is taken by something else, the next attempt has other ranges over the same memory.
 */

enum {
	GT_LAYOUT_ATTEMPTS = 5, /* 0 to 4: from few large ranges to what is mapped and no more */
};

#define GT_LAYOUT_NOT_NEAR UINT64_MAX /* there is other memory before the next unmapped page */

struct gt_layout_options {
	uint64_t granularity;      /* of the GPU's memory, a power of 2: 2 MiB as a rule */
	uint64_t host_granularity; /* of the host's: 4 KiB as a rule */
	uint64_t zone_bytes;       /* red zones that are wanted, 0: none */
	bool guards; /* zones do not leave the pages of their memory, so that pages beside it stay
	              * unmapped where nothing else is in them */
	unsigned attempt;
	uint64_t most_bytes; /* of the GPU's memory that may be mapped; 0: no limit */
};

/* Addresses to reserve: cuMemAddressReserve, or mmap for the host's. */
struct gt_layout_range {
	uint64_t address;
	uint64_t size;
	bool host;
};

/* Memory mapped in a range: whole pages, none of which touches another piece of the range. */
struct gt_layout_piece {
	uint32_t range;
	uint64_t address;
	uint64_t size;
};

/* One memory of the bundle. */
struct gt_layout_place {
	uint32_t range;   /* GT_BUNDLE_NONE: a variable, which its module brings */
	uint64_t address; /* here; of a variable the program's, until gt_layout_put() */
	uint64_t before;  /* bytes of its red zones, which end where it begins */
	uint64_t behind;  /* and begin where it ends */
	/* Bytes between it and the nearest page that is not mapped: an access there is a fault. */
	uint64_t guard_before;
	uint64_t guard_behind;
};

struct gt_layout {
	gt_array(struct gt_layout_range) ranges; /* by address, those of the host last */
	gt_array(struct gt_layout_piece) pieces; /* by range, by address */
	gt_array(struct gt_layout_place) places; /* as many as memory in the bundle, in its order */
	uint64_t device_bytes; /* of the GPU's memory: mapped, and of arrays at least */
	uint64_t host_bytes;
};

/*
 * All memory at the program's addresses. -EADDRINUSE: there is no layout of that attempt, none of
 * the others was free; -ENOMEM: more than most_bytes would be mapped.
 */
int gt_layout_plan(struct gt_layout *layout, const struct gt_bundle *bundle,
                   const struct gt_layout_options *options, struct gt_error *err);

/*
 * The same memory wherever there is room: one range for the GPU's and one for the host's, at
 * address 0 until gt_layout_move() says where they are. Each memory has pages of its own between
 * unmapped ones and ends as near to their end as its alignment allows; with less memory than that
 * takes, what was near one another stays so. options->attempt is not looked at.
 */
int gt_layout_plan_anywhere(struct gt_layout *layout, const struct gt_bundle *bundle,
                            const struct gt_layout_options *options, struct gt_error *err);

/* The range was reserved at that address, a multiple of the granularity: all in it moves along. */
void gt_layout_move(struct gt_layout *layout, uint32_t range, uint64_t address);

/* One memory, a variable, is at that address. */
void gt_layout_put(struct gt_layout *layout, uint32_t memory, uint64_t address);

/* Whether everything, the variables as well, is at the program's address. */
bool gt_layout_is_recorded(const struct gt_layout *layout, const struct gt_bundle *bundle);

void gt_layout_release(struct gt_layout *layout);

/* Pointers of a bundle by where they stand. */
struct gt_relocation {
	const struct gt_bundle *bundle;
	gt_array(const struct gt_bundle_pointer *) order; /* by memory, step, offset */
};

void gt_relocation_init(struct gt_relocation *relocation, const struct gt_bundle *bundle);
void gt_relocation_release(struct gt_relocation *relocation);

/* Contents in which pointers are rewritten. */
struct gt_relocated {
	void *bytes;
	uint64_t size;
};

/*
 * Rewrites every known pointer into memory that moved, in contents before the first step of a
 * memory, or in the parameters of a step with memory GT_BUNDLE_NONE. Returns how many were
 * rewritten, or -EBADMSG where one does not point to what the bundle says; then nothing is changed.
 */
int64_t gt_relocation_apply(const struct gt_relocation *relocation, const struct gt_layout *layout,
                            uint32_t memory, uint32_t step, struct gt_relocated *contents,
                            struct gt_error *err);

/*
 * The same in contents after the last step: where an address was known before, whatever address of
 * the bundle's memory is there now. Returns how many were rewritten.
 */
uint64_t gt_relocation_apply_after(const struct gt_relocation *relocation,
                                   const struct gt_layout *layout, uint32_t memory,
                                   struct gt_relocated *contents);

/*
 * The reverse, in what a run left here: where an address was known before, what leads into memory
 * that moved becomes the program's address of it. Returns how many were rewritten.
 */
uint64_t gt_relocation_undo(const struct gt_relocation *relocation, const struct gt_layout *layout,
                            uint32_t memory, struct gt_relocated *contents);

/* An address of the program, here: of the steps' copies and fills. 0: not in the bundle. */
uint64_t gt_layout_translate(const struct gt_layout *layout, const struct gt_bundle *bundle,
                             uint64_t address);

/*
 * Whether the memory can be moved, as far as the bundle knows: 0 when every pointer to what moved
 * is declared; 1 when some are only guessed, with a sentence in text; -ENOTSUP when memory holds
 * pointers that were not noted.
 */
int gt_relocation_trust(const struct gt_relocation *relocation, const struct gt_layout *layout,
                        char *text, size_t size, struct gt_error *err);

#endif
