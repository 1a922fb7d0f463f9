/* Studies made in memory, and folders for them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_STUDY_H
#define IWT_MADE_STUDY_H

#include <idlewave/study.h>

/* Two systems x three works x `rank_counts` powers of two x three sizes, `trials` each; at most 64 rank
 * counts. The ids follow from the place in the grid. Nothing is to be freed: one at a time. */
iw_study *iwt_made_study(size_t rank_counts, uint64_t trials);

/* The part of a study with the cells from `first` on. */
iw_study iwt_part_of_study(const iw_study *study, size_t first, size_t count);

/* A new empty folder, and its removal with all that it holds. */
void iwt_folder_make(char folder[64]);
void iwt_folder_remove(const char *folder);

/* All lines of all results files of a folder, sorted; to be freed. "" if there are none. */
char *iwt_sorted_results(const char *dir);

/* The whole of DIR/NAME, to be freed; NULL if there is none. */
char *iwt_read_file(const char *dir, const char *name);
void iwt_write_file(const char *dir, const char *file_name, const char *content);

#endif
