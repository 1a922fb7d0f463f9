/* A method without a kernel behind it: it gathers shares on a clock of one tick a nanosecond.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_FAKE_METHOD_H
#define IWT_FAKE_METHOD_H

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/record/attribution/attribution.h"
#include "support/support.h"

enum { FAKE_PLACES = 2, FAKE_FIRST_TID = 4000, FAKE_RECORD_SIZE = 128 };

struct fake_method {
    struct iwi_method method;
    struct iwi_clock clock;
    struct iwi_shares shares[FAKE_PLACES];
    struct iwi_watched watched[FAKE_PLACES];
};

/* After all stamps that tests make up. */
static inline uint64_t fake_now(void *unused)
{
    (void)unused;
    return UINT64_MAX;
}

/* Place i is CPU i, its measuring thread FAKE_FIRST_TID + i. */
static inline void fake_method_begin(struct fake_method *fake)
{
    static const struct iwi_clock_ops ops = {.name = "fake", .read = fake_now};

    *fake = (struct fake_method){.clock = {.ops = &ops, .hz = 1e9}};
    for (uint32_t i = 0; i < FAKE_PLACES; i++) {
        fake->watched[i] = (struct iwi_watched){.cpu = i, .tid = FAKE_FIRST_TID + (pid_t)i};
    }
    fake->method = (struct iwi_method){.root = "",
                                       .clock = &fake->clock,
                                       .watched = fake->watched,
                                       .count = FAKE_PLACES,
                                       .shares = fake->shares};
    assert_ok(iw_recording_new(NULL, FAKE_PLACES, &fake->method.recording));
}

static inline void fake_method_end(struct fake_method *fake)
{
    for (size_t i = 0; i < FAKE_PLACES; i++) {
        free(fake->shares[i].array);
    }
    iw_recording_free(fake->method.recording);
}

/* Share number `i` of a place says that events were lost. */
static inline void fake_method_expect_lost(const struct fake_method *fake, size_t place, size_t i,
                                           uint64_t at, uint64_t ticks)
{
    assert_true(i < fake->shares[place].count);
    assert_int_equal(fake->shares[place].array[i].at, at);
    assert_int_equal(fake->shares[place].array[i].ticks, ticks);
    assert_int_equal(fake->shares[place].array[i].source, IWI_NO_SOURCE);
}

static inline void fake_method_expect(const struct fake_method *fake, size_t place, size_t i, uint64_t at,
                                      uint64_t ticks, iw_class kind, const char *name)
{
    const struct iwi_share *share = &fake->shares[place].array[i];

    assert_true(i < fake->shares[place].count);
    assert_int_equal(share->at, at);
    assert_int_equal(share->ticks, ticks);
    assert_int_equal(fake->method.recording->sources[share->source].kind, kind);
    assert_string_equal(fake->method.recording->sources[share->source].name, name);
}

/* Bytes of a record, put where the formats of tests/data/tracing say. */
struct fake_record {
    _Alignas(8) char bytes[FAKE_RECORD_SIZE];
    size_t size;
};

static inline void fake_record_put(struct fake_record *record, size_t offset, const void *bytes, size_t size)
{
    assert_true(offset + size <= sizeof record->bytes);
    memcpy(record->bytes + offset, bytes, size);
    record->size = offset + size > record->size ? offset + size : record->size;
}

static inline void fake_record_u16(struct fake_record *record, size_t offset, uint16_t value)
{
    fake_record_put(record, offset, &value, sizeof value);
}

static inline void fake_record_i32(struct fake_record *record, size_t offset, int32_t value)
{
    fake_record_put(record, offset, &value, sizeof value);
}

static inline void fake_record_i64(struct fake_record *record, size_t offset, int64_t value)
{
    fake_record_put(record, offset, &value, sizeof value);
}

/* A text in a field of 16 bytes, as names of threads have. */
static inline void fake_record_comm(struct fake_record *record, size_t offset, const char *comm)
{
    char field[16] = "";

    memcpy(field, comm, strlen(comm) < sizeof field ? strlen(comm) : sizeof field);
    fake_record_put(record, offset, field, sizeof field);
}

/* A __data_loc field of 4 bytes, and its text at `place`. */
static inline void fake_record_text(struct fake_record *record, size_t offset, size_t place, const char *text)
{
    fake_record_i32(record, offset, (int32_t)((strlen(text) + 1) << 16 | place));
    fake_record_put(record, place, text, strlen(text) + 1);
}

/* Records of linux-6.18. */
enum {
    SWITCH_ID = 372,
    IRQ_ENTRY_ID = 225,
    IRQ_EXIT_ID = 224,
    SOFTIRQ_ENTRY_ID = 223,
    SOFTIRQ_EXIT_ID = 222,
    LOCAL_TIMER_ENTRY_ID = 165,
    LOCAL_TIMER_EXIT_ID = 164,
    NMI_ID = 170
};

static inline struct fake_record fake_switch(int32_t next, const char *comm)
{
    struct fake_record record = {.size = 0};

    fake_record_u16(&record, 0, SWITCH_ID);
    fake_record_comm(&record, 40, comm);
    fake_record_i32(&record, 56, next);
    fake_record_i32(&record, 60, 120);
    return record;
}

/* An event whose one number is behind the common fields: vectors, softirqs, exits. */
static inline struct fake_record fake_numbered(uint16_t id, int32_t number)
{
    struct fake_record record = {.size = 0};

    fake_record_u16(&record, 0, id);
    fake_record_i32(&record, 8, number);
    return record;
}

#endif
