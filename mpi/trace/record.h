/* What a traced thread writes while the program runs: a stream of small records, turned into OTF2 afterwards.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records are multiples of 8 bytes and begin with their kind in the lowest byte. 0 ends the stream: files are
 * longer than what is in them when a run dies. Times are CLOCK_MONOTONIC in ns. The calls of a thread do not
 * nest:
 *
 *     ENTER or BEGIN, [POLLS] what happened ... LEAVE or LEAVE_AS
 *     ENTER or BEGIN, [POLLS] LEAVE_LIKE                            the same happened as in the LEAVE_AS of that number
 *
 * COMM and SIZES, which define something, may stand anywhere. Communicators are numbers of this process (struct
 * iwi_record_comm tells their members), requests are counted from 1 within the process. A record that starts a
 * request tells its number less that of the one started before in this file, one that completes it how long ago it
 * was started, in requests (version 2: the number itself).
 */
#ifndef IWI_TRACE_RECORD_H
#define IWI_TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/spool_head.h"

enum iwi_record_kind {
    IWI_RECORD_END = 0,
    IWI_RECORD_ENTER,  /* struct iwi_record_enter */
    IWI_RECORD_LEAVE,  /* one word: time */
    IWI_RECORD_POLLS,  /* struct iwi_record_pair: number of failed polls, ns in them */
    IWI_RECORD_ON_OFF, /* struct iwi_record_pair: time, 1 for on */
    IWI_RECORD_SEND,   /* struct iwi_record_message, and the next four */
    IWI_RECORD_ISEND,
    IWI_RECORD_IRECV_REQUEST, /* peer, tag and bytes as posted */
    IWI_RECORD_IRECV,
    IWI_RECORD_RECV_POSTED, /* what the RECV after it asked for, if that differs from what came */
    IWI_RECORD_RECV,
    IWI_RECORD_ISEND_COMPLETE, /* one word: request */
    IWI_RECORD_CANCELLED,      /* one word: request */
    IWI_RECORD_COLLECTIVE,     /* struct iwi_record_collective, and the next two */
    IWI_RECORD_ICOLLECTIVE,
    IWI_RECORD_ICOLLECTIVE_COMPLETE,
    IWI_RECORD_COMM, /* struct iwi_record_comm and its members */
    IWI_RECORD_SIZES, /* struct iwi_record_pair: how many partners, number; then rank and bytes of each, two words */
    IWI_RECORD_UNKNOWN, /* one word: so many requests completed that the tracer does not know */
    IWI_RECORD_BEGIN,      /* one word: ns since the LEAVE or ON_OFF before << 16 | call; it kept the CPU but for polls */
    IWI_RECORD_LEAVE_AS,   /* one word: ns since ENTER or BEGIN << 16 | number of this likeness from now on */
    IWI_RECORD_LEAVE_LIKE, /* one word: the same, of an earlier likeness */
    IWI_RECORD_KINDS
};

/* ns in BEGIN and LEAVE_...: about 18 minutes */
#define IWI_RECORD_SHORT_NS ((UINT64_C(1) << 40) - 1)

enum {
    IWI_LIKENESSES = 512,
    IWI_ITEM_WORDS = 64 /* calls with more have no likeness */
};

/* The first word of every record: the kind and a number of up to 56 bits (2^56 ns are two years). */
static inline uint64_t iwi_record_word(enum iwi_record_kind kind, uint64_t value)
{
    return (uint64_t)kind | value << 8;
}

static inline unsigned iwi_record_kind_of(uint64_t word)
{
    return (unsigned)(word & 0xff);
}

static inline uint64_t iwi_record_value_of(uint64_t word)
{
    return word >> 8;
}

struct iwi_record_enter {
    uint64_t word;            /* time */
    uint64_t call_and_cpu_ns; /* call << 48 | CPU time since the LEAVE before */
};

#define IWI_RECORD_CPU_MASK ((UINT64_C(1) << 48) - 1)

struct iwi_record_pair {
    uint64_t word;
    uint64_t value;
};

enum iwi_send_mode { IWI_SEND_STANDARD, IWI_SEND_BUFFERED, IWI_SEND_SYNCHRONOUS, IWI_SEND_READY };

struct iwi_record_message {
    uint8_t kind, mode;
    uint16_t unused;
    uint32_t comm;
    int32_t peer, tag;
    uint64_t bytes;
    uint64_t request; /* 0: a blocking call */
};

#define IWI_NO_ROOT UINT32_MAX
#define IWI_ROOT_SELF (UINT32_MAX - 1)  /* intercommunicators: this rank is the root of its group */
#define IWI_ROOT_OTHER (UINT32_MAX - 2) /* another rank of its group is */
#define IWI_NO_NEW_COMM UINT32_MAX

struct iwi_record_collective {
    uint8_t kind, op; /* op: OTF2_CollectiveOp */
    uint8_t is_neighbor, unused;
    uint32_t comm;
    uint32_t root;
    uint32_t new_comm;
    uint64_t sent, received, bytes; /* docs/reference/formats/trace.md */
    uint64_t request;               /* 0: a blocking call */
    uint32_t sizes;                 /* a SIZES record of this process; IWI_SIZES_ALIKE, IWI_SIZES_LOST */
    uint32_t unused_too;
};

#define IWI_SIZES_ALIKE 0         /* the same to all partners: `bytes` */
#define IWI_SIZES_LOST UINT32_MAX /* they differ, and found no room */

enum { IWI_COMM_IS_INTER = 1 };

struct iwi_record_comm {
    uint8_t kind, flags;
    uint16_t unused;
    uint32_t comm;
    uint64_t global; /* the same number in all its members: what ranks recognise it by */
    uint32_t size, remote_size;
    /* size + remote_size world ranks (int32_t, -1: outside of this MPI_COMM_WORLD), filled up to 8 bytes */
};

/* LEAVE or one of its short forms. */
static inline bool iwi_record_is_leave(unsigned kind)
{
    return kind == IWI_RECORD_LEAVE || kind == IWI_RECORD_LEAVE_AS || kind == IWI_RECORD_LEAVE_LIKE;
}

static inline bool iwi_record_is_enter(unsigned kind)
{
    return kind == IWI_RECORD_ENTER || kind == IWI_RECORD_BEGIN;
}

/* Bytes of the record at `word`; 0: there is none (the end, or damaged). `left`: bytes from `word` on. */
size_t iwi_record_size(const uint64_t *word, size_t left);

#endif
