/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/forks.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injection/output/output.h"
#include "injection/session/begin.h"
#include "injection/session/emit.h"
#include "injection/session/routes.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

_Static_assert(offsetof(struct gt_session, phase) == GT_WIPED_BYTES - 64 &&
                       offsetof(struct gt_session, nvtx) + sizeof(struct gt_nvtx_page) <=
                               GT_WIPED_BYTES &&
                       offsetof(struct gt_session, wiped) >= GT_WIPED_BYTES,
               "each call of NVTX reads one cache line of the page that is wiped");

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

static void copy_nvtx(struct gt_nvtx_page *to, const struct gt_nvtx_page *from)
{
	for (size_t i = 0; i < sizeof(to->given) / sizeof(to->given[0]); i++)
		atomic_store_explicit(&to->given[i],
		                      atomic_load_explicit(&from->given[i], memory_order_relaxed),
		                      memory_order_relaxed);
	atomic_store_explicit(&to->default_domain,
	                      atomic_load_explicit(&from->default_domain, memory_order_relaxed),
	                      memory_order_relaxed);
	atomic_store_explicit(&to->others_hear,
	                      atomic_load_explicit(&from->others_hear, memory_order_relaxed),
	                      memory_order_relaxed);
	atomic_store_explicit(&to->watches,
	                      atomic_load_explicit(&from->watches, memory_order_relaxed),
	                      memory_order_relaxed);
}

void gt_forks_prepare(struct gt_session *session)
{
	atomic_store_explicit(&session->wiped.phase,
	                      atomic_load_explicit(&session->phase, memory_order_acquire),
	                      memory_order_relaxed);
	copy_nvtx(&session->wiped.nvtx, &session->nvtx);
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

	(void)mmap(arena->bytes, session->output.arena_bytes, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	errno = saved;
}

/*
 * The page's part of NVTX stays, and the state that sources have apart; all else was the parent's,
 * and nothing uses it here.
 */
static void renew(struct gt_session *session)
{
	const size_t kept = offsetof(struct gt_session, nvtx);
	const size_t behind = offsetof(struct gt_session, followed);
	const pthread_key_t thread_end = session->thread_end;
	const bool emits = session->emits;
	struct gt_roll *const roll = session->output.roll.roll;

	(void)munmap(session->memory, session->memory_bytes);
	gt_emit_forget();
	memset(session, 0, kept);
	memset((uint8_t *)session + behind, 0, sizeof(*session) - behind);
	session->thread_end = thread_end;
	session->emits = emits;
	session->output.roll.roll = roll;
	atomic_store_explicit(&session->is_waiting, true, memory_order_relaxed);
}

bool gt_forks_forget(struct gt_session *session)
{
	const uint32_t before = atomic_load_explicit(&session->wiped.phase, memory_order_relaxed);

	copy_nvtx(&session->nvtx, &session->wiped.nvtx);
	restore_router(session);
	atomic_store_explicit(&session->phase, GT_SESSION_FORGOTTEN, memory_order_release);
	gt_own_leave_calls(0);
	gt_roll_forget(&session->output);
	gt_sources_forget();
	if (before == GT_SESSION_OFF || before == GT_SESSION_FORGOTTEN)
		return false;
	gt_capture_file_forget(&session->output);
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

	if (!gt_session_is(session, GT_SESSION_OFF) || !gt_session_is_clone() ||
	    !atomic_compare_exchange_strong_explicit(&session->phase, &off, GT_SESSION_FORGOTTEN,
	                                             memory_order_acq_rel, memory_order_relaxed))
		return;
	gt_own_leave_calls(0);
	gt_roll_forget(&session->output);
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
