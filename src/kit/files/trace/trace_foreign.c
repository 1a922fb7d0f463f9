/* Traces of other tools, in formats that are not read: which tool's, and what is read instead.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_foreign.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

enum { HEAD_BYTES = 4096 };

struct iwi_foreign {
    const char *what;
    const char *beginning; /* of the name, or NULL */
    const char *endings;   /* of the name, with a blank behind each, or NULL */
    const char *bytes;     /* the file begins with, or NULL */
    const char *within;    /* the file has in its head, or NULL */
    const char *way;       /* how a trace comes about instead, or NULL: by 'idlewave trace' */
};

static const char score_p_way[] = "it has sums, not the sequence of calls; run the program with "
                                  "SCOREP_ENABLE_TRACING=true and give traces.otf2";
static const char gpu_way[] = "it tells of GPUs and one process, not of messages between ranks";

/* A name alone is enough where no other tool uses it. */
static const struct iwi_foreign formats[] = {
    {"a Paraver trace", NULL, ".prv .prv.gz ", "#Paraver ", NULL, NULL},
    {"an intermediate file of Extrae", NULL, ".mpit .mpits ", NULL, NULL, NULL},
    {"a DUMPI trace", "dumpi-", ".bin .meta ", NULL, NULL, NULL},
    {"a Score-P profile (Cube)", NULL, ".cubex .cube .cube.gz ", NULL, NULL, score_p_way},
    {"an OTF trace of the first version (VampirTrace)", NULL, ".otf ", NULL, NULL,
     "OTF2 is another format: trace with Score-P or 'idlewave trace'"},
    {"an Intel Trace Collector trace", NULL, ".stf .stf.frm ", NULL, NULL, NULL},
    {"an MPE trace", NULL, ".clog2 .slog2 ", NULL, NULL, NULL},
    {"a report of Nsight Systems or Compute", NULL, ".nsys-rep .qdrep .ncu-rep ", NULL, NULL, gpu_way},
    {"an SQLite database, as Nsight Systems exports", NULL, NULL, "SQLite format 3", NULL, gpu_way},
    {"a timeline for Chrome or Perfetto (JSON, as of Kineto)", NULL, NULL, NULL, "\"traceEvents\"", gpu_way},
    {"a recording of perf", NULL, NULL, "PERFILE2", NULL, NULL},
};

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool has_ending(const char *name, const char *endings)
{
    const size_t length = strlen(name);

    while (*endings != '\0') {
        const size_t size = strcspn(endings, " ");

        if (length > size && strncmp(name + length - size, endings, size) == 0) {
            return true;
        }
        endings += size + 1;
    }
    return false;
}

/* `head` ends with a NUL that is not the file's. */
static bool is_format(const struct iwi_foreign *format, const char *name, const char *head)
{
    if (format->bytes != NULL && begins_with(head, format->bytes)) {
        return true;
    }
    if (format->within != NULL) {
        return (head[0] == '{' || head[0] == '[') && strstr(head, format->within) != NULL;
    }
    return format->endings != NULL && has_ending(name, format->endings) &&
           (format->beginning == NULL || begins_with(name, format->beginning));
}

static void read_head(const char *path, char head[HEAD_BYTES + 1])
{
    FILE *file = fopen(path, "rbe");
    size_t size = 0;

    if (file != NULL) {
        size = fread(head, 1, HEAD_BYTES, file);
        (void)fclose(file);
    }
    head[size] = '\0';
}

static const struct iwi_foreign *find_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char head[HEAD_BYTES + 1];

    read_head(path, head);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (is_format(&formats[i], slash != NULL ? slash + 1 : path, head)) {
            return &formats[i];
        }
    }
    return NULL;
}

/* By the names of its files alone: it may hold many, and large ones. */
static const struct iwi_foreign *find_in_folder(DIR *dir)
{
    const struct iwi_foreign *found = NULL;
    struct dirent *entry;

    while ((entry = readdir(dir)) != NULL) {
        if (has_ending(entry->d_name, ".h5 .jsonl .yaml ")) {
            return NULL;
        }
        for (size_t i = 0; found == NULL && i < sizeof formats / sizeof formats[0]; i++) {
            found = is_format(&formats[i], entry->d_name, "") ? &formats[i] : NULL;
        }
    }
    return found;
}

const struct iwi_foreign *iwi_trace_foreign(const char *path)
{
    DIR *dir = opendir(path);
    const struct iwi_foreign *found;

    if (dir == NULL) {
        return find_of_file(path);
    }
    found = find_in_folder(dir);
    (void)closedir(dir);
    return found;
}

iw_status iwi_trace_refuse_foreign(const iw_log *log, const char *path, const struct iwi_foreign *foreign)
{
    return iwi_fail(
        log, IW_ERR_UNSUPPORTED,
        "'%s' is %s, which is not read: %s%sread are OTF2 archives (traces.otf2 of 'idlewave trace', "
        "Score-P, EZTrace), texts of liballprof, and what 'idlewave explain' reads of training; "
        "'mpirun -n N idlewave trace -o DIR -- PROGRAM' records one",
        path, foreign->what, foreign->way != NULL ? foreign->way : "", foreign->way != NULL ? "; " : "");
}
