/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEMORY_RESTORED_H
#define GT_REPLAY_MEMORY_RESTORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/bundle/bundle.h"
#include "replay/gpu/gpu.h"
#include "replay/memory/layout.h"
#include "replay/memory/objects.h"
#include "replay/types/options.h"

/* Contents that memory is reset to. */
struct gt_restored_master {
	CUdeviceptr address; /* memory of the GPU, or kept; 0: it is not reset */
	uint8_t *kept;
	bool array; /* it is reset to another array */
};

/* The memory of a bundle on a GPU. For one thread. */
struct gt_restored {
	const struct gt_bundle *bundle;
	struct gt_gpu *gpu;
	struct gt_layout layout;
	struct gt_relocation relocation;
	struct gt_objects objects;
	struct gt_restored_master *masters;  /* by memory */
	gt_array(struct gt_gpu_range) hosts; /* ranges of the host that are mapped */
	uint32_t layouts;                    /* that were tried */
	char guessed[256];                   /* of pointers that moved along; "" */
	char handles[256];                   /* of those that are other numbers here; "" */
};

/*
 * Gets memory at the program's addresses, or at others, with red zones; variables are those of the
 * modules, by number in the bundle. -EADDRINUSE, -ENOMEM as gt_replay_run has it.
 */
int gt_restored_open(struct gt_restored *restored, const struct gt_bundle *bundle,
                     struct gt_gpu *gpu, const CUmodule *modules,
                     const struct gt_replay_options *options, struct gt_error *err);

/*
 * Fills all of it with what was there before the first step, or other inputs. all: that is kept of
 * all memory, not only of what the steps may change.
 */
int gt_restored_load(struct gt_restored *restored, enum gt_inputs inputs, bool all,
                     struct gt_error *err);

/* Makes that of which it was kept as it was, in the GPU's stream. */
int gt_restored_reset(const struct gt_restored *restored, struct gt_error *err);

/* Only so many bytes of one memory from the offset on; of an array all of it. */
int gt_restored_reset_part(const struct gt_restored *restored, size_t number, uint64_t offset,
                           uint64_t bytes, struct gt_error *err);

/*
 * Contents that the memory is reset to, or would be. And makes that it is reset to these bytes,
 * where it was not before; and all of it to what is there now.
 */
int gt_restored_initial(const struct gt_restored *restored, size_t number, enum gt_inputs inputs,
                        void *bytes, struct gt_error *err);
int gt_restored_keep(struct gt_restored *restored, size_t number, const void *bytes,
                     struct gt_error *err);
int gt_restored_keep_all(struct gt_restored *restored, struct gt_error *err);

/*
 * Contents of the memory now, memory[number].size bytes; before the steps; and those of the
 * program after them, where they were kept. Known addresses are those of here.
 */
int gt_restored_get(const struct gt_restored *restored, size_t number, void *bytes,
                    struct gt_error *err);
int gt_restored_before(const struct gt_restored *restored, size_t number, void *bytes,
                       struct gt_error *err);
int gt_restored_after(const struct gt_restored *restored, size_t number, void *bytes,
                      struct gt_error *err);

/* Makes addresses and handles of here, in what gt_restored_get gave, those of the program. */
void gt_restored_recorded(const struct gt_restored *restored, size_t number, void *bytes);

/* Other bytes into the memory, until it is reset. */
int gt_restored_put(const struct gt_restored *restored, size_t number, const void *bytes,
                    struct gt_error *err);

/* The same of a part of memory that is no array. */
int gt_restored_put_part(const struct gt_restored *restored, size_t number, uint64_t offset,
                         const void *bytes, uint64_t size, struct gt_error *err);

/* Whether the steps may change the memory. */
bool gt_restored_changes(const struct gt_restored *restored, size_t number);

/* The parameters of a step, with pointers as they are here. */
int gt_restored_parameters(const struct gt_restored *restored, uint32_t step, void *bytes,
                           struct gt_error *err);

/* Fills the red zones, and says what of them has changed since: bytes, the first offset. */
int gt_restored_fill_zones(const struct gt_restored *restored, struct gt_error *err);
int gt_restored_check_zones(const struct gt_restored *restored, size_t number, uint64_t *changed,
                            int64_t *first, struct gt_error *err);

/* Memory of the GPU goes when that is closed. */
void gt_restored_close(struct gt_restored *restored);

#endif
