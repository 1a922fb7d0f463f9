/* What files of the node and parameters of its kernel say: CPUs and numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/settings/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"

enum { LIST_SIZE = 16384, LONG_SIZE = 64 };

/* ---- files ---- */

void iwi_read_cpu_list(const char *root, const char *path, struct iwi_cpu_fact *fact)
{
    char text[LIST_SIZE], fault[IW_CPU_FAULT_SIZE];

    *fact = (struct iwi_cpu_fact){.is_known = false};
    if (!iwi_sysfile_line(root, path, text, sizeof text)) {
        return;
    }
    /* the kernel writes nothing or "(null)" for none */
    fact->is_known =
        text[0] == '\0' || strcmp(text, "(null)") == 0 || iw_cpu_set_parse(text, &fact->cpus, fault);
}

void iwi_read_cpu_mask(const char *root, const char *path, struct iwi_cpu_fact *fact)
{
    char text[LIST_SIZE];

    *fact = (struct iwi_cpu_fact){.is_known = false};
    fact->is_known =
        iwi_sysfile_line(root, path, text, sizeof text) && iw_cpu_set_parse_mask(text, &fact->cpus);
}

long iwi_read_number(const char *root, const char *path)
{
    char text[LONG_SIZE], *end;
    long number;

    if (!iwi_sysfile_line(root, path, text, sizeof text)) {
        return IWI_NOT_TOLD;
    }
    number = strtol(text, &end, 10);
    return end != text && *end == '\0' && number >= 0 ? number : IWI_NOT_TOLD;
}

/* ---- the command line ---- */

/* Where a parameter's name ends in "name=value name2"; dashes and underscores are the same to the kernel. */
static const char *match_name(const char *word, const char *name)
{
    for (; *name != '\0'; word++, name++) {
        if (*word != *name && !(*word == '-' && *name == '_')) {
            return NULL;
        }
    }
    return *word == '=' || *word == ' ' || *word == '\0' ? word : NULL;
}

bool iwi_node_parameter(const struct iwi_node_facts *node, const char *name, char *buf, size_t size)
{
    const char *word = node->cmdline;
    bool is_found = false;

    buf[0] = '\0';
    while (*(word += strspn(word, " ")) != '\0') {
        const size_t length = strcspn(word, " ");
        const char *end = match_name(word, name);

        if (strncmp(word, "-- ", 3) == 0) { /* the rest is for init */
            break;
        }
        if (end != NULL) {
            const size_t skipped = (size_t)(end - word) + (*end == '=');

            snprintf(buf, size, "%.*s", (int)(length - skipped), word + skipped);
            is_found = true;
        }
        word += length;
    }
    return is_found;
}

/* "N" is the last CPU: its number is written instead. */
static bool write_last_cpu(const char *text, uint32_t last, char *buf, size_t size)
{
    size_t used = 0;

    for (; *text != '\0' && used < size; text++) {
        used += (size_t)(*text == 'N' ? snprintf(buf + used, size - used, "%u", last)
                                      : snprintf(buf + used, size - used, "%c", *text));
    }
    return used < size;
}

void iwi_parse_parameter_cpus(const struct iwi_node_facts *node, const char *text, struct iwi_cpu_fact *fact)
{
    char numbers[IWI_CMDLINE_SIZE], fault[IW_CPU_FAULT_SIZE];
    uint32_t last = 0;

    *fact = (struct iwi_cpu_fact){.is_known = false};
    if (!node->online.is_known) {
        return;
    }
    if (strcmp(text, "all") == 0) {
        *fact = node->online;
        return;
    }
    for (uint32_t i = 0; i < IW_CPU_SET_MOST; i++) {
        last = iw_cpu_set_has(&node->online.cpus, i) ? i : last;
    }
    fact->is_known =
        write_last_cpu(text, last, numbers, sizeof numbers) && iw_cpu_set_parse(numbers, &fact->cpus, fault);
}
