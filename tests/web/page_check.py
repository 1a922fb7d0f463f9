"""What must hold for every page that idlewave writes, by its text alone.

SPDX-License-Identifier: BSD-3-Clause
"""

import html.parser
import re

VOID = {"meta", "br", "hr", "img", "input", "link", "line", "rect", "circle", "path"}
NAMESPACE = re.compile(r"https?://www\.w3\.org/[\w/]+")
MOST_BYTES = 3 * 1024 * 1024


class Structure(html.parser.HTMLParser):
    """Tags that do not match, ids that occur twice, things that would be fetched; and what there is."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.findings, self.ids = [], [], set()
        self.count, self.scripts, self.labels, self.links = {}, [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            if attributes["id"] in self.ids:
                self.findings.append(f"id '{attributes['id']}' occurs twice")
            self.ids.add(attributes["id"])
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = attributes.get(name)
            if value is not None and not value.startswith("#"):
                self.findings.append(f"<{tag} {name}=\"{value[:60]}\">: pages have nothing from elsewhere")
        if tag == "a":
            self.links.append(attributes.get("href", ""))
        if attributes.get("role") == "img":
            self.labels.append(attributes.get("aria-label", ""))
        if any(name.startswith("on") for name in attributes):
            self.findings.append(f"<{tag}> has a handler in its attributes")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.findings.append(f"</{tag}> at line {self.getpos()[0]} closes {self.open[-1:] or 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def findings(text):
    """Sentences on what is wrong; none: all is well."""
    structure = Structure()
    structure.feed(text)
    structure.close()
    found = structure.findings + [f"<{tag}> is never closed" for tag in structure.open]
    found += [f"link to '{link}', which is not there" for link in structure.links if link[1:] not in structure.ids]
    figures = structure.count.get("figure", 0)
    for tag in ("figcaption", "h3"):
        if structure.count.get(tag, 0) != figures:
            found.append(f"{figures} figures, but {structure.count.get(tag, 0)} <{tag}>")
    if structure.count.get("details") != structure.count.get("summary"):
        found.append("details without a summary")
    if structure.count.get("table") != structure.count.get("caption"):
        found.append("a table without a caption")
    if len(structure.labels) != figures or any(len(label) < 20 for label in structure.labels):
        found.append("a plot whose label does not tell its message")
    without_comments = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    if "://" in NAMESPACE.sub("", without_comments):
        found.append("an address of something elsewhere")
    if len(text.encode()) > MOST_BYTES:
        found.append(f"{len(text.encode())} bytes are too many")
    if structure.scripts:
        found.append("a page without scripts has some")
    return found
