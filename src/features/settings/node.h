/* What a node is set up for, as plain data.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NODE_H
#define IWI_NODE_H

#include <idlewave/log.h>
#include <idlewave/noise.h>

#include "kit/machine/sysinfo.h"

enum { IWI_NOT_TOLD = -1, IWI_NODE_TEXT_SIZE = 256, IWI_CMDLINE_SIZE = 8192, IWI_IRQ_NAME_SIZE = 48 };

/* CPUs that a file names; known and empty: it names none. */
struct iwi_cpu_fact {
    bool is_known;
    iw_cpu_set cpus;
};

struct iwi_irq {
    unsigned long number;
    char name[IWI_IRQ_NAME_SIZE];
    iw_cpu_set target;  /* where it goes */
    iw_cpu_set counted; /* where it has come since the node was started */
};

/* The tightest limit of CPU time, of this control group or one above it. */
struct iwi_quota {
    bool is_known;               /* control groups tell */
    bool is_set;                 /* there is one */
    double cpus;                 /* so many on the average of a period */
    long period_us;              /* after which a group that was stopped goes on */
    uint64_t periods, throttled; /* that went by, and in which it was stopped */
    double throttled_s;          /* summed over its threads */
    double pressure;             /* share of the last minute in which some thread waited for a CPU; NaN */
};

/* Devices of the network or for computing. */
enum { IWI_MOST_DEVICES = 32, IWI_DEVICE_NAME_SIZE = 24 };
struct iwi_device {
    char name[IWI_DEVICE_NAME_SIZE]; /* "0000:41:00.0" */
    bool is_network;
    long numa_node; /* -1: the firmware does not tell */
    iw_cpu_set near;
};

/* CPUs that use each of so many queues. */
struct iwi_queues {
    size_t count, capacity;
    iw_cpu_set *cpus;
};

struct iwi_node_facts {
    struct iwi_sysinfo info;
    int major, minor; /* of the kernel; 0: not told */
    bool has_cmdline, is_realtime;
    bool tells_hypervisor; /* a guest would show, as on x86 */
    char cmdline[IWI_CMDLINE_SIZE];
    struct iwi_cpu_fact online;
    /* isolation */
    struct iwi_cpu_fact isolated, nohz_full, rcu_nocbs, managed_irq;
    struct iwi_cpu_fact partition, own_partition; /* of any control group; of this one or one above it */
    struct iwi_cpu_fact isolated_asked,
        nohz_full_asked;                      /* by the command line: isolcpus=domain,..., nohz_full= */
    bool lacks_nohz_full;                     /* the kernel was built without it */
    char partition_fault[IWI_NODE_TEXT_SIZE]; /* "isolated invalid (...)", or "" */
    struct iwi_cpu_fact workqueue;
    struct iwi_cpu_fact job, init;     /* CPUs that the batch job of this process, and init may use */
    uint16_t core_of[IW_CPU_SET_MOST]; /* the first CPU of the core that a CPU belongs to */
    bool has_cores;
    /* interrupts */
    struct iwi_cpu_fact irq_default, irq_parameter; /* default_smp_affinity, irqaffinity= */
    bool has_irqbalance;
    struct iwi_cpu_fact irqbalance_banned;
    size_t irq_count, irq_capacity;
    struct iwi_irq *irqs;
    /* numbers of /proc/sys and /sys; IWI_NOT_TOLD */
    long timer_migration, skew_tick, nmi_watchdog, watchdog, numa_balancing, compaction, stat_interval,
        ksm_run, fair_server_ns;
    bool lacks_fair_server, hides_fair_server; /* there is none; only root may look */
    struct iwi_cpu_fact watchdog_cpus;
    char thp[IWI_NODE_TEXT_SIZE]; /* always, madvise, never; "": not told */
    /* frequency */
    char governor[IWI_NODE_TEXT_SIZE]; /* of most interest: one that is not performance; "": not told */
    iw_cpu_set governor_cpus;          /* that have it */
    char idle_driver[IWI_NODE_TEXT_SIZE],
        idle_state[IWI_NODE_TEXT_SIZE];  /* the deepest that is not disabled */
    long idle_latency_us;                /* its */
    long turbo;                          /* 1 on, 0 off */
    char epp[IWI_NODE_TEXT_SIZE];        /* energy_performance_preference: one that is not performance; "" */
    long uncore_min_khz, uncore_max_khz; /* of the package whose range is widest */
    long mce_interval_s, mce_ignores;    /* machine checks that are looked for; ignore_ce */
    /* scheduler */
    struct iwi_quota quota;
    char preemption[IWI_NODE_TEXT_SIZE]; /* none, voluntary, full, lazy; "": not told */
    char sched_ext[IWI_NODE_TEXT_SIZE];  /* "enabled", ...; "": this kernel has none */
    char sched_ext_ops[IWI_NODE_TEXT_SIZE];
    long ext_server_ns;
    /* services of the system that may use so many CPUs */
    bool has_services;
    size_t service_count, free_service_count; /* the latter may use all CPUs that there are */
    iw_cpu_set service_cpus;                  /* that any of them may use */
    char service[IWI_NODE_TEXT_SIZE];         /* one of the latter */
    /* threads of the batch job that have worked for a second or more */
    size_t thread_count, loose_thread_count; /* the latter may move between cores */
    iw_cpu_set pinned, pinned_twice;         /* CPUs that one, that several of them are bound to */
    /* devices */
    struct iwi_cpu_fact rps;               /* CPUs that packets are handed to */
    char rps_device[IWI_DEVICE_NAME_SIZE]; /* a device that does */
    struct iwi_queues block_queues;        /* of drives */
    struct iwi_queues send_queues; /* of network devices with several, where XPS says who sends by which */
    size_t device_count, numa_node_count;
    struct iwi_device devices[IWI_MOST_DEVICES];
    /* who set it up */
    char tuned[IWI_NODE_TEXT_SIZE], core_spec[IWI_NODE_TEXT_SIZE]; /* "CoreSpecCount=2"; "" */
    char container[IWI_NODE_TEXT_SIZE];                            /* what tells so; "" */
};

/* Reads what is below `root`. IW_ERR_IO: neither a command line nor a list of CPUs, so no node that runs. To
 * be released whatever it gives. */
IW_NODISCARD iw_status iwi_node_read(const iw_log *log, const char *root, struct iwi_node_facts *node);
void iwi_node_release(struct iwi_node_facts *node);

/* All facts unknown. */
void iwi_node_init(struct iwi_node_facts *node);

/* The value of the last `name=` on the kernel's command line, "" for a bare `name`; false: not there. */
bool iwi_node_parameter(const struct iwi_node_facts *node, const char *name, char *buf, size_t size);

/* Is it a guest of a hypervisor? */
bool iwi_node_is_guest(const struct iwi_node_facts *node);

/* ---- parts of reading ---- */

/* A file with a list of CPUs, of masks, with a number. */
void iwi_read_cpu_list(const char *root, const char *path, struct iwi_cpu_fact *fact);
void iwi_read_cpu_mask(const char *root, const char *path, struct iwi_cpu_fact *fact);
long iwi_read_number(const char *root, const char *path);

/* A list of the command line: "all" and "N" (the last CPU) are understood. */
void iwi_parse_parameter_cpus(const struct iwi_node_facts *node, const char *text, struct iwi_cpu_fact *fact);

void iwi_read_isolation(const char *root, struct iwi_node_facts *node);
void iwi_read_cgroups(const char *root, struct iwi_node_facts *node);
IW_NODISCARD iw_status iwi_read_irqs(const iw_log *log, const char *root, struct iwi_node_facts *node);
void iwi_read_frequency(const char *root, struct iwi_node_facts *node);
void iwi_read_managers(const char *root, struct iwi_node_facts *node); /* Slurm, tuned, container */

void iwi_read_scheduler(const char *root, struct iwi_node_facts *node); /* preemption, sched_ext, quotas */
IW_NODISCARD iw_status iwi_read_services(const iw_log *log, const char *root, struct iwi_node_facts *node);
IW_NODISCARD iw_status iwi_read_threads(const iw_log *log, const char *root, struct iwi_node_facts *node);
IW_NODISCARD iw_status iwi_read_devices(const iw_log *log, const char *root, struct iwi_node_facts *node);

/* The path of this process in the hierarchy of control groups whose line begins so: "0::" for version 2. */
bool iwi_own_group(const char *root, const char *mark, char path[], size_t size);

void iwi_read_core_spec(const char *root, struct iwi_node_facts *node);

/* "node[01-99,120],login": is a node with this name among them? */
bool iwi_is_slurm_host(const char *hosts, const char *name);

#endif
