/* Finds programs and launchers of another MPI than this tracer's.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/guard.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/launch/launcher.h"
#include "kit/launch/libraries.h"
#include "mpi/trace/preload.h"
#include "mpi/trace/tracer.h"

#define PASSED_ON "IDLEWAVE_TRACE_PASSED_ON" /* set: another MPI's tracer has given us this program */

enum { EXIT_USAGE = 64 }; /* as the command ends for a wrong launcher */

static const char *variable(const char *name)
{
    const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe): read only

    return value != NULL ? value : "";
}

static bool is_strict(void)
{
    return strcmp(variable("IDLEWAVE_TRACE_STRICT"), "1") == 0;
}

bool iwi_guard_is_first(void)
{
    iw_launcher launcher;

    iwi_launcher_read_env(&launcher);
    return launcher.size == 0 || launcher.rank == 0;
}

/* 'idlewave trace' becomes the program: it has its number. */
bool iwi_guard_is_whole_program(void)
{
    return strtol(variable("IDLEWAVE_TRACE_PID"), NULL, 10) == (long)getpid();
}

/* --- programs of another MPI */

struct foreign {
    bool is_there;
    const char *mpi; /* NULL: an unknown one */
};

static int look_at_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct foreign *foreign = arg;
    const char *mpi;

    (void)size;
    if (info->dlpi_name != NULL && iwi_library_role_of(info->dlpi_name, &mpi) == IWI_LIBRARY_MPI &&
        (mpi == NULL || strcmp(mpi, IW_MPI_NAME) != 0)) {
        *foreign = (struct foreign){true, mpi};
    }
    return foreign->is_there;
}

static struct foreign find_foreign(void)
{
    struct foreign foreign = {false, NULL};

    (void)dl_iterate_phdr(look_at_library, &foreign);
    return foreign;
}

/* The arguments as the kernel has them, one after the other; NULL: they cannot be read. */
static char *read_command_line(size_t *length_p)
{
    enum { GROWTH = 1 << 16 };
    char *text = NULL;
    ssize_t got = -1;
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

    *length_p = 0;
    do {
        char *grown = realloc(text, *length_p + GROWTH + 1);
        if (grown == NULL) {
            got = -1;
            break;
        }
        text = grown;
        got = read(file, text + *length_p, GROWTH);
        *length_p += got > 0 ? (size_t)got : 0;
        text[*length_p] = '\0';
    } while (got > 0);
    (void)close(file);
    if (got < 0) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Pointers to the arguments, and NULL. */
static char **split(char *text, size_t length)
{
    char **arguments = calloc(length + 2, sizeof *arguments);

    for (size_t at = 0, i = 0; arguments != NULL && at < length; at += strlen(text + at) + 1) {
        arguments[i++] = text + at;
    }
    return arguments;
}

/* The other MPI's tracer, as it lies beside ours; "" if there is none. */
static void find_other_tracer(const char *own, const char *mpi, char *path, size_t size)
{
    const char *file = strrchr(own, '/');
    int folder = file != NULL ? (int)(file - own) : 0;

    path[0] = '\0';
    if (mpi == NULL || file == NULL || variable(PASSED_ON)[0] != '\0') {
        return;
    }
    int length = snprintf(path, size, "%.*s/../%s%s", folder, own, mpi, file);
    if (length < 0 || (size_t)length >= size || access(path, R_OK) != 0) {
        path[0] = '\0';
    }
}

/* Returns only if it cannot be done. */
static void start_again(const char *preload)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    size_t text_length;
    char *text = read_command_line(&text_length);
    char **arguments = text != NULL ? split(text, text_length) : NULL;

    if (length > 0 && arguments != NULL && setenv("LD_PRELOAD", preload, 1) == 0 &&
        setenv(PASSED_ON, "1", 1) == 0) {
        program[length] = '\0';
        (void)execv(program, arguments);
    }
    free(arguments);
    free(text);
}

static void tell_foreign(const struct foreign *foreign)
{
    if (iwi_guard_is_first()) {
        iwi_tracer_message("not traced: a program of %s, but this is the tracer of " IW_MPI_NAME,
                           foreign->mpi != NULL ? foreign->mpi : "another MPI");
    }
}

/* Calls of another MPI have other arguments: forwarding them may end the program. So before it has begun it
 * is started again, under the tracer of its own MPI, or under none. A tracer that LD_PRELOAD does not name
 * (/etc/ld.so.preload, a link) would be there again each time: it can only forward. */
__attribute__((constructor)) static void pass_on(void)
{
    struct foreign foreign = find_foreign();
    char other[PATH_MAX];
    Dl_info own;

    if (!foreign.is_there || dladdr(&iwi_tracer, &own) == 0 || own.dli_fname == NULL) {
        return;
    }
    const char *file = strrchr(own.dli_fname, '/');
    const char *list = variable("LD_PRELOAD");
    if (file == NULL || !iwi_preload_has(list, file + 1)) {
        iwi_tracer.is_foreign = true;
        iwi_tracer.state = IWI_TRACER_ASIDE;
        tell_foreign(&foreign);
        return;
    }
    size_t size = strlen(list) + sizeof other;
    char *preload = malloc(size);
    find_other_tracer(own.dli_fname, foreign.mpi, other, sizeof other);
    if (preload == NULL || !iwi_preload_replace(list, file + 1, other, preload, size)) {
        free(preload);
        return;
    }
    if (other[0] == '\0') {
        tell_foreign(&foreign);
    }
    start_again(preload);
    free(preload);
}

void iwi_guard_mpi(void)
{
    struct foreign foreign = find_foreign();

    if (!foreign.is_there || iwi_tracer.is_foreign) {
        return;
    }
    if (iwi_guard_is_first()) {
        iwi_tracer_message("%sthe program has loaded %s, but this is the tracer of " IW_MPI_NAME
                           "; start it with the launcher of its MPI, which 'idlewave trace --mpi' can name",
                           is_strict() ? "" : "warning: ", foreign.mpi != NULL ? foreign.mpi : "another MPI");
    }
    if (is_strict()) {
        exit(EXIT_USAGE); // NOLINT(concurrency-mt-unsafe): MPI has not started
    }
}

/* --- launchers of another MPI */

static void tell(void *arg, iw_log_level level, const char *text)
{
    (void)level;
    iwi_tracer_message("%s%s", (const char *)arg, text);
}

bool iwi_guard_size(int size)
{
    const iw_log log = {tell, (void *)(uintptr_t)(is_strict() ? "" : "not traced: ")};
    MPI_Comm parent = MPI_COMM_NULL;

    if (size != 1 || (PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL) ||
        iwi_launcher_check_size(&log, IW_MPI_NAME, 1) == IW_OK) {
        return true;
    }
    if (is_strict()) {
        (void)PMPI_Finalize();
        exit(EXIT_USAGE); // NOLINT(concurrency-mt-unsafe): at the program's MPI_Init
    }
    return false;
}
