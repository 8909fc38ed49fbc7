/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/process/now.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct gt_ticks gt_ticks;

uint64_t gt_read_clock(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* In the thread's own cache line, which a call touches in any case, it is one line less. */
uint64_t gt_stamp_first(void)
{
#ifdef __x86_64__
	gt_own.reads_counter = gt_ticks.scale != 0;
	if (gt_own.reads_counter)
		return __builtin_ia32_rdtsc();
#endif
	return gt_monotonic();
}

#ifdef __x86_64__
#include <cpuid.h>

#define CLOCK_SOURCE   "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define CALIBRATION_NS 100000u
#define TRIES          8

/* Leaf 8000_0007h: the counter ticks at one rate in every state of the processor. */
#define LEAF_POWER      0x80000007u
#define INVARIANT_TICKS (1u << 8)

struct reading {
	uint64_t ticks;
	uint64_t ns;
};

static bool ticks_evenly(void)
{
	unsigned eax;
	unsigned ebx;
	unsigned ecx;
	unsigned edx;

	return __get_cpuid(LEAF_POWER, &eax, &ebx, &ecx, &edx) && (edx & INVARIANT_TICKS);
}

/* The kernel has compared the counters of all processors before it takes them for its own clock. */
static bool kernel_trusts_it(void)
{
	char text[8] = "";
	const int file = open(CLOCK_SOURCE, O_RDONLY | O_CLOEXEC);
	const ssize_t size = file < 0 ? -1 : read(file, text, sizeof(text) - 1);

	if (file >= 0)
		close(file);
	return size > 0 && strcmp(text, "tsc\n") == 0;
}

/* Both clocks at one instant, as nearly as a few tries allow. */
static struct reading read_both(void)
{
	struct reading best = {0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		const uint64_t before = gt_monotonic();
		const uint64_t ticks = __builtin_ia32_rdtsc();
		const uint64_t after = gt_monotonic();

		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct reading){.ticks = ticks, .ns = before + least / 2};
	}
	return best;
}

void gt_now_init(void)
{
	struct reading first;
	struct reading last;

	if (!ticks_evenly() || !kernel_trusts_it())
		return;
	first = read_both();
	while (gt_monotonic() - first.ns < CALIBRATION_NS)
		;
	last = read_both();
	if (last.ticks <= first.ticks || last.ns <= first.ns)
		return;
	gt_ticks.ticks = first.ticks;
	gt_ticks.ns = first.ns;
	gt_ticks.scale = ((last.ns - first.ns) << 32) / (last.ticks - first.ticks);
}
#else
void gt_now_init(void)
{
}
#endif
