/* Reads /proc/kallsyms, and names the addresses of a stack.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/kernel_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"

/* The function through which interrupts of the timer come: what lies outside of it was interrupted. */
static const char DOOR[] = "asm_sysvec_apic_timer_interrupt";

/* What all system calls come through is not worth telling. */
static const char SYSTEM_CALL[] = "do_syscall_64";
enum { MOST_TOLD = 8 };

/* "ffffffff81000000 T _text": functions only. */
static iw_status take_line(const iw_log *log, char *line, struct iwi_symbols *symbols)
{
    char *end;
    const uint64_t address = strtoull(line, &end, 16);

    if (address == 0 || end[0] != ' ' || end[1] == '\0' || strchr("tTwW", end[1]) == NULL || end[2] != ' ') {
        return IW_OK;
    }
    end += 3;
    end[strcspn(end, "\t\n ")] = '\0';
    return iwi_symbols_add(log, symbols, address, 0, end);
}

iw_status iwi_kernel_symbols_load(const iw_log *log, const char *root, struct iwi_symbols *symbols)
{
    FILE *file = iwi_sysfile_open(root, "/proc/kallsyms");
    iw_status status = IW_OK;
    char line[1024];

    *symbols = (struct iwi_symbols){.count = 0};
    while (file != NULL && status == IW_OK && fgets(line, sizeof line, file) != NULL) {
        status = take_line(log, line, symbols);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return status == IW_OK ? iwi_symbols_sort(log, symbols) : status;
}

void iwi_kernel_stack_text(const struct iwi_symbols *symbols, const uint64_t *addresses, size_t count,
                           char *text, size_t size)
{
    bool is_outside = false;
    size_t used = 0, told = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && addresses[i] != 0 && told <= MOST_TOLD && used < size; i++) {
        const char *name = iwi_symbols_find(symbols, addresses[i]);

        if (name == NULL || (is_outside && strcmp(name, SYSTEM_CALL) == 0)) {
            break;
        }
        if (is_outside) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", told > 0 ? " < " : "",
                                     told < MOST_TOLD ? name : "...");
            told++;
        }
        is_outside |= strcmp(name, DOOR) == 0;
    }
    if (is_outside && told == 0) {
        snprintf(text, size, "user space");
    }
}
