/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/state.h"

#include <stdatomic.h>
#include <stdlib.h>

/*
 * Streams that are captured into a graph: launches into them make nodes and run nothing. A stream
 * that waits for an event of a captured one is captured with it, from any thread. Only the stream
 * and the thread that began a capture may end it, but for a relaxed one; that forked streams were
 * joined before is not checked. Launches are the only work that can be captured.
 */

struct fake_capture {
	CUgraph graph;
	CUstream origin;
	pthread_t thread;
	CUstreamCaptureMode mode;
	int open; /* libcuda's lock */
};

static CUresult check_begin(CUstream stream, CUstream handle)
{
	if (stream != handle)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* a default stream */
	return fake_capture_of(stream) ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

static CUresult begin(CUstream handle, CUstreamCaptureMode mode)
{
	struct fake_capture *capture;
	CUstream stream = NULL;
	CUresult result = fake_stream(handle, &stream);

	if (result == CUDA_SUCCESS)
		result = check_begin(stream, handle);
	if (result != CUDA_SUCCESS)
		return result;
	/* Its memory stays: streams and events may still name it. */
	capture = malloc(sizeof(*capture));
	*capture = (struct fake_capture){
		.graph = fake_graph_new(),
		.origin = stream,
		.thread = pthread_self(),
		.mode = mode,
		.open = 1,
	};
	(void)pthread_mutex_lock(&fake_cuda.lock);
	stream->capture = capture;
	stream->frontier.count = 0;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return CUDA_SUCCESS;
}

static CUresult check_end(const struct fake_capture *capture, CUstream stream)
{
	if (!capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (capture->origin != stream)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
	    !pthread_equal(capture->thread, pthread_self()))
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	return CUDA_SUCCESS;
}

static CUresult end(CUstream handle, CUgraph *graph)
{
	struct fake_capture *capture = NULL;
	CUstream stream = NULL;
	CUresult result = fake_stream(handle, &stream);

	if (result == CUDA_SUCCESS) {
		capture = fake_capture_of(stream);
		result = check_end(capture, stream);
	}
	if (result != CUDA_SUCCESS)
		return result;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	capture->open = 0;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	*graph = capture->graph;
	return CUDA_SUCCESS;
}

struct fake_capture *fake_capture_of(CUstream stream)
{
	struct fake_capture *capture;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	capture = stream->capture && stream->capture->open ? stream->capture : NULL;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return capture;
}

CUgraph fake_capture_graph(const struct fake_capture *capture)
{
	return capture->graph;
}

CUresult fake_capture_join(CUstream stream, struct fake_capture *of_event)
{
	struct fake_capture *own = fake_capture_of(stream);
	int open;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	open = of_event && of_event->open;
	if (open && !own) {
		stream->capture = of_event;
		stream->frontier.count = 0;
	}
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	if (open)
		return own && own != of_event ? CUDA_ERROR_STREAM_CAPTURE_MERGE : CUDA_SUCCESS;
	if (own)
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	return of_event ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	API_BEGIN(cuStreamBeginCapture_v2, stream, mode);
	API_END(begin(stream, mode));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	API_BEGIN(cuStreamEndCapture, stream, graph);
	API_END(end(stream, graph));
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuStreamIsCapturing, handle, status);
	result = fake_stream(handle, &stream);
	if (result == CUDA_SUCCESS)
		*status = fake_capture_of(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE
		                                  : CU_STREAM_CAPTURE_STATUS_NONE;
	API_END(result);
}
