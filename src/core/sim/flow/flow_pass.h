/* Passes of streaming rounds: the receive of one round and the send of the next, over elements side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_PASS_H
#define IWI_FLOW_PASS_H

#include "core/sim/flow/flow_state.h"

/* Whom a rank r exchanges a message with: rank r + shift, around the end, or r ^ flip. */
struct iwi_hop {
    bool is_flip;
    bool is_even; /* all pairs are at one level */
    uint32_t shift, flip;
};

struct iwi_pass_levels;

struct iwi_pass {
    bool has_receive, has_send;
    bool has_gaps;           /* false: neither gap can delay anything here, and nobody looks at them later */
    struct iwi_cost in, out; /* of the message received and of the one sent */
    iw_time reduce;          /* work after the receive */
    iw_time touch;           /* 1 if some message of it has a part that only touches the CPU, else 0 */
    /* Where the message comes from: element k - shift, or k ^ flip (if is_flip). In elements, not ranks. */
    bool is_flip;
    size_t shift, flip;
    bool is_rendezvous;        /* all messages of the pass are */
    iw_time notice, handshake; /* docs/explanation/semantics.md, rule 5 */
    /* Networks with levels: what is received and sent costs what the level of the pair says. `in` and `out`
     * are then those of the outermost. */
    const struct iwi_pass_levels *levels; /* NULL: there are none */
};

struct iwi_pass_levels {
    struct iwi_cost in[IW_NET_INNER_MAX + 1], out[IW_NET_INNER_MAX + 1];
    struct iwi_hop from, to; /* in ranks of the program */
};

/* Elements side by side: the flow's own, or a copy of some of them. Element k is element
 * first + (k >> width_shift) * stride + (k mod width) of the flow, around its end. */
struct iwi_span {
    size_t count;
    iw_time *send_gap, *recv_gap, *next_detour;
    size_t first, stride;
    uint32_t width_shift;
};

/* Elements begin ... end - 1: out[k] is when element k's CPU is free after the pass, now[k] before it;
 * from[k - begin] is when the CPU part of the send that it receives ended. Since a send is the last thing
 * that a pass does, `out` of one pass is `now` and `from` of the next. `from` may be `out + begin`. */
void iwi_pass_run(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                  size_t begin, size_t end, const iw_time *now, const iw_time *from, iw_time *out);

/* All elements of a span that is closed in itself: element 0 follows the last one, or flips stay inside.
 * left[k] is when the message left that element k sent: now[k], or later where the network delays it. */
void iwi_pass_closed(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                     const iw_time *now, const iw_time *left, iw_time *out);

/* The same for messages by rendezvous: posted[k] is when element k posted its receive of this round. */
void iwi_pass_rendezvous(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                         const iw_time *now, const iw_time *posted, iw_time *out, iw_time *posted_out);

/* Of eager messages, explained: all elements of the flow, one lane. */
IW_NODISCARD iw_status iwi_pass_explained(struct iwi_flow *flow, const struct iwi_span *all,
                                          const struct iwi_pass *pass);

/* Stretches of arrays, of which the first element is that of the stretch. */
struct iwi_pass_lines {
    const iw_time *now, *posted; /* of the elements themselves */
    const iw_time *from, *to;    /* the sender's `now`, the receiver's `posted` */
    iw_time *out, *posted_out;
};

/* Elements k ... end - 1 of them. Here too, `from` may be `out`, and `to` `posted_out`. */
void iwi_pass_rendezvous_run(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                             size_t k, size_t end, const struct iwi_pass_lines *lines);

/* Elements from k on, up to `end`, that are side by side and whose messages are at the same levels: how many,
 * and which. */
struct iwi_level_run {
    size_t count;
    uint32_t in, out;
};
struct iwi_level_run iwi_level_run_at(const struct iwi_flow *flow, const struct iwi_span *span,
                                      const struct iwi_pass *pass, size_t k, size_t end);

/* As iwi_flow_seek(), of elements k ... k + count - 1 of the span. */
void iwi_span_seek(struct iwi_flow *flow, const struct iwi_span *span, size_t k, const iw_time *ts,
                   size_t count);

/* Work of d on element k of the span from t on, as rule 1 has it; `touch` as in struct iwi_cost. */
iw_time iwi_span_work(struct iwi_flow *flow, const struct iwi_span *span, size_t k, iw_time t, iw_time d,
                      iw_time touch);

#endif
