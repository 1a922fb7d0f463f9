/* The command `idlewave`: finds the verb, reads its options, runs it, and makes sure that its results were
 * really written.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>
#include <idlewave/internal/mpi.h>

#include "options/collected.h"
#include "options/config.h"
#include "options/help.h"
#include "options/opt.h"
#include "options/verbs.h"
#include "process/node_log.h"
#include "process/ui.h"

/* Appends one argument; quoted if a shell would not take it as it is. */
static void append_quoted(FILE *out, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=:,./+%@^";

    if (argument[0] != '\0' && argument[strspn(argument, plain)] == '\0') {
        (void)fputs(argument, out);
        return;
    }
    (void)fputc('\'', out);
    for (; *argument != '\0'; argument++) {
        if (*argument == '\'') {
            (void)fputs("'\\''", out);
        } else {
            (void)fputc(*argument, out);
        }
    }
    (void)fputc('\'', out);
}

/* How many of the words are --config with its file: 0, 1 or 2. */
static int words_of_config(char **argv, int argc, const char *path)
{
    if (path == NULL) {
        return 0;
    }
    return argc > 1 && argv[1] == path ? 2 : argv[0] + strlen("--config=") == path ? 1 : 0;
}

/* The command line as one could type it again, with what configuration files have set in place of them; NULL
 * when out of memory. `path` is that of --config. */
static char *join_command(const struct verb *verb, const struct config *config, const char *path, int argc,
                          char **argv)
{
    char *command = NULL;
    size_t size;
    FILE *out = open_memstream(&command, &size);

    if (out == NULL) {
        return NULL;
    }
    (void)fprintf(out, "idlewave %s", verb->name);
    for (size_t i = 0; i < config->use_count; i++) {
        (void)fprintf(out, " --%s ", config->uses[i].opt->name);
        append_quoted(out, config->uses[i].value);
    }
    for (int i = 0; i < argc; i++) {
        i += words_of_config(&argv[i], argc - i, path);
        if (i < argc) {
            (void)fputc(' ', out);
            append_quoted(out, argv[i]);
        }
    }
    return fclose(out) == 0 ? command : NULL;
}

/* Of the processes of a launcher one tells what can be no error of any of them. */
static bool is_first(const struct node_log *node_log)
{
    return !node_log->is_one_of_many || node_log->rank == 0;
}

/* What is built in may be wrong for a job, and so may be what somebody else has configured. */
static void blame_config(const struct ui *ui, const struct config *config)
{
    for (size_t i = 0; i < config->use_count; i++) {
        ui_hint(ui, "--%s %s comes from %s:%zu", config->uses[i].opt->name, config->uses[i].value,
                config->uses[i].file->path, config->uses[i].line->number);
    }
}

/* The node log has the ui until the verb runs. */
static int run_parsed(struct ui *ui, struct node_log *node_log, const struct verb *verb, const void *values,
                      const struct opt_args *args)
{
    int code;

    if (args->count > verb->most_arguments) {
        return ui_usage(ui, "unexpected argument '%s'", args->values[verb->most_arguments]);
    }
    node_log_leave_ui(node_log, ui);
    code = verb->run(ui, values, args);
    if (code == UI_USAGE || code == UI_ERROR) {
        blame_config(ui, ui->config);
    }
    return code;
}

/* One run of a verb, from its arguments on. */
struct call {
    const struct verb *verb;
    int argc;
    char **argv;
    void *values; /* the verb's, and behind them those of the options that all verbs have */
    const struct config_opts *config_opts;
    struct opt_group *groups; /* of both */
    struct opt_args args;
};

static void call_init(struct call *call, const struct verb *verb, int argc, char **argv)
{
    const size_t alignment = _Alignof(max_align_t);
    const size_t offset = (verb->values_size + alignment - 1) / alignment * alignment;
    const struct opt_group common = {"All verbs", config_rows, CONFIG_ROW_COUNT, offset, false};

    *call = (struct call){.verb = verb, .argc = argc, .argv = argv};
    call->values = ui_grow(NULL, offset + sizeof(struct config_opts), 1);
    memset(call->values, 0, offset + sizeof(struct config_opts));
    if (verb->values_size > 0) {
        memcpy(call->values, verb->defaults, verb->values_size);
    }
    call->config_opts = (const void *)((const char *)call->values + offset);
    call->groups = ui_grow(NULL, verb->group_count + 1, sizeof *call->groups);
    for (size_t g = 0; g < verb->group_count; g++) {
        call->groups[g] = verb->groups[g];
    }
    call->groups[verb->group_count] = common;
}

/* Verbs without options need no defaults. */
static int configure_and_run(struct ui *ui, struct node_log *node_log, struct call *call)
{
    struct config config = {.file_count = 0};
    char *command;
    int code =
        call->verb->group_count > 0 ? config_load(ui, call->config_opts, IW_SITE_CONFIG, &config) : UI_DONE;

    if (code == UI_DONE) {
        config_apply(ui, &config, call->verb, call->values);
        command = join_command(call->verb, &config, call->config_opts->path, call->argc, call->argv);
        ui->command = command != NULL ? command : "idlewave";
        ui->config = &config;
        code = collected_resolve(ui, &config, call->verb, call->values);
        if (code == UI_DONE) {
            code = run_parsed(ui, node_log, call->verb, call->values, &call->args);
        }
        ui->config = NULL;
        ui->command = "idlewave";
        free(command);
    }
    config_release(&config);
    return code;
}

static int show_help(const struct node_log *node_log, const struct verb *verb, enum opt_outcome which)
{
    if (is_first(node_log)) {
        help_verb(stdout, verb, which == OPT_HELP_ALL);
    }
    return UI_DONE;
}

static int run_verb(struct ui *ui, struct node_log *node_log, const struct verb *verb, int argc, char **argv)
{
    enum opt_outcome outcome;
    struct call call;
    int code = UI_USAGE;

    call_init(&call, verb, argc, argv);
    ui->groups = call.groups;
    ui->group_count = verb->group_count;
    outcome = opt_parse(ui, call.groups, verb->group_count + 1, argc, argv, verb->takes_command, call.values,
                        &call.args);
    if (outcome == OPT_PARSED) {
        code = configure_and_run(ui, node_log, &call);
    } else if (outcome != OPT_WRONG) {
        code = show_help(node_log, verb, outcome);
    }
    if (verb->meets_others && (code == UI_ERROR || code == UI_USAGE) && !ui->has_mpi &&
        node_log->is_one_of_many) {
        iw_launcher_abort(code);
    }
    opt_release(call.groups, verb->group_count + 1, call.values, &call.args);
    ui->group_count = 0;
    free(call.groups);
    free(call.values);
    return code;
}

/* argv[0], if there is one, should be the subverb. */
static int run_subverb(struct ui *ui, struct node_log *node_log, const struct verb *verb, int argc,
                       char **argv)
{
    const struct verb *sub = argc > 0 ? verb_find_sub(verb, argv[0]) : NULL;

    if (sub == NULL && verb->run != NULL && !(argc > 0 && verb_is_misspelt_sub(verb, argv[0]))) {
        return run_verb(ui, node_log, verb, argc, argv);
    }
    if (argc == 0) {
        help_verb(stderr, verb, false);
        return UI_USAGE;
    }
    if (opt_help(argv[0]) != OPT_PARSED) {
        return show_help(node_log, verb, opt_help(argv[0]));
    }
    if (sub == NULL) {
        return verb_unknown_sub(ui, verb, argv[0]);
    }
    ui->verb = sub->name;
    return run_verb(ui, node_log, sub, argc - 1, argv + 1);
}

static int run(struct ui *ui, struct node_log *node_log, int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "";
    const struct verb *verb;

    if (argc < 2) {
        help_overview(stderr);
        return UI_USAGE;
    }
    if (opt_help(first) != OPT_PARSED) {
        if (is_first(node_log)) {
            help_overview(stdout);
        }
        return UI_DONE;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        if (is_first(node_log)) {
            (void)printf("idlewave %s\n", iw_version());
        }
        return UI_DONE;
    }
    if (first[0] == '-') {
        return ui_usage(ui, "'%s' comes before the verb; type: idlewave VERB [options] [FILE]", first);
    }
    verb = verb_find(first);
    if (verb == NULL) {
        return verb_unknown(ui, first);
    }
    ui->verb = verb->name;
    return (verb->subverbs != NULL ? run_subverb : run_verb)(ui, node_log, verb, argc - 2, argv + 2);
}

/* A full disk is never a success, however late it shows. */
static int close_stdout(const struct ui *ui, int code)
{
    const bool had_failed = ferror(stdout) != 0;

    errno = 0;
    if (fclose(stdout) == 0 && !had_failed) {
        return code;
    }
    if (code == UI_DONE) {
        ui_error(ui, "cannot write to standard output: %s", errno != 0 ? strerror(errno) : "write error");
        return UI_ERROR;
    }
    return code;
}

int main(int argc, char **argv)
{
    struct node_log node_log;
    struct ui ui;
    int code;

    (void)signal(SIGXFSZ, SIG_IGN); /* beyond a limit of file sizes, writing fails with a message instead */
    ui_init(&ui, NULL, "idlewave");
    node_log_init(&node_log, &ui);
    node_log_take_ui(&node_log, &ui);
    code = run(&ui, &node_log, argc, argv);
    node_log_leave_ui(&node_log, &ui);
    return close_stdout(&ui, code);
}
