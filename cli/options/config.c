/* Finds configuration files, checks them, and has them set options.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/suggest.h"

enum { MOST_BYTES = 1 << 20, WHERE_SIZE = 512 };

#define ROW(...) OPT_ROW(struct config_opts, __VA_ARGS__)
const struct opt config_rows[CONFIG_ROW_COUNT] = {
    ROW("config", OPT_STRING, path, "FILE",
        "read defaults of options from FILE; overrides the files of user and site ('idlewave config' shows "
        "them)"),
    ROW("no-config", OPT_FLAG, is_off, "", "read no configuration file"),
};
#undef ROW

const char *config_origin_name(enum opt_origin origin)
{
    static const char *const names[] = {[OPT_BUILT_IN] = "built in",
                                        [OPT_FROM_SITE] = "site",
                                        [OPT_FROM_USER] = "user",
                                        [OPT_FROM_FILE] = "--config",
                                        [OPT_TYPED] = "command line"};

    return names[origin];
}

/* ---- files ---- */

static char *join(const char *folder, size_t length, const char *name)
{
    const size_t size = length + strlen(name) + 1;
    char *path = ui_grow(NULL, size, 1);

    (void)snprintf(path, size, "%.*s%s", (int)length, folder, name);
    return path;
}

/* Takes over `path`. */
static void add_file(struct config *config, enum opt_origin origin, char *path)
{
    config->files[config->file_count++] = (struct config_file){.origin = origin, .path = path};
}

/* As the XDG base directory specification has it: paths that are not absolute would depend on the current
 * folder, and do not count. */
static void add_user_file(struct config *config)
{
    const char *home = getenv("XDG_CONFIG_HOME");

    if (home != NULL && home[0] == '/') {
        add_file(config, OPT_FROM_USER, join(home, strlen(home), "/idlewave/config"));
        return;
    }
    home = getenv("HOME");
    if (home != NULL && home[0] == '/') {
        add_file(config, OPT_FROM_USER, join(home, strlen(home), "/.config/idlewave/config"));
    }
}

static void choose_files(const struct config_opts *opts, const char *site, struct config *config)
{
    const char *instead = getenv("IDLEWAVE_CONFIG");

    if (instead == NULL) {
        add_file(config, OPT_FROM_SITE, join(site, strlen(site), ""));
        add_user_file(config);
    } else if (instead[0] != '\0') {
        add_file(config, OPT_FROM_USER, join(instead, strlen(instead), ""));
    }
    if (opts->path != NULL) {
        add_file(config, OPT_FROM_FILE, join(opts->path, strlen(opts->path), ""));
    }
}

/* Nobody asked for the usual files, so they need not exist. */
static bool may_be_missing(const struct config_file *file)
{
    return file->origin == OPT_FROM_SITE ||
           (file->origin == OPT_FROM_USER && getenv("IDLEWAVE_CONFIG") == NULL);
}

/* A root shell that becomes another user (setpriv, su) keeps its HOME, whose folders that user may not enter:
 * what is in there is not for it. A file that is seen and may not be read is a mistake. */
static bool is_out_of_reach(const struct config_file *file)
{
    struct stat seen;

    return file->origin == OPT_FROM_USER && stat(file->path, &seen) != 0 && errno == EACCES;
}

/* Some editors write the mark of UTF-8 before a text. */
static void drop_mark(char *text, size_t *size_p)
{
    if (*size_p >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        *size_p -= 3;
        memmove(text, text + 3, *size_p);
    }
}

/* Outcome: file->text with a byte to spare, and its size. */
static int read_text(const struct ui *ui, struct config_file *file, size_t *size_p)
{
    FILE *in = fopen(file->path, "re");
    const int error = errno;
    bool is_bad;

    if (in == NULL && may_be_missing(file) &&
        (error == ENOENT || error == ENOTDIR || is_out_of_reach(file))) {
        return UI_DONE;
    }
    if (in == NULL) {
        ui_error(ui, "cannot open '%s': %s", file->path, strerror(error));
        return UI_ERROR;
    }
    file->text = ui_grow(NULL, MOST_BYTES + 1, 1);
    *size_p = fread(file->text, 1, MOST_BYTES + 1, in);
    is_bad = ferror(in) != 0;
    if (is_bad) {
        ui_error(ui, "cannot read '%s': %s", file->path, strerror(errno));
    } else if (*size_p > MOST_BYTES) {
        ui_error(ui, "'%s' is too large for a configuration file: at most %d bytes", file->path, MOST_BYTES);
        is_bad = true;
    }
    (void)fclose(in);
    drop_mark(file->text, size_p);
    file->is_there = true;
    return is_bad ? UI_ERROR : UI_DONE;
}

/* ---- checks ---- */

/* One line, while verbs are asked whether it is for them. */
struct check {
    struct ui *ui;
    const struct config_line *line;
    const char *where; /* "/etc/idlewave/config:3" */
    struct suggestion suggestion;
    bool is_section, is_option, is_setting, is_wrong;
};

/* What the line sets in `verb`, or NULL. */
static const struct opt *find_row(const struct verb *verb, const struct config_line *line, size_t *offset_p)
{
    if (line->section[0] != '\0' && strcmp(line->section, verb->name) != 0) {
        return NULL;
    }
    for (size_t g = 0; g < verb->group_count; g++) {
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            if (strcmp(verb->groups[g].rows[i].name, line->key) == 0 && !verb->groups[g].is_question) {
                *offset_p = verb->groups[g].offset;
                return &verb->groups[g].rows[i];
            }
        }
    }
    return NULL;
}

/* The value is tried on values that nobody uses. */
static bool try_value(struct check *check, const struct verb *verb, const struct opt *opt, size_t offset)
{
    char *scratch = ui_grow(NULL, verb->values_size, 1);
    char where[WHERE_SIZE];
    bool is_good;

    memcpy(scratch, verb->defaults, verb->values_size);
    (void)snprintf(where, sizeof where, "%s: %s of %s", check->where, opt->name, verb->name);
    check->ui->option = where;
    is_good = opt_set(check->ui, opt, scratch + offset, check->line->value, OPT_FROM_FILE);
    check->ui->option = check->where;
    free(scratch);
    return is_good;
}

static bool check_verb(void *arg, const struct verb *verb)
{
    struct check *check = arg;
    size_t offset;
    const struct opt *opt = find_row(verb, check->line, &offset);
    const char *section = check->line->section;

    check->is_section |= section[0] == '\0' || strcmp(section, verb->name) == 0;
    check->is_option |= opt != NULL;
    if (opt == NULL || !opt->is_setting) {
        return true;
    }
    check->is_setting = true;
    check->is_wrong = !try_value(check, verb, opt, offset);
    return !check->is_wrong;
}

static bool suggest_section(void *arg, const struct verb *verb)
{
    suggest_offer(&((struct check *)arg)->suggestion, verb->name);
    return true;
}

static bool suggest_setting(void *arg, const struct verb *verb)
{
    struct check *check = arg;

    if (check->line->section[0] != '\0' && strcmp(check->line->section, verb->name) != 0) {
        return true;
    }
    for (size_t g = 0; g < verb->group_count; g++) {
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            if (verb->groups[g].rows[i].is_setting && !verb->groups[g].is_question) {
                suggest_offer(&check->suggestion, verb->groups[g].rows[i].name);
            }
        }
    }
    return true;
}

static void report(struct check *check)
{
    const struct config_line *line = check->line;
    const char *word = check->is_section ? line->key : line->section;
    const char *what = check->is_section ? "option" : "verb";
    const char *now = check->is_section ? NULL : verb_new_name(word);

    suggest_begin(&check->suggestion, word);
    verb_each(check->is_section ? suggest_setting : suggest_section, check);
    if (check->is_option) {
        ui_error(check->ui, "'%s' is not a setting: give it on the command line", word);
    } else if (now != NULL) {
        ui_error(check->ui, "there is no %s '%s' any more: write [%s]", what, word, now);
    } else if (check->suggestion.best != NULL) {
        ui_error(check->ui, "there is no %s '%s': did you mean '%s'?", what, word, check->suggestion.best);
    } else {
        ui_error(check->ui, "there is no %s '%s'", what, word);
    }
}

static int check_line(struct ui *ui, const struct config_file *file, const struct config_line *line)
{
    char where[WHERE_SIZE];
    struct check check = {.ui = ui, .line = line, .where = where};

    (void)snprintf(where, sizeof where, "%s:%zu", file->path, line->number);
    ui->option = where;
    verb_each(check_verb, &check);
    if (!check.is_setting) {
        report(&check);
    }
    ui->option = NULL;
    return check.is_setting && !check.is_wrong ? UI_DONE : UI_ERROR;
}

static int load_file(struct ui *ui, struct config_file *file)
{
    struct config_fault fault;
    size_t size = 0;
    int code = read_text(ui, file, &size);

    if (code != UI_DONE || !file->is_there) {
        return code;
    }
    if (!config_lines_read(file->text, size, &file->lines, &fault)) {
        ui_error(ui, "%s:%zu: %s", file->path, fault.number, fault.text);
        return UI_ERROR;
    }
    for (size_t i = 0; i < file->lines.count && code == UI_DONE; i++) {
        code = check_line(ui, file, &file->lines.all[i]);
    }
    return code;
}

int config_load(struct ui *ui, const struct config_opts *opts, const char *site, struct config *config)
{
    int code = UI_DONE;

    *config = (struct config){.file_count = 0};
    if (opts->is_off && opts->path != NULL) {
        return ui_usage(ui, "--config and --no-config: drop one of the two");
    }
    if (!opts->is_off) {
        choose_files(opts, site, config);
    }
    for (size_t i = 0; i < config->file_count && code == UI_DONE; i++) {
        code = load_file(ui, &config->files[i]);
    }
    if (code == UI_ERROR) {
        ui_hint(ui, "use '--no-config' to run without configuration files");
    }
    return code;
}

void config_release(struct config *config)
{
    for (size_t i = 0; i < config->file_count; i++) {
        config_lines_release(&config->files[i].lines);
        free(config->files[i].text);
        free(config->files[i].path);
    }
    for (size_t i = 0; i < config->path_count; i++) {
        free(config->paths[i]);
    }
    free(config->paths);
    free(config->uses);
}

/* ---- use ---- */

const char *config_keep(struct config *config, char *text)
{
    config->paths = ui_grow(config->paths, config->path_count + 1, sizeof *config->paths);
    config->paths[config->path_count++] = text;
    return text;
}

/* A file that is named without a folder in front lies beside the configuration file, not in the current
 * folder. */
static const char *value_of(struct config *config, const struct config_file *file, const struct opt *opt,
                            const char *text)
{
    const char *slash = strrchr(file->path, '/');
    char *path;

    if (strstr(opt->metavar, "FILE") == NULL || text[0] == '/' || slash == NULL) {
        return text;
    }
    for (size_t i = 0; opt->known != NULL && opt->known(i) != NULL; i++) {
        if (strcmp(opt->known(i), text) == 0) {
            return text;
        }
    }
    path = join(file->path, (size_t)(slash - file->path) + 1, text);
    if (opt->collected != OPT_NOT_COLLECTED && strpbrk(text, "./") == NULL && access(path, F_OK) != 0) {
        free(path);
        return text; /* maybe a name of a collection */
    }
    return config_keep(config, path);
}

static void note_use(struct config *config, const struct config_use *use)
{
    size_t i = 0;

    while (i < config->use_count && config->uses[i].opt != use->opt) {
        i++;
    }
    if (i == config->use_count) {
        config->uses = ui_grow(config->uses, ++config->use_count, sizeof *config->uses);
    }
    config->uses[i] = *use;
}

static void apply_line(struct ui *ui, struct config *config, const struct config_use *line,
                       const struct verb *verb, void *values)
{
    struct config_use use = *line;
    size_t offset;

    use.opt = find_row(verb, line->line, &offset);
    if (use.opt == NULL || !use.opt->is_setting ||
        opt_is_kept(verb->groups, verb->group_count, use.opt, (char *)values + offset, values)) {
        return;
    }
    use.value = value_of(config, use.file, use.opt, use.line->value);
    if (opt_set(ui, use.opt, (char *)values + offset, use.value, use.file->origin)) {
        note_use(config, &use);
    }
}

/* In each file lines for all verbs give way to those of the verb's section. */
void config_apply(struct ui *ui, struct config *config, const struct verb *verb, void *values)
{
    for (size_t i = 0; i < 2 * config->file_count; i++) {
        const struct config_file *file = &config->files[i / 2];
        const bool is_for_all = i % 2 == 0;

        for (size_t k = 0; k < file->lines.count; k++) {
            const struct config_use line = {.file = file, .line = &file->lines.all[k]};

            if ((line.line->section[0] == '\0') == is_for_all) {
                apply_line(ui, config, &line, verb, values);
            }
        }
    }
}
