/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_IMPORTER_H
#define GT_IMPORT_IMPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_builder;
struct gt_error;
struct gt_watch;

/* The file of another profiler that is being imported. */
struct gt_foreign {
	const char *path;
	const char *name;             /* its last part, for sentences */
	const struct gt_watch *watch; /* NULL: nobody wants to know how far it is */
};

/* One sort of such files. To add one: see formats.def. */
struct gt_importer {
	const char *name;    /* of the format, in lists */
	const char *product; /* the program that writes such files */
	const char *summary; /* one line, no full stop */

	/* Whether a file that begins with these bytes may be one, which read then finds out. */
	bool (*accepts)(const uint8_t *bytes, size_t size);

	/*
	 * Gives the builder all that the file holds, a capture for each process. A file that is cut
	 * or damaged further on is no error: what stands before is taken, and gt_builder_cut told.
	 * -EBADMSG: it is no such file, or nothing of it can be read. -ENODATA: it holds nothing to
	 * import.
	 */
	int (*read)(const struct gt_foreign *file, struct gt_builder *builder,
	            struct gt_error *err);
};

extern const struct gt_importer *const gt_importers[];
extern const size_t gt_importer_count;

#endif
