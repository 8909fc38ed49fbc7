/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Runs a fuzz target over saved inputs, so that every build replays the corpus; with the preset
 * fuzz, libFuzzer brings its own main instead.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The whole file in a block of exactly its size: a read past the end is then the sanitizer's to
 * see. */
static uint8_t *read_file(const char *name, size_t *size)
{
	FILE *in = fopen(name, "rb");
	uint8_t *data = NULL;
	long length;

	if (!in)
		return NULL;
	if (fseek(in, 0, SEEK_END) == 0 && (length = ftell(in)) >= 0 &&
	    fseek(in, 0, SEEK_SET) == 0) {
		*size = (size_t)length;
		data = malloc(*size ? *size : 1);
		if (data && fread(data, 1, *size, in) != *size) {
			free(data);
			data = NULL;
		}
	}
	fclose(in);
	return data;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t size = 0;
		uint8_t *data = read_file(argv[i], &size);

		if (!data) {
			perror(argv[i]);
			return EXIT_FAILURE;
		}
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	printf("%d inputs\n", argc - 1);
	return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
