/* What a report of a bug should say of program and machine. */
#ifndef GC_CLI_ABOUT_H
#define GC_CLI_ABOUT_H

#include <stddef.h>

/* Lines on standard output: version, build, libraries, instructions, system. */
void gc_about_print(void);

/* The vector instructions that plans use on the CPU. */
const char *gc_instructions_name(void);

/* "Linux 6.1.0 x86_64" */
void gc_about_system(char *text, size_t size);

#endif
