/* Values of what is known of a node, in the words of people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ATTRIBUTE_TEXT_H
#define IWI_ATTRIBUTE_TEXT_H

/* The value of an attribute of recordings as people say it: "KVM" for the hypervisor "KVMKVMKVM"; `value`
 * itself where there is no other word. */
const char *iwi_attribute_text(const char *name, const char *value);

#endif
