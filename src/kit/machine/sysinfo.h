/* What is to be known about this machine: read from /proc and /sys below a root folder that tests choose.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SYSINFO_H
#define IWI_SYSINFO_H

#include <stdbool.h>
#include <stdint.h>

enum { IWI_FACT_SIZE = 256 };

/* Texts for people and programs alike: "unknown" where the machine does not tell, "none" for empty lists. */
struct iwi_sysinfo {
    char host[IWI_FACT_SIZE], kernel[IWI_FACT_SIZE];
    char cpu_model[IWI_FACT_SIZE];
    char smt[IWI_FACT_SIZE];        /* on, off */
    char hypervisor[IWI_FACT_SIZE]; /* none, its vendor, or "unknown vendor" */
    char clocksource[IWI_FACT_SIZE];
    char isolated[IWI_FACT_SIZE], nohz_full[IWI_FACT_SIZE];
    char tick_hz[IWI_FACT_SIZE];
};

/* `root`: "" for this machine. */
void iwi_sysinfo_read(const char *root, struct iwi_sysinfo *info);

/* Of cpufreq: "performance". */
void iwi_sysinfo_governor(const char *root, uint32_t cpu, char buf[IWI_FACT_SIZE]);

/* Ticks of sysconf(_SC_CLK_TCK) that the hypervisor took from a CPU so far; 0 where it does not tell. */
uint64_t iwi_sysinfo_steal(const char *root, uint32_t cpu);

/* How often firmware has interrupted the machine so far (SMI), by a register of Intel's processors; false: it
 * cannot be read, which takes root and the module msr. */
bool iwi_sysinfo_smi(const char *root, uint32_t cpu, uint64_t *count_p);

#endif
