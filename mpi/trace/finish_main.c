/* idlewave-trace-finish FOLDER: makes a trace of what a run left that died.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mpi/trace/recover.h"

int main(int argc, char **argv)
{
    struct iwi_recovered recovered = {0};
    char text[8192] = "";

    (void)signal(SIGXFSZ, SIG_IGN); /* beyond a limit of file sizes, writing fails with a message instead */
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: idlewave-trace-finish FOLDER\nMakes FOLDER/traces.otf2 from an unfinished "
                        "trace, of a run that did not reach MPI_Finalize.\n");
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    if (!iwi_recover(argv[1], &recovered, text, sizeof text)) {
        fprintf(stderr, "idlewave-trace-finish: %s\n", text);
        return 1;
    }
    printf("%u of %u ranks and %llu calls in '%s/traces.otf2'\n", recovered.ranks - recovered.missing_ranks,
           recovered.ranks, (unsigned long long)recovered.calls, argv[1]);
    if (recovered.skipped_files > 0) {
        fprintf(stderr, "idlewave-trace-finish: warning: %u files left out; %s\n", recovered.skipped_files,
                recovered.skipped_text);
    }
    return 0;
}
