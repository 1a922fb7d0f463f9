/* Files of digests: what is written is read again, and damage is told.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/digest.h>
#include <idlewave/files.h>

#include "core/base/hash.h"
#include "features/fleet/node_digest.h"
#include "kit/files/tests/noise_hdf5_testing.h"

enum { MOST_BYTES = 4096 };

static void add_source(iw_digest *digest, const char *name, uint32_t first_cpu)
{
    iw_source source = {.kind = IW_CLASS_THREAD};
    iw_digest_source *added;

    snprintf(source.name, sizeof source.name, "%s", name);
    assert_ok(iwi_digest_add_source(NULL, digest, &source));
    added = &digest->sources[digest->source_count - 1];
    added->count = 1234567;
    added->busy_ns = INT64_C(987654321012);
    added->longest_ns = 5000000;
    added->by_length[10] = 1234000;
    added->by_length[22] = 567;
    for (uint32_t cpu = first_cpu; cpu < digest->cpu_count; cpu += 2) {
        iw_digest_cell cell = {.cpu = cpu, .stretches = cpu == 1 ? 0x00421 : 0xfffff};

        for (size_t i = 0; i < IW_DIGEST_SUMS; i++) {
            cell.all[i] = (uint16_t)(1000 * (i + 1) + 37 * cpu);
            cell.steady[i] = (uint16_t)(cell.all[i] - (i == 2 ? cell.all[i] : 164 + cpu));
        }
        assert_ok(iwi_digest_add_cell(NULL, added, &cell));
    }
}

static iw_digest *made(const char *node)
{
    iw_digest *digest = NULL;

    assert_ok(iwi_digest_new(NULL, node, &digest));
    digest->start_ns = INT64_C(1763409600123456789);
    digest->probe = IW_PROBE_WATCH;
    digest->attribution = IW_ATTRIBUTION_LEVEL_BPF;
    digest->threshold_ns = 180.25;
    assert_ok(iwi_digest_set(NULL, digest, "kernel", "6.1.0-18-amd64"));
    assert_ok(iwi_digest_set(NULL, digest, "governor", ""));
    for (uint32_t cpu = 0; cpu < 5; cpu++) {
        assert_ok(iwi_digest_add_cpu(NULL, digest, cpu == 4 ? 8191 : cpu, INT64_C(60000000000) - 13 * cpu));
    }
    add_source(digest, "kworker/0:1", 0);
    add_source(digest, "", 1);
    return digest;
}

static void save_nodes(const char *path, const char *const *nodes, size_t count)
{
    iw_digest_writer *writer = NULL;

    assert_ok(iw_digest_writer_open(NULL, path, &writer));
    for (size_t i = 0; i < count; i++) {
        iw_digest *digest = made(nodes[i]);

        assert_ok(iw_digest_writer_add(writer, digest));
        iw_digest_free(digest);
    }
    assert_ok(iw_digest_writer_close(writer, true));
}

static void assert_same_source(const iw_digest_source *a, const iw_digest_source *b)
{
    assert_string_equal(a->source.name, b->source.name);
    assert_int_equal(a->source.kind, b->source.kind);
    assert_true(a->count == b->count && a->busy_ns == b->busy_ns && a->longest_ns == b->longest_ns);
    assert_memory_equal(a->by_length, b->by_length, sizeof a->by_length);
    assert_int_equal(a->cell_count, b->cell_count);
    if (a->cell_count > 0) {
        assert_memory_equal(a->cells, b->cells, a->cell_count * sizeof *a->cells);
    }
}

static void assert_same(const iw_digest *a, const iw_digest *b)
{
    assert_string_equal(a->node, b->node);
    assert_true(a->start_ns == b->start_ns && a->threshold_ns == b->threshold_ns);
    assert_true(a->probe == b->probe && a->attribution == b->attribution);
    assert_int_equal(a->attribute_count, b->attribute_count);
    for (size_t i = 0; i < a->attribute_count; i++) {
        assert_string_equal(iw_digest_get(a, b->attributes[i].name), b->attributes[i].value);
    }
    assert_int_equal(a->cpu_count, b->cpu_count);
    for (size_t i = 0; i < a->cpu_count; i++) {
        assert_true(a->cpus[i].cpu == b->cpus[i].cpu && a->cpus[i].length_ns == b->cpus[i].length_ns);
    }
    assert_int_equal(a->source_count, b->source_count);
    for (size_t i = 0; i < a->source_count; i++) {
        assert_same_source(&a->sources[i], &b->sources[i]);
    }
}

static void what_is_written_is_read_again_as_often_as_wanted(void **state)
{
    static const char *const nodes[] = {"n0", "n1 with a blank", ""};
    const struct iwt_folder *folder = *state;
    iw_digest_file *file = NULL;
    iw_digest *digest = NULL;

    save_nodes(folder->file, nodes, 3);
    assert_true(iw_is_digest_file(folder->file));
    assert_false(iw_is_digest_file(folder->path));
    assert_ok(iw_digest_file_open(NULL, folder->file, &file));
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 3; i++) {
            iw_digest *wanted = made(nodes[i]);

            assert_ok(iw_digest_file_next(NULL, file, &digest));
            assert_non_null(digest);
            assert_same(digest, wanted);
            iw_digest_free(digest);
            iw_digest_free(wanted);
        }
        assert_ok(iw_digest_file_next(NULL, file, &digest));
        assert_null(digest);
        iw_digest_file_seek(file, 0);
    }
    iw_digest_file_close(file);
}

/* Of a part of the whole's CPUs. */
static void assert_same_part(const iw_digest *part, const iw_digest *whole, uint32_t first, uint32_t end)
{
    assert_string_equal(part->node, whole->node);
    assert_int_equal(part->source_count, whole->source_count);
    for (size_t i = 0; i < whole->source_count; i++) {
        const iw_digest_source *source = &whole->sources[i];
        size_t count = 0;

        assert_string_equal(part->sources[i].source.name, source->source.name);
        for (size_t k = 0; k < source->cell_count; k++) {
            const uint32_t cpu = whole->cpus[source->cells[k].cpu].cpu;

            if (cpu >= first && cpu < end) {
                assert_true(count < part->sources[i].cell_count);
                assert_memory_equal(&part->sources[i].cells[count++], &source->cells[k],
                                    sizeof *source->cells);
            }
        }
        assert_int_equal(part->sources[i].cell_count, count);
    }
}

/* CPUs one after the other, a gap, back, overlapping, all again, and after reading was broken off. */
static void parts_are_the_cells_of_these_cpus_in_any_order(void **state)
{
    static const char *const nodes[] = {"n0", "n1", "n2"};
    static const struct {
        uint32_t first, end;
        size_t count; /* of digests that are read */
    } parts[] = {{0, IW_CPU_SET_MOST, 3},
                 {0, 1, 3},
                 {1, 3, 3},
                 {3, 8000, 3},
                 {8000, IW_CPU_SET_MOST, 3},
                 {0, 1, 3},
                 {2, 4, 3},
                 {1, 3, 3},
                 {3, 4, 1},
                 {4, IW_CPU_SET_MOST, 3},
                 {0, IW_CPU_SET_MOST, 3}};
    const struct iwt_folder *folder = *state;
    iw_digest *whole = made("n0");
    iw_digest_file *file = NULL;

    save_nodes(folder->file, nodes, 3);
    assert_ok(iw_digest_file_open(NULL, folder->file, &file));
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        iw_digest_file_seek(file, 0);
        iw_digest_file_want(file, parts[p].first, parts[p].end);
        for (size_t i = 0; i < parts[p].count; i++) {
            iw_digest *digest = NULL;

            assert_ok(iw_digest_file_next(NULL, file, &digest));
            whole->node[1] = nodes[i][1];
            assert_same_part(digest, whole, parts[p].first, parts[p].end);
            if (parts[p].end - parts[p].first == IW_CPU_SET_MOST) {
                assert_same(digest, whole);
            }
            iw_digest_free(digest);
        }
    }
    iw_digest_free(whole);
    iw_digest_file_close(file);
}

static void reading_may_begin_in_the_middle(void **state)
{
    static const char *const nodes[] = {"n0", "n1"};
    const struct iwt_folder *folder = *state;
    iw_digest_file *file = NULL;
    iw_digest *digest = NULL;
    size_t second, size;

    save_nodes(folder->file, nodes, 2);
    assert_ok(iw_digest_file_open(NULL, folder->file, &file));
    assert_ok(iw_digest_file_next(NULL, file, &digest));
    iw_digest_free(digest);
    second = iw_digest_file_at(file);
    iw_digest_file_find(file, 1);
    assert_int_equal(iw_digest_file_at(file), second);
    assert_ok(iw_digest_file_next(NULL, file, &digest));
    assert_string_equal(digest->node, "n1");
    iw_digest_free(digest);
    size = iw_digest_file_at(file);
    iw_digest_file_find(file, second + 1);
    assert_int_equal(iw_digest_file_at(file), size);
    iw_digest_file_seek(file, SIZE_MAX);
    assert_int_equal(iw_digest_file_at(file), size);
    iw_digest_file_seek(file, 1);
    assert_status(iw_digest_file_next(NULL, file, &digest), IW_ERR_FORMAT);
    iw_digest_file_close(file);
}

static void a_file_that_is_given_up_leaves_the_older_one(void **state)
{
    static const char *const nodes[] = {"older"};
    const struct iwt_folder *folder = *state;
    iw_digest_writer *writer = NULL;
    iw_digest_file *file = NULL;
    iw_digest *digest = NULL;

    save_nodes(folder->file, nodes, 1);
    assert_ok(iw_digest_writer_open(NULL, folder->file, &writer));
    assert_true(iw_digest_writer_close(writer, false) != IW_OK);
    assert_ok(iw_digest_file_open(NULL, folder->file, &file));
    assert_ok(iw_digest_file_next(NULL, file, &digest));
    assert_string_equal(digest->node, "older");
    iw_digest_free(digest);
    iw_digest_file_close(file);
}

/* Reads all of it; the status of the last. */
static iw_status read_bytes(const char *path, const char *bytes, size_t size, const iw_log *log)
{
    FILE *out = fopen(path, "w");
    iw_digest_file *file = NULL;
    iw_digest *digest = NULL;
    iw_status status;

    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    assert_ok(iw_digest_file_open(NULL, path, &file));
    do {
        status = iw_digest_file_next(log, file, &digest);
        iw_digest_free(digest);
    } while (status == IW_OK && digest != NULL);
    iw_digest_file_close(file);
    return status;
}

static size_t load_bytes(const char *path, char bytes[MOST_BYTES])
{
    FILE *in = fopen(path, "r");
    size_t size;

    assert_non_null(in);
    size = fread(bytes, 1, MOST_BYTES, in);
    assert_int_equal(fclose(in), 0);
    assert_true(size > 0 && size < MOST_BYTES);
    return size;
}

static void damage_is_told_wherever_it_is(void **state)
{
    static const char *const nodes[] = {"n0"};
    const struct iwt_folder *folder = *state;
    struct iwt_log log;
    char bytes[MOST_BYTES];
    size_t size;

    save_nodes(folder->file, nodes, 1);
    size = load_bytes(folder->file, bytes);
    assert_ok(read_bytes(folder->file, bytes, 0, NULL)); /* no digest at all */
    for (size_t cut = 1; cut < size; cut++) {
        assert_int_equal(read_bytes(folder->file, bytes, cut, NULL), IW_ERR_FORMAT);
    }
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x10;
        assert_int_equal(read_bytes(folder->file, bytes, size, NULL), IW_ERR_FORMAT);
        bytes[at] ^= 0x10;
    }
    iwt_log_init(&log);
    bytes[size / 2] ^= 1;
    assert_int_equal(read_bytes(folder->file, bytes, size, &log.log), IW_ERR_FORMAT);
    iwt_assert_logged(&log, "the digest at byte 0: it is damaged: the checksum does not match");
}

/* A sound file around a payload, which may say what it wants. */
static size_t wrap(const char *payload, size_t size, char bytes[MOST_BYTES])
{
    const size_t hash_at = IWI_DIGEST_HEAD_BYTES + size;
    struct iwi_hash hash;
    uint64_t value;

    memset(bytes, 0, IWI_DIGEST_HEAD_BYTES);
    memcpy(bytes, IWI_DIGEST_MAGIC, IWI_DIGEST_MAGIC_BYTES);
    bytes[IWI_DIGEST_MAGIC_BYTES] = (char)size;
    memcpy(bytes + IWI_DIGEST_HEAD_BYTES, payload, size);
    iwi_hash_init(&hash, iwi_hash_key);
    iwi_hash_add(&hash, payload, size);
    value = iwi_hash_value(&hash);
    for (size_t i = 0; i < IWI_DIGEST_HASH_BYTES; i++) {
        bytes[hash_at + i] = (char)(value >> (8 * i));
    }
    return hash_at + IWI_DIGEST_HASH_BYTES;
}

/* With the right checksum: nothing is read behind the payload's end. */
static void counts_go_no_further_than_the_payload(void **state)
{
    static const struct {
        const char *payload;
        size_t size;
    } cases[] = {{"\x01", 1},               /* a name of one byte, and none left */
                 {"\x05n", 2},              /* of five, and one left */
                 {"\x01n\0\0\0\0\x01", 7},  /* one attribute */
                 {"\x01n\0\0\0\0\x3c", 7}}; /* sixty */
    const struct iwt_folder *folder = *state;
    static char bytes[MOST_BYTES];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t size = wrap(cases[i].payload, cases[i].size, bytes);
        struct iwt_log log;

        iwt_log_init(&log);
        assert_int_equal(read_bytes(folder->file, bytes, size, &log.log), IW_ERR_FORMAT);
        iwt_assert_logged(&log, "it lists more than fits");
    }
}

static void values_are_right_to_a_thousandth(void **state)
{
    (void)state;
    assert_true(iw_digest_value(0) == 0.0 && iwi_digest_code(0.5) == 0);
    assert_true(iw_digest_value(iwi_digest_code(1.0)) == 1.0);
    for (double value = 1.0; value < 1e37; value *= 1.37) {
        const double again = iw_digest_value(iwi_digest_code(value));

        assert_true(again > value * 0.9993 && again < value * 1.0007);
        assert_int_equal(iwi_digest_code(again), iwi_digest_code(value));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_again_as_often_as_wanted, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(a_file_that_is_given_up_leaves_the_older_one, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(parts_are_the_cells_of_these_cpus_in_any_order, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(reading_may_begin_in_the_middle, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(damage_is_told_wherever_it_is, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(counts_go_no_further_than_the_payload, open_folder, close_folder),
        cmocka_unit_test(values_are_right_to_a_thousandth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
