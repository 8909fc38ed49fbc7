/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPUTRACE_DEVICE_CUH
#define GPUTRACE_DEVICE_CUH

/*
 * Kernels that tell what they do: ranges, marks and values, which `gputrace run --device-events`
 * puts on the timeline under the launch that wrote them. CUDA C++11 and later, compute capability
 * 7.0 and later, nvcc and NVRTC; nothing is linked. docs/device-events.md explains it.
 *
 *     GPUTRACE_DEVICE_NAME(load, "load tile");
 *
 *     __global__ void kernel(...)
 *     {
 *             gputrace::writer events(gputrace::leader::warp);
 *
 *             events.begin(load);
 *             ...
 *             events.end(load);
 *     }
 *
 * Where nobody records an event is one branch, with GPUTRACE_DISABLE defined it is nothing.
 */
#if !defined(__CUDACC_RTC__)
#include "gputrace.h"
#endif

#include "device_events.h"

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define GPUTRACE_HOST_DEVICE __host__ __device__
#else
#define GPUTRACE_HOST_DEVICE
#endif

#if (defined(__CUDACC_RTC__) || defined(__CUDACC__)) && !defined(GPUTRACE_DISABLE)
/*
 * Where gputrace puts the address of the ring. Files that are linked for the device have one
 * together; else each has its own.
 */
extern "C" {
#if defined(__CUDACC_RDC__)
#if __cplusplus < 201703L && !defined(__clang__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 3033 /* inline variables are of C++17; the compiler has them before */
#endif
inline __device__ gputrace_u64 GPUTRACE_DEVICE_VARIABLE;
#if __cplusplus < 201703L && !defined(__clang__)
#pragma nv_diagnostic pop
#endif
#else
__device__ gputrace_u64 GPUTRACE_DEVICE_VARIABLE;
#endif
}
#endif

namespace gputrace
{

/* FNV-1a: what gputrace_device_name_id works out, where the compiler has to. */
GPUTRACE_HOST_DEVICE constexpr gputrace_u32 hash_of(const char *text, gputrace_u32 hash)
{
	return *text ? hash_of(text + 1, (hash ^ (unsigned char)*text) * 16777619u) : hash;
}

GPUTRACE_HOST_DEVICE constexpr gputrace_u32 folded(gputrace_u32 hash)
{
	return (hash >> 28) ^ (hash & 0xfffffffu);
}

/* The id of a name, as a constant where it is used as one. */
GPUTRACE_HOST_DEVICE constexpr gputrace_u32 name_id(const char *text)
{
	return folded(hash_of(text, 2166136261u)) ? folded(hash_of(text, 2166136261u)) : 1;
}

#if !defined(__CUDACC_RTC__)
/* Tells the recording of a name before main() begins. */
struct told_name {
	explicit told_name(const char *text)
	{
		(void)gputrace_device_name(text);
	}
};
#endif

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)

/* Which threads of a block write: every one, the first of each warp, or the first. */
enum class leader { thread, warp, block };

__device__ __forceinline__ bool leads(leader who)
{
	if (who == leader::block)
		return (threadIdx.x | threadIdx.y | threadIdx.z) == 0;
	if (who == leader::warp) {
		unsigned lane;

		asm("mov.u32 %0, %%laneid;" : "=r"(lane));
		return lane == 0;
	}
	return true;
}

/*
 * One thread's way to write. Threads that do not lead may call everything and write nothing. It
 * lives in registers: made by the kernel, and given by reference to functions that are inlined. Its
 * end closes it.
 */
class writer
{
      public:
	/* For the program's own variable, which gputrace sets. */
	__device__ __forceinline__ explicit writer(leader who = leader::warp)
	{
		begin_writing(leads(who));
	}

	/* The threads that say so lead. */
	__device__ __forceinline__ explicit writer(bool this_thread)
	{
		begin_writing(this_thread);
	}

	/* ring: of gputrace_device_ring(), as an argument of the kernel; NULL: nobody records. */
	__device__ __forceinline__ explicit writer(const void *ring, leader who = leader::warp)
	{
		gputrace_writer_init(&state, (gputrace_u64)ring, leads(who));
	}

	__device__ __forceinline__ writer(const void *ring, bool this_thread)
	{
		gputrace_writer_init(&state, (gputrace_u64)ring, this_thread);
	}

	__device__ __forceinline__ ~writer()
	{
		close();
	}

	writer(const writer &) = delete;
	writer &operator=(const writer &) = delete;

	/* Whether this thread writes: what is only for events need not be worked out otherwise. */
	__device__ __forceinline__ bool writes() const
	{
#if GPUTRACE_DEVICE_WRITES
		return gputrace_writer_writes(state.next) != 0;
#else
		return false;
#endif
	}

	__device__ __forceinline__ void begin(gputrace_u32 name)
	{
		gputrace_writer_begin(&state, name);
	}

	/* The innermost range of that name that this writer began. */
	__device__ __forceinline__ void end(gputrace_u32 name)
	{
		gputrace_writer_end(&state, name);
	}

	__device__ __forceinline__ void mark(gputrace_u32 name)
	{
		gputrace_writer_mark(&state, name);
	}

	__device__ __forceinline__ void value(gputrace_u32 name, long long number)
	{
		gputrace_writer_int(&state, name, number);
	}

	__device__ __forceinline__ void value(gputrace_u32 name, unsigned long long number)
	{
		gputrace_writer_int(&state, name, (long long)number);
	}

	__device__ __forceinline__ void value(gputrace_u32 name, long number)
	{
		gputrace_writer_int(&state, name, number);
	}

	__device__ __forceinline__ void value(gputrace_u32 name, unsigned long number)
	{
		gputrace_writer_int(&state, name, (long long)number);
	}

	__device__ __forceinline__ void value(gputrace_u32 name, int number)
	{
		gputrace_writer_int(&state, name, number);
	}

	__device__ __forceinline__ void value(gputrace_u32 name, unsigned number)
	{
		gputrace_writer_int(&state, name, number);
	}

	__device__ __forceinline__ void value(gputrace_u32 name, double number)
	{
		gputrace_writer_real(&state, name, number);
	}

	__device__ __forceinline__ void value(gputrace_u32 name, float number)
	{
		gputrace_writer_real(&state, name, number);
	}

	/*
	 * Room for the next so many events, GPUTRACE_DEVICE_EVENTS at most: what takes time is done
	 * here. A value counts as two, a range with its end. For a loop: at the beginning of a turn.
	 */
	__device__ __forceinline__ void room(gputrace_u32 events)
	{
		gputrace_writer_room(&state, events);
	}

	/* Gives the chunk back before the writer's end; it writes nothing from then on. */
	__device__ __forceinline__ void close()
	{
		gputrace_writer_close(&state);
	}

      private:
	struct gputrace_writer state;

	__device__ __forceinline__ void begin_writing(bool this_thread)
	{
#if GPUTRACE_DEVICE_WRITES
		gputrace_writer_init(
			&state, (gputrace_u64)&GPUTRACE_DEVICE_VARIABLE | GPUTRACE_WRITER_VARIABLE,
			this_thread);
#else
		(void)this_thread;
#endif
	}
};

/* A range from here to the end of the scope. */
class range
{
      public:
	__device__ __forceinline__ range(writer &by, gputrace_u32 id) : events(by), name(id)
	{
		events.begin(name);
	}

	__device__ __forceinline__ ~range()
	{
		events.end(name);
	}

	range(const range &) = delete;
	range &operator=(const range &) = delete;

      private:
	writer &events;
	const gputrace_u32 name;
};

#endif

} // namespace gputrace

/*
 * A name, outside of functions: identifier is its id from then on, a constant for kernels and the
 * host, and a program that is recorded tells of the text before main() begins. At most
 * GPUTRACE_DEVICE_NAME_BYTES. In code for NVRTC it is the id alone: the host calls
 * gputrace_device_name.
 */
#define GPUTRACE_DEVICE_NAME(identifier, text)                                                     \
	static_assert(sizeof(text) > 1 && sizeof(text) - 1 <= GPUTRACE_DEVICE_NAME_BYTES,          \
	              "a name of device events is empty or too long");                             \
	GPUTRACE_TELL_NAME(identifier, text)                                                       \
	__attribute__((unused)) static constexpr gputrace_u32 identifier = gputrace::name_id(text)

#if defined(__CUDACC_RTC__) || defined(GPUTRACE_DISABLE)
#define GPUTRACE_TELL_NAME(identifier, text)
#else
#define GPUTRACE_TELL_NAME(identifier, text)                                                       \
	__attribute__((unused)) static const gputrace::told_name identifier##_told(text);
#endif

#endif
