#!/usr/bin/env python3
"""Finds phrases in help, messages and documentation that readers stumble over, and scores sentences.

SPDX-License-Identifier: BSD-3-Clause

Usage: check_prose.py [--root ROOT] [--worst COUNT] [FILE ...]

Reads Markdown (without code, and without docs/validation/data) and the string literals of C sources (without tests). Each phrase of
PHRASES is an error, with what to write instead; ALLOWED has the exceptions, each with its reason, and none that nothing needs.
--worst COUNT lists the sentences with the highest scores instead: a point for each word beyond 25, three for each
subordinate clause beyond the first, two for each "of" beyond the second, ten for a phrase of PHRASES.
"""

import argparse
import pathlib
import re
import sys

PER = "node|line|rank|message|second|step|socket|core|CPU|GPU|process|operation|call|trial|day|minute|hour|file|host|job|side|record"
PHRASES = [(re.compile(pattern), instead) for pattern, instead in (
    (r"\bat least 0(?:\.0+\b| %|x)", "no measurable effect"),
    (r"\bTo do:", "Remedy:"),
    (r"\b[Rr]estart points?\b", "checkpoint"),
    (r"\b[Dd]ependences?\b", "dependency"),
    (rf"(?:%[a-z]+|\b\d+(?:[.,]\d+)*|\b(?:one|two|four|N)) ?(?:ranks?|cores?|bytes?|[num]?s|CPUs?|process(?:es)?|GPUs?|points?|numbers?|values?"
     rf"|samples?|messages?|lines?|nodes?|NICs?|%%)? ?\ban? (?:{PER})\b", "per NOUN"),
    (r"\b(?:no(?:t)?|is|are|be|than) (?:more than )?(?:by )?chance\b", "not significant"),
    (r"\bno more than chance\b", "not significant"),
    (r"\b[Uu]pper ends?\b", "upper limit"),
    (r"\bgo(?:es|ne|ing)? on with\b|\bgoes on\b|\bgo on\b", "resume, continue"),
    (r"\b(?:cannot|can) be told\b|\bnobody can tell\b|\b(?:not|be) told apart\b", "unknown, unclassified"),
    (r"\b(?:[Ww]hat|which) (?:comes (?:less|more|once)|leads out)\b", "a noun: rare events, traffic"),
    (r"\bWhat (?:is done|was done|comes|leads)\b", "a noun as subject"),
    (r"\bso many\b", "a count, this many"),
    (r"\b(?:is|are) (?:nothing|none) (?:that|of)\b", "is not a ..."),
    (r"\b(?:frames? of pandas|figures? of matplotlib|profiles? of PyTorch|programs? of users|users' programs|sources? of noise)\b",
     "a compound: pandas DataFrames, user programs, noise sources"),
    (r"\bit takes (?:about )?(?:%[a-z]+|\d+)(?! ?(?:[num]?s|min|h|KiB|MiB|GiB|%|x|times)\b)|\bthat will take about", "at least N are needed; about 30 s"),
    (r"\badmits?\b", "reports"),
    (r"\bfound no room\b|\bfinds? no room\b", "are summed as 'other'"),
    (r"\bin the order of time\b|\border of the times?\b", "in time order"),
    (r"\b(?:a|the|their|its) one a\b", "one per"),
    (r"\b(?:That|It|this|that|it) is as if\b", "equivalent to"),
    (r"\bpoints? less\b", "would take X instead of Y"),
    (r"\bhas to go\b|\bhave to go\b", "what to remove"),
    (r"\bis no (?:error|verdict|file|network|recording|number|name|trace|noise|pattern|folder|collective)\b", "is not a ..."),
    (r"\bare no (?:files|networks|recordings|numbers|names|traces|saving|savings)\b", "are not ..."),
    (r"\bby (?:that|which|this) much\b", "by this amount, or the amount"),
    (r"\bas it (?:is|was) (?:there|here)\b", "unchanged"),
    (r"\bmeets? nobody\b|\bmeet nobody\b", "local calls"),
    (r"\b(?:which|what|where) (?:run|file|node|recording|network)\?", "say what to type; do not ask"),
    (r"\bis done,? stays\b", "is kept"),
    (r"\beach alone\b", "each on its own"),
    (r"\brung\b", "level"),
    (r"\bfor so long\b|\bso long\b", "this long"),
    (r"\bof theirs\b|\bof its own kind\b", "say whose"),
    (r"\bhow (?:noisy|wrong|sure|fast|slow|busy) [a-z ]{2,25} is (?:cannot|is not)\b", "not measured"),
    (r"\bTherefore\b|\btherefore,", "so"),
    (r"\bthere that\b|\bthat that\b", "one clause"),
    (r"\bthe more [a-z]+ the more\b", "two plain clauses"),
)]

# (phrase as found in its sentence, reason)
ALLOWED = (
    ("it takes %s as long", "a factor, not a count"),
    ("# rung: %s", "a key of files, which 0.2 reads too"),
)

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
CLAUSE = re.compile(r"\b(?:that|which|who|whom|whose|what|where|when|while|because|if|unless|until|so that|whether|how)\b")


def markdown_texts(text):
    """(line number, text) of each paragraph, list item and table cell outside of code."""
    in_code, in_comment, start, lines = False, False, 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        if re.match(r"^\s*(`{3,}|~{3,})", line):
            in_code = not in_code
            line = ""
        elif in_code:
            continue
        if "<!--" in line:
            in_comment = True
        if in_comment:
            in_comment = "-->" not in line
            line = ""
        begins = re.match(r"^\s*([-*+]|\d+\.|#+|>|\|) ?", line)
        if lines and (not line.strip() or begins):
            yield start, " ".join(lines)
            lines = []
        if line.lstrip().startswith("|"):
            for cell in line.strip().strip("|").split("|"):
                yield number, cell.strip()
        elif line.strip():
            start = start if lines else number
            lines.append(line[begins.end():] if begins else line.strip())


def plain(text):
    """Markdown without links, code and emphasis."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    return re.sub(r"\*\*?|__", "", text)


def c_texts(text):
    """(line number, text) of each string literal, adjacent ones joined, that reads like prose."""
    start, parts, end = 0, [], 0
    for match in LITERAL.finditer(re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)):
        between = text[end:match.start()]
        if parts and re.fullmatch(r'(?:\s|PRI\w+)*', between):
            parts.append(match.group(1))
        else:
            yield start, "".join(parts)
            start, parts = text.count("\n", 0, match.start()) + 1, [match.group(1)]
        end = match.end()
    yield start, "".join(parts)


def texts(path):
    content = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".md":
        for number, text in markdown_texts(content):
            yield number, plain(text)
        return
    for number, text in c_texts(content):
        if text.count(" ") >= 2 and not text.lstrip().startswith(("<", "{", "#include")):
            yield number, text.replace("\\n", " ")


def sentences(path):
    for number, text in texts(path):
        for sentence in re.split(r"(?<=[.!?;:])\s+", text):
            if sentence.count(" ") >= 2:
                yield number, sentence.strip()


def files(root):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if any(part in ("build", "tests", ".git", "_work") or part.startswith(".") for part in parts[:-1]):
            continue
        if path.suffix == ".md" and parts[:3] != ("docs", "validation", "data"):
            yield path
        elif path.suffix in (".c", ".h") and parts[0] in ("src", "cli", "mpi", "nccl", "include"):
            yield path


def score(sentence):
    words = len(sentence.split())
    clauses = len(CLAUSE.findall(sentence))
    phrases = sum(len(pattern.findall(sentence)) for pattern, _ in PHRASES)
    return max(0, words - 25) + 3 * max(0, clauses - 1) + 2 * max(0, len(re.findall(r"\bof\b", sentence)) - 2) + 10 * phrases


def worst(paths, root, count):
    scored = [(score(sentence), f"{path.relative_to(root)}:{number}", sentence)
              for path in paths for number, sentence in sentences(path)]
    total = sum(item[0] for item in scored)
    print(f"{len(scored)} sentences, {sum(item[0] > 0 for item in scored)} with a score, {total} in all")
    for points, place, sentence in sorted(scored, reverse=True)[:count]:
        print(f"{points:4} {place}: {sentence}")


def check(paths, root):
    findings, needed = 0, set()
    for path in paths:
        for number, text in texts(path):
            for pattern, instead in PHRASES:
                for match in pattern.finditer(text):
                    around = text[max(0, match.start() - 40):match.end() + 40]
                    reasons = [allowed for allowed, _ in ALLOWED if allowed in around]
                    needed.update(reasons)
                    if not reasons:
                        print(f"{path.relative_to(root)}:{number}: '{match.group()}': {instead}: …{around}…")
                        findings += 1
    return findings, needed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--worst", type=int, metavar="COUNT")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    paths = [path.resolve() for path in arguments.files] or list(files(root))
    if arguments.worst is not None:
        worst(paths, root, arguments.worst)
        return 0
    findings, needed = check(paths, root)
    unneeded = [] if arguments.files else [allowed for allowed, _ in ALLOWED if allowed not in needed]
    for allowed in unneeded:
        print(f"nothing needs the exception '{allowed}'")
    print(f"{findings} phrases to rewrite, {len(ALLOWED)} exceptions")
    return 1 if findings or unneeded else 0


if __name__ == "__main__":
    sys.exit(main())
