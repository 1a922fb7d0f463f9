/* Starts MPI by the part that was built for it, as `net` does; each rank tells what it found.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: part_start MPI
 */
#include <inttypes.h>
#include <stdio.h>

#include <idlewave/internal/mpi.h>

static void write_message(void *arg, iw_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    const iw_log log = {write_message, NULL};
    const iw_mpi_plugin *part;
    uint32_t rank, size;

    if (argc != 2 || iw_mpi_load(&log, argv[1], &part) != IW_OK) {
        return 1;
    }
    if (part->start(&log, &rank, &size) != IW_OK) {
        part->stop();
        return 1;
    }
    (void)printf("%s: rank %" PRIu32 " of %" PRIu32 "\n", part->mpi, rank, size);
    part->stop();
    return 0;
}
