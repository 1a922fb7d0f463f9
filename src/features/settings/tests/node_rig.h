/* What tests of reading share: a node and the folder that its files are in.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_NODE_RIG_H
#define IWT_NODE_RIG_H

#include <stdlib.h>

#include "features/settings/node.h"
#include "support/fake_root.h"
#include "support/support.h"

struct rig {
    struct iwi_node_facts node;
    char root[FAKE_ROOT_SIZE];
};

static inline int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);

    assert_non_null(rig);
    fake_root_make(rig->root);
    fake_root_file(rig->root, "/sys/devices/system/cpu/online", "0-7\n");
    *state = rig;
    return 0;
}

static inline int tear_down(void **state)
{
    struct rig *rig = *state;

    iwi_node_release(&rig->node);
    fake_root_remove(rig->root);
    free(rig);
    return 0;
}

static inline const struct iwi_node_facts *read_node(struct rig *rig)
{
    iwi_node_release(&rig->node);
    assert_ok(iwi_node_read(NULL, rig->root, &rig->node));
    return &rig->node;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
