/* Machines drawn: boxes within boxes as characters and as pictures, and what is read back from a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/machine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

static iw_net_machine machine_of(const char *name)
{
    iw_net_machine machine;

    assert_ok(iw_net_machine_describe(NULL, iw_net_builtin(name), &machine));
    return machine;
}

static char *written(iw_doc doc, iw_doc_format format, bool is_ascii)
{
    const iw_doc_style look = {.columns = 80, .is_ascii = is_ascii};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, doc, format, &look, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_has(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL) {
        fail_msg("no '%s' in:\n%s", piece, text);
    }
}

static void boxes_are_closed_and_fit_80_columns(void **state)
{
    (void)state;
    for (size_t i = 0; iw_net_builtin_name(i) != NULL; i++) {
        const iw_net_machine machine = machine_of(iw_net_builtin_name(i));
        char *text = written(iw_net_machine_doc(&machine), IW_DOC_TEXT, true);
        size_t edges = 0;

        for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
            const size_t length = strcspn(line, "\n");

            assert_true(length <= 80);
            if (line[0] == '+' || line[0] == '|') {
                assert_int_equal(length, 80);
                assert_int_equal(line[0], line[79]);
                edges += line[0] == '+';
            }
        }
        assert_int_equal(edges, 2);
        free(text);
    }
}

static void every_level_has_its_box_and_its_line(void **state)
{
    const iw_net_machine machine = machine_of("slingshot-dragonfly");
    char *text = written(iw_net_machine_doc(&machine), IW_DOC_TEXT, false);

    (void)state;
    assert_has(text, "\xe2\x94\x8c\xe2\x94\x80 network ");
    assert_has(text, "\xe2\x94\x80 group of 16384 ranks ");
    assert_has(text, "\xe2\x94\x80 node of 128 ranks ");
    assert_has(text, "\xe2\x94\x80 socket of 64 ranks ");
    assert_has(text, "\xe2\x94\x80 1 NIC ");
    assert_has(text, "127 more");
    assert_has(text, "- node: 8 B takes 620.7 ns, 1 MiB takes 105.5 us between two ranks.");
    assert_has(text, "- group: 8 B takes 1.600 us, 1 MiB takes 43.54 us between two ranks, or 5.370 ms\n"
                     "  in simulations where they share links");
    free(text);
}

/* No group is too narrow for its texts: they are broken into lines. */
static void six_levels_are_drawn_too(void **state)
{
    iw_net net = *iw_net_builtin("chic");
    iw_net_machine machine;
    char *text;

    (void)state;
    net.inner_count = IW_NET_INNER_MAX;
    for (uint32_t i = 0; i < IW_NET_INNER_MAX; i++) {
        net.inner[i] = (iw_net_inner){.ranks = UINT32_C(2) << i, .costs = net.costs};
        net.inner[i].costs.o_recv_ps *= 2;
        snprintf(net.inner[i].name, sizeof net.inner[i].name, "level-with-%u", i);
    }
    assert_ok(iw_net_machine_describe(NULL, &net, &machine));
    text = written(iw_net_machine_doc(&machine), IW_DOC_TEXT, true);
    assert_has(text, "level-with-0 of 2");
    assert_has(text, "o_r 1.54 us");
    free(text);
}

static void pages_and_pictures_have_the_boxes(void **state)
{
    const iw_net_machine machine = machine_of("gpu-node-nvlink");
    char *page = written(iw_net_machine_doc(&machine), IW_DOC_HTML, false);
    char path[] = "/tmp/iw_net_machine_XXXXXX.svg", text[20000];
    const int fd = mkstemps(path, 4);
    FILE *file;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_has(page, ">8 NICs</text>");
    assert_has(page, ">node of 8 ranks</text>");
    assert_ok(iw_doc_plot(NULL, iw_net_machine_doc(&machine), path));
    file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_has(text, ">Machine gpu-node-nvlink</text>");
    assert_has(text, "stroke-dasharray");
    assert_has(text, ">7 more</text>");
    assert_int_equal(unlink(path), 0);
    free(page);
}

/* M7: a CPU that copies is as much a limit as a link. */
static void what_a_byte_takes_of_the_cpu_limits_the_bandwidth(void **state)
{
    iw_net net = {.name = "copy", .G = 0, .O = 100000, .L_ps = 1000, .S_bytes = 4096};
    iw_net_machine machine;

    (void)state;
    assert_ok(iw_net_machine_describe(NULL, &net, &machine));
    assert_float_equal(machine.levels[0].bytes_per_ns, 10.0, 1e-9);
    net.G = 200000;
    assert_ok(iw_net_machine_describe(NULL, &net, &machine));
    assert_float_equal(machine.levels[0].bytes_per_ns, 5.0, 1e-9);
    net.G = 0;
    net.segment_count = 1;
    net.segments[0] = (iw_net_segment){.from_bytes = 2, .L_ps = 1000, .O = 50000};
    assert_ok(iw_net_machine_describe(NULL, &net, &machine));
    assert_float_equal(machine.levels[0].bytes_per_ns, 20.0, 1e-9);
}

static void who_moves_messages_is_told(void **state)
{
    iw_net net = *iw_net_builtin("gpu-node-nvlink");
    iw_net_machine machine;
    char *text;

    (void)state;
    net.inner[0].costs.is_device_progress = false;
    assert_ok(iw_net_machine_describe(NULL, &net, &machine));
    text = written(iw_net_machine_doc(&machine), IW_DOC_TEXT, false);
    assert_has(text, "1 MiB takes 3.431 us between two ranks.\n");
    assert_has(text, "1 MiB takes 25.03 us between two ranks. A device\n  moves messages.");
    free(text);
}

static void json_says_the_same_when_read_back(void **state)
{
    const iw_net_machine machine = machine_of("gpu-node-nvlink");
    char *text = written(iw_net_machine_doc(&machine), IW_DOC_TEXT, false);
    char *json = written(iw_net_machine_doc(&machine), IW_DOC_JSON, false), *again;
    char path[] = "/tmp/iw_net_machine_XXXXXX";
    const int fd = mkstemp(path);
    iw_doc_file *file = NULL;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, json, strlen(json)), strlen(json));
    assert_int_equal(close(fd), 0);
    assert_ok(iw_doc_open(NULL, path, &file));
    again = written(iw_doc_of(file), IW_DOC_TEXT, false);
    assert_string_equal(text, again);
    iw_doc_close(file);
    assert_int_equal(unlink(path), 0);
    free(text);
    free(json);
    free(again);
}

static void a_line_of_csv_is_a_level(void **state)
{
    const iw_net_machine machine = machine_of("hdr-fat-tree");
    char *csv = written(iw_net_machine_doc(&machine), IW_DOC_CSV, false);

    (void)state;
    assert_has(csv, "\nsocket,64,0,160,");
    assert_has(csv, "\nnode,128,2,300,");
    assert_has(csv, "\nnetwork,,,800,");
    free(csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_closed_and_fit_80_columns),
        cmocka_unit_test(every_level_has_its_box_and_its_line),
        cmocka_unit_test(six_levels_are_drawn_too),
        cmocka_unit_test(pages_and_pictures_have_the_boxes),
        cmocka_unit_test(what_a_byte_takes_of_the_cpu_limits_the_bandwidth),
        cmocka_unit_test(who_moves_messages_is_told),
        cmocka_unit_test(json_says_the_same_when_read_back),
        cmocka_unit_test(a_line_of_csv_is_a_level),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
