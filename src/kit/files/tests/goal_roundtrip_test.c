/* GOAL text and binary turn into each other without loss, and files cut anywhere are survived.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "goal_testing.h"

/* Uses every part of the language; the canonical form is whatever the writer makes of it. */
static const char *const schedules[] = {
    "num_ranks 1\nrank 0 {\n}\n",
    "num_ranks 2\nrank 0 {\nx: send 8b to 1 tag 5\n}\nrank 1 {\nx: recv 8b from 0 tag 5\n}\n",
    "// rendezvous and overlap\nnum_ranks 2\nrank 1 {\n  r: recv 100000b from -1 tag -1 cpu 1\n  c: calc "
    "500\n"
    "  w: calc 0\n  c irequires r\n  w requires r\n  w requires c\n}\nrank 0 {\n"
    "  s: send 100000b to 1 nic 3 tag 9 /* big */\n  d: calc 13\n  d requires s\n}\n",
    "num_ranks 3\nrank 0 {\na requires d\na irequires c\nb requires d\na: calc 1\nb: calc 2\nc: calc 3\nd: "
    "calc 4\n"
    "c requires d\nc requires d\n}\nrank 1 {\nsend 0b to 1\nrecv 0b from 1\n}\nrank 2 {\ncalc 0 cpu 254\n}\n",
};

enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

static void text_binary_text_is_stable(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCHEDULES; i++) {
        struct blob first = convert(schedules[i], strlen(schedules[i]), false);
        struct blob binary = convert(first.data, first.size, true);
        struct blob second = convert(binary.data, binary.size, false);
        struct blob again = convert(second.data, second.size, true);

        assert_string_equal(second.data, first.data);
        assert_int_equal(again.size, binary.size);
        assert_memory_equal(again.data, binary.data, binary.size);
        free(first.data);
        free(binary.data);
        free(second.data);
        free(again.data);
    }
}

static void the_source_text_and_its_canonical_form_have_the_same_binary(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCHEDULES; i++) {
        struct blob canonical = convert(schedules[i], strlen(schedules[i]), false);
        struct blob a = convert(schedules[i], strlen(schedules[i]), true);
        struct blob b = convert(canonical.data, canonical.size, true);

        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        free(canonical.data);
        free(a.data);
        free(b.data);
    }
}

/* Dependencies come after both labels, which txt2bin insists on. */
static void written_text_never_refers_forward(void **state)
{
    struct blob text = convert(schedules[3], strlen(schedules[3]), false);

    (void)state;
    assert_non_null(strstr(text.data, "l4: calc 4\nl1 irequires l3\nl1 requires l4\nl2 requires l4\n"
                                      "l3 requires l4\nl3 requires l4\n}\n"));
    free(text.data);
}

/* Reads the first `size` bytes from a block of exactly that size, so that sanitizers see any overrun. */
static iw_status read_exactly(struct iwt_log *l, const char *data, size_t size)
{
    struct iwi_schedule *s = NULL;
    char *copy = malloc(size > 0 ? size : 1);
    iw_status status;

    assert_non_null(copy);
    memcpy(copy, data, size);
    status = read_blob(l, copy, size, &s);
    if (status == IW_OK) {
        iwi_schedule_free(s);
    }
    free(copy);
    return status;
}

static void text_cut_at_any_byte_is_truncated_or_malformed_or_has_empty_ranks(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCHEDULES; i++) {
        for (size_t size = 0; size < strlen(schedules[i]); size++) {
            struct iwt_log l;
            const iw_status status = read_exactly(&l, schedules[i], size);

            if (status == IW_OK) {
                assert_int_equal(l.errors, 0);
                continue;
            }
            assert_true(status == IW_ERR_TRUNCATED || status == IW_ERR_FORMAT);
            assert_int_equal(l.errors, 1);
        }
    }
}

static void text_cut_inside_a_block_is_never_accepted(void **state)
{
    const char *text = schedules[1];
    const size_t first = (size_t)(strstr(text, "rank 1") - text), last = strlen(text) - 2;

    (void)state;
    for (size_t size = first + strlen("rank"); size <= last; size++) {
        struct iwt_log l;
        const iw_status status = read_exactly(&l, text, size);

        assert_true(status == IW_ERR_TRUNCATED || status == IW_ERR_FORMAT); /* a cut word may look wrong */
    }
}

static void binary_cut_at_any_byte_is_truncated(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCHEDULES; i++) {
        struct blob binary = convert(schedules[i], strlen(schedules[i]), true);

        for (size_t size = 0; size < binary.size; size++) {
            struct iwt_log l;

            assert_status(read_exactly(&l, binary.data, size), IW_ERR_TRUNCATED);
            assert_int_equal(l.errors, 1);
        }
        free(binary.data);
    }
}

static void a_malformed_rest_at_any_byte_is_survived(void **state)
{
    static const char rests[][3] = {"\xff\xff", "\n}", "{:", "9 ", "/*"};

    (void)state;
    for (size_t i = 0; i < 2 * SCHEDULES; i++) {
        struct blob blob = convert(schedules[i / 2], strlen(schedules[i / 2]), i % 2 == 1);

        for (size_t size = 0; size <= blob.size; size++) {
            for (size_t r = 0; r < sizeof rests / sizeof rests[0]; r++) {
                char *data = malloc(size + 2);
                struct iwt_log l;
                iw_status status;

                assert_non_null(data);
                memcpy(data, blob.data, size);
                memcpy(data + size, rests[r], 2);
                status = read_exactly(&l, data, size + 2);
                assert_int_equal(l.errors, status == IW_OK ? 0 : 1);
                free(data);
            }
        }
        free(blob.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_binary_text_is_stable),
        cmocka_unit_test(the_source_text_and_its_canonical_form_have_the_same_binary),
        cmocka_unit_test(written_text_never_refers_forward),
        cmocka_unit_test(text_cut_at_any_byte_is_truncated_or_malformed_or_has_empty_ranks),
        cmocka_unit_test(text_cut_inside_a_block_is_never_accepted),
        cmocka_unit_test(binary_cut_at_any_byte_is_truncated),
        cmocka_unit_test(a_malformed_rest_at_any_byte_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
