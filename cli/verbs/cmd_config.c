/* `idlewave config`: which configuration files are read, and where the defaults of options come from.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "options/config.h"
#include "options/shown_opts.h"

struct show_config_opts {
    struct shown_opts shown;
};

static const struct opt_group groups[] = {
    SHOWN_JSON_GROUP("Output", offsetof(struct show_config_opts, shown))};

static const struct show_config_opts defaults = {.shown = {.format = OUTPUT_TEXT}};

static const char *const synopsis[] = {"[options]", "[options] VERB", NULL};

static const char description[] =
    "List the configuration files, and the options that they set for each verb. With VERB, list all "
    "options of that verb that a file may set, with the values it would use.\nThe user's file "
    "($XDG_CONFIG_HOME/idlewave/config or ~/.config/idlewave/config) overrides the site's, the file of "
    "--config FILE overrides both, and the command line overrides all; every verb takes --config and "
    "--no-config. If IDLEWAVE_CONFIG is set, the file that it names replaces the site's and the user's; if "
    "it is empty, neither is read. A file in the current folder is never read automatically.\nA file has "
    "lines 'option = value'. They apply to all verbs that have the option or, after a line '[VERB]', to that "
    "verb. Lines that begin with # are comments.";

static const struct example examples[] = {
    {"a network and nodes for all verbs", "printf 'net = altix\\nranks-per-node = 16\\n' > site.conf\n"
                                          "  idlewave config simulate --config site.conf"},
    {"run without configuration files", "idlewave simulate --no-config --pattern barrier --ranks 64"},
    {NULL, NULL},
};

/* ---- rows ---- */

struct row {
    const struct verb *verb;
    const struct opt *opt;
    char value[256];                /* "": the verb chooses */
    const struct config_file *file; /* NULL: built in */
    size_t line;
};

struct table {
    struct ui *ui;
    const struct verb *only; /* NULL: all verbs, but only what a file sets */
    struct row *rows;
    size_t count;
};

static void add_row(struct table *table, const struct verb *verb, const struct opt *opt, const void *base)
{
    const struct config *config = table->ui->config;
    struct row row = {.verb = verb, .opt = opt};

    opt_value_text(opt, base, row.value, sizeof row.value);
    for (size_t i = 0; i < config->use_count; i++) {
        if (config->uses[i].opt == opt) {
            (void)snprintf(row.value, sizeof row.value, "%s", config->uses[i].value);
            row.file = config->uses[i].file;
            row.line = config->uses[i].line->number;
        }
    }
    if (row.file != NULL || table->only != NULL) {
        table->rows = ui_grow(table->rows, table->count + 1, sizeof *table->rows);
        table->rows[table->count++] = row;
    }
}

static bool add_verb(void *arg, const struct verb *verb)
{
    struct table *table = arg;
    char *values;

    if (table->only != NULL && table->only != verb) {
        return true;
    }
    values = ui_grow(NULL, verb->values_size, 1);
    memcpy(values, verb->defaults, verb->values_size);
    table->ui->config->use_count = 0;
    config_apply(table->ui, table->ui->config, verb, values);
    for (size_t g = 0; g < verb->group_count; g++) {
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            if (verb->groups[g].rows[i].is_setting && !verb->groups[g].is_question) {
                add_row(table, verb, &verb->groups[g].rows[i], values + verb->groups[g].offset);
            }
        }
    }
    table->ui->config->use_count = 0;
    free(values);
    return true;
}

/* ---- text ---- */

static void write_files(const struct config *config)
{
    (void)puts(config->file_count > 0 ? "Configuration files, strongest first:"
                                      : "No configuration file is read.");
    for (size_t i = config->file_count; i-- > 0;) {
        const struct config_file *file = &config->files[i];

        (void)printf("  %-9s %s", config_origin_name(file->origin), file->path);
        if (!file->is_there) {
            (void)puts(" (missing)");
        } else {
            (void)printf(" (%zu setting%s)\n", file->lines.count, file->lines.count == 1 ? "" : "s");
        }
    }
}

static size_t widest(const struct table *table, const char *(*text)(const struct row *row))
{
    size_t width = 0;

    for (size_t i = 0; i < table->count; i++) {
        const size_t length = strlen(text(&table->rows[i]));

        width = length > width ? length : width;
    }
    return width;
}

static const char *verb_text(const struct row *row)
{
    return row->verb->name;
}

static const char *option_text(const struct row *row)
{
    return row->opt->name;
}

static const char *value_text(const struct row *row)
{
    return row->value[0] != '\0' ? row->value : "-";
}

static void write_text(const struct table *table)
{
    const int verb = (int)widest(table, verb_text), option = (int)widest(table, option_text);
    const int value = (int)widest(table, value_text);

    write_files(table->ui->config);
    (void)fputs(table->count > 0 ? "\n" : "\nNo file sets an option.\n", stdout);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];

        if (table->only == NULL) {
            (void)printf("%-*s  ", verb, verb_text(row));
        }
        (void)printf("%-*s  %-*s  ", option, option_text(row), value, value_text(row));
        if (row->file != NULL) {
            (void)printf("%s:%zu\n", row->file->path, row->line);
        } else {
            (void)puts("built in");
        }
    }
}

/* ---- JSON ---- */

static void write_json(const struct table *table)
{
    const struct config *config = table->ui->config;

    (void)fputs("{\n  \"schema\": \"idlewave.config/1\",\n  \"files\": [", stdout);
    for (size_t i = 0; i < config->file_count; i++) {
        (void)printf("%s\n    {\"origin\": \"%s\", \"path\": ", i > 0 ? "," : "",
                     config_origin_name(config->files[i].origin));
        ui_write_json_string(config->files[i].path, stdout);
        (void)printf(", \"exists\": %s}", config->files[i].is_there ? "true" : "false");
    }
    (void)printf("%s],\n  \"settings\": [", config->file_count > 0 ? "\n  " : "");
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];

        (void)printf("%s\n    {\"verb\": \"%s\", \"option\": \"%s\", \"value\": ", i > 0 ? "," : "",
                     row->verb->name, row->opt->name);
        if (row->value[0] != '\0') {
            ui_write_json_string(row->value, stdout);
        } else {
            (void)fputs("null", stdout);
        }
        (void)printf(", \"origin\": \"%s\"",
                     config_origin_name(row->file != NULL ? row->file->origin : OPT_BUILT_IN));
        if (row->file != NULL) {
            (void)fputs(", \"path\": ", stdout);
            ui_write_json_string(row->file->path, stdout);
            (void)printf(", \"line\": %zu", row->line);
        }
        (void)fputc('}', stdout);
    }
    (void)printf("%s]\n}\n", table->count > 0 ? "\n  " : "");
}

/* ---- the verb ---- */

static int find_verb(struct ui *ui, const struct opt_args *args, const struct verb **verb_p)
{
    const struct verb *verb = args->count > 0 ? verb_find(args->values[0]) : NULL;

    if (args->count > 0 && verb == NULL) {
        return verb_unknown(ui, args->values[0]);
    }
    if (args->count > 1 && (verb->subverbs == NULL || verb_find_sub(verb, args->values[1]) == NULL)) {
        return ui_usage(ui, "there is no '%s %s'", verb->name, args->values[1]);
    }
    *verb_p = args->count > 1 ? verb_find_sub(verb, args->values[1]) : verb;
    return UI_DONE;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct show_config_opts *opts = values;
    struct table table = {.ui = ui};
    const int code = find_verb(ui, args, &table.only);

    if (code != UI_DONE) {
        return code;
    }
    verb_each(add_verb, &table);
    (opts->shown.format == OUTPUT_JSON ? write_json : write_text)(&table);
    free(table.rows);
    return UI_DONE;
}

const struct verb verb_config = {
    .name = "config",
    .group = VERB_FILES,
    .summary = "show where the defaults of options come from",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "VERB",
    .argument_help = "verb whose options to list: simulate, 'noise show'",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 2,
    .run = run,
};
