/* Options of `simulate`, and what they make: a network, noise, and settings of the simulator.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SIMULATE_OPTS_H
#define IW_CLI_SIMULATE_OPTS_H

#include <idlewave/idlewave.h>

#include "options/opt.h"
#include "options/program_opts.h"
#include "options/shown_opts.h"

struct net_opts {
    struct opt_origins origins;
    const char *name_or_path, *level;
    double scale; /* 0: not scaled */
    iw_time L_ps, o_ps, o_send_ps, o_recv_ps, g_ps;
    iw_fs_per_byte G, O;
    uint64_t S_bytes;
    int rendezvous;
    bool has_nic_queues;
};

/* What every verb takes without --net: docs/decisions/0082-the-default-machine.md. Help names it too. */
#define DEFAULT_NET "hdr-fat-tree"
#define NET_OPTS_INIT               \
    {                               \
        .name_or_path = DEFAULT_NET \
    }

struct memory_opts {
    struct opt_origins origins;
    const char *shared; /* NULL: as the network's file says */
};

struct noise_opts {
    struct opt_origins origins;
    struct opt_list specs;
    int sync;
    iw_time skew_ps;
    uint64_t ranks_per_node; /* 0: as recorded */
    uint64_t cores_per_rank; /* 0: 1 */
    int loop;
    int align;
    const char *cpus;     /* of recordings; NULL: all */
    bool is_extrapolated; /* fitted laws stand in for recordings */
};

struct run_opts {
    struct opt_origins origins;
    iw_sim_opts sim;
    uint32_t spare_cores; /* of each node, for the operating system */
    const char *node_speed;
    bool is_dry, is_quiet;
    iw_time checkpoint_every_ps;
};

struct output_opts {
    struct opt_origins origins;
    bool wants_explain;
    uint64_t explain_trials;
    const char *end_times_path;
    const char *timeline_path, *timeline_ranks, *timeline_time;
};

struct simulate_opts {
    struct program_opts program;
    struct net_opts net;
    struct memory_opts memory;
    struct noise_opts noise;
    struct run_opts run;
    struct output_opts output;
    struct shown_opts shown;
};

/* Rows whose targets are in a struct net_opts and in a struct noise_opts. */
extern const struct opt net_rows[], memory_rows[], noise_rows[];
enum {
    NET_ROW_COUNT = 13,
    MEMORY_ROW_COUNT = 1,
    NOISE_ROW_COUNT = 9,
    NOISE_WHICH_ROWS = 2 /* the first: noise, noise-cpus */
};

extern const struct simulate_opts simulate_defaults;
enum { SIMULATE_GROUP_COUNT = 9 };
extern const struct opt_group simulate_groups[SIMULATE_GROUP_COUNT];

/* Refuses options that make no sense together. Returns UI_DONE or UI_USAGE. */
int simulate_check(const struct ui *ui, const struct simulate_opts *opts);

/* The same of how noise is synchronised. */
int simulate_check_skew(const struct ui *ui, int sync, iw_time skew_ps);

/* Return UI_DONE or an exit code. ranks_per_node 0: as the network says. iw_net_free() it. */
int simulate_make_net(struct ui *ui, const struct net_opts *opts, uint64_t ranks_per_node, iw_net **net_p);

/* Refuses a program that was traced on GPUs where no network is given: the default is none of GPUs. */
int simulate_check_net(const struct ui *ui, const struct net_opts *opts, const struct program_source *source);

/* The same for a network that is an argument. */
int simulate_find_net(struct ui *ui, const char *name_or_path, uint64_t ranks_per_node, iw_net **net_p);

/* The memory, for programs that use it. */
int simulate_set_memory(struct ui *ui, const struct memory_opts *opts, const struct program_opts *program,
                        iw_net *net);

/* --node-speed; mistakes in a SPEC are those of usage. */
int simulate_make_speeds(struct ui *ui, const char *spec_or_path, uint32_t ranks_per_node,
                         iw_node_speeds **speeds_p);

/* Reads --noise-cpus into `cpus`; *chosen_p is that, or NULL where it was not given. */
int simulate_read_cpus(const struct ui *ui, const char *text, iw_cpu_set *cpus, const iw_cpu_set **chosen_p);

/* Refuses --noise-cpus where nothing is recorded. */
int simulate_check_cpus(const struct ui *ui, const char *text, uint32_t recorded_cpus);

/* A file or folder that is there. */
bool simulate_noise_is_file(const char *spec_or_path);

/* Adds each SPEC or file by `add`; mistakes in a SPEC are those of usage. */
typedef iw_status (*noise_adder)(const iw_log *log, void *noise, const char *spec_or_path);
int simulate_add_noise(struct ui *ui, const struct opt_list *specs, noise_adder add, void *noise);

void simulate_fill_opts(const struct simulate_opts *opts, iw_sim_opts *sim);

#endif
