/* What other features use of training: its settings, and how their values are read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRAINING_H
#define IWI_TRAINING_H

#include <idlewave/training.h>

enum iwi_setting_kind {
    IWI_SET_COUNT,  /* uint32_t */
    IWI_SET_SWITCH, /* bool: yes, no */
    IWI_SET_TIME,
    IWI_SET_CHOICE,    /* an enum */
    IWI_SET_REAL,      /* double, not negative */
    IWI_SET_FLOP_RATE, /* double: 494.5TFLOP/s */
    IWI_SET_BANDWIDTH, /* double: bytes per second */
    IWI_SET_TEXT,      /* char[max] */
    IWI_SET_TIMES,     /* iw_time *, "10ms, 12ms", and their number */
    IWI_SET_COUNTS,    /* uint32_t * */
    IWI_SET_MODEL      /* of several others */
};

struct iwi_setting {
    const char *key;
    enum iwi_setting_kind kind;
    size_t offset, count_offset;
    uint64_t min, max;
    const char *const *choices;
};

/* The table of all settings; NULL past the last. */
const struct iwi_setting *iwi_training_setting(size_t index);

/* Sets the shape of a model that is known by its name, in any case of letters. */
IW_NODISCARD iw_status iwi_training_set_model(const iw_log *log, const char *name, iw_training *spec);

/* Sets "KEY=VALUE,KEY=VALUE"; a comma without a key behind it is part of the value. */
IW_NODISCARD iw_status iwi_training_apply(const iw_log *log, const char *text, iw_training *spec);

/* Refuses what does not fit together. */
IW_NODISCARD iw_status iwi_training_check(const iw_log *log, const iw_training *spec);

enum { IWI_GRADIENT_BYTES = 4, IWI_PARAMETER_BYTES = 2 }; /* of a parameter */

#endif
