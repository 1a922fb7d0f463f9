/* idlewave/internal/mpi.h - the parts that are built once for each MPI, found and loaded at run time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing here needs <mpi.h>. Parts live in <libdir>/idlewave/<name>/ (name: "openmpi", "mpich"):
 * libidlewave-mpi.so, loaded by `net`, `bench` and `simulate`; libidlewave-trace.so and
 * libidlewave-replay.so, preloaded into programs. The part named "plain" has only the latter, for programs
 * without MPI.
 */
#ifndef IW_INTERNAL_MPI_H
#define IW_INTERNAL_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>
#include <idlewave/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An MPI that idlewave was built for; names end with NULL. */
const char *iw_mpi_name(size_t index);

/** The MPI of the launcher that started this process, from its environment (OMPI_COMM_WORLD_SIZE, PMI_SIZE,
 *  PMIX_RANK, SLURM_...), with the number of processes it started and this one's number; name is NULL if no
 *  launcher is seen (size 0), or only one that connects its processes to no MPI (srun --mpi=none). Size 0
 * with a name: the launcher does not tell. IW_ERR_UNSUPPORTED with a sentence: a launcher is seen but
 * idlewave has no part for it. */
typedef struct iw_launcher {
    const char *name; /* "openmpi", "mpich", or NULL */
    uint32_t size, rank;
    uint32_t local_size, local_rank; /* on this node; size 0: the launcher does not tell */
} iw_launcher;
IW_NODISCARD iw_status iw_launcher_detect(const iw_log *log, iw_launcher *launcher_p);

/** The same for work that needs no MPI: whether idlewave has a part for it does not matter. */
void iw_launcher_read(iw_launcher *launcher_p);

/** Has the launcher end all processes of this run, with that exit code, where it would not do so when this
 * one ends with an error: the others would wait for it in MPI_Init. Only before MPI is started. Returns;
 * nothing without a launcher. */
void iw_launcher_abort(int code);

/** The MPI that the program at `path` (looked up in PATH) needs, by its needed libraries and those of the
 *  libraries it needs; *name_p is NULL if it needs none that can be seen (a script, a static program). */
IW_NODISCARD iw_status iw_mpi_of_program(const iw_log *log, const char *path, const char **name_p);

/** The MPI with which `program` is to be run: the one it needs, or the launcher's where it needs none that
 * can be seen. `part_file` is the file of the part that is wanted. Refused with a sentence that says what to
 * do: IW_ERR_USAGE (started by a launcher of another MPI), IW_ERR_UNSUPPORTED (an MPI without a part, or of
 * another binary interface than the part's; none can be told), IW_ERR_IO (no such program or part). */
IW_NODISCARD iw_status iw_mpi_choose(const iw_log *log, const char *program, const char *part_file,
                                     const char **name_p);

#define IW_PLUGIN_PLAIN "plain"

/** The path of a file of the part of that MPI, or of IW_PLUGIN_PLAIN. Looked for beside the running command
 * (build tree), in its
 *  ../lib/idlewave/<name>, and in the installed place; IDLEWAVE_PARTS names another folder. */
IW_NODISCARD iw_status iw_mpi_plugin_path(const iw_log *log, const char *name, const char *file, char *path,
                                          size_t size);

/** What libidlewave-mpi.so offers: its one exported symbol, `iw_mpi_this_plugin`. Collective over all
 * processes unless told otherwise; failures are logged by the process that sees them and returned on all. */
struct iw_net_plan;
struct iw_net_samples;
struct iw_bench_plan;
struct iw_bench_samples;
struct iw_link;
typedef struct iw_mpi_plugin {
    uint32_t version; /* IW_MPI_PLUGIN_VERSION */
    const char *mpi;  /* "openmpi", "mpich" */
    /* Starts MPI; refuses a singleton under a launcher that asked for more. */
    iw_status (*start)(const iw_log *log, uint32_t *rank_p, uint32_t *size_p);
    void (*stop)(void);
    /* net: measures and hands all samples to rank 0 (the others get NULL). */
    iw_status (*net_measure)(const iw_log *log, const struct iw_net_plan *plan,
                             struct iw_net_samples **samples_p);
    /* bench: the same. */
    iw_status (*bench_measure)(const iw_log *log, const struct iw_bench_plan *plan,
                               struct iw_bench_samples **samples_p);
    /* Starts MPI for several threads, if it was not started, and gives the link between all processes. It
     * stays valid until stop(). */
    iw_status (*link_open)(const iw_log *log, const struct iw_link **link_p);
    /* Ends all processes at once, this one too, with that exit code. Not collective; does not return. */
    void (*abort)(int code);
} iw_mpi_plugin;

#define IW_MPI_PLUGIN_VERSION 5

/** Loads the part of that MPI (RTLD_GLOBAL, as Open MPI's own components need). */
IW_NODISCARD iw_status iw_mpi_load(const iw_log *log, const char *name, const iw_mpi_plugin **part_p);

#ifdef __cplusplus
}
#endif
#endif
