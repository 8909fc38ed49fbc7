/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exporters/perfetto/wire/wire.h"
#include "exporters/perfetto/writer.h"

enum {
	NAME_SIZE = 256,
	UUID_SIZE = 16,
	FACT_COUNT = 6,
	FACT_SIZE = 32,
};

static void write_system(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	Perfetto__SystemInfo system = PERFETTO__SYSTEM_INFO__INIT;
	Perfetto__Utsname names = PERFETTO__UTSNAME__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	const struct gt_process *process = trace->processes.rows;
	const char *host;

	if (trace->processes.count == 0 || perfetto->ids.several_hosts)
		return;
	host = gt_trace_text(trace, process->host);
	if (!*host)
		return;
	system.machine_name = gt_borrow(host);
	/* Without the architecture Perfetto notes an unknown one as an error. */
	names.sysname = gt_borrow("Linux");
	names.release = gt_borrow(gt_trace_text(trace, process->kernel_release));
	names.machine = gt_borrow(gt_trace_text(trace, process->architecture));
	system.utsname = *names.machine ? &names : NULL;
	system.has_num_cpus = process->cpus > 0;
	system.num_cpus = process->cpus;
	packet.system_info = &system;
	gt_sequence_add(&perfetto->descriptions, &packet);
}

/* The bytes of "GPU-6e3c...": 32 hexadecimal digits, dashes between them do not count. */
static bool parse_uuid(const char *text, uint8_t uuid[UUID_SIZE])
{
	const size_t all_digits = (size_t)2 * UUID_SIZE;
	size_t digits = 0;

	if (strncmp(text, "GPU-", 4) != 0)
		return false;
	for (text += 4; *text; text++) {
		const char digit[] = {*text, '\0'};

		if (*text == '-')
			continue;
		if (!isxdigit((unsigned char)*text) || digits == all_digits)
			return false;
		uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | strtoul(digit, NULL, 16));
		digits++;
	}
	return digits == all_digits;
}

/* Texts of one GPU in the packet of all of them. */
struct gpu_row {
	Perfetto__Gpu gpu;
	char name[NAME_SIZE];
	char architecture[FACT_SIZE];
	uint8_t uuid[UUID_SIZE];
	Perfetto__KeyValue facts[FACT_COUNT];
	Perfetto__KeyValue *list[FACT_COUNT];
	char values[FACT_COUNT][FACT_SIZE];
};

static void add_fact(struct gpu_row *row, const char *key, uint64_t value)
{
	const size_t at = row->gpu.n_extra_info;

	if (value == 0)
		return;
	snprintf(row->values[at], FACT_SIZE, "%llu", (unsigned long long)value);
	row->facts[at] = (Perfetto__KeyValue)PERFETTO__KEY_VALUE__INIT;
	row->facts[at].key = gt_borrow(key);
	row->facts[at].value = row->values[at];
	row->list[at] = &row->facts[at];
	row->gpu.n_extra_info++;
}

/* Two GPUs must not have one name in the viewer. */
static void name_gpu(const struct gt_perfetto *perfetto, struct gpu_row *row, uint32_t number,
                     const struct gt_device *device)
{
	const struct gt_trace *trace = perfetto->trace;
	const char *given = gt_trace_text(trace, device->label);
	const char *name = gt_trace_text(trace, device->name);
	const char *host = gt_trace_text(trace, device->host);

	if (perfetto->ids.several_hosts && *host)
		snprintf(row->name, sizeof(row->name), "%.120s #%u (%.100s)", name, number, host);
	else if (*given)
		snprintf(row->name, sizeof(row->name), "%.120s #%u: %.100s", name, number, given);
	else
		snprintf(row->name, sizeof(row->name), "%.120s #%u", name, number);
}

static void fill_gpu(const struct gt_perfetto *perfetto, struct gpu_row *row, uint32_t number,
                     const struct gt_device *device)
{
	const struct gt_trace *trace = perfetto->trace;
	const char *pci = gt_trace_text(trace, device->pci);

	name_gpu(perfetto, row, number, device);
	row->gpu.vendor = gt_borrow("NVIDIA");
	row->gpu.model = gt_borrow(gt_trace_text(trace, device->name));
	if (device->cc_major) {
		snprintf(row->architecture, FACT_SIZE, "sm_%u%u", device->cc_major,
		         device->cc_minor);
		row->gpu.architecture = row->architecture;
	}
	row->gpu.has_uuid = parse_uuid(gt_trace_text(trace, device->uuid), row->uuid);
	row->gpu.uuid = (ProtobufCBinaryData){.len = UUID_SIZE, .data = row->uuid};
	row->gpu.pci_bdf = *pci ? gt_borrow(pci) : NULL;
	row->gpu.extra_info = row->list;
	add_fact(row, "sm_count", device->sm_count);
	add_fact(row, "sm_clock_khz", device->sm_clock_khz);
	add_fact(row, "memory_bytes", device->memory_bytes);
	add_fact(row, "memory_clock_khz", device->memory_clock_khz);
	add_fact(row, "memory_bus_bits", device->memory_bus_bits);
	add_fact(row, "l2_bytes", device->l2_bytes);
}

/* All GPUs in one packet: a second one would begin again at number 0. */
static void write_gpus(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	const uint32_t count = perfetto->ids.gpu_count;
	struct gpu_row *rows = gt_allocate(count * sizeof(*rows));
	Perfetto__Gpu **list = gt_allocate(count * sizeof(Perfetto__Gpu *));
	Perfetto__GpuInfo info = PERFETTO__GPU_INFO__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	for (uint32_t i = 0; i < count; i++) {
		rows[i] = (struct gpu_row){.gpu = PERFETTO__GPU__INIT};
		/* One that nobody used: it only keeps the place. */
		snprintf(rows[i].name, NAME_SIZE, "GPU #%u", i);
		rows[i].gpu.name = rows[i].name;
		list[i] = &rows[i].gpu;
	}
	for (size_t i = 0; i < trace->devices.count; i++) {
		const uint32_t number = perfetto->ids.gpus[i];

		fill_gpu(perfetto, &rows[number], number, &trace->devices.rows[i]);
	}
	info.gpus = list;
	info.n_gpus = count;
	packet.gpu_info = &info;
	if (count > 0)
		gt_sequence_add(&perfetto->descriptions, &packet);
	gt_array_free(list);
	gt_array_free(rows);
}

/*
 * The command line as SQL has it. Perfetto takes its first word for the name, over what the
 * descriptor says, so that word is the name; the label has it as it was.
 */
static void write_command(struct gt_perfetto *perfetto, uint32_t pid, const char *name,
                          const char *command)
{
	const char *blank = strchr(command, ' ');
	char *words[] = {gt_borrow(name), gt_borrow(blank ? blank + 1 : "")};
	Perfetto__ProcessRow process = PERFETTO__PROCESS_ROW__INIT;
	Perfetto__ProcessRow *list[] = {&process};
	Perfetto__ProcessTree tree = PERFETTO__PROCESS_TREE__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	process.has_pid = 1;
	process.pid = (int32_t)pid;
	process.cmdline = words;
	process.n_cmdline = blank ? 2 : 1;
	tree.processes = list;
	tree.n_processes = 1;
	packet.process_tree = &tree;
	if (*name && *command)
		gt_sequence_add(&perfetto->descriptions, &packet);
}

static void write_process(struct gt_perfetto *perfetto, size_t row)
{
	const struct gt_trace *trace = perfetto->trace;
	const struct gt_process *source = &trace->processes.rows[row];
	const char *command = gt_trace_text(trace, source->command);
	char name[NAME_SIZE];
	char *label = gt_borrow(command);
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	snprintf(name, sizeof(name), "%.120s", gt_trace_text(trace, source->name));
	if (perfetto->ids.several_hosts)
		snprintf(name, sizeof(name), "%.120s (%.100s)", gt_trace_text(trace, source->name),
		         gt_trace_text(trace, source->host));
	process.has_pid = 1;
	process.pid = (int32_t)perfetto->ids.pids[row];
	process.process_name = name;
	process.process_labels = &label;
	process.n_process_labels = *command ? 1 : 0;
	process.start_timestamp_ns = gt_process_started_ns(source);
	process.has_start_timestamp_ns = process.start_timestamp_ns > 0;
	track.has_uuid = 1;
	track.uuid = perfetto->ids.process_uuids[row];
	track.process = &process;
	packet.track_descriptor = &track;
	gt_sequence_add(&perfetto->descriptions, &packet);
	write_command(perfetto, perfetto->ids.pids[row], name, command);
}

static void write_thread(struct gt_perfetto *perfetto, const struct gt_thread *source)
{
	const struct gt_trace *trace = perfetto->trace;
	const char *name = gt_trace_text(trace, source->name);
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	if (source->process >= trace->processes.count)
		return;
	thread.has_pid = thread.has_tid = 1;
	thread.pid = (int32_t)perfetto->ids.pids[source->process];
	thread.tid = source->tid;
	thread.thread_name = *name ? gt_borrow(name) : NULL;
	track.has_uuid = track.has_parent_uuid = 1;
	track.uuid = gt_ids_thread_uuid(&perfetto->ids, source);
	track.parent_uuid = perfetto->ids.process_uuids[source->process];
	track.thread = &thread;
	packet.track_descriptor = &track;
	gt_sequence_add(&perfetto->descriptions, &packet);
}

void gt_perfetto_write_descriptors(struct gt_perfetto *perfetto)
{
	write_system(perfetto);
	write_gpus(perfetto);
	for (size_t i = 0; i < perfetto->trace->processes.count; i++)
		write_process(perfetto, i);
	gt_array_each(const struct gt_thread, thread, &perfetto->trace->threads)
		write_thread(perfetto, thread);
}
