/* SPDX-License-Identifier: Apache-2.0 */
#include "base/minima.h"

#include <string.h>

#include "base/array.h"

#define FIRST_ROOM 16

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void set_parent(struct gt_minima *minima, size_t node)
{
	minima->nodes[node] = least(minima->nodes[2 * node], minima->nodes[2 * node + 1]);
}

static void grow(struct gt_minima *minima)
{
	const size_t room = minima->room ? 2 * minima->room : FIRST_ROOM;
	int64_t *nodes = gt_allocate(2 * room * sizeof(*nodes));

	if (minima->count)
		memcpy(nodes + room, minima->nodes + minima->room, minima->count * sizeof(*nodes));
	for (size_t i = minima->count; i < room; i++)
		nodes[room + i] = INT64_MAX;
	gt_array_free(minima->nodes);
	minima->nodes = nodes;
	minima->room = room;
	for (size_t node = room - 1; node > 0; node--)
		set_parent(minima, node);
}

void gt_minima_set(struct gt_minima *minima, size_t place, int64_t value)
{
	if (place == minima->room)
		grow(minima);
	if (place == minima->count)
		minima->count++;
	minima->nodes[minima->room + place] = value;
	for (size_t node = (minima->room + place) / 2; node > 0; node /= 2)
		set_parent(minima, node);
}

size_t gt_minima_find(const struct gt_minima *minima, int64_t most)
{
	size_t node = 1;

	if (!minima->count || minima->nodes[1] > most)
		return minima->count;
	while (node < minima->room)
		node = minima->nodes[2 * node] <= most ? 2 * node : 2 * node + 1;
	return least((int64_t)(node - minima->room), (int64_t)minima->count);
}

void gt_minima_release(struct gt_minima *minima)
{
	gt_array_free(minima->nodes);
	*minima = (struct gt_minima){0};
}
