"""Checks an export of the audit record by docs/audit/format.md: `python3 verify.py audit.ndjson`. Exits 0 or 1."""
import hashlib
import json
import sys


def sha(data):
    return hashlib.sha256(data).hexdigest()


def text(entry):
    names = ("format", "sequence", "at", "kind", "subject", "body", "previous") + (("salt",) if entry["format"] == 2 else ())
    return json.dumps([entry[name] for name in names], ensure_ascii=False, separators=(",", ":")).encode()


def leaf(data):
    return sha(b"\x00" + data)


def root(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else sha(b"")
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return sha(b"\x01" + bytes.fromhex(root(leaves[:half])) + bytes.fromhex(root(leaves[half:])))


def check(lines):
    head, *rest = [json.loads(line) for line in lines if line.strip()]
    assert head["export"] == "crm-sync audit record 2", "form"
    chain, leaves, last, end = [], [], None, None
    for item in rest:
        assert end is None, "line after the end"
        said = item.get("checkpoint") or item.get("end")
        if said is None:
            assert item["sequence"] == (last["sequence"] if last else 0) + 1, "sequence"
            assert item["previous"] == (last["hash"] if last else ""), "previous"
            assert item["format"] in (1, 2) and item["format"] >= (last["format"] if last else 1), "format"
            data = text(item)
            assert item["hash"] == (sha(data) if item["format"] == 1 else leaf(data)), "hash"
            (chain if item["format"] == 1 else leaves).append(item["hash"])
            last = item
            continue
        before = [leaf(json.dumps(["chain", 1, len(chain), chain[-1]], separators=(",", ":")).encode())] if chain else []
        found = (last["sequence"] if last else 0, len(before + leaves), root(before + leaves))
        assert (said["entries"], said["size"], said["root"]) == found, "tree"
        end = item.get("end")
    assert end is not None and end["entries"] == head["entries"], "cut off"


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8", errors="surrogatepass") as file:
            check(file.read().split("\n"))
        print("good")
    except AssertionError as error:
        print(f"BAD {error}")
        sys.exit(1)
