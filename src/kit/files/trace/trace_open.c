/* Traces by their path: OTF2 archives and sets of liballprof files, told apart by what is in them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_open.h"

#include <idlewave/files.h>
#include <idlewave/internal/mpi.h>
#include <idlewave/program.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/spool_head.h"
#include "core/program/trace_program.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"
#include "kit/files/otf2/trace_otf2.h"
#include "kit/files/trace/trace_allprof.h"

/* ---- traces of other tools, in formats that are not read ---- */

enum { HEAD_BYTES = 4096 };

struct foreign {
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
static const struct foreign formats[] = {
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
static bool is_format(const struct foreign *format, const char *name, const char *head)
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

static const struct foreign *find_of_file(const char *path)
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
static const struct foreign *find_foreign(DIR *dir)
{
    const struct foreign *found = NULL;
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

/* NULL: it is none that is known. A folder is what the first such file in it is, unless it also holds files
 * of idlewave (recordings, studies). */
static const struct foreign *foreign_of(const char *path)
{
    DIR *dir = opendir(path);
    const struct foreign *found;

    if (dir == NULL) {
        return find_of_file(path);
    }
    found = find_foreign(dir);
    (void)closedir(dir);
    return found;
}

/* Logs what it is and which formats are read; returns IW_ERR_UNSUPPORTED. */
static iw_status trace_refuse_foreign(const iw_log *log, const char *path, const struct foreign *foreign)
{
    return iwi_fail(
        log, IW_ERR_UNSUPPORTED,
        "'%s' is %s, which is not read: %s%sread are OTF2 archives (traces.otf2 of 'idlewave trace', "
        "Score-P, EZTrace), texts of liballprof, and what 'idlewave explain' reads of training; "
        "'mpirun -n N idlewave trace -o DIR -- PROGRAM' records one",
        path, foreign->what, foreign->way != NULL ? foreign->way : "", foreign->way != NULL ? "; " : "");
}

/* ---- what a traced run has left that did not end ---- */

static const char finisher[] = "idlewave-trace-finish";

/* The MPI whose tracer wrote the file; "" if it does not tell. */
static void read_mpi(const char *path, char mpi[16])
{
    struct iwi_spool_head head;
    FILE *file = fopen(path, "rbe");

    mpi[0] = '\0';
    if (file == NULL) {
        return;
    }
    if (fread(&head, sizeof head, 1, file) == 1 && head.magic == IWI_SPOOL_MAGIC) {
        (void)snprintf(mpi, sizeof head.mpi, "%.*s", (int)sizeof head.mpi - 1, head.mpi);
    }
    (void)fclose(file);
}

/* "RANK.THREAD", as the tracer names them. */
static bool is_spool_name(const char *name)
{
    const size_t rank = strspn(name, "0123456789");
    const size_t thread = name[rank] == '.' ? strspn(name + rank + 1, "0123456789") : 0;

    return rank > 0 && thread > 0 && name[rank + 1 + thread] == '\0';
}

/* True if there are files of the tracer in the run's folder; with their MPI. */
static bool look_into(const char *run, char mpi[16])
{
    char path[PATH_MAX];
    struct dirent *entry;
    bool has_files = false;
    DIR *dir;

    mpi[0] = '\0';
    if ((size_t)snprintf(path, sizeof path, "%s/" IWI_SPOOL_FOLDER, run) >= sizeof path) {
        return false;
    }
    dir = opendir(path);
    while (dir != NULL && mpi[0] == '\0' && (entry = readdir(dir)) != NULL) {
        if (is_spool_name(entry->d_name) && (size_t)snprintf(path, sizeof path, "%s/" IWI_SPOOL_FOLDER "/%s",
                                                             run, entry->d_name) < sizeof path) {
            has_files = true;
            read_mpi(path, mpi);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return has_files;
}

/* The folder of the run: `path`, or the one above it. */
static bool find_run(const char *path, char run[PATH_MAX], char mpi[16])
{
    static const char below[] = "/" IWI_SPOOL_FOLDER;
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    if (length >= PATH_MAX) {
        return false;
    }
    memcpy(run, path, length);
    run[length] = '\0';
    if (length > strlen(below) && strcmp(run + length - strlen(below), below) == 0) {
        run[length - strlen(below)] = '\0';
    }
    return look_into(run, mpi);
}

/* True if `path` is the folder of a traced run that did not end (or one of the files in it). */
static bool trace_is_unfinished(const char *path)
{
    char run[PATH_MAX], mpi[16];

    return find_run(path, run, mpi);
}

/* Logs the command that makes a trace of it; returns IW_ERR_TRUNCATED. */
static iw_status trace_refuse_unfinished(const iw_log *log, const char *path)
{
    char run[PATH_MAX], command[PATH_MAX], mpi[16];

    if (!find_run(path, run, mpi)) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s'", path);
    }
    if (mpi[0] == '\0' || iw_mpi_plugin_path(NULL, mpi, finisher, command, sizeof command) != IW_OK) {
        return iwi_fail(
            log, IW_ERR_TRUNCATED,
            "'%s' holds what a traced run left that did not end: '%s %s' makes a trace of it (the "
            "command is beside the tracer, in lib/idlewave/%s)",
            path, finisher, run, mpi[0] != '\0' ? mpi : "<MPI>");
    }
    return iwi_fail(log, IW_ERR_TRUNCATED,
                    "'%s' holds what a traced run left that did not end: '%s %s' makes a trace of it", path,
                    command, run);
}

/* ---- formats that are read ---- */

enum kind { KIND_NONE, KIND_OTF2, KIND_ALLPROF };

enum { PEEK_BYTES = 8192, MOST_RANKS = 1 << 20 };

/* ---- telling apart ---- */

/* An OTF2 anchor file has two bytes, then its name. */
static enum kind kind_of_file(const char *path)
{
    char head[PEEK_BYTES];
    FILE *file = fopen(path, "rbe");
    size_t size;

    if (file == NULL) {
        return KIND_NONE;
    }
    size = fread(head, 1, sizeof head, file);
    (void)fclose(file);
    if (size >= 6 && memcmp(head + 2, "OTF2", 4) == 0) {
        return KIND_OTF2;
    }
    return iwi_allprof_is(head, size) ? KIND_ALLPROF : KIND_NONE;
}

/* The first file in a folder, by name, that is a trace: anchors of archives before text files. */
static enum kind find_in_folder(const char *folder, char found[PATH_MAX])
{
    DIR *dir = opendir(folder);
    enum kind best = KIND_NONE;
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const bool is_anchor = iwi_path_ends_in(entry->d_name, ".otf2");
        char path[PATH_MAX];
        enum kind kind;

        if ((!is_anchor && (best == KIND_OTF2 || !iwi_path_ends_in(entry->d_name, ".txt"))) ||
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path) {
            continue;
        }
        kind = kind_of_file(path);
        if (kind != KIND_NONE && (best == KIND_NONE || (kind == KIND_OTF2 && best == KIND_ALLPROF) ||
                                  (kind == best && strcmp(path, found) < 0))) {
            best = kind;
            memcpy(found, path, strlen(path) + 1);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return best;
}

static enum kind find(const char *path, char found[PATH_MAX])
{
    if (iw_is_folder(path)) {
        return find_in_folder(path, found);
    }
    if (strlen(path) >= PATH_MAX) {
        return KIND_NONE;
    }
    memcpy(found, path, strlen(path) + 1);
    return kind_of_file(path);
}

bool iwi_trace_is_readable(const char *path)
{
    char found[PATH_MAX];

    return find(path, found) != KIND_NONE;
}

static const struct iwi_trace_reader *reader_of(const char *path)
{
    size_t i = 0;

    while (iwi_trace_readers[i] != NULL && !iwi_trace_readers[i]->is_readable(path)) {
        i++;
    }
    return iwi_trace_readers[i];
}

bool iw_trace_is_trace(const char *path)
{
    return iwi_trace_is_readable(path) || trace_is_unfinished(path) || foreign_of(path) != NULL ||
           reader_of(path) != NULL;
}

/* ---- a set of text files ---- */

/* Where the number of the rank is in a file's name: its last digits. */
struct pattern {
    size_t folder_size, first, end; /* of the path */
};

static bool find_number(const char *path, struct pattern *pattern)
{
    const char *slash = strrchr(path, '/');

    pattern->folder_size = slash != NULL ? (size_t)(slash - path) : 0;
    pattern->end = strlen(path);
    while (pattern->end > pattern->folder_size && !isdigit((unsigned char)path[pattern->end - 1])) {
        pattern->end--;
    }
    pattern->first = pattern->end;
    while (pattern->first > pattern->folder_size && isdigit((unsigned char)path[pattern->first - 1])) {
        pattern->first--;
    }
    return pattern->first < pattern->end;
}

/* The rank whose file this is, or -1. */
static long rank_of(const char *path, const struct pattern *pattern, const char *name)
{
    const size_t start = pattern->folder_size + (path[pattern->folder_size] == '/');
    const size_t before = pattern->first - start;
    const char *digits = name + before;
    char *end;
    long rank;

    if (strncmp(name, path + start, before) != 0 || !isdigit((unsigned char)*digits)) {
        return -1;
    }
    rank = strtol(digits, &end, 10);
    return strcmp(end, path + pattern->end) == 0 && rank >= 0 && rank < MOST_RANKS ? rank : -1;
}

struct files {
    char **names; /* by rank; NULL: missing */
    size_t count, capacity;
};

static void release_files(struct files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->names[i]);
    }
    free(files->names);
}

static iw_status add_file(const iw_log *log, struct files *files, size_t rank, const char *folder,
                          const char *name)
{
    IW_TRY(iwi_grow(log, (void **)&files->names, &files->capacity, rank + 1, sizeof *files->names));
    for (; files->count <= rank; files->count++) {
        files->names[files->count] = NULL;
    }
    if (files->names[rank] != NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' and '%s/%s' are both of rank %zu", files->names[rank],
                        folder, name, rank);
    }
    files->names[rank] = iwi_path_join(log, folder, name);
    return files->names[rank] != NULL ? IW_OK : IW_ERR_NOMEM;
}

static iw_status list_files(const iw_log *log, const char *path, struct files *files)
{
    struct pattern pattern;
    char folder[PATH_MAX];
    struct dirent *entry;
    iw_status status = IW_OK;
    DIR *dir;

    if (!find_number(path, &pattern)) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%s': the name of a liballprof file must have the number of its rank", path);
    }
    (void)snprintf(folder, sizeof folder, "%.*s", pattern.folder_size > 0 ? (int)pattern.folder_size : 1,
                   pattern.folder_size > 0 ? path : (*path == '/' ? "/" : "."));
    dir = opendir(folder);
    if (dir == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", folder, strerror(errno));
    }
    while (status == IW_OK && (entry = readdir(dir)) != NULL) {
        const long rank = rank_of(path, &pattern, entry->d_name);

        if (rank >= 0) {
            status = add_file(log, files, (size_t)rank, folder, entry->d_name);
        }
    }
    (void)closedir(dir);
    for (size_t i = 0; status == IW_OK && i < files->count; i++) {
        if (files->names[i] == NULL) {
            status =
                iwi_fail(log, IW_ERR_TRUNCATED, "'%s' is one of %zu files, but that of rank %zu is missing",
                         path, files->count, i);
        }
    }
    return status;
}

static iw_status open_texts(const iw_log *log, const char *path, const struct files *files,
                            struct iwi_input *inputs, struct iwi_allprof_text *texts,
                            struct iw_trace **trace_p)
{
    for (size_t i = 0; i < files->count; i++) {
        IW_TRY(iwi_input_open(log, files->names[i], &inputs[i]));
        texts[i] = (struct iwi_allprof_text){files->names[i], inputs[i].data, inputs[i].size};
    }
    return iwi_trace_allprof(log, path, texts, (uint32_t)files->count, trace_p);
}

static iw_status open_allprof(const iw_log *log, const char *path, struct iw_trace **trace_p)
{
    struct files files = {NULL, 0, 0};
    struct iwi_input *inputs = NULL;
    struct iwi_allprof_text *texts = NULL;
    iw_status status = list_files(log, path, &files);

    if (status == IW_OK) {
        inputs = iwi_new_array(log, files.count, sizeof *inputs);
        texts = iwi_new_array(log, files.count, sizeof *texts);
        status = inputs != NULL && texts != NULL ? open_texts(log, path, &files, inputs, texts, trace_p)
                                                 : IW_ERR_NOMEM;
    }
    for (size_t i = 0; inputs != NULL && i < files.count; i++) {
        iwi_input_close(&inputs[i]);
    }
    free(inputs);
    free(texts);
    release_files(&files);
    return status;
}

/* ---- the public functions ---- */

static iw_status refuse(const iw_log *log, const char *path, bool is_dir)
{
    const struct foreign *foreign = foreign_of(path);
    char others[512] = "";
    size_t used = 0;

    if (trace_is_unfinished(path)) {
        return trace_refuse_unfinished(log, path);
    }
    if (foreign != NULL) {
        return trace_refuse_foreign(log, path, foreign);
    }
    for (size_t i = 0; iwi_trace_readers[i] != NULL && used < sizeof others; i++) {
        used +=
            (size_t)snprintf(others + used, sizeof others - used, " and no %s", iwi_trace_readers[i]->what);
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' %s (an OTF2 anchor file, a text of liballprof)%s", path,
                    is_dir ? "holds no trace of an MPI program" : "is no trace of an MPI program", others);
}

iw_status iw_trace_open(const iw_log *log, const char *path, iw_trace **trace_p)
{
    const struct iwi_trace_reader *reader;
    char found[PATH_MAX];
    struct stat info;

    if (stat(path, &info) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    switch (find(path, found)) {
    case KIND_OTF2: return iwi_trace_otf2(log, found, trace_p);
    case KIND_ALLPROF: return open_allprof(log, found, trace_p);
    default:
        reader = reader_of(path);
        return reader != NULL ? reader->open(log, path, trace_p) : refuse(log, path, S_ISDIR(info.st_mode));
    }
}

static void count_call(const struct iwi_call *call, iw_trace_info *info)
{
    info->calls++;
    info->sends += call->kind == IWI_CALL_SEND || call->kind == IWI_CALL_ISEND;
    info->receives += call->kind == IWI_CALL_RECV || call->kind == IWI_CALL_IRECV;
    info->collectives += call->kind == IWI_CALL_COLLECTIVE || call->kind == IWI_CALL_ICOLLECTIVE;
    info->waits += call->kind == IWI_CALL_WAIT;
    info->opaque += call->kind == IWI_CALL_OPAQUE;
    info->compute_wall_ps += call->compute_wall_ps;
    info->compute_cpu_ps += call->compute_cpu_ps > 0 ? call->compute_cpu_ps : 0;
    info->compute_timed_ps += call->compute_cpu_ps >= 0 ? call->compute_wall_ps : 0;
}

void iw_trace_describe(const iw_trace *trace, iw_trace_info *info_p)
{
    iw_trace_info info = {.origin = trace->origin,
                          .ranks = trace->rank_count,
                          .communicators = trace->comm_count,
                          .has_cpu_time = trace->has_cpu_time,
                          .threaded_ranks = trace->threaded.ranks,
                          .is_on_gpus = trace->is_on_gpus};

    for (uint32_t r = 0; r < trace->rank_count; r++) {
        const struct iwi_trace_rank *rank = &trace->ranks[r];

        for (uint64_t i = 0; i < rank->call_count; i++) {
            count_call(&rank->calls[i], &info);
        }
        info.compute_wall_ps += rank->last_compute_wall_ps;
        info.wall_ps = iwi_max(info.wall_ps, rank->wall_ps);
    }
    *info_p = info;
}

/* ---- programs of traces, as users make them ---- */

static iw_status unknown_rules(const iw_log *log, const char *name)
{
    char known[128];

    iwi_rules_list(known, sizeof known);
    return iwi_fail(log, IW_ERR_USAGE, "'%s' is neither a file of Open MPI's rules nor one of %s", name,
                    known);
}

iw_status iw_program_from_trace(const iw_log *log, const iw_trace *trace, const iw_trace_opts *given,
                                iw_program **program_p)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    const struct iwi_rule_set *known;
    struct iwi_rule_set read;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_TRACE_OPTS_INIT", given, &opts));
    known = iwi_rules_find(opts.rules);
    if (known != NULL) {
        return iwi_program_from_rules(log, trace, &opts, known, program_p);
    }
    if (access(opts.rules, F_OK) != 0) {
        return unknown_rules(log, opts.rules);
    }
    IW_TRY(iwi_ompi_rules_read(log, opts.rules, &read));
    status = iwi_program_from_rules(log, trace, &opts, &read, program_p);
    iwi_ompi_rules_release(&read);
    return status;
}
