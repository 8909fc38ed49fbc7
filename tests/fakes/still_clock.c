/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/*
 * A clock that stands still but for those who look at it: libstill_clock.so, for LD_PRELOAD. Each
 * look of the process's first thread takes 50 ns, and more and more where it does nothing but look:
 * it waits for something. Waiting takes no time at all. So a program that does the same sees the
 * same times, under any load. All clocks are one, which begins on
 * 2026-01-02T03:04:05Z. STILL_CLOCK names a file that keeps it: there it goes on where one process
 * becomes another.
 */

#define BEGIN_NS      INT64_C(1767323045000000000)
#define LOOK_NS       50
#define PATIENT_LOOKS 8
#define SECOND        INT64_C(1000000000)

static _Atomic int64_t own_ns;
static _Atomic int64_t *passed_ns = &own_ns; /* since it began */

__attribute__((constructor)) static void share(void)
{
	const char *path = getenv("STILL_CLOCK");
	const int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *shared = MAP_FAILED;

	if (file >= 0 && ftruncate(file, sizeof(own_ns)) == 0)
		shared = mmap(NULL, sizeof(own_ns), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file >= 0)
		(void)close(file);
	if (shared != MAP_FAILED)
		passed_ns = shared;
}

static int is_first(void)
{
	static _Thread_local int known; /* 1: it is the first thread, -1: it is not */

	if (!known)
		known = gettid() == getpid() ? 1 : -1;
	return known > 0;
}

static int64_t looks; /* of the first thread, since it waited last */

static int64_t look(void)
{
	const int64_t more = 1 + looks / PATIENT_LOOKS;

	if (!is_first())
		return BEGIN_NS + atomic_load(passed_ns);
	looks++;
	return BEGIN_NS + atomic_fetch_add(passed_ns, more * more * LOOK_NS);
}

static int64_t of(const struct timespec *time)
{
	return time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec told(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
}

static void pass_until(int64_t ns)
{
	int64_t now = atomic_load(passed_ns);

	if (is_first())
		looks = 0;
	while (now < ns - BEGIN_NS && !atomic_compare_exchange_weak(passed_ns, &now, ns - BEGIN_NS))
		;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = told(look());
	return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	const struct timespec time = told(look());

	(void)zone;
	*now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *now)
{
	const time_t seconds = look() / SECOND;

	if (now)
		*now = seconds;
	return seconds;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left)
{
	(void)clock;
	(void)left;
	pass_until((flags & TIMER_ABSTIME ? 0 : BEGIN_NS + atomic_load(passed_ns)) + of(wanted));
	return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	return clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
}

int usleep(useconds_t us)
{
	pass_until(BEGIN_NS + atomic_load(passed_ns) + (int64_t)us * 1000);
	return 0;
}
