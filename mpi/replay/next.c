/* Looks up the functions of the C library that we stand before.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "mpi/replay/replay.h"

/* The linker's names for the ends of the section that IWI_REPLAY_NEXT() fills. */
extern struct iwi_replay_known __start_iwi_known[], __stop_iwi_known[]; // NOLINT: its names

void *iwi_replay_next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (function == NULL) {
        abort(); /* the program called what the C library does not have */
    }
    return function;
}

__attribute__((constructor(101))) static void look_up_all(void)
{
    for (struct iwi_replay_known *known = __start_iwi_known; known != __stop_iwi_known; known++) {
        void *function = dlsym(RTLD_NEXT, known->name);

        memcpy(known->place, &function, sizeof function);
    }
}
