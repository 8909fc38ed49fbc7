/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/claims.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "analysis/memory/pools.h"
#include "model/allocations.h"
#include "model/kinds/memory.h"
#include "model/known.h"
#include "model/memory/libraries.h"
#include "model/memory/owned.h"

struct gt_account_line *gt_account_add_line(struct gt_account_book *book, enum gt_account_item item,
                                            double bytes, const char *source)
{
	struct gt_account_line *line = gt_array_push(&book->account->lines);

	*line = (struct gt_account_line){
		.item = item,
		.pool = GT_NONE,
		.bytes = bytes,
		.time_ns = book->at_ns,
		.source = source,
	};
	return line;
}

void gt_account_add_some(struct gt_account_book *book, enum gt_account_item item, double bytes,
                         const char *source)
{
	if (bytes > 0)
		(void)gt_account_add_line(book, item, bytes, source);
}

static struct gt_account_line *line_of_library(struct gt_account_book *book,
                                               struct gt_memory_library library)
{
	gt_array_each(struct gt_account_line, line, &book->account->lines)
		if (line->item == GT_ACCOUNT_LIBRARY && strcmp(line->name, library.name) == 0)
			return line;

	struct gt_account_line *line =
		gt_account_add_line(book, GT_ACCOUNT_LIBRARY, 0, "CUDA's calls, by who asked");

	line->name = library.name;
	line->keeps = library.keeps;
	return line;
}

/* Who has a pool of a device. */
static uint64_t owner_of(const struct gt_pool *pool)
{
	return (uint64_t)pool->process << 32 | pool->device;
}

/*
 * A pool that is a part of another one counts with that: the pool of the same process and device of
 * which PyTorch tells as a whole. By row of pools; without such a pool it stands for itself.
 */
static void find_wholes(struct gt_account_book *book)
{
	const struct gt_trace *trace = book->trace;
	struct gt_known wholes = {0};

	for (gt_id row = 0; row < trace->pools.count; row++)
		if (trace->pools.rows[row].teller == GT_TELLER_PYTORCH &&
		    gt_known_find(&wholes, owner_of(&trace->pools.rows[row])) == GT_NONE)
			gt_known_add(&wholes, owner_of(&trace->pools.rows[row]), row);
	for (gt_id row = 0; row < trace->pools.count; row++) {
		const struct gt_pool *pool = &trace->pools.rows[row];
		const gt_id whole = pool->teller == GT_TELLER_PYTORCH_PART
		                            ? gt_known_find(&wholes, owner_of(pool))
		                            : GT_NONE;

		book->wholes[row] = whole == GT_NONE ? row : whole;
	}
	gt_known_release(&wholes);
}

static void see_allocation(struct gt_account_book *book, gt_id row)
{
	const struct gt_allocation *allocation = &book->trace->allocations.rows[row];
	const double bytes = (double)gt_memory_bytes_on(allocation, book->device);
	const gt_id pool = book->carriers[row];
	struct gt_memory_library library;

	if (bytes == 0 || !gt_memory_is_there(book->trace, allocation, book->at_ns))
		return;
	library = gt_memory_library_of(gt_trace_text(book->trace, allocation->library));
	if (pool != GT_NONE)
		book->carried[book->wholes[pool]] += bytes;
	else if (gt_memory_owner(allocation) == GT_MEMORY_OF_POOL)
		book->ordered += bytes;
	else if (gt_memory_owner(allocation) == GT_MEMORY_OF_GRAPH)
		book->graphs += bytes;
	else if (library.name)
		line_of_library(book, library)->bytes += bytes;
	else
		book->program += bytes;
}

static void see_blocks(struct gt_account_book *book)
{
	gt_array_each(const struct gt_pool_block, block, &book->trace->pool_blocks) {
		gt_id pool;

		if (block->pool >= book->trace->pools.count)
			continue;
		pool = book->wholes[block->pool];
		book->told[pool] = true;
		if (gt_memory_block_is_out(block, book->at_ns))
			book->handed[pool] += (double)block->size_bytes;
	}
}

/*
 * Memory that a pool has reserved, and whose carriers are not known, is in the allocations of its
 * own library or of the program. Returns how much of it is there: a pool's statistics are some time
 * old, and memory that was given back since is nobody's. All, where calls were not recorded.
 */
static double take_off(struct gt_account_book *book, double bytes)
{
	double left = bytes;
	double part;

	gt_array_each(struct gt_account_line, line, &book->account->lines) {
		if (!line->keeps)
			continue;
		part = fmin(left, line->bytes);
		line->bytes -= part;
		left -= part;
	}
	part = fmin(left, book->program);
	book->program -= part;
	left -= part;
	return book->trace->memory_calls.count ? bytes - left : bytes;
}

const char gt_account_statistics[] = "the pool's own statistics";

static void add_pool(struct gt_account_book *book, gt_id pool)
{
	static const char blocks[] = "the pool's blocks";
	const gt_time at_ns = book->at_ns;
	const double said_used = gt_pool_told(book->trace, pool, "bytes_in_use", at_ns);
	const double said_reserved = gt_pool_told(book->trace, pool, "bytes_reserved", at_ns);
	double used = book->told[pool] ? book->handed[pool] : said_used;
	double reserved = book->carried[pool];
	struct gt_account_line *line;

	if (said_reserved > reserved)
		reserved += take_off(book, said_reserved - reserved);
	if (!book->told[pool] && used > reserved)
		used = reserved;
	if (!(reserved > 0) && !(used > 0))
		return;
	line = gt_account_add_line(book, GT_ACCOUNT_POOL_IN_USE, used,
	                           book->told[pool] ? blocks : gt_account_statistics);
	line->pool = pool;
	if (isnan(used))
		line->source = "not told";
	line = gt_account_add_line(book, GT_ACCOUNT_POOL_CACHED,
	                           fmax(0, reserved - (used > 0 ? used : 0)),
	                           book->carried[pool] < said_reserved
	                                   ? gt_account_statistics
	                                   : "CUDA's calls - what is in use");
	line->pool = pool;
}

/*
 * Of CUDA's own pools on the device, that of graphs too, what they say they have reserved; NAN:
 * nobody asked them.
 */
static double reserved_by_cuda(const struct gt_account_book *book)
{
	double sum = NAN;

	for (size_t i = 0; i < book->trace->pools.count; i++) {
		const struct gt_pool *pool = &book->trace->pools.rows[i];
		double bytes;

		if (pool->teller != GT_TELLER_CUDA || pool->device != book->device)
			continue;
		bytes = gt_pool_told(book->trace, (gt_id)i, "bytes_reserved", book->at_ns);
		if (!isnan(bytes))
			sum = isnan(sum) ? bytes : sum + bytes;
	}
	return sum;
}

static void add_ordered(struct gt_account_book *book)
{
	const double reserved = reserved_by_cuda(book);

	gt_account_add_some(book, GT_ACCOUNT_ORDERED_IN_USE, book->ordered, "CUDA's calls");
	gt_account_add_some(book, GT_ACCOUNT_GRAPHS, book->graphs, "CUDA's calls");
	if (!isnan(reserved))
		gt_account_add_some(book, GT_ACCOUNT_ORDERED_CACHED,
		                    reserved - book->ordered - book->graphs,
		                    "the pools' own statistics - what is in use");
	else if (book->ordered + book->graphs > 0)
		(void)gt_account_add_line(book, GT_ACCOUNT_ORDERED_CACHED, NAN,
		                          "not measured: run --memory-pools");
}

static void add_pools(struct gt_account_book *book)
{
	for (size_t i = 0; i < book->trace->pools.count; i++)
		if (book->trace->pools.rows[i].teller != GT_TELLER_CUDA &&
		    book->trace->pools.rows[i].device == book->device && book->wholes[i] == i)
			add_pool(book, (gt_id)i);
}

void gt_account_add_claims(struct gt_account_book *book)
{
	const size_t pools = book->trace->pools.count;

	book->carried = gt_allocate((pools + 1) * sizeof(*book->carried));
	book->handed = gt_allocate((pools + 1) * sizeof(*book->handed));
	book->told = gt_allocate((pools + 1) * sizeof(*book->told));
	book->wholes = gt_allocate((pools + 1) * sizeof(*book->wholes));
	find_wholes(book);
	for (size_t i = 0; i <= pools; i++) {
		book->carried[i] = book->handed[i] = 0;
		book->told[i] = false;
	}
	for (size_t i = 0; i < book->trace->allocations.count; i++)
		see_allocation(book, (gt_id)i);
	see_blocks(book);
	add_pools(book);
	add_ordered(book);
	(void)gt_account_add_line(book, GT_ACCOUNT_PROGRAM, book->program, "CUDA's calls");
	gt_account_add_some(book, GT_ACCOUNT_RINGS,
	                    (double)gt_memory_of_rings(book->trace, GT_NONE, book->device,
	                                               book->at_ns),
	                    "gputrace: what it took for device events");
	gt_array_free(book->carried);
	gt_array_free(book->handed);
	gt_array_free(book->told);
	gt_array_free(book->wholes);
}
