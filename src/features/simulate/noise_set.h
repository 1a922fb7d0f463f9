/* Inside a noise set: its inputs, the sources in them, and the parts that users see.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_SET_H
#define IWI_NOISE_SET_H

#include <idlewave/files.h>
#include <idlewave/fit.h>
#include <idlewave/noise_set.h>

#define IWI_NO_PART SIZE_MAX

/* The recording of one node, its file, and which entry each of its sources is. */
struct iwi_set_node {
    const char *name;
    const iw_recording *recording;
    const size_t *entry;
};

/* One spec, file or folder. */
struct iwi_set_input {
    char *text;
    size_t entry;      /* specs and text traces: their own */
    size_t node_count; /* 0: a spec or a text trace */
    iw_folder *folder; /* NULL: one file */
    iw_recording **recordings;
    bool is_lent;    /* the recording is still the caller's */
    bool is_aligned; /* its nodes are, by the wall clock: */
    iw_wall_window window;
    size_t **entries;  /* by node and source */
    int64_t length_ns; /* of the shortest CPU; all are used so far */
    bool is_node_wide; /* all its sources hit the CPUs of a node together */
    iw_noise_fit *fit; /* laws that stand in for its only recording; NULL: it stands for itself */
};

/* Something that took time, or a source of a recording that did not. */
struct iwi_set_entry {
    iw_source source; /* of recordings */
    char *spec;       /* NULL: a source of recordings */
    double share;
    int64_t longest_ns; /* its longest piece; 0 of specs */
    size_t part;        /* its number among the parts, or IWI_NO_PART */
};

struct iw_noise_set {
    struct iwi_set_input *inputs;
    size_t input_count, input_room;
    struct iwi_set_entry *entries;
    size_t entry_count, entry_room;
    size_t next_entry; /* where to look first: nodes have much the same sources in much the same order */
    iw_noise_set_source *parts;
    size_t part_count, part_room;
    iw_sync sync;
    iw_time skew_ps;
    uint32_t wanted_per_node; /* ranks of a node; 0: as recorded */
    iw_cpu_set only_cpus;     /* of recordings; empty: all */
    iw_align align;           /* of the nodes of folders */
    uint32_t recorded_cpus;   /* of a node, the most; 0: nothing is recorded */
    uint32_t cores_per_rank;  /* at least 1 */
    iw_loop_schedule loop;
    uint32_t ranks_per_node; /* at least 1 */
    uint32_t cores_per_node; /* of its ranks together */
    const char **laws;       /* that stand in for recordings, of all inputs */
    size_t law_count;
};

/* ---- drawing recordings anew ---- */

/* The recordings of all inputs as they are, or as they might have been. */
struct iwi_drawn {
    struct iwi_set_node **nodes;       /* by input; NULL: a spec */
    iw_recording ***made;              /* by input and node: those drawn anew, else NULL */
    size_t *made_count;                /* by input: nodes in it */
    iw_noise_fit **fits;               /* by input: laws of those drawn anew, else NULL */
    struct iwi_source_tally **tallies; /* by input: NULL until noise is made of it */
    size_t input_count;
};

/* `replicate` 0: as recorded. */
IW_NODISCARD iw_status iwi_drawn_init(const iw_log *log, const iw_noise_set *set, uint64_t seed,
                                      uint64_t replicate, struct iwi_drawn *drawn_p);
void iwi_drawn_release(struct iwi_drawn *drawn);

/* Nodes differ more from each other than a node does from itself, so those of a folder are drawn as wholes.
 * Where they are aligned, what hits them together is in their time: stretches are drawn, the same of all. */
static inline bool iwi_is_drawn_by_nodes(const struct iwi_set_input *input)
{
    return input->node_count > 1 && !input->is_aligned;
}

/* Recorded nodes of the folder that has most of those that are aligned; 0: none is. */
uint32_t iwi_set_aligned_nodes(const iw_noise_set *set);

/* In how many independent pieces the recordings can be drawn anew: stretches of a file or of nodes that are
 * aligned, nodes of a folder; the least of all inputs. 0: there is no recording. */
size_t iwi_set_blocks(const iw_noise_set *set);

IW_NODISCARD iw_status iwi_set_make(const iw_log *log, const iw_noise_set *set, const struct iwi_drawn *drawn,
                                    const bool *is_removed, iw_noise **noise_p);

#endif
