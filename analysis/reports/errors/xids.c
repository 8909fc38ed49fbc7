/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/errors/xids.h"

#include <stdlib.h>
#include <string.h>

/* Takes a number from a text and moves behind it; false: there is none, or it is too large. */
static bool take_number(const char **text, int base, uint32_t *number)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	unsigned long long value;
	char *end;

	if (!**text || !strchr(base == 16 ? digits : "0123456789", **text))
		return false;
	value = strtoull(*text, &end, base);
	if (value > UINT32_MAX)
		return false;
	*text = end;
	*number = (uint32_t)value;
	return true;
}

static bool take(const char **text, const char *word)
{
	const size_t length = strlen(word);

	if (strncmp(*text, word, length) != 0)
		return false;
	*text += length;
	return true;
}

struct address {
	uint32_t domain;
	uint32_t bus;
	uint32_t slot;
};

/* "0000:3b:00", in hexadecimal digits; a function may follow. */
static bool take_address(const char **text, struct address *address)
{
	return take_number(text, 16, &address->domain) && take(text, ":") &&
	       take_number(text, 16, &address->bus) && take(text, ":") &&
	       take_number(text, 16, &address->slot);
}

/* Reads a note, "HOST: [  12.345678] NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, ..." */
static bool parse(struct gt_xid *xid, const char *note)
{
	const char *text = strstr(note, "NVRM: Xid (");
	const char *time = strchr(note, '[');
	const char *pid = strstr(note, ", pid=");
	struct address address;
	uint32_t number;

	if (!text || !time || time > text)
		return false;
	text += strlen("NVRM: Xid (");
	(void)take(&text, "PCI:");
	if (!take_address(&text, &address) || !(text = strchr(text, ')')) || !take(&text, "): ") ||
	    !take_number(&text, 10, &xid->code))
		return false;
	xid->host = note;
	xid->message = time;
	xid->domain = address.domain;
	xid->bus = address.bus;
	xid->slot = address.slot;
	xid->pid = -1;
	if (pid && take(&pid, ", pid=") && take_number(&pid, 10, &number))
		xid->pid = number;
	return true;
}

static bool is_on_host(const struct gt_xid *xid, const char *host)
{
	const size_t length = strlen(host);

	return strncmp(xid->host, host, length) == 0 && xid->host[length] == ':';
}

static gt_id find_device(const struct gt_trace *trace, const struct gt_xid *xid)
{
	for (gt_id i = 0; i < trace->devices.count; i++) {
		const char *text = gt_trace_text(trace, trace->devices.rows[i].pci);
		struct address address;

		if (take_address(&text, &address) && address.domain == xid->domain &&
		    address.bus == xid->bus && address.slot == xid->slot &&
		    is_on_host(xid, gt_trace_text(trace, trace->devices.rows[i].host)))
			return i;
	}
	return GT_NONE;
}

void gt_xids_init(struct gt_xids *xids, const struct gt_trace *trace)
{
	*xids = (struct gt_xids){.trace = trace};
	gt_array_each(const struct gt_note, note, &trace->notes) {
		struct gt_xid xid = {.process = note->process};

		if (strcmp(gt_trace_text(trace, note->topic), GT_KERNEL_LOG_TOPIC) != 0 ||
		    !parse(&xid, gt_trace_text(trace, note->text)))
			continue;
		xid.device = find_device(trace, &xid);
		*gt_array_push(&xids->rows) = xid;
	}
}

void gt_xids_release(struct gt_xids *xids)
{
	gt_array_release(&xids->rows);
}

bool gt_xid_fits(const struct gt_xids *xids, const struct gt_xid *xid, gt_id process)
{
	const struct gt_trace *trace = xids->trace;

	if (process >= trace->processes.count)
		return false;
	if (xid->process < trace->processes.count)
		return xid->process == process;
	if (xid->device >= trace->devices.count)
		return false;
	gt_array_each(const struct gt_context, context, &trace->contexts)
		if (context->process == process && context->device == xid->device)
			return true;
	return false;
}
