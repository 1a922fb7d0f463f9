/* Results of a study: a folder with the study's YAML and its finished cells, one JSON line each.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     DIR/study.yaml               the study, byte for byte
 *     DIR/origin.json              where it was run first: host, version, date, command
 *     DIR/results.jsonl            one line a finished cell, schema "idlewave.cell/2", in any order
 *     DIR/results-p3.jsonl         the same by another process at the same time
 *     DIR/results-2-of-8.jsonl     the same of one shard (the first is 1); -2-of-8-p3: and by another process
 *     DIR/claims                   empty; its bytes are locked while cells are run (study_peers.c)
 *     DIR/timings.jsonl            one line a finished cell: id, seconds, bytes; differs from run to run
 *
 * A line is written by one write() and synced; a last line without its newline is one that was cut off and
 * does not count.
 */
#ifndef IWI_STUDY_LINE_H
#define IWI_STUDY_LINE_H

#include <dirent.h>

#include <idlewave/study.h>

#define IWI_CELL_SCHEMA "idlewave.cell/2"

/* How each line begins; the cell's id follows. */
#define IWI_CELL_LINE_START "{\"schema\":\"" IWI_CELL_SCHEMA "\",\"id\":\""

/* The line with its newline, to be freed. The same cell gives the same bytes. */
IW_NODISCARD iw_status iwi_cell_line_new(const iw_log *log, const iw_cell_result *cell, char **line_p);

/* Reads one line without its newline; complains as 'path:number'. `cell` is to be released if IW_OK. */
IW_NODISCARD iw_status iwi_cell_line_read(const iw_log *log, const char *path, size_t number,
                                          const char *line, size_t length, iw_cell_result *cell);
void iwi_cell_result_release(iw_cell_result *cell);

/* Name of the results file of a shard (from 0) of so many that its first, second, ... (from 0) process
 * writes: "results.jsonl" if there is only one. */
void iwi_results_file_name(uint32_t shard, uint32_t shards, uint32_t writer, char buf[64]);

/* Whether a folder's entry is a results file: exactly such a name. For scandir(). */
int iwi_is_results_file(const struct dirent *entry);

/* All whole lines of all results files of `dir` (docs/reference/formats/study.md), each id once; equal ids
 * with other content are IW_ERR_FORMAT. A folder that does not exist has none. To be freed with
 * iwi_cell_results_free(). */
IW_NODISCARD iw_status iwi_cell_results_load(const iw_log *log, const char *dir, iw_cell_result **cells_p,
                                             size_t *count_p);
void iwi_cell_results_free(iw_cell_result *cells, size_t count);

#endif
