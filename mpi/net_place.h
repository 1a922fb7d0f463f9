/* Where ranks run: hosts and CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_PLACE_H
#define IWI_NET_PLACE_H

#include <idlewave/internal/net_measure.h>

#define IWI_PLACE_WORDS 16 /* 1024 CPUs */

struct iwi_process_place {
    char host[64];
    uint64_t cpus[IWI_PLACE_WORDS]; /* that this process may run on */
};

/* Of this process. */
void iwi_process_place_here(struct iwi_process_place *place);

bool iwi_process_place_is_same_host(const struct iwi_process_place *a, const struct iwi_process_place *b);

/* How many hosts there are. `places` are of all ranks. */
uint32_t iwi_process_place_hosts(const struct iwi_process_place *places, uint32_t ranks);

/* The number of a rank's host: hosts are counted in the order of their lowest ranks. */
uint32_t iwi_process_place_host_number(const struct iwi_process_place *places, uint32_t rank);

/* Writes why the numbers are not valid if ranks have to share CPUs, else "". */
void iwi_process_place_warn(const struct iwi_process_place *places, uint32_t ranks, char *buf, size_t size);

#endif
