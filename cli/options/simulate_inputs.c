/* The network and the noise of a simulation, from the options.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/simulate_opts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>

#include "options/collected.h"

static int open_net(struct ui *ui, const char *option, const char *name_or_path, const char *level,
                    iw_net **net_p)
{
    iw_status status;

    ui->option = access(name_or_path, F_OK) == 0 ? NULL : option; /* mistakes in a file have its place */
    status = iw_net_open(&ui->log, name_or_path, level, net_p);
    ui->option = NULL;
    if (status == IW_ERR_USAGE) {
        ui_see_help(ui);
    }
    return ui_exit_of(status);
}

static bool override_all(iw_net *net, const struct net_opts *opts)
{
    const struct {
        int64_t *parameter;
        int64_t value;
        bool is_given;
    } costs[] = {
        {&net->L_ps, opts->L_ps, opt_given(opts, L_ps)},
        {&net->o_send_ps, opts->o_ps, opt_given(opts, o_ps)},
        {&net->o_recv_ps, opts->o_ps, opt_given(opts, o_ps)},
        {&net->o_send_ps, opts->o_send_ps, opt_given(opts, o_send_ps)},
        {&net->o_recv_ps, opts->o_recv_ps, opt_given(opts, o_recv_ps)},
        {&net->g_ps, opts->g_ps, opt_given(opts, g_ps)},
        {&net->G, opts->G, opt_given(opts, G)},
        {&net->O, opts->O, opt_given(opts, O)},
    };
    bool is_changed = false;

    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        if (costs[i].is_given) {
            *costs[i].parameter = costs[i].value;
            net->segment_count = 0; /* who changes a cost does not mean that of small messages alone */
            is_changed = true;
        }
    }
    if (opt_given(opts, S_bytes)) {
        net->S_bytes = opts->S_bytes;
        is_changed = true;
    }
    return is_changed;
}

/* A changed network must not pass for the one that it came from. */
static void append_to_name(iw_net *net, const char *text)
{
    const size_t used = strlen(net->name);

    snprintf(net->name + used, sizeof net->name - used, "%s", text);
}

static int resize_nodes(struct ui *ui, uint64_t ranks_per_node, iw_net *net)
{
    const uint32_t before = iw_net_nodes(net).ranks;
    char text[32];
    iw_status status;

    if (ranks_per_node == 0 || before == 0 || ranks_per_node == before) {
        return UI_DONE;
    }
    ui->option = "--ranks-per-node";
    status = iw_net_resize_nodes(&ui->log, net, (uint32_t)ranks_per_node);
    ui->option = NULL;
    snprintf(text, sizeof text, ", nodes of %u", (unsigned)ranks_per_node);
    append_to_name(net, text);
    return ui_exit_of_value(ui, status);
}

static int change_net(struct ui *ui, const struct net_opts *opts, uint64_t ranks_per_node, iw_net *net)
{
    int code = resize_nodes(ui, ranks_per_node, net);

    if (code == UI_DONE && opts->scale > 0.0) {
        char text[32];

        code = ui_exit_of_value(ui, iw_net_scale(&ui->log, net, opts->scale));
        snprintf(text, sizeof text, " / %g", opts->scale);
        append_to_name(net, text);
    }
    if (code == UI_DONE && opts->has_nic_queues && net->nics.count == 0) {
        return ui_usage(ui, "--nic-queues: network '%s' has no NICs; write 'nics' into its file", net->name);
    }
    if (code == UI_DONE && opts->has_nic_queues) {
        net->nics.sharing = IW_NIC_QUEUES;
    }
    if (code == UI_DONE && override_all(net, opts)) {
        append_to_name(net, ", changed");
        code = ui_exit_of_value(ui, iw_net_check(&ui->log, net));
    }
    return code;
}

static bool has_costs(const struct net_opts *opts)
{
    return opt_given(opts, L_ps) || opt_given(opts, o_ps) || opt_given(opts, o_send_ps) ||
           opt_given(opts, o_recv_ps) || opt_given(opts, g_ps) || opt_given(opts, G) || opt_given(opts, O);
}

/* Who types costs and names no network describes one of their own, where every message costs that. */
static const char *chosen_level(const struct net_opts *opts)
{
    return has_costs(opts) && !opt_given(opts, name_or_path) ? "network" : opts->level;
}

int simulate_check_net(const struct ui *ui, const struct net_opts *opts, const struct program_source *source)
{
    iw_trace_info info = {.is_on_gpus = false};

    if (source->trace != NULL) {
        iw_trace_describe(source->trace, &info);
    }
    return info.is_on_gpus && !opt_given(opts, name_or_path) && !has_costs(opts)
               ? ui_usage(ui,
                          "'%s' was traced on GPUs, and the default network connects none: name theirs, "
                          "--net gpu-node-nvlink or a file",
                          source->path)
               : UI_DONE;
}

/* Frees what is of no use. */
static int keep_net(int code, iw_net *net, iw_net **net_p)
{
    if (code == UI_DONE) {
        *net_p = net;
    } else {
        iw_net_free(net);
    }
    return code;
}

int simulate_make_net(struct ui *ui, const struct net_opts *opts, uint64_t ranks_per_node, iw_net **net_p)
{
    iw_net *net = NULL;
    int code = open_net(ui, "--net", opts->name_or_path, chosen_level(opts), &net);

    if (code == UI_DONE) {
        code = change_net(ui, opts, ranks_per_node, net);
    }
    return keep_net(code, net, net_p);
}

int simulate_find_net(struct ui *ui, const char *name_or_path, uint64_t ranks_per_node, iw_net **net_p)
{
    iw_net *net = NULL;
    char *found;
    int code = collected_find_net(ui, name_or_path, &found);

    if (code == UI_DONE) {
        code = open_net(ui, NULL, found != NULL ? found : name_or_path, NULL, &net);
    }
    free(found);
    if (code == UI_DONE) {
        code = resize_nodes(ui, ranks_per_node, net);
    }
    return keep_net(code, net, net_p);
}

int simulate_set_memory(struct ui *ui, const struct memory_opts *opts, const struct program_opts *program,
                        iw_net *net)
{
    iw_status status;

    if (opt_typed(opts, shared) && program->compute_bytes == 0) {
        return ui_usage(ui, "--memory is what phases that move bytes share: add --compute-bytes SIZE");
    }
    if (opts->shared == NULL) {
        return UI_DONE;
    }
    ui->option = "--memory";
    status = iw_memory_parse(&ui->log, opts->shared, &net->memory);
    ui->option = NULL;
    return ui_exit_of_value(ui, status);
}

bool simulate_noise_is_file(const char *spec_or_path)
{
    const iw_noise_form form = iw_noise_form_of(spec_or_path);

    return form != IW_NOISE_SPEC && form != IW_NOISE_ABSENT;
}

/* What is no file was meant as a SPEC, so a mistake in it is one of usage. */
static int add_noise(struct ui *ui, const char *spec_or_path, noise_adder add, void *noise)
{
    const bool is_file = simulate_noise_is_file(spec_or_path);
    iw_status status;

    ui->option = is_file ? NULL : "--noise";
    status = add(&ui->log, noise, spec_or_path);
    ui->option = NULL;
    if (status != IW_OK && status != IW_ERR_NOMEM && !is_file) {
        ui_see_help(ui);
        return UI_USAGE;
    }
    return ui_exit_of(status);
}

int simulate_add_noise(struct ui *ui, const struct opt_list *specs, noise_adder add, void *noise)
{
    int code = UI_DONE;

    for (size_t i = 0; i < specs->count && code == UI_DONE; i++) {
        code = add_noise(ui, specs->items[i], add, noise);
    }
    return code;
}

int simulate_read_cpus(const struct ui *ui, const char *text, iw_cpu_set *cpus, const iw_cpu_set **chosen_p)
{
    char fault[IW_CPU_FAULT_SIZE];

    *chosen_p = NULL;
    if (text == NULL) {
        return UI_DONE;
    }
    if (!iw_cpu_set_parse(text, cpus, fault)) {
        return ui_usage(ui, "--noise-cpus: %s", fault);
    }
    *chosen_p = cpus;
    return UI_DONE;
}

int simulate_check_cpus(const struct ui *ui, const char *text, uint32_t recorded_cpus)
{
    return text == NULL || recorded_cpus > 0
               ? UI_DONE
               : ui_usage(ui, "--noise-cpus selects CPUs of a recording, but this noise has no CPUs");
}

int simulate_make_speeds(struct ui *ui, const char *spec_or_path, uint32_t ranks_per_node,
                         iw_node_speeds **speeds_p)
{
    const bool is_file = access(spec_or_path, F_OK) == 0;
    iw_status status;

    ui->option = is_file ? NULL : "--node-speed";
    status = iw_node_speeds_new(&ui->log, spec_or_path, ranks_per_node, speeds_p);
    ui->option = NULL;
    if (status != IW_OK && status != IW_ERR_NOMEM && !is_file) {
        ui_see_help(ui);
        return UI_USAGE;
    }
    return ui_exit_of(status);
}
