/* What a kept check says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/check.h>

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* Lines as one. */
static char *said(const iw_check *check)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_check_doc(check), IW_DOC_TEXT, NULL, out));
    assert_int_equal(fclose(out), 0);
    for (char *c = text; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    return text;
}

static void how_long_it_took_is_said_where_it_is_known(void **state)
{
    iw_doc_file *file;
    iw_check check;
    char *text;

    (void)state;
    assert_ok(iw_doc_open(NULL, IW_TEST_DATA "/results/check.json", &file));
    check = *(const iw_check *)iw_doc_of(file).subject;
    check.took_s = 53.0;
    text = said(&check);
    assert_non_null(strstr(text, "The check took 53 s."));
    free(text);
    check.took_s = 0.0;
    text = said(&check);
    assert_null(strstr(text, "The check took"));
    free(text);
    iw_doc_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(how_long_it_took_is_said_where_it_is_known)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
