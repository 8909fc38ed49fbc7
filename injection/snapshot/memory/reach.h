/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_MEMORY_REACH_H
#define GT_INJECTION_SNAPSHOT_MEMORY_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bundle/bundle.h"

struct gt_error;

/*
 * The memory that a launch can reach: what its parameters point to, what pointers in that point to,
 * and so on. It is found conservatively: any 8 aligned bytes whose value is an address inside of
 * memory that somebody (the driver) knows are taken for a pointer. Pure: it asks through a function
 * and takes no memory. For one thread.
 */

enum {
	GT_REACH_MEMORY = 4096,
	GT_REACH_POINTERS = 65536,
	GT_REACH_DEPTH = 8,     /* pointers in memory that is further away are not followed */
	GT_REACH_ASKED = 65536, /* addresses that are remembered to be in no memory */
	GT_REACH_QUESTIONS = 1000000,
};

#define GT_REACH_NONE UINT32_MAX

struct gt_reached {
	uint64_t address;
	uint64_t size;
	enum gt_bundle_memory_kind kind;
	uint32_t module;  /* of a variable: number that whoever added it gives */
	uint32_t depth;   /* 0: a parameter points to it, or it is a variable */
	const char *name; /* of a variable, which whoever added it keeps; else "" */
	uint64_t host;    /* where the host reads it, of kind host */
	bool pointers;    /* something in it is one */
	bool unasked;     /* nobody is known to have asked for it: whoever added it says so */
	bool gone;        /* it was freed: nothing leads to it until it is there again */
	uint32_t graph;   /* launch of a CUDA graph that it was read for last; 0: none */
	char before[GT_BUNDLE_HASH_BYTES];
	char after[GT_BUNDLE_HASH_BYTES];
};

/* Numbers of memory are in the order in which it was found. */
struct gt_reach_pointer {
	uint32_t memory; /* that it is in; GT_REACH_NONE: in the parameters */
	uint32_t step;   /* of parameters: whose */
	uint32_t target;
	uint64_t offset;
	bool declared;
};

enum gt_reach_answer {
	GT_REACH_NOTHING, /* the address is in no memory */
	GT_REACH_FOUND,   /* in what found says, but depth, name and hashes */
	GT_REACH_REFUSED, /* in memory that cannot be captured: err says why */
};

typedef enum gt_reach_answer gt_reach_ask(void *context, uint64_t address, struct gt_reached *found,
                                          struct gt_error *err);

/* Omissions, to be said. */
enum gt_reach_left_out {
	GT_REACH_MANY_MEMORY = 1,    /* no room for more memory */
	GT_REACH_MANY_POINTERS = 2,  /* or for more pointers, so that not all are known */
	GT_REACH_MANY_QUESTIONS = 4, /* not all that may be pointers was asked for */
	GT_REACH_DEEP = 8,           /* what is further away than GT_REACH_DEPTH */
	GT_REACH_OVERLAP = 16,       /* memory that overlaps other memory in part */
	GT_REACH_FOREIGN = 32,       /* memory that cannot be captured, which a pointer in memory
	                                points to: refused says why */
};

struct gt_reach {
	gt_reach_ask *ask;
	void *context;
	uint32_t count;
	uint32_t pointer_count;
	uint32_t left_out; /* enum gt_reach_left_out */
	uint32_t step;     /* that parameters are of */
	uint32_t questions;
	uint32_t last;   /* found last: pointers are often to the same memory */
	uint64_t reused; /* address of memory where other memory was that is gone; 0: none */
	char refused[256];
	uint32_t by_address[GT_REACH_MEMORY];
	struct gt_reached memory[GT_REACH_MEMORY];
	struct gt_reach_pointer pointers[GT_REACH_POINTERS];
	uint64_t nothing[GT_REACH_ASKED]; /* pieces of 256 bytes that are in no memory */
};

void gt_reach_begin(struct gt_reach *reach, gt_reach_ask *ask, void *context);

/*
 * Parameters are of this step from now on; the program may have got memory since the one before it,
 * so that what was none is asked for again.
 */
void gt_reach_step(struct gt_reach *reach, uint32_t step);

/*
 * Memory that is known without asking: a variable. False: no room, or it overlaps. Where it lies as
 * memory of that kind did that is gone, it is that memory again, under its number; where it lies
 * in part where such memory did, reused says so.
 */
bool gt_reach_add(struct gt_reach *reach, const struct gt_reached *memory);

/* The memory is freed. */
void gt_reach_free(struct gt_reach *reach, uint32_t number);

/* The memory that the address is in, of what was found and is not gone; GT_REACH_NONE. */
uint32_t gt_reach_find(const struct gt_reach *reach, uint64_t address);

/*
 * One parameter, at an offset of the block of all: 8 bytes are an address as declared, of others
 * each 8 that are aligned in the block may be one. Negative with a sentence: it points to memory
 * that cannot be captured.
 */
int gt_reach_parameter(struct gt_reach *reach, const uint8_t *block, size_t offset, size_t size,
                       struct gt_error *err);

/*
 * A piece of what a step brings along, at an offset that is a multiple of 8: what may be an address
 * counts as one of the step's parameters that is not declared.
 */
void gt_reach_brought(struct gt_reach *reach, uint64_t offset, const uint8_t *bytes, size_t size);

/*
 * A piece of what memory holds by now, which steps may have written: memory that it leads to is
 * found, but no pointer noted, as nothing in the contents before stands for it.
 */
void gt_reach_written(struct gt_reach *reach, uint32_t memory, const uint8_t *bytes, size_t size);

/*
 * A piece of the contents of memory, at an offset that is a multiple of 8. Memory that is found in
 * it gets the next numbers.
 */
void gt_reach_contents(struct gt_reach *reach, uint32_t memory, uint64_t offset,
                       const uint8_t *bytes, size_t size);

#endif
