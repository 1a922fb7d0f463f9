/* A fixture's own list of what it did: one line for each MPI call, in the words of trace_events.py.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     MPI_Send: send PEER TAG BYTES COMM
 *     MPI_Waitall: irecv PEER TAG BYTES COMM #1; isend_complete #2
 *     MPI_Bcast: collective BCAST COMM root=0 SENT RECEIVED bytes=BYTES
 *
 * COMM is the list of world ranks (0,1,2), requests are numbered in the order of their starts.
 */
#ifndef TRACE_EXPECT_H
#define TRACE_EXPECT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *expect_file;
static int rank, size;

static inline void expect(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void expect(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(expect_file, format, args); /* NOLINT */
    va_end(args);
    fputc('\n', expect_file);
}

/* A wrong result of MPI itself: tracing must not change any. */
static inline void must(int is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
        PMPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* argv[1]: the folder for the lists. */
static inline void expect_open(int argc, char **argv, const char *init)
{
    char path[4096];

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/expect.%d", argc > 1 ? argv[1] : ".", rank);
    expect_file = fopen(path, "w");
    if (expect_file == NULL) {
        perror(path);
        exit(2);
    }
    setvbuf(expect_file, NULL, _IOLBF, 0); /* what was done shows if it dies */
    expect("%s", init);
}

static inline void expect_close(void)
{
    expect("MPI_Finalize");
    fclose(expect_file);
}

#endif
