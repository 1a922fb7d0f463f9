/* Settings that messages of the library name, written as options of the verb that runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/setting_names.h"

#include <string.h>

#include "options/opt.h"

enum { MOST_LETTERS = 40 };

/* Where an option is not called as the library's setting is; '_' is '-' in all others. */
static const struct {
    const char *setting, *option;
} renamed[] = {{"import.format", "from"}, {"export.format", "to"},   {"length_ns", "length"},
               {"gap_ps", "step-gap"},    {"compute_ps", "compute"}, {"drops_collectives", "no-collectives"}};

static void option_name(const char *setting, char option[MOST_LETTERS])
{
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        if (strcmp(setting, renamed[i].setting) == 0) {
            (void)snprintf(option, MOST_LETTERS, "%s", renamed[i].option);
            return;
        }
    }
    (void)snprintf(option, MOST_LETTERS, "%s", setting);
    for (char *c = option; *c != '\0'; c++) {
        *c = (char)(*c == '_' ? '-' : *c);
    }
}

static bool has_option(const struct opt_group *groups, size_t group_count, const char *name)
{
    for (size_t g = 0; g < group_count; g++) {
        for (size_t i = 0; i < groups[g].count; i++) {
            if (strcmp(groups[g].rows[i].name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The letters of the setting that begins behind a backquote; 0 if none does. */
static size_t setting_length(const char *behind)
{
    const size_t length = strspn(behind, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");

    return length < MOST_LETTERS && behind[length] == '`' ? length : 0;
}

void setting_names_write(const struct opt_group *groups, size_t group_count, const char *text, FILE *out)
{
    while (*text != '\0') {
        const size_t length = *text == '`' ? setting_length(text + 1) : 0;
        char setting[MOST_LETTERS], option[MOST_LETTERS];

        if (length == 0) {
            (void)fputc(*text++, out);
            continue;
        }
        (void)snprintf(setting, sizeof setting, "%.*s", (int)length, text + 1);
        option_name(setting, option);
        if (has_option(groups, group_count, option)) {
            (void)fprintf(out, "--%s", option);
        } else {
            (void)fprintf(out, "'%s'", setting);
        }
        text += length + 2;
    }
}
