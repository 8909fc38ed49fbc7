/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_MEMORY_FOREIGN_H
#define GT_INJECTION_SNAPSHOT_MEMORY_FOREIGN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "injection/session/router.h"

struct gt_session;

/*
 * Values that the program got from calls and that are more than memory of its own: textures,
 * surfaces, memory of other processes and arrays of others' memory. Those that are made after
 * recording began; any thread. Textures and surfaces of an array end with it, whether the program
 * destroys them or not: the driver would tell of an array that is not there any more.
 */

enum { GT_FOREIGN_VALUES = 16384 };

enum gt_foreign_kind {
	GT_FOREIGN_NONE,
	GT_FOREIGN_IPC,
	GT_FOREIGN_TEXTURE,
	GT_FOREIGN_SURFACE,
	GT_FOREIGN_ARRAY,     /* of a graphics API */
	GT_FOREIGN_MIPMAP,    /* the same, or of imported memory */
	GT_FOREIGN_LEVEL,     /* of a mipmapped array, or plane of one, whose ever it is */
	GT_FOREIGN_REFERENCE, /* to a texture or surface, as modules had them before objects */
	GT_FOREIGN_TAKEN,     /* a place that a thread is about to fill */
};

struct gt_foreign {
	_Atomic bool full;
	_Atomic uint32_t used; /* values that were ever, from the first on */
	struct {
		_Atomic uint64_t value;
		_Atomic uint64_t context;   /* textures of two contexts may have the same value */
		_Atomic uint64_t of;        /* the array, or mipmapped array; 0: it is of none */
		_Atomic uint64_t border[2]; /* of a texture: four numbers, as their bits */
		_Atomic uint32_t kind;      /* enum gt_foreign_kind */
	} values[GT_FOREIGN_VALUES];
};

/* In start: the calls that make and end such values. */
void gt_foreign_want(struct gt_session *session);
bool gt_foreign_is_call(struct gt_call call);

/* Before one of them, where arrays end, and at its return. */
void gt_foreign_enter(struct gt_foreign *foreign, struct gt_call call);

/* Ends only the textures and surfaces: whoever looks from here on finds no such array. */
void gt_foreign_end_objects(struct gt_foreign *foreign, struct gt_call call);
void gt_foreign_follow(struct gt_session *session, struct gt_foreign *foreign, struct gt_call call);

/* Whether it is about to end an array, which nobody may ask the driver of then. */
bool gt_foreign_ends_array(struct gt_call call);

/* Textures and surfaces end with their context: another one may have its handle, and theirs. */
void gt_foreign_end_context(struct gt_foreign *foreign, CUcontext context);

/* Whether there is such a value of a context. */
bool gt_foreign_has(const struct gt_foreign *foreign, enum gt_foreign_kind kind, uint64_t value,
                    CUcontext context);

/*
 * The colour that a texture has beyond its border, as bits of four numbers: the driver answers
 * cuTexObjectGetTextureDesc with zeros (580.159.04). Zeros where there is no such texture.
 */
void gt_foreign_border(const struct gt_foreign *foreign, uint64_t texture, CUcontext context,
                       uint32_t border[4]);

/* Whether an array is of imported memory or of a graphics API: itself, or what it is a part of. */
bool gt_foreign_has_array(const struct gt_foreign *foreign, uint64_t array);

/* The mipmapped array that one is a level of, or the array that it is a plane of; 0: none known. */
uint64_t gt_foreign_whole_of(const struct gt_foreign *foreign, uint64_t array);

/* The next value of a kind, from *at on, which is moved behind it; 0: there is none any more. */
uint64_t gt_foreign_next(const struct gt_foreign *foreign, enum gt_foreign_kind kind, uint32_t *at);

/* Whether memory of another process begins in that range: small memory comes with its block. */
bool gt_foreign_is_lent(const struct gt_foreign *foreign, uint64_t base, uint64_t size);

#endif
