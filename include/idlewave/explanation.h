/* idlewave/explanation.h - why a run was slow: who made the others wait, what the system took, what
 * stragglers cost.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_explain_opts opts = IW_EXPLAIN_OPTS_INIT;
 *     iw_explanation *explanation;
 *     st = iw_explanation_make(log, (const char *[]){"run"}, 1, &opts, &explanation);
 *     st = iw_doc_write(log, iw_explanation_doc(explanation), IW_DOC_TEXT, NULL, stdout);
 *     iw_explanation_free(explanation);
 *
 * Each part is the result of a header of its own: waits.h, blame.h, straggler.h.
 */
#ifndef IW_EXPLANATION_H
#define IW_EXPLANATION_H

#include <stddef.h>

#include <idlewave/blame.h>
#include <idlewave/doc.h>
#include <idlewave/log.h>
#include <idlewave/straggler.h>
#include <idlewave/waits.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_explain_view {
    IW_EXPLAIN_ALL,        /* that the files can answer */
    IW_EXPLAIN_WAITS,      /* who made the others wait: traces of MPI programs, profiles of training */
    IW_EXPLAIN_SYSTEM,     /* what the operating system took: folders of 'trace --kernel' */
    IW_EXPLAIN_STRAGGLERS, /* what unequal workers cost: timelines of pipelined training */
} iw_explain_view;

/** What is NULL was not asked for, or the files cannot say it. */
typedef struct iw_explanation {
    char *name;
    iw_waits *waits;
    iw_blame *system;
    iw_stragglers *stragglers;
} iw_explanation;

typedef struct iw_explain_opts {
    size_t size; /* IW_EXPLAIN_OPTS_INIT */
    iw_explain_view only;
    const iw_waits_opts *waits;  /* NULL: the usual */
    const char *meta, *left_out; /* of stragglers, as iw_straggler_load() has them */
} iw_explain_opts;

#define IW_EXPLAIN_OPTS_INIT                                      \
    {                                                             \
        sizeof(iw_explain_opts), IW_EXPLAIN_ALL, NULL, NULL, NULL \
    }

/** Explains a run: a folder, a file, or the files of all ranks. With IW_EXPLAIN_ALL, why a part has no answer
 * is a warning where another has one. IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_UNSUPPORTED, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_explanation_make(const iw_log *log, const char *const *paths, size_t count,
                                                  const iw_explain_opts *opts,
                                                  iw_explanation **explanation_p);
IW_API void iw_explanation_free(iw_explanation *explanation);

/** All parts that are there, in one document. */
IW_API iw_doc iw_explanation_doc(const iw_explanation *explanation);

#ifdef __cplusplus
}
#endif
#endif
