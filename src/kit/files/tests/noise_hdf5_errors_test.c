/* Noise files that are not as they should be: refused with one sentence, whatever is wrong.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noise_hdf5_testing.h"

#include <math.h>

/* Says what must not happen while a file is prepared. */
#define MUST(call) assert_true((call) >= 0)

static hid_t open_good_file(const struct iwt_folder *folder)
{
    hid_t file;

    put_good_file(folder);
    file = H5Fopen(folder->file, H5F_ACC_RDWR, H5P_DEFAULT);
    MUST(file);
    return file;
}

/* One fault: the object `where` loses itself, or is made anew from `count` values of a type. */
struct fault {
    const char *where, *advice;
    hid_t type; /* 0: nothing in its place */
    hsize_t count;
    const void *values;
};

static void put_dataset(hid_t file, const char *where, hid_t type, hsize_t count, const void *values)
{
    const hid_t space = H5Screate_simple(1, &count, NULL);
    const hid_t dataset = H5Dcreate2(file, where, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    MUST(dataset);
    MUST(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    MUST(H5Dclose(dataset));
    MUST(H5Sclose(space));
}

static void forget_written(hid_t file)
{
    MUST(H5Adelete_by_name(file, "/cpu/0", "written", H5P_DEFAULT));
    MUST(H5Adelete_by_name(file, "/sources", "written", H5P_DEFAULT));
}

static void expect_fault(const struct iwt_folder *folder, const struct fault *fault)
{
    const hid_t file = open_good_file(folder);

    MUST(H5Ldelete(file, fault->where, H5P_DEFAULT));
    if (fault->type != 0) {
        put_dataset(file, fault->where, fault->type, fault->count, fault->values);
    }
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, fault->advice);
}

static void what_is_missing_is_named(void **state)
{
    static const char *const paths[] = {"/origin", "/sources", "/cpu"};
    static const char *const columns[] = {"start_ns",    "duration_ns", "source",          "part_detour",
                                          "part_source", "part_ns",     "sample_start_ns", "sample"};
    const struct iwt_folder *folder = *state;
    char where[64], advice[64];

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        snprintf(advice, sizeof advice, "missing %s", paths[i]);
        expect_fault(folder, &(struct fault){.where = paths[i], .advice = advice});
    }
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        snprintf(where, sizeof where, "/cpu/9/%s", columns[i]);
        snprintf(advice, sizeof advice, "missing /cpu/9/%s", columns[i]);
        expect_fault(folder, &(struct fault){.where = where, .advice = advice});
    }
}

static void missing_attributes_are_named(void **state)
{
    static const char *const attributes[][2] = {
        {"/", "format"},       {"/", "probe"},          {"/", "rung"},          {"/", "quantum_ns"},
        {"/cpu/0", "dropped"}, {"/cpu/9", "length_ns"}, {"/cpu/0", "t_min_ns"}, {"/cpu/0", "threshold_ns"}};
    const struct iwt_folder *folder = *state;

    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        const hid_t file = open_good_file(folder);
        char advice[64];

        MUST(H5Adelete_by_name(file, attributes[i][0], attributes[i][1], H5P_DEFAULT));
        MUST(H5Fclose(file));
        snprintf(advice, sizeof advice, "no attribute '%s'", attributes[i][1]);
        expect_refused(folder->file, IW_ERR_FORMAT, advice);
    }
}

static void columns_of_other_types_and_shapes_are_refused(void **state)
{
    static const double reals[40] = {0};
    static const int64_t numbers[41] = {0};
    const struct iwt_folder *folder = *state;
    const struct fault faults[] = {
        {"/cpu/0/start_ns", "/cpu/0/start_ns does not hold 64-bit integers", H5T_NATIVE_DOUBLE, 40, reals},
        {"/cpu/0/source", "/cpu/0/source does not hold unsigned 32-bit", H5T_NATIVE_INT64, 40, numbers},
        {"/cpu/0/sample", "/cpu/0/sample does not hold 64-bit floating", H5T_NATIVE_FLOAT, 0, reals},
        {"/cpu/0/duration_ns", "has 39 elements instead of 40", H5T_NATIVE_INT64, 39, numbers},
        {"/sources", "/sources does not hold sources", H5T_NATIVE_INT64, 3, numbers},
    };

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        hid_t file;

        if (strcmp(faults[i].where, "/sources") != 0) {
            expect_fault(folder, &faults[i]);
            continue;
        }
        file = open_good_file(folder);
        forget_written(file);
        MUST(H5Ldelete(file, faults[i].where, H5P_DEFAULT));
        put_dataset(file, faults[i].where, faults[i].type, faults[i].count, faults[i].values);
        MUST(H5Fclose(file));
        expect_refused(folder->file, IW_ERR_FORMAT, faults[i].advice);
    }
}

static void columns_of_different_lengths_are_refused(void **state)
{
    static const int64_t numbers[41] = {0};
    const struct iwt_folder *folder = *state;
    const hid_t file = open_good_file(folder);

    forget_written(file);
    MUST(H5Ldelete(file, "/cpu/0/duration_ns", H5P_DEFAULT));
    put_dataset(file, "/cpu/0/duration_ns", H5T_NATIVE_INT64, 41, numbers);
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT,
                   "/cpu/0/duration_ns has 41 elements, but start_ns beside it has 40");
}

static void without_the_attribute_written_all_rows_count(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *expected = small_recording(), *seen;
    const hid_t file = open_good_file(folder);

    forget_written(file);
    MUST(H5Fclose(file));
    seen = load(folder->file);
    assert_same_recording(expected, seen);
    iw_recording_free(seen);
    iw_recording_free(expected);
}

/* Changes one element of a column. */
static void expect_element_refused(const struct iwt_folder *folder, const char *where, hid_t type,
                                   hsize_t number, const void *value, const char *advice)
{
    const hid_t file = open_good_file(folder), dataset = H5Dopen2(file, where, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    const hsize_t one = 1;
    const hid_t memory = H5Screate_simple(1, &one, NULL);

    MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, &number, NULL, &one, NULL));
    MUST(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, value));
    MUST(H5Sclose(memory));
    MUST(H5Sclose(space));
    MUST(H5Dclose(dataset));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, advice);
}

static void impossible_values_are_refused(void **state)
{
    static const int64_t huge = INT64_MAX, negative = -1, early = 1200;
    static const uint64_t late_detour = 40, first_detour = 0;
    static const uint32_t no_source = 3;
    const struct {
        const char *where;
        hid_t type;
        hsize_t number;
        const void *value;
        const char *advice;
    } cases[] = {
        {"/cpu/0/start_ns", H5T_NATIVE_INT64, 0, &negative, "CPU 0, detour 0 (start -1 ns"},
        {"/cpu/0/start_ns", H5T_NATIVE_INT64, 7, &huge, "CPU 0, detour 7 (start 9223372036854775807 ns"},
        {"/cpu/0/start_ns", H5T_NATIVE_INT64, 1, &early, "detour 1 starts at 1200 ns, before the end"},
        {"/cpu/9/duration_ns", H5T_NATIVE_INT64, 2, &negative, "CPU 9, detour 2 ("},
        {"/cpu/9/duration_ns", H5T_NATIVE_INT64, 2, &huge, "CPU 9, detour 2 ("},
        {"/cpu/9/source", H5T_NATIVE_UINT32, 39, &no_source,
         "detour 39 is of source 3, but there are only 3"},
        {"/cpu/0/part_detour", H5T_NATIVE_UINT64, 19, &late_detour, "part 19 belongs to detour 40,"},
        {"/cpu/0/part_detour", H5T_NATIVE_UINT64, 5, &first_detour, "part 5 belongs to detour 0"},
        {"/cpu/0/part_source", H5T_NATIVE_UINT32, 1, &no_source, "part 1 (source 3 of 3"},
        {"/cpu/0/part_ns", H5T_NATIVE_INT64, 0, &negative, "part 0 (source 1 of 3, -1 ns)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_element_refused(*state, cases[i].where, cases[i].type, cases[i].number, cases[i].value,
                               cases[i].advice);
    }
}

/* Makes an attribute anew. */
static void expect_attribute_refused(const struct iwt_folder *folder, const char *where, const char *name,
                                     hid_t type, hsize_t count, const void *values, const char *advice)
{
    const hid_t file = open_good_file(folder);
    const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
    hid_t attribute;

    MUST(H5Adelete_by_name(file, where, name, H5P_DEFAULT));
    attribute = H5Acreate_by_name(file, where, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    MUST(H5Awrite(attribute, type, values));
    MUST(H5Aclose(attribute));
    MUST(H5Sclose(space));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, advice);
}

static void impossible_attributes_are_refused(void **state)
{
    const int64_t minus_one = -1, two[2] = {1, 2};
    const double not_a_number = (double)NAN;
    const uint64_t many[3] = {UINT64_C(1) << 60, 0, 0}, few[2] = {0, 0};
    const char *pointer = "idlewave.noise/1", *text = "idlewave.noise/2", *word = "guess";
    const hid_t variable = H5Tcopy(H5T_C_S1), of_16 = H5Tcopy(H5T_C_S1), of_5 = H5Tcopy(H5T_C_S1);

    MUST(H5Tset_size(variable, H5T_VARIABLE));
    MUST(H5Tset_size(of_16, 16));
    MUST(H5Tset_size(of_5, 5));
    expect_attribute_refused(*state, "/", "format", of_16, 1, text, "has format 'idlewave.noise/2':");
    expect_attribute_refused(*state, "/", "format", variable, 1, &pointer, "must be a text of fixed length");
    expect_attribute_refused(*state, "/", "format", H5T_NATIVE_INT64, 1, &minus_one,
                             "must be a text of fixed");
    expect_attribute_refused(*state, "/", "probe", of_5, 1, word,
                             "'probe' of / has the unknown value 'guess'");
    expect_attribute_refused(*state, "/", "rung", of_5, 1, word, "'rung' of / has the unknown value 'guess'");
    expect_attribute_refused(*state, "/", "quantum_ns", H5T_NATIVE_INT64, 1, &minus_one, "quantum of -1 ns");
    expect_attribute_refused(*state, "/", "quantum_ns", H5T_NATIVE_INT64, 2, two,
                             "must hold 64-bit integers, 1 in number");
    expect_attribute_refused(*state, "/cpu/0", "length_ns", H5T_NATIVE_INT64, 1, &minus_one, "length -1 ns");
    expect_attribute_refused(*state, "/cpu/0", "length_ns", H5T_NATIVE_DOUBLE, 1, &not_a_number,
                             "'length_ns'");
    expect_attribute_refused(*state, "/cpu/0", "t_min_ns", H5T_NATIVE_DOUBLE, 1, &not_a_number,
                             "t_min nan ns");
    expect_attribute_refused(*state, "/cpu/0", "written", H5T_NATIVE_UINT64, 3, many,
                             "has 40 elements instead of");
    expect_attribute_refused(*state, "/cpu/0", "written", H5T_NATIVE_UINT64, 2, few,
                             "must hold unsigned 64-bit integers, 3 in number");
    MUST(H5Tclose(variable));
    MUST(H5Tclose(of_16));
    MUST(H5Tclose(of_5));
}

static void more_elements_than_are_stored_are_refused(void **state)
{
    const struct iwt_folder *folder = *state;
    const hsize_t absurd = (hsize_t)1 << 44;
    const hid_t file = open_good_file(folder), dataset = H5Dopen2(file, "/cpu/0/start_ns", H5P_DEFAULT);

    forget_written(file);
    MUST(H5Dset_extent(dataset, &absurd));
    MUST(H5Dclose(dataset));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT,
                   "/cpu/0/start_ns claims 17592186044416 elements, but the file has stored only");
}

/* A dataset of int64 with properties of its own in place of /cpu/0/start_ns. */
static void expect_layout_refused(const struct iwt_folder *folder, hid_t properties, int rank,
                                  const hsize_t *size, const char *advice)
{
    const hid_t file = open_good_file(folder), space = H5Screate_simple(rank, size, NULL);
    hid_t dataset;

    MUST(H5Ldelete(file, "/cpu/0/start_ns", H5P_DEFAULT));
    dataset = H5Dcreate2(file, "/cpu/0/start_ns", H5T_STD_I64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    MUST(dataset);
    MUST(H5Dclose(dataset));
    MUST(H5Sclose(space));
    MUST(H5Pclose(properties));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, advice);
}

static hid_t new_properties(hsize_t chunk)
{
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);

    if (chunk > 0) {
        MUST(H5Pset_chunk(properties, 1, &chunk));
    }
    return properties;
}

static void strange_layouts_are_refused(void **state)
{
    const hsize_t size[2] = {40, 2}, large = 1 << 22;
    hid_t properties, space;

    expect_layout_refused(*state, new_properties(0), 2, size, "must have one dimension");
    expect_layout_refused(*state, new_properties(1 << 21), 1, &large, "chunks of more than 1 Mi elements");
    properties = new_properties(40);
    MUST(H5Pset_nbit(properties));
    expect_layout_refused(*state, properties, 1, size, "a filter other than deflate and shuffle");
    properties = new_properties(0);
    MUST(H5Pset_external(properties, "/etc/passwd", 0, 320));
    expect_layout_refused(*state, properties, 1, size, "stores its data in another file");
    properties = new_properties(0);
    space = H5Screate_simple(1, size, NULL);
    MUST(H5Pset_virtual(properties, space, "other.h5", "/x", space));
    MUST(H5Sclose(space));
    expect_layout_refused(*state, properties, 1, size, "layout that is not supported");
}

static void links_to_elsewhere_are_not_followed(void **state)
{
    const struct iwt_folder *folder = *state;
    hid_t file = open_good_file(folder);

    MUST(H5Ldelete(file, "/cpu/9", H5P_DEFAULT));
    MUST(H5Lcreate_external("other.h5", "/cpu/9", file, "/cpu/9", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, "/cpu/9 is a link to another");
    file = open_good_file(folder);
    MUST(H5Lmove(file, "/origin", file, "/elsewhere", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Lcreate_soft("/elsewhere", file, "/origin", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, "/origin is a link to another");
}

static void groups_and_datasets_are_not_confused(void **state)
{
    const struct iwt_folder *folder = *state;
    const int64_t number = 0;
    hid_t file = open_good_file(folder);

    MUST(H5Ldelete(file, "/cpu/0/source", H5P_DEFAULT));
    MUST(H5Gclose(H5Gcreate2(file, "/cpu/0/source", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, "cannot read /cpu/0/source");
    expect_fault(folder, &(struct fault){"/cpu", "cannot read /cpu", H5T_NATIVE_INT64, 1, &number});
    expect_fault(folder, &(struct fault){"/origin", "cannot read /origin", H5T_NATIVE_INT64, 1, &number});
}

static void names_of_cpus_are_numbers(void **state)
{
    static const char *const names[] = {"/cpu/01", "/cpu/x", "/cpu/-1", "/cpu/4294967296", "/cpu/1 "};
    const struct iwt_folder *folder = *state;
    hid_t file;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        file = open_good_file(folder);
        MUST(H5Lmove(file, "/cpu/9", file, names[i], H5P_DEFAULT, H5P_DEFAULT));
        MUST(H5Fclose(file));
        expect_refused(folder->file, IW_ERR_FORMAT, "is not the number of a CPU");
    }
    file = open_good_file(folder);
    MUST(H5Ldelete(file, "/cpu/0", H5P_DEFAULT));
    MUST(H5Ldelete(file, "/cpu/9", H5P_DEFAULT));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, "/cpu has no CPUs");
}

int main(void)
{
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        FILE_TEST(what_is_missing_is_named),
        FILE_TEST(missing_attributes_are_named),
        FILE_TEST(columns_of_other_types_and_shapes_are_refused),
        FILE_TEST(columns_of_different_lengths_are_refused),
        FILE_TEST(without_the_attribute_written_all_rows_count),
        FILE_TEST(impossible_values_are_refused),
        FILE_TEST(impossible_attributes_are_refused),
        FILE_TEST(more_elements_than_are_stored_are_refused),
        FILE_TEST(strange_layouts_are_refused),
        FILE_TEST(links_to_elsewhere_are_not_followed),
        FILE_TEST(groups_and_datasets_are_not_confused),
        FILE_TEST(names_of_cpus_are_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
