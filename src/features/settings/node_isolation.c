/* Reads which CPUs are set apart: by the kernel's parameters, by control groups, by the topology.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "features/settings/node.h"

enum { PATH_SIZE = 160 };

/* Takes a flag off the front of "managed_irq,domain,2-7"; false: the list comes next. */
static bool take_flag(char **text_p, bool *is_managed_irq_p, bool *is_domain_p)
{
    const size_t length = strcspn(*text_p, ",");
    char *flag = *text_p;

    if (flag[0] < 'a' || flag[0] > 'z' || flag[length] == '\0') {
        return false;
    }
    flag[length] = '\0';
    *is_managed_irq_p |= strcmp(flag, "managed_irq") == 0;
    *is_domain_p |= strcmp(flag, "domain") == 0;
    *text_p = flag + length + 1;
    return true;
}

/* Without flags isolcpus means domain. */
static void read_isolcpus(struct iwi_node_facts *node)
{
    char text[IWI_CMDLINE_SIZE], *list = text;
    bool is_managed_irq = false, is_domain = false, has_flags = false;

    node->managed_irq = node->isolated_asked = (struct iwi_cpu_fact){.is_known = node->has_cmdline};
    if (!iwi_node_parameter(node, "isolcpus", text, sizeof text)) {
        return;
    }
    while (take_flag(&list, &is_managed_irq, &is_domain)) {
        has_flags = true;
    }
    if (is_managed_irq) {
        iwi_parse_parameter_cpus(node, list, &node->managed_irq);
    }
    if (is_domain || !has_flags) {
        iwi_parse_parameter_cpus(node, list, &node->isolated_asked);
    }
}

/* nohz_full takes the callbacks away too. */
static void read_rcu_nocbs(struct iwi_node_facts *node)
{
    char text[IWI_CMDLINE_SIZE];

    node->rcu_nocbs = (struct iwi_cpu_fact){.is_known = node->has_cmdline};
    if (iwi_node_parameter(node, "rcu_nocbs", text, sizeof text) && text[0] != '\0') {
        iwi_parse_parameter_cpus(node, text, &node->rcu_nocbs);
    }
    if (node->nohz_full.is_known) {
        node->rcu_nocbs.cpus = iw_cpu_set_or(&node->rcu_nocbs.cpus, &node->nohz_full.cpus);
    }
}

static void read_cores(const char *root, struct iwi_node_facts *node)
{
    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        char path[PATH_SIZE];
        struct iwi_cpu_fact core;
        uint32_t first = 0;

        node->core_of[cpu] = (uint16_t)cpu;
        if (!iw_cpu_set_has(&node->online.cpus, cpu)) {
            continue;
        }
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%" PRIu32 "/topology/thread_siblings_list",
                 cpu);
        iwi_read_cpu_list(root, path, &core);
        if (!core.is_known || !iw_cpu_set_has(&core.cpus, cpu)) {
            continue;
        }
        while (!iw_cpu_set_has(&core.cpus, first)) {
            first++;
        }
        node->core_of[cpu] = (uint16_t)first;
        node->has_cores = true;
    }
}

static void read_fair_server(const char *root, struct iwi_node_facts *node)
{
    char path[PATH_SIZE];

    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        if (iw_cpu_set_has(&node->nohz_full.cpus, cpu)) {
            snprintf(path, sizeof path, "/sys/kernel/debug/sched/fair_server/cpu%" PRIu32 "/runtime", cpu);
            node->fair_server_ns = iwi_read_number(root, path);
            node->hides_fair_server = iwi_sysfile_is_hidden(root, path);
            node->lacks_fair_server = !node->hides_fair_server && !iwi_sysfile_exists(root, path) &&
                                      iwi_sysfile_exists(root, "/sys/kernel/debug/sched");
            return;
        }
    }
}

void iwi_read_isolation(const char *root, struct iwi_node_facts *node)
{
    char text[IWI_CMDLINE_SIZE];

    iwi_read_cpu_list(root, "/sys/devices/system/cpu/isolated", &node->isolated);
    iwi_read_cpu_list(root, "/sys/devices/system/cpu/nohz_full", &node->nohz_full);
    /* kernels that cannot do it have no such file */
    node->lacks_nohz_full =
        node->isolated.is_known && !iwi_sysfile_exists(root, "/sys/devices/system/cpu/nohz_full");
    node->nohz_full.is_known |= node->lacks_nohz_full;
    if (iwi_node_parameter(node, "nohz_full", text, sizeof text)) {
        iwi_parse_parameter_cpus(node, text, &node->nohz_full_asked);
    }
    read_isolcpus(node);
    read_rcu_nocbs(node);
    read_cores(root, node);
    read_fair_server(root, node);
    iwi_read_cpu_mask(root, "/sys/devices/virtual/workqueue/cpumask", &node->workqueue);
}

/* ---- control groups ---- */

bool iwi_own_group(const char *root, const char *mark, char path[], size_t size)
{
    char text[PATH_MAX * 2], *line;

    if (iwi_sysfile_whole(root, "/proc/self/cgroup", text, sizeof text) <= 0) {
        return false;
    }
    for (line = text; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        const char *found;

        if (end != NULL) {
            *end = '\0';
        }
        found = strstr(line, mark);
        if (found != NULL) {
            snprintf(path, size, "%s", found + strlen(mark));
            return true;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return false;
}

/* "isolated" of this group or one above it counts; "isolated invalid (...)" is a fault. */
static void read_partition(const char *root, const char *mount, char *path, struct iwi_node_facts *node)
{
    char whole[PATH_MAX * 2], text[IWI_NODE_TEXT_SIZE];

    for (;;) {
        char *slash = strrchr(path, '/');

        snprintf(whole, sizeof whole, "%s%s/cpuset.cpus.partition", mount, path);
        if (iwi_sysfile_line(root, whole, text, sizeof text) && strncmp(text, "isolated", 8) == 0) {
            if (text[8] != '\0') {
                snprintf(node->partition_fault, sizeof node->partition_fault, "%s", text);
            } else {
                snprintf(whole, sizeof whole, "%s%s/cpuset.cpus.effective", mount, path);
                iwi_read_cpu_list(root, whole, &node->own_partition);
            }
            return;
        }
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

/* Groups of batch systems. */
static bool is_job(const char *path)
{
    return strstr(path, "/job_") != NULL || strstr(path, "/pbs_jobs") != NULL;
}

void iwi_read_cgroups(const char *root, struct iwi_node_facts *node)
{
    static const char init_status[] = "/proc/1/status";
    static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char path[PATH_MAX], whole[PATH_MAX * 2], text[IWI_CMDLINE_SIZE], fault[IW_CPU_FAULT_SIZE];

    node->init.is_known = iwi_sysfile_value(root, init_status, "Cpus_allowed_list", ':', text, sizeof text) &&
                          iw_cpu_set_parse(text, &node->init.cpus, fault);
    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0] && !node->partition.is_known; i++) {
        snprintf(whole, sizeof whole, "%s/cpuset.cpus.isolated", mounts[i]);
        iwi_read_cpu_list(root, whole, &node->partition);
        if (iwi_own_group(root, "0::", path, sizeof path)) {
            snprintf(whole, sizeof whole, "%s%s/cpuset.cpus.effective", mounts[i], path);
            if (is_job(path) && !node->job.is_known) {
                iwi_read_cpu_list(root, whole, &node->job);
            }
            read_partition(root, mounts[i], path, node);
        }
        node->partition.is_known |= node->own_partition.is_known;
    }
    if (iw_cpu_set_is_empty(&node->partition.cpus)) { /* older kernels do not list all */
        node->partition.cpus = node->own_partition.cpus;
    }
    if (!node->job.is_known && iwi_own_group(root, ":cpuset:", path, sizeof path) && is_job(path)) {
        snprintf(whole, sizeof whole, "/sys/fs/cgroup/cpuset%s/cpuset.effective_cpus", path);
        iwi_read_cpu_list(root, whole, &node->job);
    }
}

/* Reads which cores Slurm keeps for the system on this node. */

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
