/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_COMPARE_COMPARE_H
#define GT_REPLAY_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_error;

/*
 * Compares what a kernel wrote with what it should have written. No GPU is needed: contents are
 * bytes of the host's.
 */

/* Types of elements: word of the user, bytes of one. */
#define GT_ELEMENTS(ELEMENT)                                                                       \
	ELEMENT(bytes, 1)                                                                          \
	ELEMENT(i8, 1)                                                                             \
	ELEMENT(u8, 1)                                                                             \
	ELEMENT(i16, 2)                                                                            \
	ELEMENT(u16, 2)                                                                            \
	ELEMENT(i32, 4)                                                                            \
	ELEMENT(u32, 4)                                                                            \
	ELEMENT(i64, 8)                                                                            \
	ELEMENT(u64, 8)                                                                            \
	ELEMENT(f16, 2)                                                                            \
	ELEMENT(bf16, 2)                                                                           \
	ELEMENT(f32, 4)                                                                            \
	ELEMENT(f64, 8)                                                                            \
	ELEMENT(f8e4m3, 1)                                                                         \
	ELEMENT(f8e5m2, 1)

enum gt_element {
#define ELEMENT(name, size) GT_ELEMENT_##name,
	GT_ELEMENTS(ELEMENT)
#undef ELEMENT
		GT_ELEMENT_COUNT,
};

/*
 * How two elements may differ: |got - wanted| <= atol + rtol * |wanted|, where a NaN equals a NaN
 * and an infinity the same infinity. Both 0: not by a bit, so that -0 is not 0 and a NaN not one of
 * another payload. Elements that are bytes may never differ.
 */
struct gt_tolerance {
	double rtol;
	double atol;
};

enum { GT_FIRST_MISMATCHES = 8 };

struct gt_mismatch {
	uint64_t offset; /* in bytes, of the element's first */
	double wanted;   /* the element; NAN may be meant */
	double got;
};

/* Figures of a buffer's values. */
struct gt_values {
	uint64_t count; /* NaNs and infinities included */
	uint64_t nans;
	uint64_t infinities;
	double least; /* of finite ones; NAN: there is none */
	double most;
	double mean;
};

struct gt_comparison {
	enum gt_element element;
	uint64_t elements;
	uint64_t mismatches; /* elements outside of the tolerance */
	uint64_t differing;  /* elements whose bits differ */
	/* From pairs of finite numbers; relative: to what is wanted, where that is not 0. */
	double worst_absolute;
	double worst_relative;
	size_t first_count;
	struct gt_mismatch first[GT_FIRST_MISMATCHES];
	struct gt_values wanted_values;
	struct gt_values got_values;
};

/*
 * Compares size bytes. Bytes left over at the end are compared one by one: each counts
 * as an element of its own among elements, mismatches and differing, and not among the values.
 */
void gt_compare(const void *wanted, const void *got, size_t size, enum gt_element element,
                struct gt_tolerance tolerance, struct gt_comparison *comparison);

void gt_values_of(const void *bytes, size_t size, enum gt_element element,
                  struct gt_values *values);

/*
 * The type that the contents look like most, when nobody says: a guess, to be said with the word.
 * GT_ELEMENT_bytes where nothing fits, which is right of elements of one byte. From samples of the
 * contents: it takes the same time whatever their size.
 */
enum gt_element gt_element_guess(const void *bytes, size_t size);

/* The type of numbers in an array of a format (CUarray_format); bytes: none that is known. */
enum gt_element gt_element_of_format(uint32_t format);

/* The type of that name; false: there is none. */
bool gt_element_parse(const char *word, enum gt_element *element);
/* "unknown": it is none. */
const char *gt_element_name(enum gt_element element);
size_t gt_element_size(enum gt_element element);

/*
 * Patterns. A buffer is poisoned before a run with bytes that differ from what is wanted there in
 * every byte, so that what was not written is found afterwards; red zones before and behind it hold
 * a pattern of their own.
 */
void gt_poison(const void *wanted, void *bytes, size_t size);

/*
 * Bytes that are still the poison, and where the first is: *first is left alone where there are
 * none. A byte that was written with something wrong is the poison's by chance once in 256 times,
 * so that fewer than four in a row count only where a sixteenth of all bytes are so.
 */
uint64_t gt_poison_left(const void *wanted, const void *got, size_t size, uint64_t *first);

/* seed: another one gives another pattern; the same for filling and looking. */
void gt_zone_fill(void *bytes, size_t size, uint64_t seed);

/* Bytes that changed, and where the first and the last one are, which 0 leaves alone. */
uint64_t gt_zone_changed(const void *bytes, size_t size, uint64_t seed, uint64_t *first,
                         uint64_t *last);

#endif
