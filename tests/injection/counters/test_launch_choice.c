/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "injection/counters/launch_choice.h"
#include "injection/process/now.h"
#include "injection/process/thread.h"
#include "injection/session/source.h"
#include "injection/snapshot/bundle/capture.h"
#include "support/check.h"

static struct gt_launch_turn turn;
static _Atomic int late;

static void make(void)
{
	gt_launch_turn_init(&turn, 30000000000);
	late = 0;
}

TestSuite(launch_choice, .init = make);

static void note_late(void *context)
{
	(void)context;
	late++;
}

Test(launch_choice, lets_launches_by_while_nobody_has_the_turn)
{
	cr_assert(gt_launch_turn_pass(&turn, note_late, NULL));
	cr_assert(gt_launch_turn_pass(&turn, note_late, NULL));
	gt_launch_turn_leave(&turn);
	gt_launch_turn_leave(&turn);
	cr_expect(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
	gt_launch_turn_end(&turn);
	cr_expect(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
}

Test(launch_choice, takes_no_turn_while_a_launch_does_not_return)
{
	cr_assert(gt_launch_turn_pass(&turn, note_late, NULL));
	cr_expect(eq(int, gt_launch_turn_take(&turn), GT_TURN_NOISY));
	gt_launch_turn_leave(&turn);
	cr_expect(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
}

static _Atomic bool passed;

static void *launch(void *context)
{
	(void)context;
	if (gt_launch_turn_pass(&turn, note_late, NULL))
		gt_launch_turn_leave(&turn);
	atomic_store(&passed, true);
	return NULL;
}

Test(launch_choice, holds_launches_until_the_turn_ends)
{
	const struct timespec while_ns = {0, 20000000};
	pthread_t thread;

	cr_assert(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
	cr_assert(eq(int, pthread_create(&thread, NULL, launch, NULL), 0));
	(void)nanosleep(&while_ns, NULL);
	cr_expect(not(atomic_load(&passed)));
	gt_launch_turn_end(&turn);
	(void)pthread_join(thread, NULL);
	cr_expect(atomic_load(&passed));
	cr_expect(eq(int, late, 0));
}

static void *take(void *context)
{
	(void)context;
	cr_expect(eq(int, gt_launch_turn_take(&turn), GT_TURN_LATE));
	return NULL;
}

/* Whoever has the turn does not come to an end: neither a launch beside it nor the next turn waits.
 */
Test(launch_choice, gives_up_where_the_turn_does_not_end)
{
	pthread_t thread;

	gt_launch_turn_init(&turn, 50000000);
	cr_assert(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
	for (int i = 0; i < 2; i++) {
		atomic_store(&passed, false);
		cr_assert(eq(int, pthread_create(&thread, NULL, i ? launch : take, NULL), 0));
		(void)pthread_join(thread, NULL);
	}
	cr_expect(atomic_load(&passed));
	cr_expect(eq(int, late, 1), "told once");
	cr_expect(not(atomic_load(&turn.on)));
	cr_expect(not(gt_launch_turn_pass(&turn, note_late, NULL)));
	cr_expect(eq(int, late, 1));
	gt_launch_turn_end(&turn);
	cr_expect(eq(int, gt_launch_turn_take(&turn), GT_TURN_LATE), "it gave up");
}

/* For longer than anybody waits for it. */
static void *get_on(void *context)
{
	const struct timespec while_ns = {0, 20000000};

	(void)context;
	for (int i = 0; i < 40; i++) {
		atomic_store(&turn.alive_ns, gt_now());
		(void)nanosleep(&while_ns, NULL);
	}
	gt_launch_turn_end(&turn);
	return NULL;
}

/* However long it takes as a whole. */
Test(launch_choice, waits_while_whoever_has_the_turn_gets_on)
{
	pthread_t thread;

	gt_launch_turn_init(&turn, 500000000);
	cr_assert(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
	atomic_store(&turn.alive_ns, gt_now());
	cr_assert(eq(int, pthread_create(&thread, NULL, get_on, NULL), 0));
	cr_expect(gt_launch_turn_pass(&turn, note_late, NULL));
	cr_expect(eq(int, late, 0));
	(void)pthread_join(thread, NULL);
}

/* One launch after the other has the turn, for longer than anybody waits for a single one. */
Test(launch_choice, waits_while_one_turn_follows_the_other)
{
	const struct timespec while_ns = {0, 20000000};
	pthread_t thread;

	gt_launch_turn_init(&turn, 500000000);
	cr_assert(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
	cr_assert(eq(int, pthread_create(&thread, NULL, launch, NULL), 0));
	for (int i = 0; i < 40; i++) {
		(void)nanosleep(&while_ns, NULL);
		gt_launch_turn_end(&turn);
		cr_assert(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
	}
	gt_launch_turn_end(&turn);
	(void)pthread_join(thread, NULL);
	cr_expect(eq(int, late, 0));
	cr_expect(atomic_load(&turn.on));
}

Test(launch_choice, lets_everything_by_once_it_is_off)
{
	cr_assert(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
	atomic_store(&turn.on, false);
	cr_expect(not(gt_launch_turn_pass(&turn, note_late, NULL)));
}

/* ---- captures of streams ---- */

static struct gt_launch_choice choice;

static void follow(CUpti_CallbackId id, CUresult result)
{
	const CUpti_CallbackData data = {.functionReturnValue = &result};

	gt_launch_choice_follow(&choice,
	                        (struct gt_call){.data = &data, .callee = {.id = id, .driver = 1}});
}

Test(launch_choice, follows_captures_that_began)
{
	follow(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUDA_ERROR_ILLEGAL_STATE);
	cr_expect(eq(u32, choice.captures, 0), "it is none");
	follow(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUDA_SUCCESS);
	follow(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture, CUDA_SUCCESS);
	cr_expect(eq(u32, choice.captures, 2));
	follow(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUDA_SUCCESS);
	follow(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	cr_expect(eq(u32, choice.captures, 0), "it is over, whatever came of it");
	follow(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUDA_SUCCESS);
	cr_expect(eq(u32, choice.captures, 0));
}

/* ---- folders of bundles ---- */

static void expect_folder(const char *name, const char *end)
{
	char folder[192];
	const char *dash;

	gt_capture_folder(folder, sizeof(folder), 7, name);
	dash = strchr(folder, '-');
	cr_assert(ne(ptr, (void *)dash, NULL));
	cr_expect(eq(str, (char *)dash, (char *)end), "%s", name);
}

Test(capture_folder, is_named_by_the_function)
{
	expect_folder("replay_scale", "-7-replay_scale");
	expect_folder("_Z5scaleIfEvPT_S0_i", "-7-scale");
	expect_folder("_ZN2at6native27unrolled_elementwise_kernelINS0_13BinaryFunctorIEEEvT_",
	              "-7-unrolled_elementwise_kernel");
}

Test(capture_folder, is_a_name_of_one_folder_whatever_the_function_is_called)
{
	expect_folder("../../etc/passwd", "-7-______etc_passwd");
	expect_folder("", "-7-");
	expect_folder("_Z", "-7-_Z");
	expect_folder("_Z99999999999999999999a", "-7-_Z99999999999999999999a");
	expect_folder("_ZN3ab", "-7-_ZN3ab");
}

Test(launch_choice, pauses_when_whoever_is_inside_has_come_out)
{
	struct gt_launch_choice choice = {.captures = 0};

	cr_assert(gt_launch_turn_pass(&turn, note_late, NULL));
	cr_expect(not(gt_launch_turn_pause(&turn, &choice, GT_PAUSED)));
	cr_expect(not(gt_launch_turn_pass(&turn, note_late, NULL)), "nothing else goes in");
	cr_expect(eq(int, gt_launch_turn_take(&turn), GT_TURN_LATE));
	gt_launch_turn_leave(&turn);
	cr_expect(gt_launch_turn_pause(&turn, &choice, GT_PAUSED));
	cr_expect(gt_launch_turn_pause(&turn, &choice, 2));
	gt_own.times = 1;
	cr_expect(eq(int, gt_launch_turn_take(&turn), GT_TURN_LATE),
	          "it waited in an earlier call");
	gt_own.times = 2;
	cr_assert(eq(int, gt_launch_turn_take(&turn), GT_TURN_TAKEN));
	cr_expect(not(gt_launch_turn_pause(&turn, &choice, GT_PAUSED)));
	gt_launch_turn_end(&turn);
	atomic_store(&choice.captures, 1); /* its end would not be heard */
	cr_expect(not(gt_launch_turn_pause(&turn, &choice, GT_PAUSED)));
	atomic_store(&choice.captures, 0);
	cr_expect(gt_launch_turn_pause(&turn, &choice, GT_PAUSED));
}
