/* Help for the terminal, 80 columns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/help.h"

#include <assert.h>
#include <string.h>

#include "options/config.h"

enum { COLUMNS = 80, HELP_COLUMN = 26, LEFT_SIZE = 200 };

const char *const help_tagline = "predict what operating-system noise costs at scale";
const char *const help_purpose = "Finds what slows down parallel jobs on your nodes (daemons, interrupts, "
                                 "settings), what it costs at your scale, and how to fix it.";

const char *const help_groups[] = {"A node", "A run", "A prediction", "Files and results"};

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
static void write_text(FILE *out, const char *text, size_t size, int column, int from)
{
    const char *const end = text + size;
    bool is_first = true;

    while (text < end) {
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
        if (text < end && *text == '\n') {
            (void)fprintf(out, "\n\n%*s", from, "");
            column = from;
            is_first = true;
        }
        text++;
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
    write_text(out, text, strlen(text), column, column);
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
    write_text(out, help_purpose, strlen(help_purpose), 0, 0);
    for (size_t i = 0; verbs[i] != NULL && verbs[i]->summary != NULL; i++) {
        if (i == 0 || verbs[i]->group != verbs[i - 1]->group) {
            (void)fprintf(out, "\n%s:\n", help_groups[verbs[i]->group]);
        }
        help_row(out, HELP_COLUMN, verbs[i]->name, verbs[i]->summary);
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

/* `most_used` as in struct verb. Returns how many options there are. */
static size_t write_groups(FILE *out, const struct verb *verb, const char *most_used)
{
    char left[LEFT_SIZE];
    size_t count = 0;

    for (size_t g = 0; g < verb->group_count; g++) {
        const struct opt_group *group = &verb->groups[g];

        if (g == 0 || (most_used == NULL && strcmp(group->title, verb->groups[g - 1].title) != 0)) {
            (void)fprintf(out, "\n%s:\n", most_used != NULL ? "Most used" : group->title);
        }
        if (g == 0 && verb->argument_help != NULL) {
            help_row(out, HELP_COLUMN, verb->argument_name, verb->argument_help);
        }
        for (size_t i = 0; i < group->count; i++) {
            if (most_used == NULL || opt_is_listed(group->rows[i].name, most_used)) {
                opt_usage(&group->rows[i], left, sizeof left);
                help_row(out, HELP_COLUMN, left, group->rows[i].help);
            }
        }
        count += group->count;
    }
    return count;
}

void help_verb(FILE *out, const struct verb *verb, bool is_all)
{
    const char *const most_used = is_all ? NULL : verb->most_used;
    const char *const description = verb->description;
    size_t count;

    for (size_t i = 0; verb->synopsis[i] != NULL; i++) {
        (void)fprintf(out, "%s idlewave %s %s\n", i == 0 ? "usage:" : "      ", verb->name,
                      verb->synopsis[i]);
    }
    (void)fputc('\n', out);
    write_text(out, description, strcspn(description, most_used != NULL ? "\n" : ""), 0, 0);
    if (verb->subverbs != NULL) {
        write_subverbs(out, verb);
    }
    count = write_groups(out, verb, most_used);
    if (verb->examples != NULL) {
        (void)fprintf(out, "\nExample%s:\n", most_used != NULL ? "" : "s");
        for (const struct example *e = verb->examples; e->command != NULL; e++) {
            if (most_used == NULL || e == verb->examples) {
                (void)fprintf(out, "  # %s\n  %s\n", e->text, e->command);
            }
        }
    }
    if (most_used != NULL) {
        (void)fprintf(out, "\n'idlewave %s --help-all' shows everything: %zu options.\n", verb->name, count);
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
    help_verb(stdout, args->count > 1 ? verb_find_sub(verb, args->values[1]) : verb, false);
    return UI_DONE;
}

static const char *const help_synopsis[] = {"[VERB]", NULL};

const struct verb verb_help = {
    .name = "help",
    .group = VERB_FILES,
    .summary = "explain a verb",
    .synopsis = help_synopsis,
    .description = "Explains a verb and its most used options ('idlewave VERB --help-all': all of them); "
                   "without a verb, lists the verbs.",
    .argument_name = "VERB",
    .most_arguments = 2,
    .run = run_help,
};
