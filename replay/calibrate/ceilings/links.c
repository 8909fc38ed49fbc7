/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/calibrate/bench.h"

/* Copies between the GPU and the host, and from the GPU to each other one. */

#define BYTES ((size_t)256 << 20) /* of a copy */

struct copying {
	struct gt_bench *bench;
	CUdeviceptr from;
	CUdeviceptr to;
	CUcontext peer; /* of to; NULL: it is no other GPU's */
};

static int copy(const struct copying *copying, struct gt_error *err)
{
	const struct gt_gpu *gpu = &copying->bench->gpu;
	const CUresult code =
		copying->peer ? gpu->cuda->copy_peer(copying->to, copying->peer, copying->from,
	                                             gpu->context, BYTES, gpu->stream)
			      : gpu->cuda->copy(copying->to, copying->from, BYTES, gpu->stream);

	return gt_cuda_check(gpu->cuda, code, err, "memory cannot be copied");
}

static int measure_by_events(void *context, double *value, struct gt_error *err)
{
	const struct copying *copying = context;
	double ns = 0;
	int result = gt_gpu_start_timer(&copying->bench->gpu, err);

	if (result == 0)
		result = copy(copying, err);
	if (result == 0)
		result = gt_gpu_stop_timer(&copying->bench->gpu, &ns, err);
	*value = BYTES / ns * 1e9;
	return result;
}

/* For pageable memory the call itself does a part of the work. */
static int measure_by_host(void *context, double *value, struct gt_error *err)
{
	const struct copying *copying = context;
	const int64_t begun_ns = gt_gpu_now_ns();
	int result = copy(copying, err);

	if (result == 0)
		result = gt_gpu_wait(&copying->bench->gpu, err);
	*value = (double)BYTES / (double)(gt_gpu_now_ns() - begun_ns) * 1e9;
	return result;
}

static int add(struct copying *copying, enum gt_ceiling_name name, struct gt_calibrated row,
               bool by_host, struct gt_error *err)
{
	int result = 0;

	if (!gt_bench_wants(copying->bench, name))
		return 0;
	row.name = name;
	result = gt_bench_steady(copying->bench, by_host ? measure_by_host : measure_by_events,
	                         copying, false, &row, err);
	if (result == 0)
		gt_bench_add(copying->bench, &row);
	return result;
}

/* Both ways between memory of the host and of the GPU. */
static int both_ways(struct gt_bench *bench, CUdeviceptr device, void *host, bool pinned,
                     struct gt_error *err)
{
	const CUdeviceptr address = (CUdeviceptr)(uintptr_t)host;
	const struct gt_calibrated row = {.how = "cuMemcpyAsync of 256 MiB"};
	struct copying copying = {.bench = bench, .from = address, .to = device};
	int result =
		add(&copying,
	            pinned ? GT_CEILING_pcie_to_device_pinned : GT_CEILING_pcie_to_device_pageable,
	            row, !pinned, err);

	copying.from = device;
	copying.to = address;
	if (result == 0)
		result = add(&copying,
		             pinned ? GT_CEILING_pcie_to_host_pinned
		                    : GT_CEILING_pcie_to_host_pageable,
		             row, !pinned, err);
	return result;
}

static int measure_host(struct gt_bench *bench, CUdeviceptr device, struct gt_error *err)
{
	void *pinned = NULL;
	void *pageable = gt_allocate(BYTES);
	int result = gt_gpu_alloc_pinned(&bench->gpu, BYTES, &pinned, err);

	memset(pageable, 1, BYTES);
	if (result == 0) {
		memset(pinned, 1, BYTES);
		result = both_ways(bench, device, pinned, true, err);
	}
	if (result == 0)
		result = both_ways(bench, device, pageable, false, err);
	free(pageable);
	return result;
}

/* Whether it goes directly, which both sides must have been told. */
static bool open_way(const struct gt_bench *bench, const struct gt_gpu *peer)
{
	const struct gt_cuda *cuda = bench->gpu.cuda;
	int can = 0;
	CUresult code;

	if (cuda->can_access_peer(&can, bench->gpu.device, peer->device) != CUDA_SUCCESS || !can)
		return false;
	code = cuda->enable_peer(peer->context, 0);
	return code == CUDA_SUCCESS || code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

static int copy_to_peer(struct gt_bench *bench, CUdeviceptr device, struct gt_gpu *peer,
                        struct gt_error *err)
{
	struct copying copying = {.bench = bench, .from = device, .peer = peer->context};
	struct gt_calibrated row = {.how = ""};
	int result = gt_gpu_alloc(peer, BYTES, &copying.to, err);

	gt_gpu_uuid(peer, row.peer);
	if (result == 0)
		result = gt_gpu_select(&bench->gpu, err);
	if (result < 0)
		return result;
	snprintf(row.how, sizeof(row.how), "cuMemcpyPeerAsync of 256 MiB, %s",
	         open_way(bench, peer) ? "directly" : "no direct access");
	return add(&copying, GT_CEILING_peer_copy, row, false, err);
}

static int measure_peers(struct gt_bench *bench, CUdeviceptr device, struct gt_error *err)
{
	const int count = gt_cuda_count(bench->gpu.cuda);
	int result = 0;

	if (count < 2)
		gt_bench_leave_out(bench, GT_CEILING_peer_copy, "there is no other GPU");
	for (int i = 0; result == 0 && i < count; i++) {
		struct gt_gpu peer;

		if (i == bench->gpu.ordinal)
			continue;
		result = gt_gpu_open(&peer, bench->gpu.cuda, i, err);
		if (result == 0) {
			result = copy_to_peer(bench, device, &peer, err);
			gt_gpu_close(&peer);
		}
		if (result == 0)
			result = gt_gpu_select(&bench->gpu, err);
	}
	return result;
}

static bool wants_host(const struct gt_bench *bench)
{
	return gt_bench_wants(bench, GT_CEILING_pcie_to_device_pinned) ||
	       gt_bench_wants(bench, GT_CEILING_pcie_to_host_pinned) ||
	       gt_bench_wants(bench, GT_CEILING_pcie_to_device_pageable) ||
	       gt_bench_wants(bench, GT_CEILING_pcie_to_host_pageable);
}

int gt_measure_links(struct gt_bench *bench, struct gt_error *err)
{
	const bool peers = gt_bench_wants(bench, GT_CEILING_peer_copy);
	CUdeviceptr device = 0;
	int result = 0;

	if (peers || wants_host(bench))
		result = gt_gpu_alloc(&bench->gpu, BYTES, &device, err);
	if (result == 0 && wants_host(bench))
		result = measure_host(bench, device, err);
	if (result == 0 && peers)
		result = measure_peers(bench, device, err);
	return result;
}
