/* What Slurm's files and variables say about a node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "node_rig.h"

static void lists_of_hosts_are_understood(void **state)
{
    static const struct {
        const char *hosts, *name;
        bool is_there;
    } cases[] = {
        {"n1", "n1", true},
        {"n1", "n12", false},
        {"n1,n12", "n12", true},
        {"node[01-99,120]", "node07", true},
        {"node[01-99,120]", "node7", false},
        {"node[01-99,120]", "node120", true},
        {"node[01-99,120]", "node119", false},
        {"node[8-12]", "node10", true},
        {"node[8-12]", "node010", false},
        {"rack[1-2]n[01-16]x,login[1-3]", "rack2n16x", true},
        {"rack[1-2]n[01-16]x,login[1-3]", "rack3n16x", false},
        {"rack[1-2]n[01-16]x,login[1-3]", "login3", true},
        {"n[", "n1", false},
        {"n[]", "n1", false},
        {"n[1-", "n1", false},
        {"n[,,1]", "n1", false},
        {"", "n1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (iwi_is_slurm_host(cases[i].hosts, cases[i].name) != cases[i].is_there) {
            fail_msg("'%s' and '%s'", cases[i].hosts, cases[i].name);
        }
    }
}

static void slurm_s_settings_of_this_node_are_found(void **state)
{
    static const char conf[] = "/etc/slurm/slurm.conf";
    struct rig *rig = *state;

    fake_root_file(rig->root, "/proc/sys/kernel/hostname", "n1.cluster\n");
    fake_root_file(rig->root, conf, "#CoreSpecCount=9\nNodeName=n1 CPUs=8 \\\n  CpuSpecList=0,1 # x\n");
    assert_string_equal(read_node(rig)->core_spec, "CpuSpecList=0,1");
    fake_root_file(rig->root, conf, "NodeName=n2 CoreSpecCount=2\nNodeName=n1 CPUs=8\n");
    assert_string_equal(read_node(rig)->core_spec, "");
    fake_root_file(rig->root, conf, "NodeName=DEFAULT CoreSpecCount=2\nNodeName=n[1-8] CPUs=8\n");
    assert_string_equal(read_node(rig)->core_spec, "CoreSpecCount=2");
    fake_root_file(rig->root, conf, "NodeName=DEFAULT CoreSpecCount=2\nNodeName=n[1-8] CoreSpecCount=0\n");
    assert_string_equal(read_node(rig)->core_spec, "");
}

static void what_a_job_asked_for_counts_more(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/proc/sys/kernel/hostname", "4f1d2c7a9e0b\n");
    fake_root_file(rig->root, "/etc/slurm/slurm.conf", "NodeName=n[1-8] CoreSpecCount=1\n");
    assert_string_equal(read_node(rig)->core_spec, "");
    fake_root_file(rig->root, "/proc/self/environ", "SLURMD_NODENAME=n7");
    assert_string_equal(read_node(rig)->core_spec, "CoreSpecCount=1");
    fake_root_file(rig->root, "/proc/self/environ", "SLURM_CORE_SPEC=2");
    assert_string_equal(read_node(rig)->core_spec, "SLURM_CORE_SPEC=2");
    fake_root_file(rig->root, "/proc/sys/kernel/hostname", "n7\n");
    fake_root_file(rig->root, "/proc/self/environ", "SLURM_CORE_SPEC=0");
    assert_string_equal(read_node(rig)->core_spec, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lists_of_hosts_are_understood),
        TEST(slurm_s_settings_of_this_node_are_found),
        TEST(what_a_job_asked_for_counts_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
