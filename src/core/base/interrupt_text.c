/* Reads counts of interrupts from their text.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/interrupt_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* "0:", or all of a CPU that has none. */
static void begin_cpu(struct iwi_interrupt_reader *reader)
{
    char *colon;
    const unsigned long cpu = strtoul(reader->next, &colon, 10);

    if (isdigit((unsigned char)reader->next[0]) != 0 && *colon == ':' && cpu <= UINT32_MAX) {
        reader->cpu = (uint32_t)cpu;
        reader->next = colon + 1;
        reader->is_within = true;
    } else {
        reader->next += strcspn(reader->next, ";");
        reader->next += *reader->next == ';';
    }
}

bool iwi_interrupt_next(struct iwi_interrupt_reader *reader)
{
    while (*reader->next != '\0') {
        const char *item = reader->next;
        const size_t length = strcspn(item, ",;"), name_length = strcspn(item, "=,;");

        if (!reader->is_within) {
            begin_cpu(reader);
            continue;
        }
        reader->is_within = item[length] != ';';
        reader->next += length + (item[length] != '\0');
        if (name_length == 0 || name_length == length || name_length >= sizeof reader->name) {
            continue;
        }
        memcpy(reader->name, item, name_length);
        reader->name[name_length] = '\0';
        reader->count = strtoull(item + name_length + 1, NULL, 10);
        return true;
    }
    return false;
}
