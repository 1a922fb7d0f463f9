/* A menu of all versions of the site that lie beside this one, as ../versions.js lists them; none if there is only one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
(function () {
    "use strict";
    const root = document.documentElement.dataset.content_root || (window.DOCUMENTATION_OPTIONS || {}).URL_ROOT || "./";
    const list = document.createElement("script");

    function show() {
        const versions = window.idlewaveVersions || [], brand = document.querySelector(".sidebar-brand");
        if (versions.length < 2 || !brand) {
            return;
        }
        const box = document.createElement("label"), menu = document.createElement("select");
        const here = new URL(root, location.href).pathname.split("/").filter(Boolean).pop();
        box.className = "idlewave-versions";
        box.textContent = "Version ";
        for (const version of versions) {
            menu.add(new Option(version, version, false, version === here));
        }
        menu.addEventListener("change", function () { location.href = root + "../" + menu.value + "/index.html"; });
        box.append(menu);
        brand.after(box);
    }

    list.src = root + "../versions.js";
    list.addEventListener("load", show);
    document.head.append(list);
})();
