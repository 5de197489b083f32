/* The program and the machine, as a report of a bug should describe them. */
#pragma once

#include "gconv.h"

#include <stdbool.h>
#include <stddef.h>

/* Prints version, build, instructions and system, one a line. */
void gc_about_print(void);

/* The name of the vector instructions that plans on the CPU use. */
const char *gc_instructions_name(void);

/* Lists vector instructions, the best first: "avx512, avx2, portable". All that this build knows,
 * or only those that this processor has. */
void gc_instructions_list(bool only_usable, char *text, size_t size);

/* "Linux 6.1.0 x86_64" */
void gc_about_system(char *text, size_t size);

/* Adds an object with what is known of a device to the JSON that is built. */
void gc_about_device_json(const gconv_device_info *device);
