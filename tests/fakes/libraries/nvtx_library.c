/* SPDX-License-Identifier: Apache-2.0 */
#include <nvtx3/nvToolsExt.h>

/* A library with a copy of NVTX of its own, as each shared object that uses NVTX has one. */

int nvtx_library_call(void);

int nvtx_library_call(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("loaded");
	nvtxEventAttributes_t event = {0};

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = "in the library";
	nvtxDomainRangePushEx(domain, &event);
	nvtxRangePushA("in its default domain");
	nvtxRangePop();
	nvtxDomainRangePop(domain);
	return 5;
}
