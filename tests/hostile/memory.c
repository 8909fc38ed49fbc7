/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile/memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The address sanitizer's; without it there are none, and the process's memory is looked at. */
__attribute__((weak)) int
__sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void *, size_t),
                                          void (*given)(const volatile void *));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *memory);

static _Atomic size_t live_bytes;
static _Atomic size_t peak_bytes;

static void note_taken(const volatile void *memory, size_t size)
{
	const size_t now = atomic_fetch_add(&live_bytes, size) + size;

	(void)memory;
	if (now > atomic_load(&peak_bytes))
		atomic_store(&peak_bytes, now);
}

static void note_given(const volatile void *memory)
{
	if (memory)
		atomic_fetch_sub(&live_bytes, __sanitizer_get_allocated_size(memory));
}

void watch_memory(void)
{
	if (__sanitizer_install_malloc_and_free_hooks)
		(void)__sanitizer_install_malloc_and_free_hooks(note_taken, note_given);
}

/* A line of /proc/self/status, in bytes. */
static size_t status_bytes(const char *key)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	size_t kilobytes = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			kilobytes = strtoull(line + strlen(key), NULL, 10);
	if (file)
		(void)fclose(file);
	return kilobytes * 1024;
}

static void forget_peak(void)
{
	const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "5", 1);
	close(fd);
}

size_t memory_before(void)
{
	if (__sanitizer_get_allocated_size) {
		atomic_store(&peak_bytes, atomic_load(&live_bytes));
		return atomic_load(&live_bytes);
	}
	(void)malloc_trim(0);
	forget_peak();
	return status_bytes("VmRSS:");
}

size_t memory_peak(void)
{
	return __sanitizer_get_allocated_size ? atomic_load(&peak_bytes) : status_bytes("VmHWM:");
}
