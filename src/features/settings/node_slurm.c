/* Reads which cores Slurm keeps for the system on this node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "features/settings/node.h"

enum { ENVIRON_SIZE = 1 << 18, CONF_SIZE = 1 << 20, VALUE_SIZE = 64, MOST_DIGITS = 9 };

/* ---- lists of hosts ---- */

static bool match_hosts(const char *hosts, const char *end, const char *name);

/* Whether a number of so many digits is in "01-99,120": written as wide as the first one of its range. */
static bool is_in_ranges(const char *ranges, const char *end, unsigned long number, size_t digits)
{
    while (ranges < end) {
        char *next;
        const unsigned long low = strtoul(ranges, &next, 10);
        const size_t width = (size_t)(next - ranges);
        const unsigned long high = *next == '-' ? strtoul(next + 1, &next, 10) : low;
        const bool is_padded = digits == width;
        const bool is_grown = digits > width && number >= 10; /* "9-12" has wider ones */
        char text[24];

        if (width == 0) {
            return false;
        }
        snprintf(text, sizeof text, "%lu", number);
        if (number >= low && number <= high && (is_padded || (is_grown && strlen(text) == digits))) {
            return true;
        }
        ranges = next + (*next == ',');
        if (*next != ',' && *next != ']') {
            return false;
        }
    }
    return false;
}

/* Behind '[': each way to read a number off the name is tried. */
static bool match_brackets(const char *ranges, const char *end, const char *name)
{
    const char *close = memchr(ranges, ']', (size_t)(end - ranges));
    unsigned long number = 0;

    for (size_t digits = 1; close != NULL && digits <= MOST_DIGITS; digits++) {
        if (isdigit((unsigned char)name[digits - 1]) == 0) {
            return false;
        }
        number = number * 10 + (unsigned long)(name[digits - 1] - '0');
        if (is_in_ranges(ranges, close, number, digits) && match_hosts(close + 1, end, name + digits)) {
            return true;
        }
    }
    return false;
}

/* One item, "rack[1-4]n[01-16]". */
static bool match_hosts(const char *hosts, const char *end, const char *name)
{
    for (; hosts < end && *hosts != '['; hosts++, name++) {
        if (*hosts != *name) {
            return false;
        }
    }
    return hosts < end ? match_brackets(hosts + 1, end, name) : *name == '\0';
}

bool iwi_is_slurm_host(const char *hosts, const char *name)
{
    while (*hosts != '\0') {
        const char *end = hosts;

        for (bool is_within = false; *end != '\0' && (is_within || *end != ','); end++) {
            is_within = *end == '[' || (is_within && *end != ']');
        }
        if (end > hosts && match_hosts(hosts, end, name)) {
            return true;
        }
        hosts = end + (*end == ',');
    }
    return false;
}

/* ---- the environment of a job ---- */

/* "NAME=value" among the strings of the environment. */
static const char *find_variable(const char *environment, long length, const char *name)
{
    const size_t name_length = strlen(name);

    for (const char *at = environment; at < environment + length; at += strlen(at) + 1) {
        if (strncmp(at, name, name_length) == 0 && at[name_length] == '=') {
            return at + name_length + 1;
        }
    }
    return NULL;
}

/* srun, salloc and sbatch each have a variable of their own for --core-spec. True: one says how many, 0 too,
 * and counts more than what the node is configured for. */
static bool read_job_environment(const char *root, struct iwi_node_facts *node, char host[IWI_FACT_SIZE])
{
    static const char *const names[] = {"SLURM_CORE_SPEC", "SALLOC_CORE_SPEC", "SBATCH_CORE_SPEC",
                                        "SLURM_JOB_CORE_SPEC"};
    char *environment = malloc(ENVIRON_SIZE);
    const long length =
        environment != NULL ? iwi_sysfile_whole(root, "/proc/self/environ", environment, ENVIRON_SIZE) : -1;
    const char *value = NULL, *own;
    bool is_told;

    for (size_t i = 0; length > 0 && i < sizeof names / sizeof names[0] && value == NULL; i++) {
        value = find_variable(environment, length, names[i]);
        if (value != NULL && strcmp(value, "0") != 0 && value[0] != '\0') {
            snprintf(node->core_spec, sizeof node->core_spec, "%s=%.64s", names[i], value);
        }
    }
    own = length > 0 ? find_variable(environment, length, "SLURMD_NODENAME") : NULL;
    if (own != NULL && own[0] != '\0') { /* in a container the host has another name */
        snprintf(host, IWI_FACT_SIZE, "%s", own);
    }
    is_told = value != NULL && value[0] != '\0';
    free(environment);
    return is_told;
}

/* ---- slurm.conf ---- */

/* What a line "NodeName=n[1-8] CPUs=64 CoreSpecCount=2" says. */
struct node_line {
    const char *hosts;
    char spec[VALUE_SIZE]; /* "CoreSpecCount=2" */
    bool has_spec;
};

static void take_word(const char *word, struct node_line *line)
{
    const char *value = strchr(word, '=');

    if (value == NULL) {
        return;
    }
    if (strncasecmp(word, "NodeName=", 9) == 0) {
        line->hosts = value + 1;
    } else if (strncasecmp(word, "CpuSpecList=", 12) == 0) { /* "0" is a CPU */
        line->has_spec = true;
        snprintf(line->spec, sizeof line->spec, "%s", word);
    } else if (strncasecmp(word, "CoreSpecCount=", 14) == 0) {
        line->has_spec = true;
        if (strtol(value + 1, NULL, 10) > 0) {
            snprintf(line->spec, sizeof line->spec, "%s", word);
        }
    }
}

/* Lines with a backslash at their end go on in the next one. */
static void join_lines(char *text)
{
    for (char *at = strstr(text, "\\\n"); at != NULL; at = strstr(at, "\\\n")) {
        at[0] = at[1] = ' ';
    }
}

/* That of the line that has this node's name; what a line for DEFAULT says counts for those after it. */
static void take_conf(char *text, const char *host, struct iwi_node_facts *node)
{
    struct node_line usual = {.hosts = NULL};
    char *rest = text;

    join_lines(text);
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        struct node_line found = {.hosts = NULL};
        char *words = line;

        line[strcspn(line, "#")] = '\0';
        for (char *word = strsep(&words, " \t\r"); word != NULL; word = strsep(&words, " \t\r")) {
            take_word(word, &found);
        }
        if (found.hosts != NULL && strcasecmp(found.hosts, "DEFAULT") == 0) {
            usual = found.has_spec ? found : usual;
        } else if (found.hosts != NULL && iwi_is_slurm_host(found.hosts, host)) {
            snprintf(node->core_spec, sizeof node->core_spec, "%s", found.has_spec ? found.spec : usual.spec);
            return;
        }
    }
}

void iwi_read_core_spec(const char *root, struct iwi_node_facts *node)
{
    char host[IWI_FACT_SIZE], *text = malloc(CONF_SIZE);

    snprintf(host, sizeof host, "%s", node->info.host);
    host[strcspn(host, ".")] = '\0';
    if (!read_job_environment(root, node, host) && text != NULL &&
        iwi_sysfile_whole(root, "/etc/slurm/slurm.conf", text, CONF_SIZE) > 0) {
        take_conf(text, host, node);
    }
    free(text);
}
