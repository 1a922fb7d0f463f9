/* Lists of CPUs as options have them, as arrays of numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CPU_LIST_H
#define IW_CLI_CPU_LIST_H

#include <idlewave/noise.h>

#include "process/ui.h"

enum { MOST_CPU_LIST = IW_CPU_SET_MOST, CPU_LIST_FAULT_SIZE = IW_CPU_FAULT_SIZE };

struct cpu_list {
    size_t count;
    uint32_t numbers[MOST_CPU_LIST]; /* ascending, each once */
};

/* As iw_cpu_set_parse(). */
bool cpu_list_parse(const char *text, struct cpu_list *list, char fault[CPU_LIST_FAULT_SIZE]);

/* The value of --cpus, an empty list for NULL; UI_DONE, or what ui_usage() gives. */
int cpu_list_read(const struct ui *ui, const char *text, struct cpu_list *list);

#endif
