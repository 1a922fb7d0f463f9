/* The digest against the test vectors of its authors.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "core/base/hash.h"

/* The key of the paper's appendix: bytes 00 01 ... 0f. */
static const uint64_t paper_key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

static uint64_t digest_of_first(size_t size)
{
    struct iwi_hash digest;
    unsigned char bytes[64];

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)i;
    }
    iwi_hash_init(&digest, paper_key);
    iwi_hash_add(&digest, bytes, size);
    return iwi_hash_value(&digest);
}

static void the_example_of_the_paper_comes_out(void **state)
{
    (void)state;
    assert_int_equal(digest_of_first(15), UINT64_C(0xa129ca6149be45e5));
}

/* Of the vectors that come with the reference implementation: the first bytes as a number, lowest first. */
static void the_reference_vectors_come_out(void **state)
{
    (void)state;
    assert_int_equal(digest_of_first(0), UINT64_C(0x726fdb47dd0e0e31));
    assert_int_equal(digest_of_first(1), UINT64_C(0x74f839c593dc67fd));
    assert_int_equal(digest_of_first(8), UINT64_C(0x93f5f5799a932462));
}

static void pieces_give_the_same_as_the_whole(void **state)
{
    static const char text[] = "a text that is longer than two words of eight bytes";
    const size_t size = sizeof text - 1;
    struct iwi_hash whole;

    (void)state;
    iwi_hash_init(&whole, iwi_hash_key);
    iwi_hash_add_text(&whole, text);
    for (size_t cut = 0; cut <= size; cut++) {
        struct iwi_hash pieces;

        iwi_hash_init(&pieces, iwi_hash_key);
        iwi_hash_add(&pieces, text, cut);
        (void)iwi_hash_value(&pieces); /* asking in between changes nothing */
        iwi_hash_add(&pieces, text + cut, size - cut);
        assert_int_equal(iwi_hash_value(&pieces), iwi_hash_value(&whole));
    }
}

static void numbers_are_added_lowest_byte_first(void **state)
{
    static const unsigned char bytes[] = {8, 7, 6, 5, 4, 3, 2, 1};
    struct iwi_hash a, b;

    (void)state;
    iwi_hash_init(&a, iwi_hash_key);
    iwi_hash_add_u64(&a, UINT64_C(0x0102030405060708));
    iwi_hash_init(&b, iwi_hash_key);
    iwi_hash_add(&b, bytes, sizeof bytes);
    assert_int_equal(iwi_hash_value(&a), iwi_hash_value(&b));
}

static void trailing_zeros_and_keys_count(void **state)
{
    struct iwi_hash a, b, c;

    (void)state;
    iwi_hash_init(&a, iwi_hash_key);
    iwi_hash_init(&b, iwi_hash_key);
    iwi_hash_init(&c, paper_key);
    assert_int_not_equal(iwi_hash_value(&a), iwi_hash_value(&c));
    iwi_hash_add(&b, "\0", 1);
    assert_int_not_equal(iwi_hash_value(&a), iwi_hash_value(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_paper_comes_out),
        cmocka_unit_test(the_reference_vectors_come_out),
        cmocka_unit_test(pieces_give_the_same_as_the_whole),
        cmocka_unit_test(numbers_are_added_lowest_byte_first),
        cmocka_unit_test(trailing_zeros_and_keys_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
