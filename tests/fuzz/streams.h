/* Standard input and output in memory, for readers and writers that open "-". */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Makes the bytes all that standard input has, from its beginning. */
void fuzz_set_input(const uint8_t *bytes, size_t size);

/* Makes standard output an empty file, and what it holds then all that standard input has. */
void fuzz_clear_output(void);
void fuzz_output_to_input(void);
