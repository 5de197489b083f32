#include "stacks.hpp"

#ifdef GC_DOUBLE_OWN_STACKS
asm(".text\n"
    ".globl gc_double_enter\n"
    ".type gc_double_enter, @function\n"
    "gc_double_enter:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq (%rsi), %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size gc_double_enter, . - gc_double_enter\n");
#endif
