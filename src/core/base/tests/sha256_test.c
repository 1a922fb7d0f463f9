/* SHA-256 against the examples of its standard.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "support/support.h"

#include "core/base/sha256.h"

static void assert_sha256(const char *text, const char *expected)
{
    char got[IWI_SHA256_TEXT_SIZE];
    struct iwi_sha256 sha;

    iwi_sha256_init(&sha);
    iwi_sha256_add(&sha, text, strlen(text));
    iwi_sha256_text(&sha, got);
    assert_string_equal(got, expected);
}

static void the_examples_of_the_standard_come_out(void **state)
{
    (void)state;
    assert_sha256("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_sha256("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* A million times "a", in pieces that never fit into blocks of 64. */
static void pieces_give_the_same_as_the_whole(void **state)
{
    char piece[1000], got[IWI_SHA256_TEXT_SIZE];
    struct iwi_sha256 sha;

    (void)state;
    memset(piece, 'a', sizeof piece);
    iwi_sha256_init(&sha);
    for (int i = 0; i < 1000; i++) {
        iwi_sha256_add(&sha, piece, 37);
        iwi_sha256_add(&sha, piece, sizeof piece - 37);
    }
    iwi_sha256_text(&sha, got);
    assert_string_equal(got, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_standard_come_out),
        cmocka_unit_test(pieces_give_the_same_as_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
