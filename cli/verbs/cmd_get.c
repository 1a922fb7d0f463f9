/* `idlewave get`: networks and noise by name, from the collections that a site offers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/collection.h>
#include <idlewave/idlewave.h>

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "options/opt.h"
#include "options/verbs.h"
#include "process/interrupt.h"
#include "process/ui.h"

struct get_source {
    char place[PATH_MAX];  /* as somebody wrote it, without a slash at its end */
    char folder[PATH_MAX]; /* where its files are: the place itself, or what was fetched of it */
    bool is_url;
    iw_collection *index;
};

/* ======== files by URL ======== */

/* Exit codes: of curl, and of exec. */
enum { CANNOT_WRITE = 23, TOO_LARGE = 63, NOT_FOUND = 127 };

/* Older curl heeds --max-filesize only if the server says how much will come. */
static void limit_files(uint64_t most_bytes)
{
    const struct rlimit limit = {.rlim_cur = most_bytes, .rlim_max = most_bytes};

    (void)signal(SIGXFSZ, SIG_IGN); /* it fails to write instead */
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        _exit(CANNOT_WRITE);
    }
}

static void exec_curl(const char *url, const char *path, uint64_t most_bytes)
{
    char most[24];
    const char *const arguments[] = {"curl",
                                     "--fail",
                                     "--silent",
                                     "--show-error",
                                     "--location",
                                     "--globoff",
                                     "--proto",
                                     "=http,https",
                                     "--proto-redir",
                                     "=http,https",
                                     "--max-redirs",
                                     "5",
                                     "--connect-timeout",
                                     "20",
                                     "--speed-time",
                                     "60",
                                     "--speed-limit",
                                     "1",
                                     "--max-filesize",
                                     most,
                                     "--create-dirs",
                                     "--output",
                                     path,
                                     "--",
                                     url,
                                     NULL};

    (void)snprintf(most, sizeof most, "%" PRIu64, most_bytes);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    limit_files(most_bytes);
    (void)execvp(arguments[0], (char *const *)arguments);
    _exit(NOT_FOUND);
}

/* Its exit code; -1 if a signal came, to us or to it. */
static int wait_for(pid_t pid)
{
    static const struct timespec pause = {.tv_nsec = 20000000};
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (interrupt_has_come()) {
            (void)kill(pid, SIGTERM);
        }
        (void)nanosleep(&pause, NULL);
    }
    return !interrupt_has_come() && ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Writes what `url` (http, https) has to `path`, whose folders are made; at most so many bytes where the
 * server says how many there are. Under interrupt_catch(): a signal ends it. Returns UI_DONE or UI_ERROR. */
static int download(const struct ui *ui, const char *url, const char *path, uint64_t most_bytes)
{
    const pid_t pid = fork();
    int code;

    if (pid == 0) {
        exec_curl(url, path, most_bytes);
    }
    if (pid < 0) {
        ui_error(ui, "cannot start curl: %s", strerror(errno));
        return UI_ERROR;
    }
    code = wait_for(pid);
    if (code == NOT_FOUND) {
        ui_error(ui, "the command curl, which fetches '%s', is missing", url);
        ui_hint(ui, "install curl, or fetch the folder by other means and name it: --from FOLDER");
    } else if (code == CANNOT_WRITE || code == TOO_LARGE) {
        ui_error(ui, "cannot fetch '%s': it has more than %" PRIu64 " bytes, or the disk is full", url,
                 most_bytes);
    } else if (code > 0) {
        ui_error(ui, "cannot fetch '%s': curl ended with exit code %d", url, code);
    } else if (code < 0) {
        ui_error(ui, "'%s' was not fetched: interrupted", url);
    }
    return code == 0 ? UI_DONE : UI_ERROR;
}

/* ======== collections ======== */

enum { MOST_INDEX_BYTES = 1 << 24 };

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The next of the places between blanks or commas in *list_p, which then is what follows; false: there is
 * none. */
static bool get_source_next(const char **list_p, struct get_source *source)
{
    static const char separators[] = " \t,";
    const char *word = *list_p + strspn(*list_p, separators);
    size_t length = strcspn(word, separators);

    *list_p = word + length;
    *source = (struct get_source){.index = NULL};
    if (length == 0 || length >= sizeof source->place) {
        return false;
    }
    while (length > 1 && word[length - 1] == '/') {
        length--;
    }
    memcpy(source->place, word, length);
    source->is_url = begins(source->place, "http://") || begins(source->place, "https://");
    return true;
}

/* What a URL has below it; it stays below the temporary folder, since names in an index do. */
static int fetch(const struct ui *ui, const struct get_source *source, const char *file, uint64_t most_bytes)
{
    char url[2 * PATH_MAX], path[2 * PATH_MAX];

    (void)snprintf(url, sizeof url, "%s/%s", source->place, file);
    (void)snprintf(path, sizeof path, "%s/%s", source->folder, file);
    return download(ui, url, path, most_bytes);
}

static int make_temporary(const struct ui *ui, struct get_source *source)
{
    const char *below = getenv("TMPDIR");

    (void)snprintf(source->folder, sizeof source->folder, "%s/idlewave-get-XXXXXX",
                   below != NULL && below[0] == '/' ? below : "/tmp");
    if (mkdtemp(source->folder) == NULL) {
        ui_error(ui, "cannot create the folder '%s': %s", source->folder, strerror(errno));
        source->folder[0] = '\0';
        return UI_ERROR;
    }
    return UI_DONE;
}

/* Reads the index; of a URL into a temporary folder, which is to be released in any case. Returns UI_DONE or
 * UI_ERROR. */
static int get_source_open(const struct ui *ui, struct get_source *source)
{
    int code = UI_DONE;

    if (source->is_url) {
        code = make_temporary(ui, source);
        if (code == UI_DONE) {
            code = fetch(ui, source, IW_COLLECTION_INDEX, MOST_INDEX_BYTES);
        }
    } else {
        memcpy(source->folder, source->place, sizeof source->folder);
    }
    return code == UI_DONE ? ui_exit_of(iw_collection_load(&ui->log, source->folder, &source->index)) : code;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *level)
{
    (void)facts;
    (void)kind;
    (void)level;
    return remove(path);
}

static void get_source_release(struct get_source *source)
{
    iw_collection_free(source->index);
    source->index = NULL;
    if (source->is_url && source->folder[0] != '\0') {
        (void)nftw(source->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

/* Fetches the file of one entry, checks it, and puts it into the folder `to`. */
static int get_source_take(const struct ui *ui, const struct get_source *source, const iw_collected *entry,
                           const char *to)
{
    int code = UI_DONE;

    if (source->is_url && entry->file != NULL) {
        code = fetch(ui, source, entry->file, entry->bytes);
    }
    return code == UI_DONE ? ui_exit_of(iw_collection_copy(&ui->log, source->folder, entry, to)) : code;
}

/* ======== the verb ======== */

struct get_opts {
    struct opt_origins origins;
    const char *from;
    bool is_offer, wants_path;
};

#define ROW(...) OPT_ROW(struct get_opts, __VA_ARGS__)
static const struct opt rows[] = {
    ROW("from", OPT_STRING, from, "FOLDERS|URLS",
        "collections to search, in this order, separated by blanks or commas: folders, or http and https "
        "URLs of folders (default none)",
        .is_setting = true),
    ROW("offer", OPT_FLAG, is_offer, "", "list what these collections offer"),
    ROW("path", OPT_FLAG, wants_path, "", "print only the path or the SPEC that NAME stands for"),
};
#undef ROW

static const struct opt_group groups[] = {OPT_GROUP("Collections", rows, 0)};
static const struct get_opts defaults = {.from = ""};
static const char *const synopsis[] = {"[options] [NAME...]", "describe FILE", "check DIR", NULL};

static const char description[] =
    "Without arguments, list the names that --net and --noise take: built-in networks, what was installed "
    "with idlewave, and what was fetched.\nWith NAME, fetch its file from the collections of --from, "
    "check size and checksum, and put it into $XDG_DATA_HOME/idlewave or ~/.local/share/idlewave. Nothing "
    "else is fetched. A site sets --from in its configuration file. The command curl fetches URLs.\nA name "
    "is looked up among built-in names, files, fetched names and installed names, in this order.";

static const struct example examples[] = {
    {"list all names", "idlewave get"},
    {"the noise of a published machine",
     "idlewave simulate --pattern barrier --ranks 64Ki --compute 1ms --noise sc10-chic"},
    {"from the server of a site", "idlewave get our-nodes --from https://hpc.example.org/idlewave"},
    {"a recording to offer to others", "idlewave get describe node.h5 >> share/idlewave/index.yaml"},
    {NULL, NULL},
};

/* ---- lists ---- */

static void write_line(const char *name, const char *kind, const char *where, const char *about)
{
    (void)printf("%-5s  %-24s  %-9s  %s\n", kind, name, where, about);
}

static void write_built_in(void)
{
    for (size_t i = 0; iw_net_builtin_name(i) != NULL; i++) {
        const iw_net *net = iw_net_builtin(iw_net_builtin_name(i));

        write_line(net->name, "net", "built in",
                   net->inner_count > 0 ? "a machine with levels: docs/how-to/machines.md"
                                        : "Table III of Hoefler et al., SC'10");
    }
}

static void write_entries(const iw_collection *index, const char *where)
{
    for (size_t i = 0; i < index->count; i++) {
        const iw_collected *entry = &index->entries[i];

        write_line(entry->name, iw_collected_kind_name(entry->kind), where, entry->about);
    }
}

/* Whether there is a collection in the place of that number; *index_p is then to be freed. */
static bool load_place(const struct ui *ui, size_t number, char folder[PATH_MAX], iw_collection **index_p)
{
    char path[PATH_MAX + 16];

    *index_p = NULL;
    if (!iw_collection_place(number, folder, PATH_MAX)) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, IW_COLLECTION_INDEX);
    return access(path, F_OK) == 0 && iw_collection_load(&ui->log, folder, index_p) == IW_OK;
}

static int list_all(const struct ui *ui)
{
    static const char *const wheres[] = {"fetched", "installed"};
    char folder[PATH_MAX];
    iw_collection *index;

    (void)puts("Names that --net and --noise take:\n");
    write_built_in();
    for (size_t i = 0; i < 2; i++) {
        if (load_place(ui, i, folder, &index)) {
            write_entries(index, wheres[i]);
        }
        iw_collection_free(index);
    }
    return UI_DONE;
}

/* ---- one name ---- */

static void write_entry(const char *folder, const iw_collected *entry, bool wants_path)
{
    char path[2 * PATH_MAX];
    const char *what = entry->spec;

    if (what == NULL) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->file);
        what = path;
    }
    if (wants_path) {
        (void)puts(what);
        return;
    }
    (void)printf("'--%s %s' takes %s.\n\n%s\n\norigin   %s\nmade     %s\nlicence  %s\n",
                 iw_collected_kind_name(entry->kind), entry->name, what, entry->about, entry->origin,
                 entry->made, entry->licence);
}

/* Whether a name needs no fetching; it has been told of then. */
static bool is_here(const struct ui *ui, const char *name, bool wants_path)
{
    bool is_found = iw_net_builtin(name) != NULL || strcmp(name, "none") == 0;

    if (is_found) {
        (void)printf(wants_path ? "%s\n" : "'--net %s' is built in, so there is nothing to fetch.\n", name);
    }
    for (size_t i = 0; i < 2 && !is_found; i++) {
        char folder[PATH_MAX];
        iw_collection *index;
        const iw_collected *entry = load_place(ui, i, folder, &index) ? iw_collection_get(index, name) : NULL;

        if (entry != NULL) {
            write_entry(folder, entry, wants_path);
            is_found = true;
        }
        iw_collection_free(index);
    }
    return is_found;
}

/* UI_DONE, UI_ERROR, or UI_UNDECIDED where the source has no such name. */
static int take_from(const struct ui *ui, struct get_source *source, const char *name, bool wants_path)
{
    char to[PATH_MAX];
    const iw_collected *entry;
    int code = get_source_open(ui, source);

    if (code != UI_DONE) {
        return code;
    }
    entry = iw_collection_get(source->index, name);
    if (entry == NULL) {
        return UI_UNDECIDED;
    }
    if (!iw_collection_place(0, to, sizeof to)) {
        ui_error(ui, "no place for '%s': set XDG_DATA_HOME or HOME", name);
        return UI_ERROR;
    }
    code = get_source_take(ui, source, entry, to);
    return code != UI_DONE || is_here(ui, name, wants_path) ? code : UI_ERROR;
}

static int get_one(const struct ui *ui, const struct get_opts *opts, const char *name)
{
    const char *list = opts->from;
    struct get_source source;
    int code = UI_UNDECIDED;

    if (is_here(ui, name, opts->wants_path)) {
        return UI_DONE;
    }
    while (code == UI_UNDECIDED && get_source_next(&list, &source)) {
        code = take_from(ui, &source, name, opts->wants_path);
        get_source_release(&source);
    }
    if (code != UI_UNDECIDED) {
        return code;
    }
    if (opts->from[strspn(opts->from, " \t,")] == '\0') {
        ui_error(ui, "'%s' is not here, and no collection was given", name);
        ui_hint(ui, "'idlewave get' lists local names; add --from FOLDER|URL to name a collection");
    } else {
        ui_error(ui, "no collection in '%s' has '%s'", opts->from, name);
        ui_hint(ui, "'idlewave get --offer' lists what the collections have");
    }
    return UI_ERROR;
}

/* ---- what others offer ---- */

static int list_offers(const struct ui *ui, const struct get_opts *opts)
{
    const char *list = opts->from;
    struct get_source source;
    int code = UI_DONE;

    if (opts->from[0] == '\0') {
        return ui_usage(ui, "--offer needs a collection: add --from FOLDER|URL");
    }
    while (code == UI_DONE && get_source_next(&list, &source)) {
        code = get_source_open(ui, &source);
        if (code == UI_DONE) {
            (void)printf("%s:\n", source.place);
            write_entries(source.index, "offered");
        }
        get_source_release(&source);
    }
    return code;
}

/* ---- what is offered to others ---- */

static int run_check(struct ui *ui, const void *values, const struct opt_args *args)
{
    const char *folder = args->count > 0 ? args->values[0] : NULL;
    iw_collection *index;
    size_t wrong = 0;
    int code;

    (void)values;
    if (folder == NULL) {
        return ui_usage(ui, "no collection given; type: idlewave get check DIR");
    }
    code = ui_exit_of(iw_collection_load(&ui->log, folder, &index));
    if (code != UI_DONE) {
        return code;
    }
    for (size_t i = 0; i < index->count; i++) {
        wrong += iw_collection_check(&ui->log, folder, &index->entries[i]) != IW_OK;
    }
    if (wrong == 0) {
        (void)printf("All %zu entries of %s match its index.\n", index->count, folder);
    } else {
        ui_error(ui, "%zu of %zu entries of '%s' do not match its index", wrong, index->count, folder);
    }
    iw_collection_free(index);
    return wrong == 0 ? UI_DONE : UI_ERROR;
}

static const char *const check_synopsis[] = {"DIR", NULL};

static const struct verb verb_get_check = {
    .name = "get check",
    .summary = "check the files of a collection against its index",
    .synopsis = check_synopsis,
    .description = "Check that every entry of a collection has the size and the checksum in its index, and "
                   "can be read.",
    .argument_name = "DIR",
    .argument_help = "folder of a collection",
    .most_arguments = 1,
    .run = run_check,
};

static int run_describe(struct ui *ui, const void *values, const struct opt_args *args)
{
    (void)values;
    return args->count > 0 ? ui_exit_of(iw_collection_describe(&ui->log, args->values[0], stdout))
                           : ui_usage(ui, "no file given; type: idlewave get describe FILE");
}

static const char *const describe_synopsis[] = {"FILE", NULL};

static const struct verb verb_get_describe = {
    .name = "get describe",
    .summary = "print an index entry for your own file",
    .synopsis = describe_synopsis,
    .description = "Print the index entry of a noise file or a network of your own, with its origin.",
    .argument_name = "FILE",
    .argument_help = "a noise file or a network",
    .most_arguments = 1,
    .run = run_describe,
};

static const struct verb *const subverbs[] = {&verb_get_describe, &verb_get_check, NULL};

/* ---- the verb ---- */

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct get_opts *opts = values;
    struct interrupt interrupt;
    int code = UI_DONE;

    if (opts->is_offer && args->count > 0) {
        return ui_usage(ui, "NAME and --offer: drop one of the two");
    }
    if (!opts->is_offer && args->count == 0) {
        return list_all(ui);
    }
    interrupt_catch(&interrupt);
    if (opts->is_offer) {
        code = list_offers(ui, opts);
    }
    for (size_t i = 0; i < args->count && code == UI_DONE; i++) {
        code = get_one(ui, opts, args->values[i]);
    }
    interrupt_release(&interrupt);
    return code;
}

const struct verb verb_get = {
    .name = "get",
    .group = VERB_FILES,
    .summary = "get networks and noise by name, with their origin",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "NAME",
    .argument_help = "name of an entry of a collection",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 64,
    .subverbs = subverbs,
    .run = run,
};
