"""Checks an export or a proof of the audit log, written from docs/reference/audit/format.md alone: `python3 verify.py FILE`.

Prints `good` and exits 0, or prints what is wrong and exits 1. Where the record itself says that entries are lost it
prints which, and exits 3.
"""
import hashlib
import json
import sys

FORM = "crm-sync audit record 2"
MEMBERS = ["format", "sequence", "at", "kind", "subject", "body", "previous", "salt", "hash"]
SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def sha(data):
    return hashlib.sha256(data).digest()


def leaf_hash(data):
    return sha(b"\x00" + data)


def node_hash(left, right):
    return sha(b"\x01" + left + right)


def quoted(text):
    def one(char):
        code = ord(char)
        if char in SHORT:
            return SHORT[char]
        return "\\u%04x" % code if code < 0x20 or 0xD800 <= code <= 0xDFFF else char

    return '"' + "".join(map(one, text)) + '"'


def written(value):
    """A value as JSON.stringify writes it."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(quoted(name) + ":" + written(item) for name, item in value.items()) + "}"
    assert type(value) is int, "a value of another type"
    return str(value)


def hash_of(entry):
    assert entry["format"] == 2, "format"
    return leaf_hash(written([entry[name] for name in MEMBERS[:-1]]).encode())


class Tree:
    def __init__(self):
        self.size, self.roots = 0, []

    def append(self, one):
        self.roots.append(one)
        self.size += 1
        count = self.size
        while count % 2 == 0:
            right, left = self.roots.pop(), self.roots.pop()
            self.roots.append(node_hash(left, right))
            count //= 2

    def root(self):
        if not self.roots:
            return sha(b"")
        *others, root = self.roots
        for left in reversed(others):
            root = node_hash(left, root)
        return root


def included(index, size, path, root):
    """RFC 9162, 2.1.3.2: the root that a path leads to."""
    assert index < size, "leaf"
    last = size - 1
    for sibling in path:
        assert last > 0, "path too long"
        if index % 2 == 1 or index == last:
            root = node_hash(sibling, root)
            while index % 2 == 0 and index > 0:
                index, last = index // 2, last // 2
        else:
            root = node_hash(root, sibling)
        index, last = index // 2, last // 2
    assert last == 0, "path too short"
    return root


def grown(before, size, path, old, new):
    """RFC 9162, 2.1.4.2."""
    if before == size:
        return not path and old == new
    assert 0 < before < size, "since"
    if before & (before - 1) == 0:
        path = [old, *path]
    index, last = before - 1, size - 1
    while index % 2 == 1:
        index, last = index // 2, last // 2
    first, *rest = path
    left = right = first
    for sibling in rest:
        assert last > 0, "path too long"
        if index % 2 == 1 or index == last:
            left, right = node_hash(sibling, left), node_hash(sibling, right)
            while index % 2 == 0 and index > 0:
                index, last = index // 2, last // 2
        else:
            right = node_hash(right, sibling)
        index, last = index // 2, last // 2
    return (left, right, last) == (old, new, 0)


def lost_by(entry):
    """Which entries an entry says are lost, in words; None where it says nothing of that."""
    if entry["kind"] != "gap":
        return None
    gap = json.loads(entry["body"])
    first, until = gap["from"]["sequence"] + 1, gap["until"]
    if until is not None and until["sequence"] < first:
        return None
    last = "on" if until is None else "to %d" % until["sequence"]
    return "entries from %d %s are lost, as entry %d says" % (first, last, entry["sequence"])


def check_export(text):
    assert text.endswith("\n"), "cut off"
    lines = text[:-1].split("\n")
    items = [json.loads(line) for line in lines]
    for line, item in zip(lines, items):
        assert written(item) == line, "line"
    head, *rest = items
    assert list(head) == ["export", "entries"] and head["export"] == FORM, "form"
    tree, count, previous, checked, ended = Tree(), 0, "", 0, False
    lost = []
    for item in rest:
        assert not ended, "line after the end"
        is_due = count > 0 and count % 1000 == 0 and checked < count
        name = next(iter(item))
        if name in ("checkpoint", "end"):
            assert name == "end" or is_due, "checkpoint"
            found = {"entries": count, "size": tree.size, "root": tree.root().hex()}
            assert list(item) == [name] and written(item[name]) == written(found), "tree"
            checked, ended = count, name == "end"
            continue
        assert not is_due, "checkpoint missing"
        count += 1
        assert list(item) == MEMBERS, "members"
        assert item["sequence"] == count and item["previous"] == previous, "order"
        assert hash_of(item).hex() == item["hash"], "hash"
        tree.append(bytes.fromhex(item["hash"]))
        previous = item["hash"]
        lost.append(lost_by(item))
    assert ended and count == head["entries"], "cut off"
    return [one for one in lost if one]


def unhex(path):
    return [bytes.fromhex(one) for one in path]


def check_proof(text):
    proof = json.loads(text)
    assert proof["proof"] == FORM, "form"
    assert json.dumps(proof, indent=2, ensure_ascii=False) + "\n" == text, "form"
    wanted = ["proof", "about", "tree", "since", "entries"]
    assert list(proof) == [name for name in wanted if name in proof or name != "since"], "members"
    tree = proof["tree"]
    assert list(tree) == ["size", "root"], "tree"
    size, root = tree["size"], bytes.fromhex(tree["root"])
    assert proof["entries"], "it proves no entry"
    if "since" in proof:
        since = proof["since"]
        assert since["size"] == since["sequence"], "since"
        assert grown(since["size"], size, unhex(since["path"]), bytes.fromhex(since["root"]), root), "since"
    last = 0
    for entry in proof["entries"]:
        assert list(entry) == [*MEMBERS, "leaf", "path"], "members"
        assert entry["subject"] == proof["about"], "entry"
        assert entry["sequence"] > last and hash_of(entry).hex() == entry["hash"], "entry"
        last = entry["sequence"]
        assert entry["leaf"] == last - 1, "leaf"
        assert included(entry["leaf"], size, unhex(entry["path"]), bytes.fromhex(entry["hash"])) == root, "path"


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8", newline="") as file:
            content = file.read()
        missing = (check_proof if content.startswith("{\n") else check_export)(content)
        print("\n".join(missing) if missing else "good")
        sys.exit(3 if missing else 0)
    except (AssertionError, KeyError, ValueError, StopIteration, TypeError, RecursionError) as error:
        print(f"BAD {error}")
        sys.exit(1)
