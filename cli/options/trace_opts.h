/* Options of traces, shared by simulate and schedule, and the programs made of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_TRACE_OPTS_H
#define IW_CLI_TRACE_OPTS_H

#include <idlewave/program.h>

#include "options/opt.h"

struct program_opts;
struct program_source;

/* Rows whose targets are in a struct program_opts. */
extern const struct opt trace_rows[];
enum { TRACE_ROW_COUNT = 10 };

/* Opens source->path and makes a program of it, for that network (NULL: not known). Returns UI_DONE or an
 * exit code. */
int program_make_from_trace(struct ui *ui, const struct program_opts *opts, const iw_net *net,
                            struct program_source *source, iw_program **program_p);

/* After a deadlock: says so where the way in which the trace was read is the likely reason. */
void program_explain_deadlock(const struct ui *ui, const struct program_source *source);

/* After a file that could not be read: where to go with traced runs, if it looks like one. */
void hint_at_traces(const struct ui *ui, const char *path);

#endif
