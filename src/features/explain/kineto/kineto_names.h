/* What names in a profile of PyTorch mean: kernels of NCCL, collectives, types, functions of the host.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KINETO_NAMES_H
#define IWI_KINETO_NAMES_H

#include "features/explain/arrivals/visits.h"

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
