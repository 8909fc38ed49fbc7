/* SPDX-License-Identifier: Apache-2.0 */
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "include/gputrace/gputrace.h"

/*
 * A pool in C++, as a library would have one: an object that lives until after main. SECOND is
 * defined for the second of the two files that the program is made of; one table is found for both.
 */

class Pool {
public:
	explicit Pool(const char *name)
	{
		gputrace_pool pool{};

		pool.struct_size = sizeof(pool);
		pool.name = name;
		pool.place = GPUTRACE_POOL_HOST;
		pool.device = -1;
		id_ = gputrace_pool_create(&pool);
	}

	~Pool()
	{
		gputrace_pool_destroy(id_);
	}

	Pool(const Pool &) = delete;
	Pool &operator=(const Pool &) = delete;

	void *allocate(size_t bytes)
	{
		void *const memory = ::operator new(bytes);

		gputrace_block_alloc(id_, memory, bytes);
		return memory;
	}

	void deallocate(void *memory)
	{
		gputrace_block_free(id_, memory);
		::operator delete(memory);
	}

	uint64_t id() const
	{
		return id_;
	}

private:
	uint64_t id_;
};

#ifdef SECOND

unsigned second_file()
{
	static Pool pool("second file");

	for (int i = 0; i < 10; i++)
		pool.deallocate(pool.allocate(64));
	return 10;
}

const void *table_of_second_file()
{
	return gputrace_table();
}

#else

unsigned second_file();
const void *table_of_second_file();

int main()
{
	static Pool pool("first file");
	std::vector<std::thread> threads;
	unsigned allocs = 0;
	gputrace_pool_stats stats;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([] {
			for (int turn = 0; turn < 100; turn++)
				pool.deallocate(pool.allocate(128));
		});
	for (auto &thread : threads)
		thread.join();
	allocs += 400;
	allocs += second_file();
	gputrace_pool_stats_init(&stats);
	stats.bytes_in_use = 7;
	gputrace_pool_stats_push(pool.id(), &stats);
	if (table_of_second_file() != static_cast<const void *>(gputrace_table()))
		return 1;
	std::printf("{\"allocs\": %u, \"recorded\": %d, \"pushed\": 1}\n", allocs,
	            gputrace_is_recorded() ? 2 : 0);
	return 0;
}

#endif
