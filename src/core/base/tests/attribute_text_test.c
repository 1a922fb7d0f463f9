/* Values of attributes in the words of people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "core/base/attribute_text.h"

static void hypervisors_have_names(void **state)
{
    (void)state;
    assert_string_equal(iwi_attribute_text("hypervisor", "KVMKVMKVM"), "KVM");
    assert_string_equal(iwi_attribute_text("hypervisor", "VMwareVMware"), "VMware");
    assert_string_equal(iwi_attribute_text("hypervisor", "Microsoft Hv"), "Hyper-V");
    assert_string_equal(iwi_attribute_text("hypervisor", "XenVMMXenVMM"), "Xen");
}

static void all_else_stays_as_it_is(void **state)
{
    (void)state;
    assert_string_equal(iwi_attribute_text("hypervisor", "none"), "none");
    assert_string_equal(iwi_attribute_text("hypervisor", "a new one"), "a new one");
    assert_string_equal(iwi_attribute_text("host", "KVMKVMKVM"), "KVMKVMKVM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hypervisors_have_names),
        cmocka_unit_test(all_else_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
