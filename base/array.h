/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_ARRAY_H
#define GT_BASE_ARRAY_H

#include <stddef.h>

/*
 * A growable array of one type: struct { T *rows; size_t count, capacity; }.
 * For programs only: running out of memory ends the process, so code that is
 * loaded into someone else's process must not use it (see scripts/layers.txt).
 */
#define gt_array(T)                                                                                \
	struct {                                                                                   \
		T *rows;                                                                           \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

/* Appends an uninitialised row and returns a pointer to it, valid until the next push. */
#define gt_array_push(array)                                                                       \
	((array)->rows = gt_array_grow((array)->rows, (array)->count, &(array)->capacity,          \
	                               sizeof(*(array)->rows)),                                    \
	 &(array)->rows[(array)->count++])

#define gt_array_end(array) ((array)->count ? (array)->rows + (array)->count : (array)->rows)

/* The row type is spelled out so that a reader can ask for const rows. */
#define gt_array_each(T, row, array) for (T *row = (array)->rows; row != gt_array_end(array); row++)

#define gt_array_release(array)                                                                    \
	do {                                                                                       \
		gt_array_free((array)->rows);                                                      \
		(array)->rows = NULL;                                                              \
		(array)->count = (array)->capacity = 0;                                            \
	} while (0)

/* How many elements an array has; not for pointers. */
#define GT_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Memory of the program's own; never NULL: running out ends the program with one line. */
void *gt_allocate(size_t size);

/* Room for count elements of a size, all bytes 0, under the same rules. */
void *gt_allocate_zeroed(size_t count, size_t size);

/* Memory of gt_allocate, or NULL, made room for count elements; never NULL itself. */
void *gt_array_resize(void *rows, size_t count, size_t row_size);

/* Internal to the macros above. */
void *gt_array_grow(void *rows, size_t count, size_t *capacity, size_t row_size);
void gt_array_free(void *rows);

#endif
