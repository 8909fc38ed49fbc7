/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caching pool of GPU memory, as frameworks have them, that tells gputrace what it does: sizes
 * are rounded, pieces that come from cudaMalloc are divided into blocks, blocks that are given back
 * stay in the pool and are joined with their neighbours, and a trim gives whole pieces back.
 * Threads get and give back blocks of made-up sizes, and the pool counts for itself what a
 * recording must show. A second, small pool of pinned memory leaves one block out at the end.
 * Usage: pool [BLOCKS [THREADS]]
 */
#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "include/gputrace/gputrace.h"
#include "samples/check.h"

static const size_t unit_bytes = 512;
static const size_t small_bytes = (size_t)1 << 20; /* blocks up to this are of small pieces */
static const size_t piece_bytes = (size_t)2 << 20; /* of small ones; large are multiples of it */
static const size_t held_blocks = 32;              /* by each thread at the most */
static const size_t mark_every = 64;               /* blocks: their memory is written to and read */

static std::atomic<unsigned long> wrong;

static void expect(bool holds, const char *what)
{
	if (holds)
		return;
	wrong++;
	fprintf(stderr, "pool: %s\n", what);
}

class Pool
{
      public:
	explicit Pool(int device)
	{
		gputrace_pool pool = {};

		pool.struct_size = sizeof(pool);
		pool.name = "caching";
		pool.place = GPUTRACE_POOL_DEVICE;
		pool.device = device;
		id_ = gputrace_pool_create(&pool);
		push();
		gputrace_pool_pull(id_, answer, this, 10000000);
	}

	/* Before anything that answer() reads is gone, and without the lock, which that takes. */
	~Pool()
	{
		gputrace_pool_destroy(id_);
	}

	Pool(const Pool &) = delete;
	Pool &operator=(const Pool &) = delete;

	char *get(size_t bytes, cudaStream_t stream)
	{
		const size_t size = (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
		std::lock_guard<std::mutex> lock(lock_);
		char *const at = take(size);
		Block &block = blocks_.at(at);

		block.requested = bytes;
		in_use_ += block.size;
		requested_ += bytes;
		peak_ = std::max(peak_, in_use_);
		largest_ = std::max(largest_, block.size);
		allocs_++;
		gputrace_block_alloc_on(id_, at, block.size, bytes, stream);
		return at;
	}

	void give_back(char *at, cudaStream_t stream)
	{
		std::lock_guard<std::mutex> lock(lock_);
		Block &block = blocks_.at(at);

		/* Before somebody else can get it. */
		gputrace_block_free_on(id_, at, stream);
		in_use_ -= block.size;
		requested_ -= block.requested;
		frees_++;
		block.used = false;
		put(join(at));
	}

	/* Gives back the pieces of which no block is out. */
	void trim()
	{
		std::lock_guard<std::mutex> lock(lock_);

		for (auto piece = pieces_.begin(); piece != pieces_.end();) {
			const auto block = blocks_.find(piece->first);

			if (block->second.used || block->second.size != piece->second) {
				++piece;
				continue;
			}
			free_of(piece->second).erase({block->second.size, piece->first});
			CHECK(cudaFree(piece->first));
			reserved_ -= piece->second;
			returned_++;
			blocks_.erase(block);
			piece = pieces_.erase(piece);
		}
		trims_++;
	}

	void push()
	{
		gputrace_pool_stats stats;

		if (!gputrace_is_recorded())
			return;
		gputrace_pool_stats_init(&stats);
		std::lock_guard<std::mutex> lock(lock_);
		fill(&stats);
		gputrace_pool_stats_push(id_, &stats);
	}

	/* Adds up what there is, which must be what was counted. */
	void check()
	{
		std::lock_guard<std::mutex> lock(lock_);
		size_t used = 0;
		size_t all = 0;
		size_t cached = 0;
		const char *end = nullptr;

		for (const auto &block : blocks_) {
			expect(block.first >= end, "two blocks overlap");
			end = block.first + block.second.size;
			all += block.second.size;
			used += block.second.used ? block.second.size : 0;
		}
		for (const auto &free : free_)
			for (const auto &block : free)
				cached += block.first;
		expect(used == in_use_, "blocks in use are not what was counted");
		expect(all == reserved_, "blocks are not what is reserved");
		expect(cached == reserved_ - in_use_, "free blocks are not what is cached");
		expect(allocs_ == hits_ + misses_, "hits and misses are not all");
	}

	void report()
	{
		std::lock_guard<std::mutex> lock(lock_);

		printf("blocks=%zu\n", allocs_);
		printf("frees=%zu\n", frees_);
		printf("in_use_bytes=%zu\n", in_use_);
		printf("peak_bytes=%zu\n", peak_);
		printf("largest_bytes=%zu\n", largest_);
		printf("reserved_bytes=%zu\n", reserved_);
		printf("peak_reserved_bytes=%zu\n", peak_reserved_);
		printf("hits=%zu\n", hits_);
		printf("misses=%zu\n", misses_);
		printf("splits=%zu\n", splits_);
		printf("trims=%zu\n", trims_);
		printf("pieces_returned=%zu\n", returned_);
	}

      private:
	struct Block {
		size_t size;
		size_t requested;
		char *piece;
		bool used;
	};

	typedef std::set<std::pair<size_t, char *>> Free; /* by size */

	/* Free blocks of small pieces, or of large ones. */
	Free &free_of(size_t piece)
	{
		return free_[piece > piece_bytes];
	}

	void put(char *at)
	{
		const Block &block = blocks_.at(at);

		free_of(pieces_.at(block.piece)).insert({block.size, at});
	}

	/* The smallest that is large enough, of the pool's own or of a new piece. */
	char *take(size_t size)
	{
		Free &free = free_[size > small_bytes];
		auto found = free.lower_bound({size, nullptr});

		if (found == free.end()) {
			reserve(size);
			found = free.lower_bound({size, nullptr});
			misses_++;
		} else {
			hits_++;
		}

		char *const at = found->second;

		free.erase(found);
		split(at, size);
		blocks_.at(at).used = true;
		return at;
	}

	void reserve(size_t size)
	{
		const size_t piece =
			size > small_bytes ? (size / piece_bytes + 2) * piece_bytes : piece_bytes;
		void *memory = nullptr;

		CHECK(cudaMalloc(&memory, piece));
		pieces_[(char *)memory] = piece;
		blocks_[(char *)memory] = {piece, 0, (char *)memory, false};
		reserved_ += piece;
		peak_reserved_ = std::max(peak_reserved_, reserved_);
		put((char *)memory);
	}

	/* The rest becomes a block if it is worth one. */
	void split(char *at, size_t size)
	{
		Block &block = blocks_.at(at);
		const size_t left = block.size - size;

		if (left < (size > small_bytes ? small_bytes : unit_bytes))
			return;
		block.size = size;
		blocks_[at + size] = {left, 0, block.piece, false};
		splits_++;
		put(at + size);
	}

	/* With neighbours of its piece that are free; returns where the whole begins. */
	char *join(char *at)
	{
		auto block = blocks_.find(at);
		auto next = std::next(block);

		if (next != blocks_.end() && is_free_of(next->second, block->second.piece)) {
			free_of(pieces_.at(block->second.piece))
				.erase({next->second.size, next->first});
			block->second.size += next->second.size;
			blocks_.erase(next);
		}
		if (block == blocks_.begin())
			return at;

		auto before = std::prev(block);

		if (!is_free_of(before->second, block->second.piece))
			return at;
		free_of(pieces_.at(before->second.piece))
			.erase({before->second.size, before->first});
		before->second.size += block->second.size;
		blocks_.erase(block);
		return before->first;
	}

	static bool is_free_of(const Block &block, const char *piece)
	{
		return !block.used && block.piece == piece;
	}

	void fill(gputrace_pool_stats *stats) const
	{
		size_t largest_free = 0;

		for (const auto &free : free_)
			if (!free.empty())
				largest_free = std::max(largest_free, free.rbegin()->first);
		stats->num_allocs = allocs_;
		stats->num_frees = frees_;
		stats->bytes_in_use = in_use_;
		stats->bytes_requested = requested_;
		stats->peak_bytes_in_use = peak_;
		stats->largest_alloc = largest_;
		stats->bytes_reserved = reserved_;
		stats->peak_bytes_reserved = peak_reserved_;
		stats->largest_free_block = largest_free;
		stats->cached = reserved_ - in_use_;
		stats->free = reserved_ - in_use_;
		stats->num_segments = pieces_.size();
		stats->num_reserve_calls = misses_;
		stats->num_splits = splits_;
		stats->num_trims = trims_;
		stats->num_failed = 0;
	}

	/* On a thread of gputrace's. */
	static void answer(uint64_t id, gputrace_pool_stats *stats, void *user)
	{
		Pool *const pool = (Pool *)user;
		std::lock_guard<std::mutex> lock(pool->lock_);

		(void)id;
		pool->fill(stats);
	}

	std::mutex lock_;
	std::map<char *, Block> blocks_;  /* of all pieces, by address */
	std::map<char *, size_t> pieces_; /* that cudaMalloc gave */
	Free free_[2];
	uint64_t id_;
	size_t allocs_ = 0, frees_ = 0, hits_ = 0, misses_ = 0, splits_ = 0, trims_ = 0;
	size_t in_use_ = 0, requested_ = 0, peak_ = 0, largest_ = 0;
	size_t reserved_ = 0, peak_reserved_ = 0, returned_ = 0;
};

__global__ void mark(unsigned *first, unsigned *last, unsigned number)
{
	*first = number;
	*last = number;
}

__global__ void read_mark(const unsigned *first, const unsigned *last, unsigned number,
                          unsigned *bad)
{
	if (*first != number || *last != number)
		atomicAdd(bad, 1);
}

struct Held {
	char *at;
	size_t bytes;
	unsigned number;
};

static unsigned *end_of(const Held &held)
{
	return (unsigned *)(held.at + held.bytes / sizeof(unsigned) * sizeof(unsigned)) - 1;
}

/* Mostly small, some of megabytes: the same for each thread every time. */
static size_t size_of(unsigned long random)
{
	const size_t most = random % 16 == 0 ? (size_t)8 << 20 : (size_t)64 << 10;

	return 8 + (random >> 8) % most;
}

static void use(Pool *pool, size_t blocks, unsigned thread, unsigned *bad)
{
	unsigned long random = thread + 1;
	std::vector<Held> held;
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	nvtxRangePushA("blocks");
	for (size_t i = 0; i < blocks || !held.empty();) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (i < blocks && (held.empty() || (held.size() < held_blocks && random >> 62))) {
			const size_t bytes = size_of(random >> 16);
			Held one = {pool->get(bytes, stream), bytes, (unsigned)i};

			if (i++ % mark_every == 0)
				mark<<<1, 1, 0, stream>>>((unsigned *)one.at, end_of(one),
				                          one.number);
			held.push_back(one);
			continue;
		}

		const size_t which = (random >> 32) % held.size();
		const Held one = held[which];

		held[which] = held.back();
		held.pop_back();
		if (one.number % mark_every == 0) {
			read_mark<<<1, 1, 0, stream>>>((unsigned *)one.at, end_of(one), one.number,
			                               bad);
			CHECK(cudaStreamSynchronize(stream)); /* others use other streams */
		}
		pool->give_back(one.at, stream);
	}
	nvtxRangePop();
	CHECK(cudaStreamDestroy(stream));
}

/* A pool of one piece of pinned memory, of which one of four blocks is never given back. */
static void stage()
{
	gputrace_pool pool = {};
	char *memory = nullptr;
	uint64_t id;

	pool.struct_size = sizeof(pool);
	pool.name = "staging";
	pool.place = GPUTRACE_POOL_PINNED;
	pool.device = -1;
	id = gputrace_pool_create(&pool);
	CHECK(cudaMallocHost((void **)&memory, 4 * 4096));
	nvtxRangePushA("staging");
	for (size_t i = 0; i < 4; i++)
		gputrace_block_alloc(id, memory + i * 4096, 4096);
	nvtxRangePop();
	for (size_t i = 0; i < 3; i++)
		gputrace_block_free(id, memory + i * 4096);
}

int main(int argc, char **argv)
{
	const size_t blocks = argument(argc, argv, 1, 20000);
	const size_t threads = argument(argc, argv, 2, 4);
	const size_t of_each = (blocks + threads - 1) / threads;
	std::vector<std::thread> all;
	unsigned *bad = nullptr;
	unsigned seen = 0;
	int device = 0;

	CHECK(cudaGetDevice(&device));
	CHECK(cudaMalloc(&bad, sizeof(*bad)));
	CHECK(cudaMemset(bad, 0, sizeof(*bad)));
	CHECK(cudaDeviceSynchronize());
	stage();
	{
		Pool pool(device);

		for (size_t i = 0; i < threads; i++)
			all.emplace_back(use, &pool, of_each, (unsigned)i, bad);
		for (auto &thread : all)
			thread.join();
		pool.check();
		pool.push();
		pool.trim();
		pool.check();
		pool.push();
		pool.report();
	}
	CHECK(cudaMemcpy(&seen, bad, sizeof(seen), cudaMemcpyDeviceToHost));
	expect(seen == 0, "somebody else wrote to a block");
	printf("threads=%zu\n", threads);
	printf("marked=%zu\n", threads * ((of_each + mark_every - 1) / mark_every));
	printf("staged=4\nleft_out=1\nleft_out_bytes=4096\n");
	printf("wrong=%lu\n", wrong.load());
	return wrong ? 1 : 0;
}
