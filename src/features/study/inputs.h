/* What the cells of a study share: the noise of each system, the schedules of works.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_INPUTS_H
#define IWI_INPUTS_H

#include <idlewave/noise_set.h>
#include <idlewave/sim.h>
#include <idlewave/study.h>

struct iwi_inputs {
    const iw_study *study;
    iw_noise_set **sets;     /* by system and alignment; NULL: not needed yet */
    iw_noise **noise;        /* of the sets as they are */
    iw_node_speeds **speeds; /* by system; NULL: nodes are alike, or not needed yet */
    iw_program **schedules;  /* by work; NULL: a pattern, or not needed yet */
};

IW_NODISCARD iw_status iwi_inputs_init(const iw_log *log, const iw_study *study, struct iwi_inputs *inputs);
void iwi_inputs_release(struct iwi_inputs *inputs);

/* Makes the schedule, or the noise, that a cell needs. Not while other threads use the inputs. */
IW_NODISCARD iw_status iwi_inputs_add_schedule(const iw_log *log, struct iwi_inputs *inputs,
                                               const iw_cell *cell);
IW_NODISCARD iw_status iwi_inputs_add_noise(const iw_log *log, struct iwi_inputs *inputs,
                                            const iw_cell *cell);

/* The noise that was made for the cell. */
const iw_noise *iwi_inputs_noise(const struct iwi_inputs *inputs, const iw_cell *cell);
/* How fast nodes are, made with the noise; NULL: all alike. */
const iw_node_speeds *iwi_inputs_speeds(const struct iwi_inputs *inputs, const iw_cell *cell);
const iw_noise_set *iwi_inputs_set(const struct iwi_inputs *inputs, const iw_cell *cell);

/* The program of a cell: a pattern or a trace of its own, or a schedule that was made. */
struct iwi_cell_program {
    const iw_program *program;
    iw_program *own; /* or NULL */
};
IW_NODISCARD iw_status iwi_cell_program_init(const iw_log *log, const struct iwi_inputs *inputs,
                                             const iw_cell *cell, struct iwi_cell_program *program);
void iwi_cell_program_release(struct iwi_cell_program *program);

/* The pattern of a cell's work with the cell's ranks and bytes; its work is right once the noise is made. */
iw_pattern iwi_cell_pattern(const struct iwi_inputs *inputs, const iw_cell *cell);

#endif
