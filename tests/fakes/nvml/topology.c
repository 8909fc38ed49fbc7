/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "fakes/nvml/nvml.h"

/*
 * The fake libnvidia-ml: what is between GPUs. GPUs 0 and 1 are a pair behind one PCIe switch, as
 * are 2 and 3 and so on; each NUMA node has as many GPUs and sixteen processors.
 */

enum { GPU = 0, SWITCH = 2, UNKNOWN = 255 };
enum { SINGLE = 10, NODE = 40, SYSTEM = 50 };
enum { P2P_OK = 0, P2P_NOT_SUPPORTED = 5, P2P_NVLINK = 2 };
enum { CPUS_OF_A_NODE = 16, WORD = CHAR_BIT * sizeof(unsigned long) };

static unsigned node_of(nvmlDevice_t device)
{
	return (unsigned)(fake_nvml_index(device) * fake_nvml.script.numa_nodes /
	                  fake_nvml.script.devices);
}

static int are_a_pair(nvmlDevice_t one, nvmlDevice_t other)
{
	return fake_nvml_index(one) / 2 == fake_nvml_index(other) / 2;
}

static int fill(unsigned words, unsigned long *set, unsigned first, unsigned count)
{
	memset(set, 0, words * sizeof(*set));
	for (unsigned i = first; i < first + count && i / WORD < words; i++)
		set[i / WORD] |= 1UL << i % WORD;
	return NVML_SUCCESS;
}

int nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int words, unsigned long *cpus);
int nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int words, unsigned long *cpus)
{
	const int result = fake_nvml_ask(device, FAKE_NVML_affinity);

	return result ? result
	              : fill(words, cpus, node_of(device) * CPUS_OF_A_NODE, CPUS_OF_A_NODE);
}

int nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int words, unsigned long *nodes,
                                unsigned int scope);
int nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int words, unsigned long *nodes,
                                unsigned int scope)
{
	const int result = fake_nvml_ask(device, FAKE_NVML_affinity);

	if (scope != 0)
		return NVML_ERROR_INVALID_ARGUMENT;
	return result ? result : fill(words, nodes, node_of(device), 1);
}

int nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, int *active);
int nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, int *active)
{
	const int result = fake_nvml_ask(device, FAKE_NVML_nvlink);

	if (result)
		return result;
	if (!fake_nvml.script.nvlinks)
		return NVML_ERROR_NOT_SUPPORTED;
	*active = link < fake_nvml.script.nvlinks;
	return link <= fake_nvml.script.nvlinks ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link, int *type);
int nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link, int *type)
{
	static const int ends[] = {SWITCH, GPU, UNKNOWN};

	if (link >= fake_nvml.script.nvlinks || fake_nvml.script.nvlink_ends > 2)
		return NVML_ERROR_INVALID_ARGUMENT;
	*type = ends[fake_nvml.script.nvlink_ends];
	return fake_nvml_ask(device, FAKE_NVML_nvlink);
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link,
                                        nvmlPciInfo_t *info);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *info)
{
	nvmlDevice_t other;
	const int result = nvmlDeviceGetHandleByIndex_v2(fake_nvml_index(device) ^ 1, &other);

	if (link >= fake_nvml.script.nvlinks)
		return NVML_ERROR_INVALID_ARGUMENT;
	return result ? result : nvmlDeviceGetPciInfo_v3(other, info);
}

int nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t other, int *level);
int nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t other, int *level)
{
	*level = are_a_pair(one, other) ? SINGLE : node_of(one) == node_of(other) ? NODE : SYSTEM;
	return fake_nvml_ask(one, FAKE_NVML_ancestor);
}

/* Over PCIe GPUs of one node reach each other, over NVLink those that have some in common. */
int nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other, int capability, int *status);
int nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other, int capability, int *status)
{
	const int linked = fake_nvml.script.nvlinks > 0 &&
	                   (fake_nvml.script.nvlink_ends != 1 || are_a_pair(one, other));
	const int reached = linked || node_of(one) == node_of(other);

	*status = (capability == P2P_NVLINK ? linked : reached) ? P2P_OK : P2P_NOT_SUPPORTED;
	return fake_nvml_ask(one, FAKE_NVML_p2p);
}

int fake_nvml_read_link_field(nvmlDevice_t device, nvmlFieldValue_t *field)
{
	const struct fake_script *script = &fake_nvml.script;

	field->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
	switch (field->fieldId) {
	case NVML_FI_DEV_NVLINK_GET_SPEED:
		field->value.uiVal = FAKE_NVLINK_MB_S;
		return field->scopeId < script->nvlinks ? fake_nvml_ask(device, FAKE_NVML_nvlink)
		                                        : NVML_ERROR_INVALID_ARGUMENT;
	case NVML_FI_DEV_C2C_LINK_COUNT:
		field->value.uiVal = (unsigned)script->c2c_links;
		return script->c2c_links ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
	case NVML_FI_DEV_C2C_LINK_GET_STATUS:
		field->value.uiVal = 1;
		return field->scopeId < script->c2c_links ? NVML_SUCCESS
		                                          : NVML_ERROR_INVALID_ARGUMENT;
	case NVML_FI_DEV_C2C_LINK_GET_MAX_BW:
		field->value.uiVal = FAKE_C2C_MB_S;
		return field->scopeId < script->c2c_links ? NVML_SUCCESS
		                                          : NVML_ERROR_INVALID_ARGUMENT;
	default:
		return -1;
	}
}
