/* Reads the command line into the targets of option rows.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/opt.h"

#include <idlewave/time.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/suggest.h"

enum { SHOWN_SIZE = 80, CHOICES_SIZE = 160 };

struct parse {
    struct ui *ui;
    const struct opt_group *groups;
    size_t group_count;
    char **argv;
    int argc, next; /* next: the argument that will be read next */
    void *values;
};

int opt_index(const char *const *names, const char *text)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

enum opt_outcome opt_help(const char *argument)
{
    if (strcmp(argument, "--help-all") == 0) {
        return OPT_HELP_ALL;
    }
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0 ? OPT_HELP : OPT_PARSED;
}

bool opt_is_listed(const char *name, const char *list)
{
    const size_t length = strlen(name);

    for (const char *word = list; *word != '\0'; word += strspn(word, " ")) {
        const size_t end = strcspn(word, " ");

        if (end == length && memcmp(word, name, length) == 0) {
            return true;
        }
        word += end;
    }
    return false;
}

static void join_choices(const struct opt *opt, const char *separator, char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; opt->choices[i] != NULL && used < size; i++) {
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i > 0 ? separator : "", opt->choices[i]);
    }
}

void opt_usage(const struct opt *opt, char *buf, size_t size)
{
    char choices[CHOICES_SIZE] = "", letter[8] = "";

    if (opt->letter != '\0') {
        snprintf(letter, sizeof letter, "-%c, ", opt->letter);
    }
    if (opt->type == OPT_CHOICE) {
        join_choices(opt, "|", choices, sizeof choices);
    }
    if (opt->type == OPT_FLAG) {
        snprintf(buf, size, "%s--%s", letter, opt->name);
    } else {
        snprintf(buf, size, "%s--%s %s", letter, opt->name, opt->type == OPT_CHOICE ? choices : opt->metavar);
    }
}

const char *opt_text(const char *text, const char *(*const lists[OPT_LISTS])(size_t index),
                     char buf[OPT_TEXT_SIZE])
{
    size_t used = 0, list = 0;

    if (lists[0] == NULL) {
        return text;
    }
    for (; *text != '\0' && used < OPT_TEXT_SIZE - 1; text++) {
        if (strncmp(text, "{}", 2) != 0) {
            buf[used++] = *text;
            continue;
        }
        assert(list < OPT_LISTS && lists[list] != NULL);
        for (size_t i = 0; lists[list](i) != NULL && used < OPT_TEXT_SIZE; i++) {
            used +=
                (size_t)snprintf(buf + used, OPT_TEXT_SIZE - used, "%s%s", i > 0 ? ", " : "", lists[list](i));
        }
        list++;
        text++;
    }
    assert(used < OPT_TEXT_SIZE && (list == OPT_LISTS || lists[list] == NULL));
    buf[used] = '\0';
    return buf;
}

/* ---- values ---- */

static bool read_count(const struct ui *ui, const struct opt *opt, const char *text, void *target)
{
    const bool is_narrow = opt->size == sizeof(uint32_t);
    const uint64_t most = opt->max != 0 ? opt->max : is_narrow ? UINT32_MAX : UINT64_MAX;
    uint64_t value;

    if (iw_parse_count(&ui->log, text, &value) != IW_OK) {
        return false;
    }
    if (value < opt->min) {
        ui_error(ui, "'%s' is too small: at least %llu", text, (unsigned long long)opt->min);
        return false;
    }
    if (value > most) {
        ui_error(ui, "'%s' is too large: at most %llu", text, (unsigned long long)most);
        return false;
    }
    if (is_narrow) {
        *(uint32_t *)target = (uint32_t)value;
    } else {
        *(uint64_t *)target = value;
    }
    return true;
}

static bool read_choice(const struct ui *ui, const struct opt *opt, const char *text, int *value_p)
{
    const int index = opt_index(opt->choices, text);
    char choices[CHOICES_SIZE];

    if (index < 0) {
        join_choices(opt, ", ", choices, sizeof choices);
        ui_error(ui, "unknown value '%s': use %s", text, choices);
        return false;
    }
    *value_p = index;
    return true;
}

static bool read_factor(const struct ui *ui, const struct opt *opt, const char *text, double *value_p)
{
    char *end;
    const double value = strtod(text, &end);

    if (end == text || *end != '\0' || !isfinite(value) || value < 0.0 ||
        (value == 0.0 && !opt->may_be_zero)) {
        ui_error(ui, "'%s' is not a number %s: write 10 or 0.5", text,
                 opt->may_be_zero ? "of at least zero" : "above zero");
        return false;
    }
    *value_p = value;
    return true;
}

static void add_to_list(struct opt_list *list, const char *text)
{
    list->items = ui_grow(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count++] = text;
}

static bool read_value(const struct ui *ui, const struct opt *opt, void *target, const char *text)
{
    switch (opt->type) {
    case OPT_TIME: return iw_parse_time(&ui->log, text, target) == IW_OK;
    case OPT_PER_BYTE: return iw_parse_per_byte(&ui->log, text, target) == IW_OK;
    case OPT_COUNT: return read_count(ui, opt, text, target);
    case OPT_FACTOR: return read_factor(ui, opt, text, target);
    case OPT_CHOICE: return read_choice(ui, opt, text, target);
    case OPT_STRING: *(const char **)target = text; return true;
    case OPT_LIST: add_to_list(target, text); return true;
    case OPT_FLAG: break;
    }
    return false;
}

static void set_origin(const struct opt *opt, void *base, enum opt_origin origin)
{
    ((struct opt_origins *)base)->of[opt->offset - sizeof(struct opt_origins)] = (unsigned char)origin;
}

static enum opt_origin origin_of(const struct opt *opt, const void *base)
{
    return ((const struct opt_origins *)base)->of[opt->offset - sizeof(struct opt_origins)];
}

bool opt_set(struct ui *ui, const struct opt *opt, void *base, const char *text, enum opt_origin origin)
{
    if (!read_value(ui, opt, (char *)base + opt->offset, text)) {
        return false;
    }
    set_origin(opt, base, origin);
    return true;
}

/* ---- the command line ---- */

/* One argument that begins with '-', taken apart. */
struct dashed {
    const char *whole, *name, *value; /* value: attached to the option, or NULL */
    size_t length;                    /* of the name */
    bool is_long;
};

/* "--ranks", "--ranks=8", "-o", "-oFILE" */
static struct dashed take_apart(const char *argument)
{
    struct dashed d = {.whole = argument, .is_long = argument[1] == '-'};

    d.name = argument + (d.is_long ? 2 : 1);
    d.length = d.is_long ? strcspn(d.name, "=") : 1;
    if (d.name[d.length] != '\0') {
        d.value = d.name + d.length + (d.is_long ? 1 : 0);
    }
    return d;
}

static bool is_named(const struct opt *opt, const struct dashed *d)
{
    if (!d->is_long) {
        return opt->letter == d->name[0];
    }
    return strlen(opt->name) == d->length && memcmp(opt->name, d->name, d->length) == 0;
}

/* *base_p is the struct of its targets. */
static const struct opt *find(const struct parse *p, const struct dashed *d, void **base_p)
{
    for (size_t g = 0; g < p->group_count; g++) {
        for (size_t i = 0; i < p->groups[g].count; i++) {
            const struct opt *opt = &p->groups[g].rows[i];

            if (is_named(opt, d)) {
                *base_p = (char *)p->values + p->groups[g].offset;
                return opt;
            }
        }
    }
    return NULL;
}

/* What options were called before. */
static const struct {
    const char *old, *now, *text;
} renamed[] = {
    {"work", "compute", "--compute TIME"},
    {"quantum", "compute", "--compute TIME"},
    {"latency", "L", "--net none --L TIME"},
    {"replay", "noise", "--noise FILE|SPEC"},
    {"root", "sysroot", "--sysroot DIR"},
    {"correlate", "matters", "idlewave fleet coincidence DIR"},
    {"training", "steps", "the training program as FILE"},
    {"describe", "offer", "idlewave get describe FILE"},
    {"check", "offer", "idlewave get check DIR"},
    {"node", "cpu", "idlewave fleet show FILE --node NAME"},
};

/* How to write it now; NULL: it never was an option of this verb. */
static const char *new_text(const struct parse *p, const char *word)
{
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        const struct dashed now = {.name = renamed[i].now, .length = strlen(renamed[i].now), .is_long = true};
        void *base;

        if (strcmp(renamed[i].old, word) == 0 && find(p, &now, &base) != NULL) {
            return renamed[i].text;
        }
    }
    return NULL;
}

static void report_unknown(const struct parse *p, const struct dashed *d)
{
    const int shown = (int)(d->name + strcspn(d->name, "=") - d->whole);
    char word[SHOWN_SIZE];
    struct suggestion suggestion;

    snprintf(word, sizeof word, "%.*s", (int)strcspn(d->name, "="), d->name);
    suggest_begin(&suggestion, word);
    for (size_t g = 0; g < p->group_count; g++) {
        for (size_t i = 0; i < p->groups[g].count; i++) {
            suggest_offer(&suggestion, p->groups[g].rows[i].name);
        }
    }
    if (new_text(p, word) != NULL) {
        ui_error(p->ui, "there is no option '%.*s' any more: write %s", shown, d->whole, new_text(p, word));
    } else if (suggestion.best != NULL) {
        ui_error(p->ui, "there is no option '%.*s': did you mean --%s?", shown, d->whole, suggestion.best);
    } else {
        ui_error(p->ui, "there is no option '%.*s'", shown, d->whole);
    }
}

/* The attached value, or the next argument. NULL: missing, reported. */
static const char *take_value(struct parse *p, const struct opt *opt, const struct dashed *d)
{
    char usage[SHOWN_SIZE + CHOICES_SIZE];

    if (d->value != NULL) {
        return d->value;
    }
    if (p->next < p->argc && strncmp(p->argv[p->next], "--", 2) != 0) {
        return p->argv[p->next++];
    }
    opt_usage(opt, usage, sizeof usage);
    ui_error(p->ui, "--%s needs a value: %s", opt->name, usage);
    return NULL;
}

static bool read_option(struct parse *p, const struct opt *opt, void *base, const struct dashed *d)
{
    char shown[SHOWN_SIZE];
    const char *text;
    bool is_good;

    if (opt->type == OPT_FLAG) {
        if (d->value != NULL) {
            ui_error(p->ui, "--%s takes no value", opt->name);
            return false;
        }
        *(bool *)((char *)base + opt->offset) = true;
        set_origin(opt, base, OPT_TYPED);
        return true;
    }
    text = take_value(p, opt, d);
    if (text == NULL) {
        return false;
    }
    snprintf(shown, sizeof shown, "--%s", opt->name);
    p->ui->option = shown;
    is_good = opt_set(p->ui, opt, base, text, OPT_TYPED);
    p->ui->option = NULL;
    return is_good;
}

static enum opt_outcome read_dashed(struct parse *p, const char *argument)
{
    const struct dashed d = take_apart(argument);
    const struct opt *opt;
    void *base;

    if (opt_help(argument) != OPT_PARSED) {
        return opt_help(argument);
    }
    opt = find(p, &d, &base);
    if (opt == NULL) {
        report_unknown(p, &d);
        return OPT_WRONG;
    }
    return read_option(p, opt, base, &d) ? OPT_PARSED : OPT_WRONG;
}

enum opt_outcome opt_parse(struct ui *ui, const struct opt_group *groups, size_t group_count, int argc,
                           char **argv, bool is_command, void *values, struct opt_args *args)
{
    struct parse p = {ui, groups, group_count, argv, argc, 0, values};
    bool are_options_over = false;

    *args = (struct opt_args){0, NULL};
    while (p.next < argc) {
        const char *argument = argv[p.next++];

        if (!are_options_over && strcmp(argument, "--") == 0) {
            are_options_over = true;
        } else if (!are_options_over && argument[0] == '-' && argument[1] != '\0') {
            const enum opt_outcome outcome = read_dashed(&p, argument);

            if (outcome != OPT_PARSED) {
                if (outcome == OPT_WRONG) {
                    ui_see_help(ui);
                }
                return outcome;
            }
        } else {
            args->values = ui_grow(args->values, args->count + 1, sizeof *args->values);
            args->values[args->count++] = argument;
            are_options_over = are_options_over || is_command;
        }
    }
    return OPT_PARSED;
}

void opt_release(const struct opt_group *groups, size_t group_count, void *values, struct opt_args *args)
{
    for (size_t g = 0; g < group_count; g++) {
        for (size_t i = 0; i < groups[g].count; i++) {
            if (groups[g].rows[i].type == OPT_LIST) {
                struct opt_list *list =
                    (void *)((char *)values + groups[g].offset + groups[g].rows[i].offset);

                free(list->items);
            }
        }
    }
    free(args->values);
}

const char *opt_first_typed(const struct opt *rows, size_t count, const void *values, const char *except)
{
    for (size_t i = 0; i < count; i++) {
        if (origin_of(&rows[i], values) == OPT_TYPED && !opt_is_listed(rows[i].name, except)) {
            return rows[i].name;
        }
    }
    return NULL;
}

bool opt_is_kept(const struct opt_group *groups, size_t group_count, const struct opt *opt, const void *base,
                 const void *values)
{
    for (size_t g = 0; g < group_count && opt->unless != NULL; g++) {
        for (size_t i = 0; i < groups[g].count; i++) {
            if (opt_is_listed(groups[g].rows[i].name, opt->unless) &&
                origin_of(&groups[g].rows[i], (const char *)values + groups[g].offset) == OPT_TYPED) {
                return true;
            }
        }
    }
    return origin_of(opt, base) == OPT_TYPED;
}

/* ======== values as text ======== */

/* "60s", "20us": in the largest unit of which it is a multiple. */
static void write_time(iw_time time_ps, char *buf, size_t size)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    size_t unit = 0;

    while (time_ps != 0 && time_ps % 1000 == 0 && unit + 1 < sizeof units / sizeof units[0]) {
        time_ps /= 1000;
        unit++;
    }
    if (time_ps != 0) {
        (void)snprintf(buf, size, "%lld%s", (long long)time_ps, units[unit]);
    }
}

void opt_value_text(const struct opt *opt, const void *base, char *buf, size_t size)
{
    const void *target = (const char *)base + opt->offset;
    uint64_t count;

    buf[0] = '\0';
    switch (opt->type) {
    case OPT_CHOICE: (void)snprintf(buf, size, "%s", opt->choices[*(const int *)target]); break;
    case OPT_STRING:
        if (*(const char *const *)target != NULL) {
            (void)snprintf(buf, size, "%s", *(const char *const *)target);
        }
        break;
    case OPT_COUNT:
        count = opt->size == sizeof(uint32_t) ? *(const uint32_t *)target : *(const uint64_t *)target;
        if (count != 0) {
            (void)snprintf(buf, size, "%llu", (unsigned long long)count);
        }
        break;
    case OPT_TIME: write_time(*(const iw_time *)target, buf, size); break;
    case OPT_FACTOR: (void)snprintf(buf, size, "%g", *(const double *)target); break;
    case OPT_FLAG:
    case OPT_PER_BYTE:
    case OPT_LIST: break; /* no settings */
    }
}
