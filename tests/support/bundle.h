/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_BUNDLE_H
#define GT_TESTS_SUPPORT_BUNDLE_H

#include <stddef.h>

#include "format/bundle/writer.h"
#include "model/bundle/bundle.h"

/*
 * Bundles on the disk, made with the real writer: begin, describe in .bundle what is to be in it,
 * or take what is described below and change it, end. Texts in .bundle are constants.
 */
struct test_bundle {
	char folder[256]; /* of the bundle */
	struct gt_bundle bundle;
	struct gt_bundle_writer writer;
	void *memory;
};

/* In a folder of its own under /tmp. */
void test_bundle_begin(struct test_bundle *made);

/* In a folder that is made: below a recording's, say. */
void test_bundle_begin_at(struct test_bundle *made, const char *folder);

/* Adds contents. */
struct gt_blob test_bundle_blob(struct test_bundle *made, const void *bytes, size_t size);

/* Writes bundle.json. */
void test_bundle_end(struct test_bundle *made);

/* Removes the folder, where test_bundle_begin made it, and forgets the description. */
void test_bundle_release(struct test_bundle *made);

enum {
	BUNDLE_ELEMENTS = 256,
	/* Numbers of memory in both of them. */
	BUNDLE_X = 0, /* 0, 1, 2, ... as floats; stays the same */
	BUNDLE_Y = 1, /* 1, 1, 1, ...; 2 * x + 1 afterwards */
	/* And in the sequence. */
	BUNDLE_Z = 2,      /* not kept before; 3 * y afterwards */
	BUNDLE_TABLE = 3,  /* addresses of y and z: guessed to be pointers */
	BUNDLE_FACTOR = 4, /* __constant__ float factor, 3 */
	/* And of the textures. */
	BUNDLE_SIDE = 16,   /* of a picture: BUNDLE_ELEMENTS are its elements */
	BUNDLE_WEIGHTS = 0, /* 1, 2, 3, 4, 1, ... */
	BUNDLE_PICTURE = 1, /* an array: 0, 1, 2, ... */
	BUNDLE_OUT = 2,     /* an array: -1; picture * weight of the column afterwards */
};

/* Where no process has its libraries, its heap or a sanitizer: replay reserves these addresses. */
#define BUNDLE_X_ADDRESS      0x201200000000ull
#define BUNDLE_Y_ADDRESS      (BUNDLE_X_ADDRESS + 0x400)
#define BUNDLE_Z_ADDRESS      (BUNDLE_X_ADDRESS + 0x2000000)
#define BUNDLE_TABLE_ADDRESS  (BUNDLE_Z_ADDRESS + 0x10000)
#define BUNDLE_FACTOR_ADDRESS 0x201300000100ull

/* saxpy(int n, float a, const float *x, float *y): y = 2 * x + y, in 2 blocks of 128. */
void test_bundle_add_launch(struct test_bundle *made);

/* The first module becomes one that the fake driver runs: kernels of tests/fakes/cuda/kernels.c. */
void test_bundle_set_fakes(struct test_bundle *made);

/* The launch becomes one of another kernel, of (float *values, int n), on y. name: a constant. */
void test_bundle_set_kernel(struct test_bundle *made, const char *name);

/*
 * The launch becomes one of a kernel of (uint32_t *state, float *values, int n) that the fake
 * driver knows: x is its state, y its values. resets: it leaves its state as it was.
 */
void test_bundle_set_state(struct test_bundle *made, const char *name, bool resets);

/*
 * replay_blend(texture picture, texture weights, surface out, int width, int height) of the fake
 * driver, whose handles are 2, 1 and 3: objects of the numbers 0, 1 and 2.
 */
void test_bundle_add_textures(struct test_bundle *made);

/*
 * A copy of x from the host, that saxpy, and an event, all on stream 0; on stream 1 a fill of z
 * with 0, a wait for the event, scale(float *const *table, int n): z = factor * y; a wait of the
 * host.
 */
void test_bundle_add_sequence(struct test_bundle *made);

/* Steps of the one below that tests name. */
enum { BUNDLE_GRAPH_SAXPY = 4, BUNDLE_GRAPH_SCALE = 7 };

/*
 * The same work with a launch of a graph on stream 0: all but the copy before it, and the wait of
 * the host behind it.
 */
void test_bundle_add_graph(struct test_bundle *made);

#endif
