/* What a reader of PyTorch's profiles holds: of the file that it reads, and of all of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KINETO_PARTS_H
#define IWI_KINETO_PARTS_H

#include "features/explain/arrivals/visits.h"
#include "features/explain/json/json_value.h"

#define IWI_KINETO_NO_RANK UINT32_MAX
#define IWI_KINETO_NO_GROUP UINT32_MAX

/* ---- of all files ---- */

/* Ranks that meet: a process group, or the two ends of messages. */
struct iwi_kineto_group {
    uint64_t key; /* hash of what follows */
    char name[IWI_VISIT_NAME_SIZE];
    uint32_t *ranks; /* numbers, ascending; NULL: all that were traced */
    uint32_t count, size;
};

/* How long something usually takes: the same kernel at the same place of a step, the loader, a gap. */
enum { IWI_KINETO_SAMPLES = 31 };
struct iwi_kineto_usual {
    uint64_t count;
    int64_t shortest_ns;
    float us[IWI_KINETO_SAMPLES];
};

struct iwi_kineto_usuals {
    struct iwi_index keys;
    struct iwi_kineto_usual *of;
    size_t capacity;
};

/* Something that may have taken longer than usual: known when all files were read. */
struct iwi_kineto_suspect {
    uint64_t key;
    struct iwi_pause pause;
};

enum { IWI_KINETO_SEEN = 1024 };

struct iwi_kineto {
    const iw_log *log;
    struct iwi_visits *visits;
    struct iwi_json_tree tree;
    bool has_zero;
    int64_t zero_ns; /* of all times */
    struct iwi_kineto_group *groups;
    size_t group_count, group_capacity;
    uint32_t seen_last[IWI_KINETO_SEEN]; /* indices of groups, by the lowest bits of their keys */
    struct iwi_kineto_usuals usuals;
    int64_t loader_ns; /* what the loader usually takes on the rank where it is quickest; 0: not known */
    struct iwi_kineto_suspect *suspects;
    size_t suspect_count, suspect_capacity;
    /* what files lack, in sum */
    uint64_t nameless, outside; /* collectives left out: without a record; without a number, in no step */
    uint64_t batches;           /* kernels of messages that nothing says more of */
    size_t files, without_steps, without_launches, without_groups, numbered, unnumbered;
    size_t on_host;         /* files of runs without a GPU */
    uint64_t without_bytes; /* collectives of theirs */
    const char *first_name;
};

/* ---- of one file ---- */

/* A collective as its arguments tell it. */
struct iwi_kineto_comm {
    uint64_t external; /* id of the operator */
    uint32_t group;    /* index in struct iwi_kineto */
    uint8_t op;
    bool has_peer, is_send; /* of messages */
    uint32_t peer;          /* number of the rank, or, in some versions, in the group */
    uint64_t bytes, sequence;
    /* of operators: */
    int64_t begin_ns;
    uint32_t thread;
    bool is_taken; /* a kernel is known to be of it */
};

struct iwi_kineto_kernel {
    int64_t begin_ns, end_ns;
    int64_t launch_ns, launch_end_ns; /* INT64_MIN: not known */
    uint64_t correlation, external;
    uint64_t key;      /* of its name and shape */
    uint32_t comm;     /* index + 1; 0: none */
    uint32_t messages; /* of a batch: so many comms from `comm` on; 0: no batch */
    uint32_t step;     /* in which it was launched; IWI_VISIT_NO_STEP */
    uint16_t stream;
    uint8_t op; /* by its name, of NCCL's */
    bool is_nccl;
};

struct iwi_kineto_launch {
    uint64_t correlation, external;
    int64_t begin_ns, end_ns;
    uint32_t thread;
};

/* Of the host. */
struct iwi_kineto_span {
    int64_t begin_ns, end_ns;
    uint32_t number; /* of steps */
    uint8_t cause;   /* of pauses */
};

struct iwi_kineto_spans {
    struct iwi_kineto_span *of;
    size_t count, capacity;
};

/* A collective that the host itself carries out (gloo, MPI), or the call that asked for it. */
struct iwi_kineto_on_host {
    int64_t begin_ns, end_ns;
    uint64_t bytes; /* 0: not known */
    uint8_t op;
};

struct iwi_kineto_on_hosts {
    struct iwi_kineto_on_host *of;
    size_t count, capacity;
};

/* distributedInfo's groups: who is in them, for arguments that do not tell it whole. */
struct iwi_kineto_config {
    char name[IWI_VISIT_NAME_SIZE];
    char about[IWI_VISIT_NAME_SIZE];
    uint32_t *ranks;
    uint32_t count;
};

struct iwi_kineto_file {
    const char *name;
    char host[IWI_VISIT_NAME_SIZE]; /* "": the file does not tell it */
    struct iwi_json_items items;
    uint32_t rank;         /* IWI_KINETO_NO_RANK: not known yet */
    uint32_t world, index; /* index: in visits */
    int64_t base_ns;
    struct iwi_kineto_config *configs;
    size_t config_count, config_capacity;
    struct iwi_kineto_comm *comms, *records; /* arguments of kernels; of operators */
    size_t comm_count, comm_capacity, record_count, record_capacity;
    struct iwi_kineto_kernel *kernels;
    size_t kernel_count, kernel_capacity;
    struct iwi_kineto_launch *launches;
    size_t launch_count, launch_capacity;
    struct iwi_kineto_spans steps, pauses, waits;
    /* of runs without a GPU: */
    struct iwi_kineto_on_hosts collectives, calls; /* on threads of the backend; where they were asked for */
    struct iwi_kineto_spans operators;             /* of the main thread, read in a second pass */
    uint64_t main_thread;                          /* that of the steps, or of the first call; 0: not known */
    uint64_t nccl_on_host;                         /* annotations of NCCL, whose kernels are on a GPU */
};

/* ---- parts ---- */

/* Reads the items of an open file into its arrays. */
IW_NODISCARD iw_status iwi_kineto_collect(struct iwi_kineto *kineto, struct iwi_kineto_file *file);
void iwi_kineto_file_release(struct iwi_kineto_file *file);

bool iwi_kineto_is_event(const struct iwi_json_item *item);

/* The name of an event without its quotes, as written; its times. */
struct iwi_json_span iwi_kineto_name(const struct iwi_json_item *item);
IW_NODISCARD iw_status iwi_kineto_times(const struct iwi_kineto_file *file, const struct iwi_json_item *item,
                                        int64_t *begin_p, int64_t *end_p);

/* Runs without a GPU (kineto_host.c): a collective ("gloo:all_reduce") or the call that asks for it
 * ("c10d::allreduce_"), the thread of a step, and then, of the file opened again, what the main thread does.
 */
IW_NODISCARD iw_status iwi_kineto_take_on_host(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                                               const struct iwi_json_item *item, bool is_call);
void iwi_kineto_take_thread(struct iwi_kineto_file *file, const struct iwi_json_item *item);
bool iwi_kineto_is_on_host(const struct iwi_kineto_file *file);
IW_NODISCARD iw_status iwi_kineto_collect_operators(struct iwi_kineto *kineto, struct iwi_kineto_file *file);

/* The group of a name, with `about` for people; ranks are sorted, NULL: all that were traced. */
IW_NODISCARD iw_status iwi_kineto_group(struct iwi_kineto *kineto, const char *name, const char *about,
                                        uint32_t *ranks, uint32_t count, uint32_t size, uint32_t *index_p);

/* What a file says, once it was read: joins kernels with their launches and records, adds visits, stretches,
 * steps, pauses and waits. */
IW_NODISCARD iw_status iwi_kineto_join(struct iwi_kineto *kineto, struct iwi_kineto_file *file);
IW_NODISCARD iw_status iwi_kineto_add_visits(struct iwi_kineto *kineto, struct iwi_kineto_file *file);
IW_NODISCARD iw_status iwi_kineto_add_host_visits(struct iwi_kineto *kineto, struct iwi_kineto_file *file);
IW_NODISCARD iw_status iwi_kineto_add_pauses(struct iwi_kineto *kineto, struct iwi_kineto_file *file);

/* Numbers of steps apart, each once; spans of the host by their begin, those of one cause joined where they
 * overlap. */
void iwi_kineto_sort_steps(struct iwi_kineto_spans *steps);
void iwi_kineto_unite(struct iwi_kineto_spans *spans);

/* The step that the host was in; IWI_VISIT_NO_STEP. */
uint32_t iwi_kineto_step_at(const struct iwi_kineto_file *file, int64_t host_ns);

/* Picoseconds of the table; iwi_kineto_join() has checked that they fit. */
static inline iw_time iwi_kineto_ps(const struct iwi_kineto *kineto, int64_t ns)
{
    return (ns - kineto->zero_ns) * IW_PS_PER_NS;
}

/* ---- usual lengths ---- */

/* Suspects that took longer than usual become pauses. */
IW_NODISCARD iw_status iwi_kineto_judge(struct iwi_kineto *kineto);

/* ---- what names mean: kernels of NCCL, collectives, types, functions of the host ---- */

/* Of a collective ("_reduce_scatter_base", "all_to_allv", "send") or of a kernel of NCCL, old or new
 * ("ncclKernel_AllReduce_RING_LL_Sum_float(...)", "ncclDevKernel_SendRecv(...)"). */
enum iwi_visit_op iwi_kineto_op(const char *name, size_t size);

/* "ncclDevKernel_...", "ncclKernel_...", "ncclSymkDevKernel_...", "ncclAllReduceRingLLKernel_..." */
bool iwi_kineto_is_nccl(const char *name, size_t size);

/* "nccl:all_reduce" of the host: its kernel is another event. */
bool iwi_kineto_is_of_device(const char *name, size_t size);

/* Bytes of "BFloat16", or of "c10::BFloat16", "long int", as arguments of operators have it; 0: not known. */
unsigned iwi_kineto_type_bytes(const char *name);

enum iwi_kineto_host {
    IWI_KINETO_HOST_OTHER,
    IWI_KINETO_STEP,      /* "ProfilerStep#12" */
    IWI_KINETO_LOADER,    /* the loader's next batch */
    IWI_KINETO_GC,        /* garbage collection */
    IWI_KINETO_COLLECTIVE /* of a backend on the host: "gloo:all_reduce"; of NCCL: the host's part of it */
};

/* Of annotations and Python functions. */
enum iwi_kineto_host iwi_kineto_host(const char *name, size_t size);

enum iwi_kineto_call {
    IWI_KINETO_CALL_OTHER,
    IWI_KINETO_LAUNCH, /* of a kernel or a graph */
    IWI_KINETO_WAIT,   /* until the device has come so far */
    IWI_KINETO_MEMORY  /* allocates or frees memory of the device */
};

/* Of functions of CUDA's and HIP's runtime and driver. */
enum iwi_kineto_call iwi_kineto_call(const char *name, size_t size);

#endif
