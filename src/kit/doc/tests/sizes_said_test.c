/* Sizes in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "kit/doc/doc.h"
#include "support/support.h"

struct sizes {
    uint64_t bytes;
};

static const struct iwi_field sizes_fields[] = {IWI_VALUE(struct sizes, bytes)};
static const struct iwi_schema sizes_schema = IWI_SCHEMA(struct sizes, sizes_fields);

static void say_size(struct iwi_document *doc, const void *subject)
{
    iwi_verdict(doc, "%s", iwi_size(doc, ((const struct sizes *)subject)->bytes));
}

static const struct iwi_kind sizes_kind = {
    .name = "sizes", .schema_id = "idlewave.sizes/1", .schema = &sizes_schema, .write_doc = say_size};

static void sizes_are_said_in_the_largest_unit_that_divides_them(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *said;
    } cases[] = {{0, "0 B\n"},
                 {1, "1 B\n"},
                 {1023, "1023 B\n"},
                 {1024, "1 KiB\n"},
                 {1025, "1025 B\n"},
                 {1536, "1536 B\n"},
                 {3072, "3 KiB\n"},
                 {UINT64_C(5) << 20, "5 MiB\n"},
                 {UINT64_C(7) << 30, "7 GiB\n"},
                 {UINT64_C(1) << 40, "1 TiB\n"},
                 {UINT64_C(1) << 50, "1024 TiB\n"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct sizes sizes = {cases[i].bytes};
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);

        assert_non_null(out);
        assert_ok(iw_doc_write(NULL, (iw_doc){&sizes_kind, &sizes}, IW_DOC_TEXT, NULL, out));
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, cases[i].said);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_said_in_the_largest_unit_that_divides_them)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
