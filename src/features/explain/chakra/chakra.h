/* Execution traces of Chakra: what was read of all ranks, and how it becomes visits.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A file is one rank. Its nodes have durations and what they depend on; start times may be missing, and so
 * may the members of its process groups.
 */
#ifndef IWI_CHAKRA_H
#define IWI_CHAKRA_H

#include "features/explain/arrivals/visits.h"

/* A process group as one rank knows it. */
struct iwi_chakra_group {
    uint32_t file;
    char name[IWI_VISIT_NAME_SIZE - 16];
    uint32_t *ranks;           /* numbers, as told by the rank; NULL: not told, or all */
    uint32_t rank_count, size; /* size 0: not told */
    uint32_t group;            /* of the visits */
    uint64_t visits;           /* of the rank so far: the next number */
};

/* A kernel of a collective, or of half a message. */
struct iwi_chakra_comm {
    uint32_t file, group; /* group: index; of messages that tell their partner NO_GROUP */
    uint8_t op;
    bool is_receiver;
    uint16_t stream;
    uint32_t sender, receiver;
    uint64_t parent;  /* of messages that do not tell their partner: the node that launched it */
    uint32_t partner; /* what that says; IWI_CHAKRA_NO_RANK */
    bool is_inferred;
    uint64_t sequence, bytes; /* sequence: of messages at first their tag */
    uint64_t number;          /* of the rank's nodes: as they stand in the file */
    size_t act;               /* where nodes have no start times */
    int64_t start_us, took_us;
};

#define IWI_CHAKRA_NO_GROUP UINT32_MAX
#define IWI_CHAKRA_NO_RANK UINT32_MAX

/* What a node of the host says of a message: its partner, as a rank of the process group. */
struct iwi_chakra_record {
    uint64_t id;
    uint32_t partner;
};

/* A node, kept where nodes have no start times. */
struct iwi_chakra_act {
    uint64_t id;
    size_t first_dep; /* ids that it depends on: deps[first_dep ... first_dep + dep_count - 1] */
    uint32_t dep_count, file;
    uint32_t lane;  /* a stream of the device, or a thread of the host above all streams */
    bool is_kernel; /* computes on the device */
    int64_t took_us;
};

/* Another kernel. */
struct iwi_chakra_kernel {
    uint32_t file;
    uint16_t stream;
    int64_t begin_us, end_us;
};

struct iwi_chakra_file {
    uint32_t number; /* of its rank */
    bool has_number;
    uint32_t index; /* of the rank in the visits */
};

struct iwi_chakra {
    const iw_log *log;
    struct iwi_chakra_file *files;
    struct iwi_chakra_group *groups;
    struct iwi_chakra_comm *comms;
    struct iwi_chakra_kernel *kernels; /* merged */
    struct iwi_chakra_act *acts;
    uint64_t *deps;
    struct iwi_chakra_record *records; /* of the file that is being read */
    size_t file_count, group_count, comm_count, kernel_count, act_count, dep_count, record_count;
    size_t file_capacity, group_capacity, comm_capacity, kernel_capacity, act_capacity, dep_capacity,
        record_capacity;
    size_t first_group, first_kernel, first_comm; /* of the file that is being read */
    bool has_times;                               /* any node has a start time */
    uint64_t nodes, first_node;                   /* first_node: of the file that is being read */
    uint64_t without_peer;                        /* halves of messages that do not say whose */
    uint64_t uneven; /* of pairs of ranks that have more of one half than of the other */
};

void iwi_chakra_init(struct iwi_chakra *all, const iw_log *log);
void iwi_chakra_release(struct iwi_chakra *all);

/* One file; `path` NULL: memory. The number of its rank is the last one of `name`: "gpt.3.et". */
IW_NODISCARD iw_status iwi_chakra_read(struct iwi_chakra *all, const char *path, const char *name,
                                       const void *data, size_t size);

/* Process groups from the node in which PyTorch lists them, as JSON within whatever quotes. */
IW_NODISCARD iw_status iwi_chakra_read_groups(struct iwi_chakra *all, const char *text);

/* The group of the file that is being read; made at first sight. */
IW_NODISCARD iw_status iwi_chakra_find_group(struct iwi_chakra *all, const char *name, uint32_t *group_p);

/* A node of the host; kept if it is of a message. `values`: its arguments, or NULL. */
IW_NODISCARD iw_status iwi_chakra_keep_record(struct iwi_chakra *all, uint64_t id, const char *name,
                                              const char *values);

/* Messages of the file that was read get the partners of their records. */
void iwi_chakra_link_records(struct iwi_chakra *all);

/* Kernels from all->first_kernel on, of one file: by stream and time, those that follow each other as one. */
void iwi_chakra_merge(struct iwi_chakra *all);

/* Times of `visits` as for iwi_chakra_replay(), and all->kernels; a note of how. */
IW_NODISCARD iw_status iwi_chakra_make_times(struct iwi_chakra *all, struct iwi_visits *visits);

/* Ranks, groups and visits of all files, finished; notes of what they lack. */
IW_NODISCARD iw_status iwi_chakra_fill(struct iwi_chakra *all, struct iwi_visits *visits);

#endif
