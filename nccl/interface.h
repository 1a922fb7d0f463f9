/* What NCCL calls in a profiler plugin: layouts of versions 4 to 6 of its interface.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Written from the documented interface, NCCL commit 5067397c: plugins/profiler/README.md (names, order of
 * calls, meaning), src/include/plugin/profiler/profiler_v4.h, _v5.h and _v6.h (order and types of members),
 * src/include/plugin/nccl_profiler.h (numbers of events and states). Only what is used here is named. No
 * CUDA is needed: streams and buffers are opaque.
 */
#ifndef IWI_NCCL_INTERFACE_H
#define IWI_NCCL_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { IWI_NCCL_SUCCESS = 0 };

enum { IWI_NCCL_LOG_WARN = 2, IWI_NCCL_LOG_INFO = 3 };
#define IWI_NCCL_LOG_INIT 0x1UL
#define IWI_NCCL_LOG_PROFILE 0x4000UL
typedef void (*iwi_nccl_log_fn)(int level, unsigned long flags, const char *file, int line,
                                const char *format, ...);

/* Bits of the activation mask, and types of events. */
enum iwi_nccl_event_type {
    IWI_NCCL_GROUP = 1 << 0,
    IWI_NCCL_COLL = 1 << 1,
    IWI_NCCL_P2P = 1 << 2,
    IWI_NCCL_PROXY_OP = 1 << 3,
    IWI_NCCL_PROXY_STEP = 1 << 4,
    IWI_NCCL_PROXY_CTRL = 1 << 5,
    IWI_NCCL_KERNEL_CH = 1 << 6,
    IWI_NCCL_NET_PLUGIN = 1 << 7,
    IWI_NCCL_GROUP_API = 1 << 8,
    IWI_NCCL_COLL_API = 1 << 9,
    IWI_NCCL_P2P_API = 1 << 10,
    IWI_NCCL_KERNEL_LAUNCH = 1 << 11
};

enum { IWI_NCCL_PROXY_OP_IN_PROGRESS = 19, IWI_NCCL_KERNEL_CH_STOP = 22 }; /* states */

/* Events 4. */
struct iwi_nccl_event_v4 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            uint64_t sequence;
            const char *func;
            const void *send_buffer;
            void *recv_buffer;
            size_t count;
            int root;
            const char *datatype;
            uint8_t channels, warps;
            const char *algorithm, *protocol;
        } coll;
        struct {
            const char *func;
            void *buffer;
            const char *datatype;
            size_t count;
            int peer;
            uint8_t channels;
        } p2p;
        struct {
            uint8_t channel;
            uint64_t gpu_ns; /* of the GPU's global timer */
        } kernel;
        struct {
            pid_t pid;
            uint8_t channel;
            int peer, steps, chunk_bytes, is_send;
        } proxy_op;
    };
};

/* Events 5 and 6; those of 6 have more kinds behind these, which are not asked for. */
struct iwi_nccl_event_v5 {
    uint64_t type;
    void *parent;
    int rank;
    union {
        struct {
            bool is_captured;
            int depth;
        } group_api;
        struct {
            uint64_t sequence;
            const char *func;
            const void *send_buffer;
            void *recv_buffer;
            size_t count;
            int root;
            const char *datatype;
            uint8_t channels, warps;
            const char *algorithm, *protocol;
            void *parent_group;
        } coll;
        struct {
            const char *func;
            void *buffer;
            const char *datatype;
            size_t count;
            int peer;
            uint8_t channels;
            void *parent_group;
        } p2p;
        struct {
            uint8_t channel;
            uint64_t gpu_ns;
        } kernel;
        struct {
            pid_t pid;
            uint8_t channel;
            int peer, steps, chunk_bytes, is_send;
        } proxy_op;
    };
};

/* What comes with a new state; the same in all three. */
union iwi_nccl_state_args {
    size_t transferred_bytes;
    int appended_ops;
    void *net_data;
    uint64_t gpu_ns;
};

struct iwi_nccl_profiler_v4 {
    const char *name;
    int (*init)(void **context, int *mask, const char *comm_name, uint64_t comm_id, int nodes, int ranks,
                int rank, iwi_nccl_log_fn log);
    int (*start_event)(void *context, void **handle, struct iwi_nccl_event_v4 *event);
    int (*stop_event)(void *handle);
    int (*record_state)(void *handle, int state, union iwi_nccl_state_args *args);
    int (*finalize)(void *context);
};

struct iwi_nccl_profiler_v5 {
    const char *name;
    int (*init)(void **context, uint64_t comm_id, int *mask, const char *comm_name, int nodes, int ranks,
                int rank, iwi_nccl_log_fn log);
    int (*start_event)(void *context, void **handle, struct iwi_nccl_event_v5 *event);
    int (*stop_event)(void *handle);
    int (*record_state)(void *handle, int state, union iwi_nccl_state_args *args);
    int (*finalize)(void *context);
};

#endif
