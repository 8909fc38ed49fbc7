/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a profiler of its own: it subscribes to CUPTI before or after it starts
 * CUDA. Prints what CUPTI answered and how many callbacks came.
 * Usage: app_subscriber first|later
 */
#include <stdio.h>
#include <string.h>

#include <cuda.h>
#include <cupti.h>

static unsigned long callbacks;

static void on_callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                        const void *data)
{
	(void)domain;
	(void)cbid;
	(void)data;
	++*(unsigned long *)userdata;
}

static CUptiResult subscribe(void)
{
	CUpti_SubscriberHandle subscriber = NULL;
	CUpti_SubscriberParams params = {
		.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
		.subscriberName = "app_subscriber",
	};
	const CUptiResult result = cuptiSubscribe_v2(&subscriber, on_callback, &callbacks, &params);

	if (result == CUPTI_SUCCESS)
		(void)cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	return result;
}

int main(int argc, char **argv)
{
	const int first = argc > 1 && strcmp(argv[1], "first") == 0;
	CUptiResult result = CUPTI_SUCCESS;
	CUcontext context;
	CUmodule module;
	CUfunction function;
	int failed = 0;

	if (first)
		result = subscribe();
	failed |= cuInit(0) != CUDA_SUCCESS;
	if (!first)
		result = subscribe();
	failed |= cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS;
	failed |= cuModuleLoadData(&module, "fake image") != CUDA_SUCCESS;
	failed |= cuModuleGetFunction(&function, module, "subscribed") != CUDA_SUCCESS;
	for (int i = 0; i < 5; i++)
		failed |= cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL) !=
		          CUDA_SUCCESS;
	failed |= cuCtxSynchronize() != CUDA_SUCCESS;
	printf("{\"launches\":5,\"subscribed\":%d,\"callbacks\":%lu}\n", (int)result, callbacks);
	return failed;
}
