/* Reads the variables that launchers of MPI programs set.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/launch/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Variables of one way to start processes, the surest first. */
struct way {
    const char *mpi;
    const char *rank, *size;
    const char *also; /* must be set too, or NULL */
    bool needs_size;
};

static const struct way ways[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, true},
    {"mpich", "PMI_RANK", "PMI_SIZE", NULL, true},                             /* hydra, srun --mpi=pmi2 */
    {"openmpi", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "PMIX_NAMESPACE", false}, /* srun --mpi=pmix, prterun */
    {NULL, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID", true},     /* srun --mpi=none */
};

/* The same for the processes of this node; what is not in them the launcher does not tell. */
static const struct {
    const char *rank, *size;
} local_ways[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},     /* hydra */
    {"SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"}, /* only if srun was told */
};

static bool read_number(const char *variable, uint32_t *number_p)
{
    const char *text = getenv(variable);
    unsigned long long number;
    char *end;

    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return false;
    }
    number = strtoull(text, &end, 10);
    if (*end != '\0' || number > UINT32_MAX) {
        return false;
    }
    *number_p = (uint32_t)number;
    return true;
}

static bool is_way(const struct way *way, iw_launcher *launcher_p)
{
    iw_launcher launcher = {.name = way->mpi};

    if (!read_number(way->rank, &launcher.rank) || (way->also != NULL && getenv(way->also) == NULL)) {
        return false;
    }
    if (!read_number(way->size, &launcher.size) && way->needs_size) {
        return false;
    }
    if (way->mpi == NULL && launcher.size < 2) { /* nothing that one process would have to find */
        return false;
    }
    *launcher_p = launcher;
    return true;
}

/* Tasks of the node with that number, from a list such as "4(x3),2": 4 on each of the first three; 0: it does
 * not tell. */
static uint32_t tasks_of_node(const char *list, uint32_t node)
{
    unsigned long long nodes_before = 0;

    while (list != NULL && *list >= '0' && *list <= '9') {
        char *end;
        const unsigned long long tasks = strtoull(list, &end, 10);
        const unsigned long long nodes = strncmp(end, "(x", 2) == 0 ? strtoull(end + 2, &end, 10) : 1;

        if (node < nodes_before + nodes) {
            return tasks <= UINT32_MAX ? (uint32_t)tasks : 0;
        }
        nodes_before += nodes;
        end += *end == ')';
        list = *end == ',' ? end + 1 : NULL;
    }
    return 0;
}

static void read_local(iw_launcher *launcher)
{
    uint32_t node = 0;

    for (size_t i = 0; i < sizeof local_ways / sizeof local_ways[0]; i++) {
        if (read_number(local_ways[i].rank, &launcher->local_rank)) {
            if (!read_number(local_ways[i].size, &launcher->local_size) &&
                read_number("SLURM_NODEID", &node)) {
                launcher->local_size = tasks_of_node(getenv("SLURM_STEP_TASKS_PER_NODE"), node);
            }
            return;
        }
    }
}

void iwi_launcher_read_env(iw_launcher *launcher_p)
{
    *launcher_p = (iw_launcher){.name = NULL};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (is_way(&ways[i], launcher_p)) {
            read_local(launcher_p);
            return;
        }
    }
}

const char *iwi_srun_way(const char *mpi)
{
    return strcmp(mpi, "mpich") == 0 ? "pmi2" : "pmix";
}

iw_status iwi_launcher_check_size(const iw_log *log, const char *mpi, uint32_t size)
{
    iw_launcher launcher;

    iwi_launcher_read_env(&launcher);
    if (launcher.size == 0 || launcher.size == size) {
        return IW_OK;
    }
    if (launcher.rank == 0) {
        iwi_error(
            log,
            "the launcher started %" PRIu32 " processes, but %s sees %" PRIu32
            ": it belongs to another MPI; use the launcher of %s (on Debian mpirun.%s), or srun --mpi=%s",
            launcher.size, mpi, size, mpi, mpi, iwi_srun_way(mpi));
    }
    return IW_ERR_USAGE;
}
