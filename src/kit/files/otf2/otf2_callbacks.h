/* What libotf2 asks back, the same for all who write or read archives. mpi/trace uses it too.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_OTF2_CALLBACKS_H
#define IWI_OTF2_CALLBACKS_H

#include <stdarg.h>

#include <otf2/otf2.h>

/* libotf2 prints its errors if nobody takes them; here what failed is told once, by who called. */
static inline OTF2_ErrorCode iwi_otf2_quiet(void *user, const char *file, uint64_t line, const char *function,
                                            OTF2_ErrorCode code, const char *format, va_list args)
{
    (void)user;
    (void)file;
    (void)line;
    (void)function;
    (void)format;
    (void)args;
    return code;
}

/* A buffer that is full goes to its file: with OTF2_FlushCallbacks that have no post-flush callback, so that
 * no record of the flush is among the events. */
static inline OTF2_FlushType iwi_otf2_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                            void *caller, bool is_final)
{
    (void)user;
    (void)type;
    (void)location;
    (void)caller;
    (void)is_final;
    return OTF2_FLUSH;
}

#endif
