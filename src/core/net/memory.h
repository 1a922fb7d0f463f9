/* How fast cores that share the memory of a domain move data (docs/explanation/semantics.md, rule 14).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Amounts are counted in picobytes (10^-12 bytes), so that a whole number of bytes per second moves a whole
 * number of them in a picosecond.
 */
#ifndef IWI_MEMORY_H
#define IWI_MEMORY_H

#include <idlewave/net.h>

typedef unsigned __int128 iwi_picobytes;

#define IWI_PICOBYTES_PER_BYTE ((iwi_picobytes)IW_PS_PER_S)

/* IW_ERR_RANGE (logged): sizes that cannot be meant. */
IW_NODISCARD iw_status iwi_memory_check(const iw_log *log, const iw_memory *memory);

/* What each of `active` > 0 cores of a domain gets: whole bytes per second, rounded down. */
static inline uint64_t iwi_memory_rate(const iw_memory *memory, uint32_t active)
{
    const uint64_t share = memory->domain_bytes_per_s / active;

    return share < memory->core_bytes_per_s ? share : memory->core_bytes_per_s;
}

/* How long that takes, rounded up to a picosecond; `rate` > 0. */
static inline iw_time iwi_memory_time(iwi_picobytes amount, uint64_t rate)
{
    const iwi_picobytes ps = (amount + rate - 1) / rate;

    return ps > INT64_MAX ? INT64_MAX : (iw_time)ps;
}

/* Most cores that can be active in a domain when there are so many ranks. */
static inline uint32_t iwi_memory_most(const iw_memory *memory, uint32_t ranks)
{
    return memory->ranks < ranks ? memory->ranks : ranks;
}

/* Some cores may get less because others are active. */
static inline bool iwi_memory_saturates(const iw_memory *memory, uint32_t ranks)
{
    return iwi_memory_rate(memory, iwi_memory_most(memory, ranks)) < memory->core_bytes_per_s;
}

/* How long `bytes` take a core when all of its domain move as many at the same time. */
static inline iw_time iwi_memory_lockstep(const iw_memory *memory, uint32_t ranks, uint64_t bytes)
{
    return iwi_memory_time(bytes * IWI_PICOBYTES_PER_BYTE,
                           iwi_memory_rate(memory, iwi_memory_most(memory, ranks)));
}

#endif
