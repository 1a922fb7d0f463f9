/* Reads lists of CPUs into arrays.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/cpu_list.h"

bool cpu_list_parse(const char *text, struct cpu_list *list, char fault[CPU_LIST_FAULT_SIZE])
{
    iw_cpu_set set;

    if (!iw_cpu_set_parse(text, &set, fault)) {
        return false;
    }
    list->count = 0;
    for (uint32_t i = 0; i < MOST_CPU_LIST; i++) {
        if (iw_cpu_set_has(&set, i)) {
            list->numbers[list->count++] = i;
        }
    }
    return true;
}

int cpu_list_read(const struct ui *ui, const char *text, struct cpu_list *list)
{
    char fault[CPU_LIST_FAULT_SIZE];

    list->count = 0;
    return text == NULL || cpu_list_parse(text, list, fault) ? UI_DONE : ui_usage(ui, "--cpus: %s", fault);
}
