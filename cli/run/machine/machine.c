/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/machine/machine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/strings.h"
#include "format/file/chunk.h"
#include "format/file/writer.h"

void gt_machine_init(struct gt_machine *machine)
{
	*machine = (struct gt_machine){.strings = gt_strings_new()};
}

void gt_machine_release(struct gt_machine *machine)
{
	gt_strings_free(machine->strings);
	gt_array_release(&machine->nodes);
	gt_array_release(&machine->devices);
	gt_array_release(&machine->pairs);
	gt_array_release(&machine->notes);
	*machine = (struct gt_machine){0};
}

void gt_machine_note(struct gt_machine *machine, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	*gt_array_push(&machine->notes) = (struct gt_record_note){
		.topic = gt_strings_add(machine->strings, "topology"),
		.text = gt_strings_add(machine->strings, text),
	};
}

struct gt_record_pci_device *gt_machine_add_device(struct gt_machine *machine, const char *address)
{
	struct gt_record_pci_device *device = gt_array_push(&machine->devices);

	*device = (struct gt_record_pci_device){
		.address = gt_strings_add(machine->strings, address),
	};
	return device;
}

/* Texts as one chunk after another. */
static int write_strings(const struct gt_machine *machine, struct gt_writer *writer)
{
	const size_t count = gt_strings_count(machine->strings);
	int result = 0;

	for (uint32_t id = 1; id < count && result == 0; id++) {
		const char *text = gt_strings_get(machine->strings, id);
		const size_t size = strlen(text);
		uint8_t *bytes = gt_allocate(size + 2 * (size_t)GT_VARINT_MAX);
		uint8_t *at = gt_put_varint(gt_put_varint(bytes, id), size);

		memcpy(at, text, size);
		result = gt_writer_payload(writer, GT_RECORD_STRINGS, bytes,
		                           (size_t)(at - bytes) + size, 1);
		gt_array_free(bytes);
	}
	return result;
}

static int write_rows(struct gt_writer *writer, uint32_t kind, const void *rows, size_t count)
{
	/* No machine has so many: more would be a mistake. */
	if (count > GT_CHUNK_MAX_RECORDS)
		return -E2BIG;
	return count ? gt_writer_records(writer, kind, rows, count, (struct gt_origin){0}) : 0;
}

static int write_all(const struct gt_machine *machine, struct gt_writer *writer)
{
	int result = gt_writer_file_header(writer);

	if (result == 0)
		result = write_strings(machine, writer);
	if (result == 0)
		result = write_rows(writer, GT_RECORD_note, machine->notes.rows,
		                    machine->notes.count);
	if (result == 0)
		result = write_rows(writer, GT_RECORD_numa_node, machine->nodes.rows,
		                    machine->nodes.count);
	if (result == 0)
		result = write_rows(writer, GT_RECORD_pci_device, machine->devices.rows,
		                    machine->devices.count);
	if (result == 0)
		result = write_rows(writer, GT_RECORD_gpu_pair, machine->pairs.rows,
		                    machine->pairs.count);
	return result;
}

int gt_machine_write(const struct gt_machine *machine, struct gt_sink sink)
{
	const size_t size = gt_writer_memory();
	void *memory = NULL;
	struct gt_writer writer;
	int result = -ENOMEM;

	if (posix_memalign(&memory, 64, size) != 0)
		return result;
	result = gt_writer_init(&writer, sink, memory, size);
	if (result == 0)
		result = write_all(machine, &writer);
	free(memory);
	return result;
}
