/* CPUs by hwloc, which knows cpusets and machines of any size.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

static iw_status load(const iw_log *log, struct iwi_cpus *cpus)
{
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot start hwloc: %s", strerror(errno));
    }
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return iwi_fail(log, IW_ERR_IO, "hwloc cannot read the topology of this machine: %s",
                        strerror(errno));
    }
    *cpus = (struct iwi_cpus){.topology = topology};
    return IW_OK;
}

static iw_status fail_not_usable(const iw_log *log, const struct iwi_cpus *cpus, uint32_t number)
{
    char *list = NULL;

    (void)hwloc_bitmap_list_asprintf(&list, hwloc_topology_get_topology_cpuset(cpus->topology));
    (void)iwi_fail(log, IW_ERR_RANGE, "CPU %" PRIu32 " is not available: this process may use %s", number,
                   list != NULL ? list : "unknown");
    free(list);
    return IW_ERR_RANGE;
}

static iw_status take_listed(const iw_log *log, const uint32_t *wanted, size_t count, struct iwi_cpus *cpus)
{
    if (count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "no CPU given: list at least one");
    }
    cpus->numbers = iwi_new_array(log, count, sizeof *cpus->numbers);
    if (cpus->numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (hwloc_get_pu_obj_by_os_index(cpus->topology, wanted[i]) == NULL) {
            return fail_not_usable(log, cpus, wanted[i]);
        }
        for (size_t k = 0; k < i; k++) {
            if (wanted[k] == wanted[i]) {
                return iwi_fail(log, IW_ERR_RANGE, "CPU %" PRIu32 " is listed twice", wanted[i]);
            }
        }
        cpus->numbers[cpus->count++] = wanted[i];
    }
    return IW_OK;
}

static iw_status take_all(const iw_log *log, struct iwi_cpus *cpus)
{
    hwloc_bitmap_t own = hwloc_bitmap_alloc();

    if (own == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a set of CPUs");
    }
    if (hwloc_get_cpubind(cpus->topology, own, HWLOC_CPUBIND_THREAD) == 0) {
        hwloc_bitmap_and(own, own, hwloc_topology_get_topology_cpuset(cpus->topology));
    } else { /* not told: all of the cpuset */
        hwloc_bitmap_copy(own, hwloc_topology_get_topology_cpuset(cpus->topology));
    }
    cpus->numbers = iwi_new_array(log, (size_t)hwloc_bitmap_weight(own), sizeof *cpus->numbers);
    if (cpus->numbers != NULL) {
        for (int i = hwloc_bitmap_first(own); i >= 0; i = hwloc_bitmap_next(own, i)) {
            cpus->numbers[cpus->count++] = (uint32_t)i;
        }
    }
    hwloc_bitmap_free(own);
    return cpus->numbers != NULL ? IW_OK : IW_ERR_NOMEM;
}

iw_status iwi_cpus_choose(const iw_log *log, const uint32_t *wanted, size_t count, struct iwi_cpus *cpus_p)
{
    struct iwi_cpus cpus;
    iw_status status;

    IW_TRY(load(log, &cpus));
    status = wanted != NULL ? take_listed(log, wanted, count, &cpus) : take_all(log, &cpus);
    if (status != IW_OK) {
        iwi_cpus_release(&cpus);
        return status;
    }
    *cpus_p = cpus;
    return IW_OK;
}

void iwi_cpus_release(struct iwi_cpus *cpus)
{
    if (cpus->topology != NULL) {
        hwloc_topology_destroy(cpus->topology);
    }
    free(cpus->numbers);
    *cpus = (struct iwi_cpus){.count = 0};
}

int iwi_cpus_pin(const struct iwi_cpus *cpus, uint32_t number)
{
    hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(cpus->topology, number);

    return hwloc_set_cpubind(cpus->topology, unit->cpuset, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) == 0
               ? 0
               : errno;
}
