/* idlewave/internal/link.h - how the processes of one run reach each other. Filled by the part of an MPI
 * (idlewave/internal/mpi.h); whoever has another transport may fill it too.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of one (sender, receiver, channel) arrive in the order in which they were sent. Calls may come
 * from several threads at once, but only from one for each channel of a peer. No call waits.
 */
#ifndef IW_INTERNAL_LINK_H
#define IW_INTERNAL_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>
#include <idlewave/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A message may have so many bytes. */
#define IW_LINK_MOST_BYTES ((size_t)1 << 30)

typedef struct iw_link_request iw_link_request;

typedef struct iw_link {
    uint32_t rank, size;   /* of processes; those of one node are neighbours */
    uint32_t node, nodes;  /* the node of this process, of so many */
    uint32_t most_threads; /* that may call at once: 1, or UINT32_MAX */
    uint32_t most_channels;
    void *arg;
    /* The memory is left alone until test() has said that the request is done. */
    iw_status (*send)(void *arg, const iw_log *log, uint32_t to, uint32_t channel, const void *data,
                      size_t bytes, iw_link_request **request_p);
    iw_status (*receive)(void *arg, const iw_log *log, uint32_t from, uint32_t channel, void *data,
                         size_t bytes, iw_link_request **request_p);
    /* The request is gone once it is done. */
    iw_status (*test)(void *arg, const iw_log *log, iw_link_request *request, bool *is_done_p);
    /* Is a message there that no receive has been posted for, and how long is it? */
    iw_status (*probe)(void *arg, const iw_log *log, uint32_t from, uint32_t channel, bool *is_there_p,
                       size_t *bytes_p);
} iw_link;

#ifdef __cplusplus
}
#endif
#endif
