/* Man pages from the tables: `idlewave __man PAGE` writes roff, `idlewave __man` lists the pages. The build
 * runs it; see CMakeLists.txt.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "options/config.h"
#include "options/help.h"
#include "options/verbs.h"

enum { USAGE_SIZE = 200, NAME_SIZE = 64 };

/* Text with what roff would take for itself escaped; '\n' begins a new paragraph. */
static void write_text(const char *text)
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
            write_text(one);
        }
    }
    (void)fputc('\n', stdout);
}

static void write_tagged(const char *tag, const char *text)
{
    (void)fputs(".TP\n\\fB", stdout);
    write_text(tag);
    (void)fputs("\\fR\n", stdout);
    write_text(text);
    (void)fputc('\n', stdout);
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
    write_text(name);
    (void)fputs(" \\- ", stdout);
    write_text(summary);
    (void)fputs("\n.SH SYNOPSIS\n", stdout);
}

static void write_values_and_exits(void)
{
    char code[16];

    (void)fputs(".SH VALUES\n", stdout);
    for (const struct help_value *v = help_values; v->text != NULL; v++) {
        write_tagged(v->what, v->text);
    }
    (void)fputs(".SH \"EXIT STATUS\"\n", stdout);
    for (const struct help_exit *e = help_exits; e->text != NULL; e++) {
        snprintf(code, sizeof code, "%d", e->code);
        write_tagged(code, e->text);
    }
}

static void write_reference(const struct verb *verb, const char **separator)
{
    char name[NAME_SIZE];

    page_name(verb, name);
    (void)printf("%s.BR ", *separator);
    write_text(name);
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
    char usage[USAGE_SIZE];

    write_head("idlewave", help_tagline);
    (void)fputs("\\fBidlewave\\fR \\fIVERB\\fR [options] [\\fIFILE\\fR]\n.SH DESCRIPTION\n", stdout);
    write_text(help_purpose);
    (void)fputs("\n.SH VERBS\n", stdout);
    for (size_t i = 0; verbs[i] != NULL && verbs[i]->summary != NULL; i++) {
        if (i == 0 || verbs[i]->group != verbs[i - 1]->group) {
            (void)printf(".SS \"%s\"\n", help_groups[verbs[i]->group]);
        }
        write_tagged(verbs[i]->name, verbs[i]->summary);
    }
    (void)fputs(".SH \"OPTIONS OF ALL VERBS\"\n", stdout);
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        opt_usage(&config_rows[i], usage, sizeof usage);
        write_tagged(usage, config_rows[i].help);
    }
    write_values_and_exits();
    write_see_also(NULL);
}

/* One form of the call a line. */
static void write_synopsis(const struct verb *verb)
{
    for (size_t i = 0; verb->synopsis[i] != NULL; i++) {
        (void)printf("%s\\fBidlewave %s\\fR ", i > 0 ? ".br\n" : "", verb->name);
        write_text(verb->synopsis[i]);
        (void)fputc('\n', stdout);
    }
}

static void write_groups(const struct verb *verb)
{
    char usage[USAGE_SIZE];

    for (size_t g = 0; g < verb->group_count; g++) {
        if (g == 0 || strcmp(verb->groups[g].title, verb->groups[g - 1].title) != 0) {
            (void)printf(".SS \"%s\"\n", verb->groups[g].title);
        }
        if (g == 0 && verb->argument_help != NULL) {
            write_tagged(verb->argument_name, verb->argument_help);
        }
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            opt_usage(&verb->groups[g].rows[i], usage, sizeof usage);
            write_tagged(usage, verb->groups[g].rows[i].help);
        }
    }
}

/* Each has a page of its own. */
static void write_subverbs(const struct verb *verb)
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
        write_text(e->text);
        (void)fputs(":\n.PP\n.nf\n.RS\n", stdout);
        write_verbatim(e->command);
        (void)fputs(".RE\n.fi\n", stdout);
    }
}

static void write_verb(const struct verb *verb)
{
    char name[NAME_SIZE];

    page_name(verb, name);
    write_head(name, verb->summary);
    write_synopsis(verb);
    (void)fputs(".SH DESCRIPTION\n", stdout);
    write_text(verb->description);
    if (verb->run != NULL) {
        (void)fputs("\n.SH OPTIONS\n", stdout);
        write_groups(verb);
    }
    if (verb->subverbs != NULL) {
        write_subverbs(verb);
    }
    write_values_and_exits();
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

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    (void)values;
    if (!write_pages(args->count > 0 ? args->values[0] : NULL)) {
        return ui_usage(ui, "there is no page '%s': 'idlewave __man' lists them", args->values[0]);
    }
    return UI_DONE;
}

static const char *const synopsis[] = {"[PAGE]", NULL};

const struct verb verb_man = {
    .name = "__man",
    .synopsis = synopsis,
    .description = "Writes a man page as roff; without one, lists them.",
    .most_arguments = 1,
    .run = run,
};
