/* Help for the terminal, man pages and JSON Schemas, from the tables of verbs and options; and these tables
 * as JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/help.h"

#include <idlewave/doc.h>
#include <idlewave/idlewave.h>

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "options/config.h"
#include "options/verbs.h"

enum { COLUMNS = 80, HELP_COLUMN = 26, LEFT_SIZE = 200 };

static const char *const help_tagline = "predict what operating-system noise costs at scale";
static const char *const help_purpose =
    "Finds what slows down parallel jobs on your nodes (daemons, interrupts, "
    "settings), what it costs at your scale, and how to fix it.";

/* Titles, by enum verb_group. */
static const char *const help_groups[] = {"A node", "A run", "A prediction", "Files and results"};

/* What every page says about exit codes; .text is NULL after the last. */
static const struct {
    int code;
    const char *text;
} help_exits[] = {
    {UI_DONE, "done"},
    {UI_ERROR, "error (see stderr)"},
    {UI_NEGATIVE, "negative verdict (see the verb), for example a deadlock"},
    {UI_UNDECIDED, "no verdict (too little data)"},
    {4, "check: the node is too noisy"},
    {5, "check: user programs keep the node busy"},
    {UI_USAGE, "usage error"},
    {0, NULL},
};

/* What every page says about values; .text is NULL after the last. */
static const struct {
    const char *what, *text;
} help_values[] = {
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

static void help_option(FILE *out, const struct opt *opt)
{
    char left[LEFT_SIZE], text[OPT_TEXT_SIZE];

    opt_usage(opt, left, sizeof left);
    help_row(out, HELP_COLUMN, left, opt_text(opt->help, opt->lists, text));
}

static void write_common(FILE *out)
{
    (void)fputs("\nOptions of all verbs:\n", out);
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        help_option(out, &config_rows[i]);
    }
}

static void write_values_and_exits(FILE *out)
{
    char code[16];

    (void)fputs("\nValues:\n", out);
    for (size_t i = 0; help_values[i].text != NULL; i++) {
        help_row(out, HELP_COLUMN, help_values[i].what, help_values[i].text);
    }
    (void)fputs("\nExit codes:\n", out);
    for (size_t i = 0; help_exits[i].text != NULL; i++) {
        snprintf(code, sizeof code, "%d", help_exits[i].code);
        help_row(out, HELP_COLUMN, code, help_exits[i].text);
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
    (void)fputs("\nTry this first: 65,536 ranks that meet every ms and lose 0.1 % to a 10 Hz tick:\n  "
                "idlewave simulate --pattern allreduce --ranks 64Ki --compute 1ms --repeat 20 \\\n      "
                "--noise periodic:10Hz,100us --trials 20\n\nType 'idlewave help VERB' for help on a verb.\n",
                out);
}

static void write_subverbs(FILE *out, const struct verb *verb)
{
    assert(verb->subverbs[0] != NULL);
    (void)fputc('\n', out);
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        help_row(out, HELP_COLUMN, verb_last_word(verb->subverbs[i]), verb->subverbs[i]->summary);
    }
    (void)fprintf(out, "\nType 'idlewave help %s' for its options.\n", verb->subverbs[0]->name);
}

/* `most_used` as in struct verb. Returns how many options there are. */
static size_t write_groups(FILE *out, const struct verb *verb, const char *most_used)
{
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
                help_option(out, &group->rows[i]);
            }
        }
        count += group->count;
    }
    return count;
}

void help_verb(FILE *out, const struct verb *verb, bool is_all)
{
    const char *const most_used = is_all ? NULL : verb->most_used;
    char text[OPT_TEXT_SIZE];
    const char *const description = opt_text(verb->description, verb->lists, text);
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
        (void)fprintf(out, "\nType 'idlewave %s --help-all' for all %zu options.\n", verb->name, count);
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
    .summary = "show help on a verb",
    .synopsis = help_synopsis,
    .description = "Explain a verb and its most used options; without a verb, list the verbs. 'idlewave "
                   "VERB --help-all' lists all options of a verb.",
    .argument_name = "VERB",
    .most_arguments = 2,
    .run = run_help,
};

/* ======== man pages ======== */

enum { USAGE_SIZE = 200, NAME_SIZE = 64 };

/* Text with what roff would take for itself escaped; '\n' begins a new paragraph. */
static void man_text(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        const bool is_first = c == text || c[-1] == '\n';

        switch (*c) {
        case '\\': (void)fputs("\\e", stdout); break;
        case '-': (void)fputs("\\-", stdout); break;
        case '\'': (void)fputs("\\(aq", stdout); break;
        case '^': (void)fputs("\\(ha", stdout); break;
        case '~': (void)fputs("\\(ti", stdout); break;
        case '\n': (void)fputs("\n.PP\n", stdout); break;
        case '.': (void)fputs(is_first ? "\\&." : ".", stdout); break;
        default: (void)fputc(*c, stdout);
        }
    }
}

/* Inside .nf: lines stay lines. */
static void write_verbatim(const char *text)
{
    for (; *text != '\0'; text++) {
        const char one[2] = {*text, '\0'};

        if (*text == '\n') {
            (void)fputc('\n', stdout);
        } else {
            man_text(one);
        }
    }
    (void)fputc('\n', stdout);
}

static void write_tagged(const char *tag, const char *text)
{
    (void)fputs(".TP\n\\fB", stdout);
    man_text(tag);
    (void)fputs("\\fR\n", stdout);
    man_text(text);
    (void)fputc('\n', stdout);
}

static void man_option(const struct opt *opt)
{
    char usage[USAGE_SIZE], text[OPT_TEXT_SIZE];

    opt_usage(opt, usage, sizeof usage);
    write_tagged(usage, opt_text(opt->help, opt->lists, text));
}

static bool has_page(const struct verb *verb)
{
    return verb->summary != NULL && verb != &verb_help;
}

/* "idlewave-noise-show" of "noise show". */
static void page_name(const struct verb *verb, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "idlewave-%s", verb->name);
    for (char *c = name; *c != '\0'; c++) {
        *c = *c == ' ' ? '-' : *c;
    }
}

/* `name` is that of the page. */
static void write_head(const char *name, const char *summary)
{
    (void)fputs(".TH ", stdout);
    for (const char *c = name; *c != '\0'; c++) {
        (void)fputc(toupper((unsigned char)*c), stdout);
    }
    (void)printf(" 1 \"\" \"idlewave %s\" \"User Commands\"\n.SH NAME\n", iw_version());
    man_text(name);
    (void)fputs(" \\- ", stdout);
    man_text(summary);
    (void)fputs("\n.SH SYNOPSIS\n", stdout);
}

static void man_values_and_exits(void)
{
    char code[16];

    (void)fputs(".SH VALUES\n", stdout);
    for (size_t i = 0; help_values[i].text != NULL; i++) {
        write_tagged(help_values[i].what, help_values[i].text);
    }
    (void)fputs(".SH \"EXIT STATUS\"\n", stdout);
    for (size_t i = 0; help_exits[i].text != NULL; i++) {
        snprintf(code, sizeof code, "%d", help_exits[i].code);
        write_tagged(code, help_exits[i].text);
    }
}

static void write_reference(const struct verb *verb, const char **separator)
{
    char name[NAME_SIZE];

    page_name(verb, name);
    (void)printf("%s.BR ", *separator);
    man_text(name);
    (void)fputs(" (1)", stdout);
    *separator = ",\n";
}

/* Below an overview all verbs; below a page of a verb its subverbs, and those beside it. */
static void write_see_also(const struct verb *page)
{
    const char *separator = "";

    (void)fputs(".SH \"SEE ALSO\"\n", stdout);
    if (page != NULL) {
        (void)fputs(".BR idlewave (1)", stdout);
        separator = ",\n";
    }
    for (size_t k = 0; page != NULL && page->subverbs != NULL && page->subverbs[k] != NULL; k++) {
        write_reference(page->subverbs[k], &separator);
    }
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i] != page && has_page(verbs[i])) {
            write_reference(verbs[i], &separator);
        }
    }
    (void)fputc('\n', stdout);
}

static void write_overview(void)
{
    write_head("idlewave", help_tagline);
    (void)fputs("\\fBidlewave\\fR \\fIVERB\\fR [options] [\\fIFILE\\fR]\n.SH DESCRIPTION\n", stdout);
    man_text(help_purpose);
    (void)fputs("\n.SH VERBS\n", stdout);
    for (size_t i = 0; verbs[i] != NULL && verbs[i]->summary != NULL; i++) {
        if (i == 0 || verbs[i]->group != verbs[i - 1]->group) {
            (void)printf(".SS \"%s\"\n", help_groups[verbs[i]->group]);
        }
        write_tagged(verbs[i]->name, verbs[i]->summary);
    }
    (void)fputs(".SH \"OPTIONS OF ALL VERBS\"\n", stdout);
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        man_option(&config_rows[i]);
    }
    man_values_and_exits();
    write_see_also(NULL);
}

/* One form of the call a line. */
static void write_synopsis(const struct verb *verb)
{
    for (size_t i = 0; verb->synopsis[i] != NULL; i++) {
        (void)printf("%s\\fBidlewave %s\\fR ", i > 0 ? ".br\n" : "", verb->name);
        man_text(verb->synopsis[i]);
        (void)fputc('\n', stdout);
    }
}

static void man_groups(const struct verb *verb)
{
    for (size_t g = 0; g < verb->group_count; g++) {
        if (g == 0 || strcmp(verb->groups[g].title, verb->groups[g - 1].title) != 0) {
            (void)printf(".SS \"%s\"\n", verb->groups[g].title);
        }
        if (g == 0 && verb->argument_help != NULL) {
            write_tagged(verb->argument_name, verb->argument_help);
        }
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            man_option(&verb->groups[g].rows[i]);
        }
    }
}

/* Each has a page of its own. */
static void man_subverbs(const struct verb *verb)
{
    (void)fputs("\n.SH SUBVERBS\n", stdout);
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        write_tagged(verb->subverbs[i]->name, verb->subverbs[i]->summary);
    }
}

static void write_examples(const struct verb *verb)
{
    for (const struct example *e = verb->examples; e != NULL && e->command != NULL; e++) {
        (void)fputs(".PP\n", stdout);
        man_text(e->text);
        (void)fputs(":\n.PP\n.nf\n.RS\n", stdout);
        write_verbatim(e->command);
        (void)fputs(".RE\n.fi\n", stdout);
    }
}

static void write_verb(const struct verb *verb)
{
    char name[NAME_SIZE], text[OPT_TEXT_SIZE];

    page_name(verb, name);
    write_head(name, verb->summary);
    write_synopsis(verb);
    (void)fputs(".SH DESCRIPTION\n", stdout);
    man_text(opt_text(verb->description, verb->lists, text));
    if (verb->run != NULL) {
        (void)fputs("\n.SH OPTIONS\n", stdout);
        man_groups(verb);
    }
    if (verb->subverbs != NULL) {
        man_subverbs(verb);
    }
    man_values_and_exits();
    if (verb->examples != NULL) {
        (void)fputs(".SH EXAMPLES\n", stdout);
        write_examples(verb);
    }
    write_see_also(verb);
}

static void write_if_named(const struct verb *verb, const char *wanted, bool *is_found_p)
{
    char name[NAME_SIZE];

    page_name(verb, name);
    if (wanted == NULL) {
        (void)puts(name);
    } else if (strcmp(name, wanted) == 0) {
        write_verb(verb);
        *is_found_p = true;
    }
}

/* The page `wanted`; NULL: the names of all. Returns whether it is there. */
static bool write_pages(const char *wanted)
{
    bool is_found = wanted == NULL;

    if (wanted == NULL) {
        (void)puts("idlewave");
    } else if (strcmp(wanted, "idlewave") == 0) {
        write_overview();
        return true;
    }
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (has_page(verbs[i])) {
            write_if_named(verbs[i], wanted, &is_found);
        }
        for (size_t k = 0; verbs[i]->subverbs != NULL && verbs[i]->subverbs[k] != NULL; k++) {
            write_if_named(verbs[i]->subverbs[k], wanted, &is_found);
        }
    }
    return is_found;
}

static int run_man(struct ui *ui, const void *values, const struct opt_args *args)
{
    (void)values;
    if (!write_pages(args->count > 0 ? args->values[0] : NULL)) {
        return ui_usage(ui, "unknown page '%s': 'idlewave __man' lists all pages", args->values[0]);
    }
    return UI_DONE;
}

static const char *const man_synopsis[] = {"[PAGE]", NULL};

const struct verb verb_man = {
    .name = "__man",
    .synopsis = man_synopsis,
    .description = "Write a man page as roff; without a name, list the pages.",
    .most_arguments = 1,
    .run = run_man,
};

/* ======== schemas ======== */

static int run_schema(struct ui *ui, const void *values, const struct opt_args *args)
{
    const char *name;

    (void)values;
    if (args->count > 0) {
        return ui_exit_of(iw_doc_write_schema(&ui->log, args->values[0], stdout));
    }
    for (size_t i = 0; (name = iw_doc_kind_name(i)) != NULL; i++) {
        (void)puts(name);
    }
    return UI_DONE;
}

static const char *const schema_synopsis[] = {"[KIND]", NULL};

const struct verb verb_schema = {
    .name = "__schema",
    .synopsis = schema_synopsis,
    .description = "Print the JSON Schema of a kind of result, or list the kinds.",
    .most_arguments = 1,
    .run = run_schema,
};

/* ======== option tables ======== */

static const char *const type_names[] = {
    [OPT_FLAG] = "flag",     [OPT_TIME] = "time",     [OPT_COUNT] = "count",   [OPT_PER_BYTE] = "per-byte",
    [OPT_FACTOR] = "factor", [OPT_CHOICE] = "choice", [OPT_STRING] = "string", [OPT_LIST] = "list",
};

/* `separator` stands before the first. */
static void write_options(const char *separator, const char *title, const struct opt *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)printf("%s\n    {\"name\": \"%s\", \"type\": \"%s\", \"group\": ", i == 0 ? separator : ",",
                     rows[i].name, type_names[rows[i].type]);
        ui_write_json_string(title, stdout);
        (void)fputs(", \"value\": ", stdout);
        ui_write_json_string(rows[i].metavar, stdout);
        (void)fputs(", \"choices\": [", stdout);
        for (size_t k = 0; rows[i].choices != NULL && rows[i].choices[k] != NULL; k++) {
            (void)fputs(k > 0 ? ", " : "", stdout);
            ui_write_json_string(rows[i].choices[k], stdout);
        }
        (void)fputs("], \"help\": ", stdout);
        ui_write_json_string(rows[i].help, stdout);
        (void)fputc('}', stdout);
    }
}

static bool write_table(void *arg, const struct verb *verb)
{
    bool *is_first = arg;

    (void)printf("%s\n  \"%s\": [", *is_first ? "" : ",", verb->name);
    for (size_t g = 0; g < verb->group_count; g++) {
        write_options(g > 0 ? "," : "", verb->groups[g].title, verb->groups[g].rows, verb->groups[g].count);
    }
    write_options(",", "All verbs", config_rows, CONFIG_ROW_COUNT);
    (void)fputc(']', stdout);
    *is_first = false;
    return true;
}

static int run_options(struct ui *ui, const void *values, const struct opt_args *args)
{
    bool is_first = true;

    (void)ui;
    (void)values;
    (void)args;
    (void)fputc('{', stdout);
    verb_each(write_table, &is_first);
    (void)fputs("\n}\n", stdout);
    return UI_DONE;
}

static const char *const options_synopsis[] = {"", NULL};

const struct verb verb_options = {
    .name = "__options",
    .synopsis = options_synopsis,
    .description = "Print the options of all verbs as JSON.",
    .run = run_options,
};
