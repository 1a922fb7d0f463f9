/* Sizes of records: all kinds known, nothing read past the end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <string.h>

#include "mpi/trace/record.h"

static size_t size_of_kind(unsigned kind, size_t left)
{
    uint64_t words[16] = {0};

    words[0] = kind;
    return iwi_record_size(words, left);
}

static void every_kind_has_a_size_that_is_a_multiple_of_8(void **state)
{
    (void)state;
    for (unsigned kind = IWI_RECORD_ENTER; kind < IWI_RECORD_KINDS; kind++) {
        size_t size = size_of_kind(kind, 128);
        assert_true(size >= 8);
        assert_int_equal(size % 8, 0);
    }
}

static void the_end_and_unknown_kinds_have_none(void **state)
{
    (void)state;
    assert_int_equal(size_of_kind(IWI_RECORD_END, 128), 0);
    assert_int_equal(size_of_kind(IWI_RECORD_KINDS, 128), 0);
    assert_int_equal(size_of_kind(255, 128), 0);
}

static void likenesses_beyond_those_there_are_have_none(void **state)
{
    uint64_t word = iwi_record_word(IWI_RECORD_LEAVE_LIKE, IWI_LIKENESSES - 1);

    (void)state;
    assert_int_equal(iwi_record_size(&word, sizeof word), sizeof word);
    word = iwi_record_word(IWI_RECORD_LEAVE_LIKE, IWI_LIKENESSES);
    assert_int_equal(iwi_record_size(&word, sizeof word), 0);
}

static void records_that_are_cut_off_have_none(void **state)
{
    (void)state;
    for (unsigned kind = IWI_RECORD_ENTER; kind < IWI_RECORD_KINDS; kind++) {
        size_t size = size_of_kind(kind, 128);
        assert_int_equal(size_of_kind(kind, size), size);
        assert_int_equal(size_of_kind(kind, size - 8), 0);
    }
    assert_int_equal(size_of_kind(IWI_RECORD_LEAVE, 7), 0);
}

static void communicators_have_the_size_of_their_members(void **state)
{
    uint64_t words[8] = {0};
    struct iwi_record_comm comm = {.kind = IWI_RECORD_COMM, .size = 3, .remote_size = 2};

    (void)state;
    memcpy(words, &comm, sizeof comm);
    assert_int_equal(iwi_record_size(words, sizeof words),
                     sizeof comm + 24); /* 5 x 4 bytes, filled up to 24 */
    comm.size = comm.remote_size = UINT32_MAX;
    memcpy(words, &comm, sizeof comm);
    assert_int_equal(iwi_record_size(words, sizeof words), 0);
}

static void words_keep_kind_and_value(void **state)
{
    uint64_t word = iwi_record_word(IWI_RECORD_LEAVE, UINT64_C(0x00ffffffffffffff));

    (void)state;
    assert_int_equal(iwi_record_kind_of(word), IWI_RECORD_LEAVE);
    assert_int_equal(iwi_record_value_of(word), UINT64_C(0x00ffffffffffffff));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_size_that_is_a_multiple_of_8),
        cmocka_unit_test(the_end_and_unknown_kinds_have_none),
        cmocka_unit_test(likenesses_beyond_those_there_are_have_none),
        cmocka_unit_test(records_that_are_cut_off_have_none),
        cmocka_unit_test(communicators_have_the_size_of_their_members),
        cmocka_unit_test(words_keep_kind_and_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
