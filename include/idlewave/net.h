/* idlewave/net.h - the LogGOPS parameters of a network. docs/explanation/semantics.md says what each one
 * does.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_NET_H
#define IW_NET_H

#include <stdbool.h>

#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What messages of `from_bytes` and more cost, up to the next segment: the parameters of a message of
 * `from_bytes`, and what each byte after that adds. */
typedef struct iw_net_segment {
    uint64_t from_bytes; /* at least 2 */
    iw_time L_ps, o_send_ps, o_recv_ps, g_ps;
    iw_fs_per_byte G, O;
} iw_net_segment;

#define IW_NET_SEGMENTS_MAX 24
#define IW_NET_INNER_MAX 5

/* What messages cost. Measured networks have segments: messages of segments[0].from_bytes and more cost as
 * their segment says, smaller ones and the control messages of a rendezvous as is said before. Most networks
 * have none. */
#define IW_NET_COSTS                                                                            \
    iw_time L_ps;      /* latency */                                                            \
    iw_time o_send_ps; /* CPU time of a send */                                                 \
    iw_time o_recv_ps; /* CPU time of a receive */                                              \
    iw_time g_ps;      /* least time between the starts of two messages */                      \
    iw_fs_per_byte G;  /* further gap for each byte after the first */                          \
    iw_fs_per_byte O;  /* further CPU time for each byte after the first */                     \
    uint32_t segment_count;                                                                     \
    bool is_device_progress; /* a device moves messages: what takes no CPU time needs no CPU */ \
    iw_net_segment segments[IW_NET_SEGMENTS_MAX]; /* by from_bytes */

typedef struct iw_net_costs {
    IW_NET_COSTS
} iw_net_costs;

/** A level inside the network: what messages cost between ranks of one group of it (a socket, a node). */
typedef struct iw_net_inner {
    char name[16];
    uint32_t ranks; /* of a group; a multiple of that of the level inside it, and larger */
    iw_net_costs costs;
    double taper; /* what leads out of a group has 1/taper of the bandwidth below it; 0: as 1 */
} iw_net_inner;

/** How ranks of a node share its NICs (docs/explanation/semantics.md, rule 12). */
typedef enum iw_nic_sharing {
    IW_NIC_MAX_RATE, /* each gets the same part all the time: a larger G */
    IW_NIC_QUEUES    /* messages wait for each other, in the order of time: the event engine alone */
} iw_nic_sharing;

/** The NICs of a node, which carry all messages that leave it. */
typedef struct iw_net_nics {
    uint32_t count;      /* of each node; 0: there are no limits */
    uint32_t node_level; /* which of the inner levels is the node */
    uint32_t active;     /* ranks of a node that send at once; 0: all. Of IW_NIC_MAX_RATE */
    bool has_rails;      /* rank i of a node has NIC i mod count; else each message is spread over all */
    iw_nic_sharing sharing;
    iw_fs_per_byte G;  /* of one NIC */
    bool is_part_of_G; /* for a simulation: count is 0, node_level still is the node */
} iw_net_nics;

/** Which ranks are neighbours in the groups of the levels (docs/explanation/semantics.md, rule 11). */
typedef enum iw_placement {
    IW_PLACEMENT_BLOCK,       /* ranks 0, 1, 2, ... fill a group, then the next */
    IW_PLACEMENT_ROUND_ROBIN, /* they are dealt out to the nodes of iw_net_nodes() in turn */
    IW_PLACEMENT_LIST         /* an iw_node_list says where each of them is */
} iw_placement;

#define IW_NODES_MAX (UINT32_C(1) << 24)

/** The node of each rank. Ranks of a node have its places in the order of their numbers. A program may have
 * fewer ranks than the list, not more. */
typedef struct iw_node_list {
    uint32_t count;  /* ranks */
    uint32_t level;  /* which of the inner levels of a network is the node */
    uint32_t *nodes; /* below IW_NODES_MAX, by rank; not changed by anybody who got the list */
} iw_node_list;

/** Which ranks share a node, for algorithms that use it. Of `count` ranks the last node may have fewer
 * (block), or some have one less than others (round robin), or any number (list). */
typedef struct iw_nodes {
    uint32_t ranks; /* of a node, at most; 0: not known */
    iw_placement placement;
    iw_node_list list; /* of IW_PLACEMENT_LIST: borrowed until the program is made */
} iw_nodes;

/** The memory that the ranks of a domain (a socket, a NUMA node) share: of n ranks that move data at the same
 * time each gets min(core_bytes_per_s, domain_bytes_per_s / n) (docs/explanation/semantics.md, rule 14). */
typedef struct iw_memory {
    uint32_t ranks; /* of a domain; 0: nothing is known of memory */
    uint64_t domain_bytes_per_s, core_bytes_per_s;
} iw_memory;

/** "ranks=20,domain=40GB/s,core=6.5GB/s". IW_ERR_FORMAT; IW_ERR_RANGE as iw_net_check(). */
IW_API IW_NODISCARD iw_status iw_memory_parse(const iw_log *log, const char *text, iw_memory *memory_p);

/** "ranks=10,domain=40GB/s,core=6.5GB/s", which iw_memory_parse() reads as the same. Returns `buf`. */
enum { IW_MEMORY_TEXT_SIZE = 96 };
IW_API char *iw_memory_text(const iw_memory *memory, char buf[IW_MEMORY_TEXT_SIZE]);

/** The noise of a network: how much longer messages take that leave a node (docs/explanation/semantics.md,
 * rule 16). Quantiles give each message a draw of its own, a series keeps bursts. */
enum { IW_NET_NOISE_POINTS_MAX = 64 };
typedef struct iw_net_noise_point {
    double share;     /* of all messages */
    iw_time delay_ps; /* that this share does not exceed; linear between two points */
} iw_net_noise_point;

/** Recorded delays in the order of time. Each holds for every_ps; after the last the first follows. */
#define IW_NET_SERIES_MAX (UINT32_C(1) << 20)
typedef struct iw_delay_series {
    uint32_t count; /* 0: there is none */
    iw_time every_ps;
    iw_time mean_ps, longest_ps; /* of the delays */
    iw_time *delays_ps;          /* iw_net_copy() copies them */
} iw_delay_series;

typedef struct iw_net_noise {
    uint32_t point_count;                               /* 0: no quantiles are given */
    iw_net_noise_point points[IW_NET_NOISE_POINTS_MAX]; /* rising, from a share of 0 to one of 1 */
    iw_delay_series series;                             /* instead of quantiles */
} iw_net_noise;

typedef struct iw_net iw_net;

/** Does it delay messages? Without noise they take what the network says. */
IW_API bool iw_net_is_noisy(const iw_net *net);

/** By how much a message is delayed on average, and at most. */
IW_API double iw_net_noise_mean_ps(const iw_net_noise *noise);
IW_API iw_time iw_net_noise_longest_ps(const iw_net_noise *noise);

/** Replaces the noise of a network by a copy of a series. IW_ERR_NOMEM; IW_ERR_RANGE as iw_net_check(). The
 * network is left as it was then. */
IW_API IW_NODISCARD iw_status iw_net_set_series(const iw_log *log, iw_net *net, const iw_time *delays_ps,
                                                uint32_t count, iw_time every_ps);

/** How a network was measured, as far as its file says. */
typedef struct iw_net_origin {
    bool is_measured;      /* by idlewave */
    uint32_t hosts, ranks; /* between which; 0: not known */
    char not_valid[160];   /* why the measurement does not count; "": it does */
} iw_net_origin;

/** Made by iw_net_open(), iw_net_new() or iw_net_copy(): new members may come at the end, so never declare or
 * assign one. */
struct iw_net {
    char name[64];
    union { /* the same under two names: of the outermost level */
        iw_net_costs costs;
        __extension__ struct {
            IW_NET_COSTS
        };
    };
    uint64_t S_bytes;                     /* larger messages use rendezvous, at all levels */
    uint32_t inner_count;                 /* 0: all pairs of ranks cost the same */
    iw_net_inner inner[IW_NET_INNER_MAX]; /* from inside out */
    char outer_name[16];                  /* of the outermost level; "": "network" */
    iw_placement placement;
    iw_node_list list; /* of IW_PLACEMENT_LIST */
    iw_net_nics nics;
    iw_memory memory; /* of the machine that the network is part of */
    iw_net_noise noise;
    iw_net_origin origin;
};

/** A network whose messages cost nothing, to be filled in: `(*net_p)->L_ps = 1000`. */
IW_API IW_NODISCARD iw_status iw_net_new(const iw_log *log, iw_net **net_p);

/** One of one's own, to be changed. */
IW_API IW_NODISCARD iw_status iw_net_copy(const iw_log *log, const iw_net *net, iw_net **copy_p);

/** Not of a built-in one. NULL is fine. */
IW_API void iw_net_free(iw_net *net);

/** Table III of the 2010 paper, and machines with levels (docs/how-to/machines.md). NULL: an unknown name. */
IW_API const iw_net *iw_net_builtin(const char *name);

/** Names of the built-in networks, NULL after the last. */
IW_API const char *iw_net_builtin_name(size_t index);

/** The groups that have NICs, else those of the outermost inner level; not known of a network without levels.
 */
IW_API iw_nodes iw_net_nodes(const iw_net *net);

/** "node", ..., from inside out; that of level inner_count is the outermost. */
IW_API const char *iw_net_level_name(const iw_net *net, uint32_t level);

/** Gives nodes (as of iw_net_nodes()) another number of ranks. Their parts and what they are parts of, memory
 * domains too, get more or fewer in proportion. Parts of a node that would have a fraction or a single rank
 * are left out; of memory domains a fraction is an error, IW_ERR_RANGE. A network without levels stays as it
 * is. */
IW_API IW_NODISCARD iw_status iw_net_resize_nodes(const iw_log *log, iw_net *net, uint32_t ranks);

/** A network `factor` times faster: L, g and G, also of NICs, are divided by it, o and O stay. Where segments
 * meet, L and g are raised as far as it takes that no larger message takes less time than a smaller one. */
IW_API IW_NODISCARD iw_status iw_net_scale(const iw_log *log, iw_net *net, double factor);

/** Refuses negative or absurd parameters, and segments out of order or at whose begin a message takes less
 * time (o_s + L + o_r, or g) than one that is a byte smaller. */
IW_API IW_NODISCARD iw_status iw_net_check(const iw_log *log, const iw_net *net);

#ifdef __cplusplus
}
#endif

#endif
