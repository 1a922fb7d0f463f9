/* Finds out where ranks run, and whether some must share a CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/net_place.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void iwi_process_place_here(struct iwi_process_place *place)
{
    cpu_set_t set;

    _Static_assert(sizeof place->cpus * 8 >= CPU_SETSIZE, "a bit for each CPU");
    memset(place, 0, sizeof *place);
    if (gethostname(place->host, sizeof place->host - 1) != 0) {
        snprintf(place->host, sizeof place->host, "unknown");
    }
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (CPU_ISSET(cpu, &set)) {
                place->cpus[cpu / 64] |= UINT64_C(1) << (cpu % 64);
            }
        }
    }
}

bool iwi_process_place_is_same_host(const struct iwi_process_place *a, const struct iwi_process_place *b)
{
    return strcmp(a->host, b->host) == 0;
}

static bool is_first_of_host(const struct iwi_process_place *places, uint32_t rank)
{
    for (uint32_t other = 0; other < rank; other++) {
        if (iwi_process_place_is_same_host(&places[other], &places[rank])) {
            return false;
        }
    }
    return true;
}

uint32_t iwi_process_place_hosts(const struct iwi_process_place *places, uint32_t ranks)
{
    uint32_t hosts = 0;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        hosts += is_first_of_host(places, rank) ? 1 : 0;
    }
    return hosts;
}

uint32_t iwi_process_place_host_number(const struct iwi_process_place *places, uint32_t rank)
{
    uint32_t lowest = 0;

    while (!iwi_process_place_is_same_host(&places[lowest], &places[rank])) {
        lowest++;
    }
    return iwi_process_place_hosts(places, lowest);
}

static uint32_t cpu_count(const uint64_t *cpus)
{
    uint32_t count = 0;

    for (size_t i = 0; i < IWI_PLACE_WORDS; i++) {
        count += (uint32_t)__builtin_popcountll(cpus[i]);
    }
    return count;
}

/* Ranks of one host that may only run on CPUs of `cpus`. */
static uint32_t ranks_within(const struct iwi_process_place *places, uint32_t ranks,
                             const struct iwi_process_place *like)
{
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        bool is_within = iwi_process_place_is_same_host(&places[rank], like);

        for (size_t i = 0; i < IWI_PLACE_WORDS && is_within; i++) {
            is_within = (places[rank].cpus[i] & ~like->cpus[i]) == 0;
        }
        count += is_within ? 1 : 0;
    }
    return count;
}

/* Of the sets that are tried, those of the ranks and of whole hosts, the first with more ranks than CPUs is
 * told. */
void iwi_process_place_warn(const struct iwi_process_place *places, uint32_t ranks, char *buf, size_t size)
{
    buf[0] = '\0';
    for (uint32_t rank = 0; rank < ranks && buf[0] == '\0'; rank++) {
        struct iwi_process_place whole = places[rank];
        uint32_t own = ranks_within(places, ranks, &places[rank]), all;

        for (uint32_t other = 0; other < ranks; other++) {
            for (size_t i = 0; i < IWI_PLACE_WORDS && iwi_process_place_is_same_host(&places[other], &whole); i++) {
                whole.cpus[i] |= places[other].cpus[i];
            }
        }
        all = ranks_within(places, ranks, &whole);
        if (own > cpu_count(places[rank].cpus) || all > cpu_count(whole.cpus)) {
            const bool is_own = own > cpu_count(places[rank].cpus);
            const uint32_t cpus = cpu_count(is_own ? places[rank].cpus : whole.cpus);

            snprintf(buf, size, "%u ranks share %u CPU%s on host %s", is_own ? own : all, cpus,
                     cpus == 1 ? "" : "s", places[rank].host);
        }
    }
}
