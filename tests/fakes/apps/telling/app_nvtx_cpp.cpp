/* SPDX-License-Identifier: Apache-2.0 */
#include <cstdio>
#include <thread>
#include <utility>

#include <nvtx3/nvtx3.hpp>

/* NVTX from C++, through nvtx3.hpp, with as many calls as it says that it made. */

struct library {
	static constexpr char const *name{"library"};
};

struct io {
	static constexpr char const *name{"io"};
	static constexpr std::uint32_t id{7};
};

struct label {
	static constexpr char const *message{"registered"};
};

static unsigned calls;

static void work()
{
	NVTX3_FUNC_RANGE_IN(library);
	calls += 2; /* and a registered string, once */
}

int main()
{
	{
		nvtx3::scoped_range outer{"outer"};
		nvtx3::scoped_range_in<library> inner{
			nvtx3::event_attributes{nvtx3::registered_string_in<library>::get<label>(),
		                                nvtx3::named_category_in<library>::get<io>(),
		                                nvtx3::rgb{1, 2, 3}, nvtx3::payload{42}}};

		nvtx3::mark("mark");
		nvtx3::mark_in<library>(L"wide \u00e4");
		calls += 2 + 2 + 2;
		calls += 3; /* domain, string and category, each when it is first asked for */
	}
	nvtx3::unique_range moved{"moved to a thread"};
	std::thread([range = std::move(moved)]() mutable {}).join();
	calls += 2;
	work();
	work();
	calls += 1;
	std::printf("{\"calls\": %u}\n", calls);
	return 0;
}
