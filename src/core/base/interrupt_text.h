/* Counts of interrupts as recordings keep them: "0:LOC=7500,RES=12;1:LOC=7400".
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     struct iwi_interrupt_reader r = {.next = text};
 *     while (iwi_interrupt_next(&r)) {
 *         ... r.cpu, r.name, r.count ...
 *     }
 */
#ifndef IWI_INTERRUPT_TEXT_H
#define IWI_INTERRUPT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { IWI_INTERRUPT_NAME_SIZE = 48 };

struct iwi_interrupt_reader {
    const char *next; /* what has not been read yet; begins with the whole */
    bool is_within;   /* of a CPU's counts */
    uint32_t cpu;
    char name[IWI_INTERRUPT_NAME_SIZE];
    uint64_t count;
};

/* The next count; false: there is none. What is malformed is passed over. */
bool iwi_interrupt_next(struct iwi_interrupt_reader *reader);

#endif
