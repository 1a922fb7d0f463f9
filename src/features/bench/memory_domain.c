/* Finds the domain by hwloc.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/bench/memory_domain.h"

#include "core/base/base.h"

/* The NUMA node of a CPU; NULL where hwloc knows none. */
static hwloc_obj_t node_of(const struct iwi_cpus *cpus, uint32_t cpu)
{
    hwloc_obj_t node = NULL;

    while ((node = hwloc_get_next_obj_by_type(cpus->topology, HWLOC_OBJ_NUMANODE, node)) != NULL) {
        if (hwloc_bitmap_isset(node->cpuset, cpu)) {
            return node;
        }
    }
    return NULL;
}

static hwloc_obj_t core_of(const struct iwi_cpus *cpus, uint32_t cpu)
{
    hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(cpus->topology, cpu);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(cpus->topology, HWLOC_OBJ_CORE, unit);

    return core != NULL ? core : unit;
}

/* Of the CPUs those of the first one's NUMA node, one of each core. */
static void keep_cores_of_one_node(struct iwi_cpus *cpus)
{
    hwloc_obj_t node = node_of(cpus, cpus->numbers[0]);
    size_t kept = 0;

    for (size_t i = 0; i < cpus->count; i++) {
        bool is_new = node_of(cpus, cpus->numbers[i]) == node;

        for (size_t k = 0; k < kept; k++) {
            is_new = is_new && core_of(cpus, cpus->numbers[k]) != core_of(cpus, cpus->numbers[i]);
        }
        if (is_new) {
            cpus->numbers[kept++] = cpus->numbers[i];
        }
    }
    cpus->count = kept;
}

static iw_status check_one_node(const iw_log *log, const struct iwi_cpus *cpus)
{
    hwloc_obj_t node = node_of(cpus, cpus->numbers[0]);

    for (size_t i = 1; i < cpus->count; i++) {
        if (node_of(cpus, cpus->numbers[i]) != node) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "CPUs %" PRIu32 " and %" PRIu32
                            " do not share memory: they are of different NUMA nodes; list those of one",
                            cpus->numbers[0], cpus->numbers[i]);
        }
    }
    return IW_OK;
}

static uint64_t all_caches(const struct iwi_cpus *cpus)
{
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                             HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
    uint64_t bytes = 0;

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        hwloc_obj_t cache = NULL;

        while ((cache = hwloc_get_next_obj_by_type(cpus->topology, types[i], cache)) != NULL) {
            bool is_used = false;

            for (size_t k = 0; k < cpus->count; k++) {
                is_used = is_used || hwloc_bitmap_isset(cache->cpuset, cpus->numbers[k]);
            }
            bytes += is_used ? cache->attr->cache.size : 0;
        }
    }
    return bytes;
}

iw_status iwi_memory_domain_find(const iw_log *log, const uint32_t *wanted, size_t count,
                                 struct iwi_memory_domain *domain_p)
{
    struct iwi_memory_domain domain = {.numa_node = 0};
    iw_status status = IW_OK;

    IW_TRY(iwi_cpus_choose(log, wanted, count, &domain.cpus));
    if (wanted != NULL) {
        status = check_one_node(log, &domain.cpus);
    } else {
        keep_cores_of_one_node(&domain.cpus);
    }
    if (status != IW_OK) {
        iwi_cpus_release(&domain.cpus);
        return status;
    }

    hwloc_obj_t node = node_of(&domain.cpus, domain.cpus.numbers[0]);

    domain.numa_node = node != NULL ? node->os_index : 0;
    domain.cache_bytes = all_caches(&domain.cpus);
    for (size_t i = 0; i < domain.cpus.count; i++) {
        iw_cpu_set_add(&domain.set, domain.cpus.numbers[i]);
    }
    *domain_p = domain;
    return IW_OK;
}

void iwi_memory_domain_release(struct iwi_memory_domain *domain)
{
    iwi_cpus_release(&domain->cpus);
}
