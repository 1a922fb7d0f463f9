/* The command `idlewave`: finds the verb, reads its options, runs it, and makes sure that its results were
 * really written.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "help.h"
#include "opt.h"
#include "speaker.h"
#include "ui.h"
#include "verbs.h"

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

/* The command line as one could type it again; NULL when out of memory. */
static char *join_command(int argc, char **argv)
{
    char *command = NULL;
    size_t size;
    FILE *out = open_memstream(&command, &size);

    if (out == NULL) {
        return NULL;
    }
    (void)fputs("idlewave", out);
    for (int i = 1; i < argc; i++) {
        (void)fputc(' ', out);
        append_quoted(out, argv[i]);
    }
    return fclose(out) == 0 ? command : NULL;
}

/* Of the processes of a launcher one tells what can be no error of any of them. */
static bool is_first(const struct speaker *speaker)
{
    return !speaker->is_one_of_many || speaker->rank == 0;
}

/* The speaker has the ui until the verb runs. */
static int run_parsed(struct ui *ui, struct speaker *speaker, const struct verb *verb, const void *values,
                      const struct opt_args *args)
{
    if (args->count > verb->most_arguments) {
        return ui_usage(ui, "'%s' is one argument too many", args->values[verb->most_arguments]);
    }
    speaker_leave_ui(speaker, ui);
    return verb->run(ui, values, args);
}

static int run_verb(struct ui *ui, struct speaker *speaker, const struct verb *verb, int argc, char **argv)
{
    void *values = ui_grow(NULL, verb->values_size + 1, 1);
    struct opt_args args;
    enum opt_outcome outcome;
    int code = UI_USAGE;

    if (verb->values_size > 0) {
        memcpy(values, verb->defaults, verb->values_size);
    }
    outcome = opt_parse(ui, verb->groups, verb->group_count, argc, argv, verb->takes_command, values, &args);
    switch (outcome) {
    case OPT_PARSED: code = run_parsed(ui, speaker, verb, values, &args); break;
    case OPT_HELP:
        if (is_first(speaker)) {
            help_verb(stdout, verb);
        }
        code = UI_DONE;
        break;
    case OPT_WRONG: break;
    }
    opt_release(verb->groups, verb->group_count, values, &args);
    free(values);
    return code;
}

/* argv[0], if there is one, should be the subverb. */
static int run_subverb(struct ui *ui, struct speaker *speaker, const struct verb *verb, int argc, char **argv)
{
    const struct verb *sub = argc > 0 ? verb_find_sub(verb, argv[0]) : NULL;

    if (sub == NULL && verb->run != NULL) {
        return run_verb(ui, speaker, verb, argc, argv);
    }
    if (argc == 0) {
        help_verb(stderr, verb);
        return UI_USAGE;
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        if (is_first(speaker)) {
            help_verb(stdout, verb);
        }
        return UI_DONE;
    }
    if (sub == NULL) {
        return verb_unknown_sub(ui, verb, argv[0]);
    }
    ui->verb = sub->name;
    return run_verb(ui, speaker, sub, argc - 1, argv + 1);
}

static int run(struct ui *ui, struct speaker *speaker, int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "";
    const struct verb *verb;

    if (argc < 2) {
        help_overview(stderr);
        return UI_USAGE;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        if (is_first(speaker)) {
            help_overview(stdout);
        }
        return UI_DONE;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        if (is_first(speaker)) {
            (void)printf("idlewave %s\n", iw_version());
        }
        return UI_DONE;
    }
    if (first[0] == '-') {
        return ui_usage(ui, "'%s' stands where a verb should: idlewave VERB [options] [FILE]", first);
    }
    verb = verb_find(first);
    if (verb == NULL) {
        return verb_unknown(ui, first);
    }
    ui->verb = verb->name;
    return (verb->subverbs != NULL ? run_subverb : run_verb)(ui, speaker, verb, argc - 2, argv + 2);
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
    char *command = join_command(argc, argv);
    struct speaker speaker;
    struct ui ui;
    int code;

    (void)signal(SIGXFSZ, SIG_IGN); /* beyond a limit of file sizes, writing fails with a message instead */
    ui_init(&ui, NULL, command != NULL ? command : "idlewave");
    speaker_init(&speaker, &ui);
    speaker_take_ui(&speaker, &ui);
    code = run(&ui, &speaker, argc, argv);
    speaker_leave_ui(&speaker, &ui);
    code = close_stdout(&ui, code);
    free(command);
    return code;
}
