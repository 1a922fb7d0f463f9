/* Tests of which file wins, with verbs that are made up.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

struct made_opts {
    struct opt_origins origins;
    uint64_t ranks, seed;
    const char *net, *level;
};

static const char *net_name(size_t index)
{
    return index == 0 ? "chic" : NULL;
}

#define ROW(...) OPT_ROW(struct made_opts, __VA_ARGS__)
static const struct opt rows[] = {
    ROW("ranks", OPT_COUNT, ranks, "N", "ranks", .max = 99, .is_setting = true),
    ROW("seed", OPT_COUNT, seed, "N", "seed"),
    ROW("net", OPT_STRING, net, "NAME|FILE", "network", .known = net_name, .is_setting = true),
    ROW("level", OPT_STRING, level, "NAME", "level", .is_setting = true, .unless = "net"),
};
#undef ROW

static const struct opt_group groups[] = {OPT_GROUP("All", rows, 0)};
static const struct made_opts defaults = {.ranks = 1, .net = "chic"};
static const struct verb one = {
    .name = "one", .groups = groups, .group_count = 1, .defaults = &defaults, .values_size = sizeof defaults};
static const struct verb two = {
    .name = "two", .groups = groups, .group_count = 1, .defaults = &defaults, .values_size = sizeof defaults};

/* In place of verbs.c. */
const struct verb *const verbs[] = {&one, &two, NULL};
const struct left_out verbs_left_out[] = {{NULL, NULL}};

/* ---- files of one test ---- */

struct folder {
    char path[64], site[100], own[100];
    struct ui ui;
    char said[1000];
};

static void hear(void *arg, iw_log_level level, const char *text)
{
    struct folder *folder = arg;
    const size_t used = strlen(folder->said);

    (void)level;
    (void)snprintf(folder->said + used, sizeof folder->said - used, "%s%s%s\n",
                   folder->ui.option != NULL ? folder->ui.option : "", folder->ui.option != NULL ? ": " : "",
                   text);
}

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    (void)fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* NULL: there is no such file. */
static void make_folder(struct folder *folder, const char *site, const char *user, const char *own)
{
    static const bool is_never_heard = false;
    char path[100];

    (void)snprintf(folder->path, sizeof folder->path, "%s", "/tmp/iw_config_XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    (void)snprintf(folder->site, sizeof folder->site, "%s/site", folder->path);
    (void)snprintf(folder->own, sizeof folder->own, "%s/own", folder->path);
    (void)snprintf(path, sizeof path, "%s/user", folder->path);
    assert_int_equal(setenv("IDLEWAVE_CONFIG", path, 1), 0);
    write_file(path, user != NULL ? user : "");
    if (user == NULL) {
        assert_int_equal(unsetenv("IDLEWAVE_CONFIG"), 0);
        assert_int_equal(setenv("XDG_CONFIG_HOME", "/nowhere", 1), 0);
    }
    if (site != NULL) {
        write_file(folder->site, site);
    }
    if (own != NULL) {
        write_file(folder->own, own);
    }
    ui_init(&folder->ui, NULL, "idlewave");
    folder->ui.log = (iw_log){hear, folder};
    folder->ui.is_heard = &is_never_heard;
    folder->said[0] = '\0';
}

static void remove_folder(const struct folder *folder)
{
    char path[100];

    (void)snprintf(path, sizeof path, "%s/user", folder->path);
    (void)unlink(path);
    (void)unlink(folder->site);
    (void)unlink(folder->own);
    assert_int_equal(rmdir(folder->path), 0);
}

static int load(struct folder *folder, bool has_own, struct config *config)
{
    const struct config_opts opts = {.path = has_own ? folder->own : NULL};

    return config_load(&folder->ui, &opts, folder->site, config);
}

/* ---- tests ---- */

static void the_sites_file_gives_way_to_the_one_that_is_named(void **state)
{
    struct made_opts values = defaults;
    struct folder folder;
    struct config config;

    (void)state;
    make_folder(&folder, "ranks = 2\nlevel = node\n", NULL, "ranks = 3\n");
    assert_int_equal(load(&folder, true, &config), UI_DONE);
    config_apply(&folder.ui, &config, &one, &values);
    assert_int_equal(values.ranks, 3);
    assert_int_equal(OPT_ORIGIN(&values, ranks), OPT_FROM_FILE);
    assert_string_equal(values.level, "node");
    assert_int_equal(OPT_ORIGIN(&values, level), OPT_FROM_SITE);
    assert_int_equal(OPT_ORIGIN(&values, net), OPT_BUILT_IN);
    assert_false(opt_given(&values, net));
    assert_true(opt_given(&values, ranks) && !opt_typed(&values, ranks));
    assert_int_equal(config.use_count, 2);
    config_release(&config);
    remove_folder(&folder);
}

static void the_one_that_is_named_wins_over_the_users(void **state)
{
    struct made_opts values = defaults;
    struct folder folder;
    struct config config;

    (void)state;
    make_folder(&folder, "ranks = 2\n", "[one]\nranks = 4\n", "ranks = 5\n");
    assert_int_equal(load(&folder, true, &config), UI_DONE);
    config_apply(&folder.ui, &config, &one, &values);
    assert_int_equal(values.ranks, 5);
    config_release(&config);
    assert_int_equal(load(&folder, false, &config), UI_DONE); /* IDLEWAVE_CONFIG stands in for the site's */
    values = defaults;
    config_apply(&folder.ui, &config, &two, &values);
    assert_int_equal(values.ranks, 1);
    config_release(&config);
    remove_folder(&folder);
}

static void a_section_wins_over_lines_for_all_whatever_their_order(void **state)
{
    struct made_opts first = defaults, second = defaults;
    struct folder folder;
    struct config config;

    (void)state;
    make_folder(&folder, "net = chic\nranks = 6\n[one]\nranks = 7\n[two]\nnet = x.yaml\n", NULL, NULL);
    assert_int_equal(load(&folder, false, &config), UI_DONE);
    config_apply(&folder.ui, &config, &one, &first);
    assert_int_equal(first.ranks, 7);
    assert_string_equal(first.net, "chic");
    config_apply(&folder.ui, &config, &two, &second);
    assert_int_equal(second.ranks, 6);
    assert_int_equal(second.net[0], '/'); /* beside the file */
    assert_string_equal(strrchr(second.net, '/'), "/x.yaml");
    config_release(&config);
    remove_folder(&folder);
}

static void what_was_typed_stays(void **state)
{
    struct made_opts values = defaults;
    struct folder folder;
    struct config config;

    (void)state;
    make_folder(&folder, "ranks = 2\nnet = chic\nlevel = node\n", NULL, NULL);
    assert_int_equal(load(&folder, false, &config), UI_DONE);
    assert_true(opt_set(&folder.ui, &rows[2], &values, "mine", OPT_TYPED));
    config_apply(&folder.ui, &config, &one, &values);
    assert_string_equal(values.net, "mine");
    assert_null(values.level); /* that of another network */
    assert_int_equal(values.ranks, 2);
    assert_int_equal(config.use_count, 1);
    config_release(&config);
    remove_folder(&folder);
}

static void files_that_are_wrong_are_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"rank = 2", ":1: there is no option 'rank': did you mean 'ranks'?"},
        {"\n[three]\nranks = 2", ":3: there is no verb 'three'"},
        {"ranks = 100", ":1: ranks of one: '100' is too large: at most 99"},
        {"seed = 1", ":1: 'seed' is not a setting"},
        {"ranks", ":1: 'ranks' is not a setting: write option = value"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct folder folder;
        struct config config;

        make_folder(&folder, wrong[i].text, NULL, NULL);
        assert_int_equal(load(&folder, false, &config), UI_ERROR);
        assert_non_null(strstr(folder.said, wrong[i].words));
        assert_non_null(strstr(folder.said, folder.site));
        config_release(&config);
        remove_folder(&folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sites_file_gives_way_to_the_one_that_is_named),
        cmocka_unit_test(the_one_that_is_named_wins_over_the_users),
        cmocka_unit_test(a_section_wins_over_lines_for_all_whatever_their_order),
        cmocka_unit_test(what_was_typed_stays),
        cmocka_unit_test(files_that_are_wrong_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
