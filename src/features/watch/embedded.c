/* Embeds the file IWI_WATCH_OBJECT, which the build makes from bpf/watch.bpf.c.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/kernel_side.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".hidden iwi_watch_object\n"
        ".globl iwi_watch_object\n"
        "iwi_watch_object:\n"
        ".incbin \"" IWI_WATCH_OBJECT "\"\n"
        ".hidden iwi_watch_object_end\n"
        ".globl iwi_watch_object_end\n"
        "iwi_watch_object_end:\n"
        ".byte 0\n"
        ".previous\n");
