/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/forks.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injection/emit.h"
#include "injection/inject.h"
#include "injection/output.h"
#include "injection/services.h"
#include "injection/session.h"

_Static_assert(offsetof(struct gt_session, phase) == GT_WIPED_BYTES - 64 &&
                       offsetof(struct gt_session, nvtx.apart) <= GT_WIPED_BYTES &&
                       offsetof(struct gt_session, nvtx.ranges) >= GT_WIPED_BYTES,
               "of NVTX the page has what each call reads, and no more");

void gt_forks_wipe(struct gt_session *session)
{
	const int saved = errno;

	/* Fails on larger pages and before Linux 4.14: then children of clone are as they were. */
	(void)madvise(session, GT_WIPED_BYTES, MADV_WIPEONFORK);
	errno = saved;
}

void gt_forks_keep_router(struct gt_session *session)
{
	memcpy(&session->wiped.router, &session->router, sizeof(session->router));
}

void gt_forks_prepare(struct gt_session *session)
{
	struct gt_wiped *wiped = &session->wiped;
	const struct gt_nvtx *nvtx = &session->nvtx;

	atomic_store_explicit(&wiped->phase,
	                      atomic_load_explicit(&session->phase, memory_order_acquire),
	                      memory_order_relaxed);
	for (size_t i = 0; i < sizeof(wiped->given) / sizeof(wiped->given[0]); i++)
		atomic_store_explicit(&wiped->given[i],
		                      atomic_load_explicit(&nvtx->given[i], memory_order_relaxed),
		                      memory_order_relaxed);
	atomic_store_explicit(&wiped->default_domain, nvtx->default_domain, memory_order_relaxed);
	atomic_store_explicit(&wiped->others_hear, nvtx->others_hear, memory_order_relaxed);
	atomic_store_explicit(&wiped->watches, nvtx->watches, memory_order_relaxed);
}

static void restore_nvtx(struct gt_session *session)
{
	struct gt_wiped *wiped = &session->wiped;
	struct gt_nvtx *nvtx = &session->nvtx;

	for (size_t i = 0; i < sizeof(wiped->given) / sizeof(wiped->given[0]); i++)
		atomic_store_explicit(&nvtx->given[i],
		                      atomic_load_explicit(&wiped->given[i], memory_order_relaxed),
		                      memory_order_relaxed);
	nvtx->default_domain = atomic_load_explicit(&wiped->default_domain, memory_order_relaxed);
	nvtx->others_hear = atomic_load_explicit(&wiped->others_hear, memory_order_relaxed);
	nvtx->watches = atomic_load_explicit(&wiped->watches, memory_order_relaxed);
}

/* It hears nothing, and knows whose calls are to be counted. */
static void restore_router(struct gt_session *session)
{
	memcpy(&session->router, &session->wiped.router, sizeof(session->router));
	gt_router_activate(&session->router, 0);
}

/*
 * CUPTI has buffers in the arena, which this process does not have: if it comes to fill one for a
 * call of the child, that must not be the child's end. There is nothing behind this memory.
 */
static void cover_arena(const struct gt_session *session)
{
	const struct gt_arena *arena = &session->arena;
	const int saved = errno;

	(void)mmap(arena->bytes, session->arena_bytes, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	errno = saved;
}

/*
 * The process's knowledge of NVTX, of its pools and of names stays; all else was the parent's, and
 * nothing uses it here.
 */
static void renew(struct gt_session *session)
{
	const size_t kept = offsetof(struct gt_session, nvtx);
	const size_t behind = offsetof(struct gt_session, followed);
	const pthread_key_t thread_end = session->thread_end;
	const bool emits = session->emits;
	struct gt_roll *const roll = session->roll.roll;

	(void)munmap(session->memory, session->memory_bytes);
	gt_emit_forget();
	memset(session, 0, kept);
	memset((uint8_t *)session + behind, 0, sizeof(*session) - behind);
	session->thread_end = thread_end;
	session->emits = emits;
	session->roll.roll = roll;
	atomic_store_explicit(&session->is_waiting, true, memory_order_relaxed);
}

bool gt_forks_forget(struct gt_session *session)
{
	const uint32_t before = atomic_load_explicit(&session->wiped.phase, memory_order_relaxed);

	restore_nvtx(session);
	restore_router(session);
	atomic_store_explicit(&session->phase, GT_SESSION_FORGOTTEN, memory_order_release);
	gt_own_leave_calls(0);
	gt_roll_forget(session);
	gt_nvtx_forget(&session->nvtx);
	gt_pools_forget(&session->pools);
	gt_device_names_forget(&session->device_names);
	if (before == GT_SESSION_OFF || before == GT_SESSION_FORGOTTEN)
		return false;
	gt_capture_file_forget(session);
	if (atomic_load_explicit(&session->cuda_starts, memory_order_relaxed)) {
		cover_arena(session);
		return false;
	}
	renew(session);
	return true;
}

/*
 * The process may have any number of threads by now: of NVTX's handles nothing is known, and no
 * session begins anew.
 */
void gt_forks_find_clone(struct gt_session *session)
{
	uint32_t off = GT_SESSION_OFF;

	if (!gt_session_is(session, GT_SESSION_OFF) || !gt_inject_is_clone() ||
	    !atomic_compare_exchange_strong_explicit(&session->phase, &off, GT_SESSION_FORGOTTEN,
	                                             memory_order_acq_rel, memory_order_relaxed))
		return;
	gt_own_leave_calls(0);
	gt_roll_forget(session);
	if (atomic_load_explicit(&session->cuda_starts, memory_order_relaxed))
		cover_arena(session);
	restore_router(session);
}

void gt_forks_count(struct gt_session *session)
{
	gt_forks_find_clone(session);
	if (gt_session_is(session, GT_SESSION_FORGOTTEN) ||
	    atomic_load_explicit(&session->is_waiting, memory_order_relaxed))
		gt_count_unrecorded(session, "");
}
