/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DOCTOR_ELF_HEAD_H
#define GT_CLI_DOCTOR_ELF_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The head of an ELF file: for which processor it is, and who loads its shared libraries. */
struct gt_elf_head {
	uint16_t machine;  /* EM_ of elf.h; 0: it is no ELF file */
	bool has_segments; /* they could be read: the next two are known */
	bool is_dynamic;   /* it names a loader: shared libraries can be put into it */
	char loader[128];  /* the loader's path; "": none, or it is longer */
};

/* Reads bytes, which may be damaged or cut. Returns 1, or 0 when it is no ELF file. */
int gt_elf_head_parse(struct gt_elf_head *head, const uint8_t *bytes, size_t size);

/* Reads the first GT_ELF_HEAD_BYTES of a file, which hold what linkers write. 1, or 0 as above. */
int gt_elf_head_read(struct gt_elf_head *head, const char *path);

enum { GT_ELF_HEAD_BYTES = 16384 };

/* "x86-64" or "number 243". */
void gt_elf_machine_name(uint16_t machine, char *text, size_t size);

/* The machine that this program is for. */
uint16_t gt_elf_machine_here(void);

#endif
