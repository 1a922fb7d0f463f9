/* Lists of CPUs as people and Linux write them: "0-3,8", "0-31:2".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CPU_LIST_H
#define IW_CLI_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPU_LIST_MOST = 8192, CPU_LIST_FAULT_SIZE = 160 }; /* Linux has no more CPUs either */

struct cpu_list {
    size_t count;
    uint32_t numbers[CPU_LIST_MOST]; /* ascending, each once */
};

/* False: `fault` says what is wrong, and where. */
bool cpu_list_parse(const char *text, struct cpu_list *list, char fault[CPU_LIST_FAULT_SIZE]);

#endif
