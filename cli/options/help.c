/* Help for the terminal, 80 columns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/help.h"

#include <assert.h>
#include <string.h>

#include "options/config.h"

enum { COLUMNS = 80, HELP_COLUMN = 26, LEFT_SIZE = 200 };

const char *const help_tagline = "predicts what operating-system noise costs at scale";
const char *const help_purpose = "Finds out which daemons, interrupts and settings of your nodes slow "
                                 "parallel jobs, by how much at which scale, and what to do about it.";

const struct help_exit help_exits[] = {
    {UI_DONE, "done"},
    {UI_ERROR, "error (see stderr)"},
    {UI_NEGATIVE, "negative verdict (see the verb), for example a deadlock"},
    {UI_UNDECIDED, "no verdict: too little data"},
    {4, "check: the node is too noisy"},
    {5, "check: users' programs keep the node busy"},
    {UI_USAGE, "usage error"},
    {0, NULL},
};

const struct help_value help_values[] = {
    {"times", "580ps, 0.77us, 13.5ms, 2s; costs per byte in the same units"},
    {"counts and sizes", "8, 100k, 1Mi, 64KiB, 2^20"},
    {"rates, shares", "10Hz, 1kHz; 0.5% or 0.005"},
    {NULL, NULL},
};

/* Words wrapped between the columns `from` and COLUMNS, starting at `column`; '\n' begins a paragraph. */
static void write_text(FILE *out, const char *text, int column, int from)
{
    bool is_first = true;

    while (*text != '\0') {
        const int length = (int)strcspn(text, " \n");

        if (!is_first && column + 1 + length > COLUMNS) {
            (void)fprintf(out, "\n%*s", from, "");
            column = from;
        } else if (!is_first) {
            (void)fputc(' ', out);
            column++;
        }
        (void)fwrite(text, 1, (size_t)length, out);
        column += length;
        text += length;
        is_first = false;
        if (*text == '\n') {
            (void)fprintf(out, "\n\n%*s", from, "");
            column = from;
            is_first = true;
        }
        text += *text != '\0';
    }
    (void)fputc('\n', out);
}

void help_row(FILE *out, int column, const char *left, const char *text)
{
    const int width = (int)strlen(left);

    (void)fprintf(out, "  %s", left);
    if (2 + width + 2 > column) {
        (void)fprintf(out, "\n%*s", column, ""); /* a long LEFT has a line of its own */
    } else {
        (void)fprintf(out, "%*s", column - 2 - width, "");
    }
    write_text(out, text, column, column);
}

static void write_common(FILE *out)
{
    char left[LEFT_SIZE];

    (void)fputs("\nOptions of all verbs:\n", out);
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        opt_usage(&config_rows[i], left, sizeof left);
        help_row(out, HELP_COLUMN, left, config_rows[i].help);
    }
}

static void write_values_and_exits(FILE *out)
{
    char code[16];

    (void)fputs("\nValues:\n", out);
    for (const struct help_value *v = help_values; v->text != NULL; v++) {
        help_row(out, HELP_COLUMN, v->what, v->text);
    }
    (void)fputs("\nExit codes:\n", out);
    for (const struct help_exit *e = help_exits; e->text != NULL; e++) {
        snprintf(code, sizeof code, "%d", e->code);
        help_row(out, HELP_COLUMN, code, e->text);
    }
}

void help_overview(FILE *out)
{
    (void)fputs("usage: idlewave VERB [options] [FILE]\n\n", out);
    write_text(out, help_purpose, 0, 0);
    (void)fputs("\nVerbs:\n", out);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->summary != NULL) {
            help_row(out, HELP_COLUMN, verbs[i]->name, verbs[i]->summary);
        }
    }
    write_common(out);
    write_values_and_exits(out);
    (void)fputs("\nTry this first: 65,536 ranks that meet each ms, and lose 0.1 % to a 10 Hz tick:\n"
                "  idlewave simulate --pattern allreduce --ranks 64Ki --compute 1ms --repeat 20 \\\n"
                "      --noise periodic:10Hz,100us --trials 20\n"
                "\n'idlewave help VERB' explains a verb.\n",
                out);
}

static void write_subverbs(FILE *out, const struct verb *verb)
{
    assert(verb->subverbs[0] != NULL);
    (void)fputc('\n', out);
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        help_row(out, HELP_COLUMN, verb_last_word(verb->subverbs[i]), verb->subverbs[i]->summary);
    }
    (void)fprintf(out, "\n'idlewave help %s' lists the options.\n", verb->subverbs[0]->name);
}

static void write_groups(FILE *out, const struct verb *verb)
{
    char left[LEFT_SIZE];

    for (size_t g = 0; g < verb->group_count; g++) {
        if (g == 0 || strcmp(verb->groups[g].title, verb->groups[g - 1].title) != 0) {
            (void)fprintf(out, "\n%s:\n", verb->groups[g].title);
        }
        if (g == 0 && verb->argument_help != NULL) {
            help_row(out, HELP_COLUMN, verb->argument_name, verb->argument_help);
        }
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            opt_usage(&verb->groups[g].rows[i], left, sizeof left);
            help_row(out, HELP_COLUMN, left, verb->groups[g].rows[i].help);
        }
    }
}

void help_verb(FILE *out, const struct verb *verb)
{
    for (size_t i = 0; verb->synopsis[i] != NULL; i++) {
        (void)fprintf(out, "%s idlewave %s %s\n", i == 0 ? "usage:" : "      ", verb->name,
                      verb->synopsis[i]);
    }
    (void)fputc('\n', out);
    write_text(out, verb->description, 0, 0);
    if (verb->subverbs != NULL) {
        write_subverbs(out, verb);
    }
    write_groups(out, verb);
    if (verb->examples != NULL) {
        (void)fputs("\nExamples:\n", out);
        for (const struct example *e = verb->examples; e->command != NULL; e++) {
            (void)fprintf(out, "  # %s\n  %s\n", e->text, e->command);
        }
    }
}

/* ---- the verb ---- */

static int run_help(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct verb *verb = args->count > 0 ? verb_find(args->values[0]) : NULL;

    (void)values;
    if (args->count == 0) {
        help_overview(stdout);
        return UI_DONE;
    }
    if (verb == NULL) {
        ui->verb = NULL;
        return verb_unknown(ui, args->values[0]);
    }
    if (args->count > 1 && (verb->subverbs == NULL || verb_find_sub(verb, args->values[1]) == NULL)) {
        return verb->subverbs != NULL ? verb_unknown_sub(ui, verb, args->values[1])
                                      : ui_usage(ui, "there is no '%s %s'", verb->name, args->values[1]);
    }
    help_verb(stdout, args->count > 1 ? verb_find_sub(verb, args->values[1]) : verb);
    return UI_DONE;
}

static const char *const help_synopsis[] = {"[VERB]", NULL};

const struct verb verb_help = {
    .name = "help",
    .summary = "explains a verb",
    .synopsis = help_synopsis,
    .description = "Explains a verb and all its options; without a verb, lists them all.",
    .argument_name = "VERB",
    .most_arguments = 2,
    .run = run_help,
};
