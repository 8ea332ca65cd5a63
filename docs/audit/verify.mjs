#!/usr/bin/env node
// Checks what `crm-sync audit export` and `crm-sync audit prove` write, by the format in format.md beside this file.
// It needs Node 18 or newer and nothing else, and shares no code with crm-sync.
//
//   node verify.mjs audit.ndjson [--key VERIFIER] [--heads ledger.db.heads checkpoint.txt ...]
//   node verify.mjs proof.json   [--key VERIFIER] [--heads ledger.db.heads checkpoint.txt ...]
//
// Ends with 0 where everything fits, with 1 where something does not, and with 2 where it cannot be judged.
import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const form = "crm-sync audit record 2";
const sha256 = (...parts) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const zero = Buffer.from([0]);
const one = Buffer.from([1]);

class Wrong extends Error {}
class Unclear extends Error {}

const wrong = (code, message) => {
  throw new Wrong(`${code}: ${message}`);
};

function textOf({ format, sequence, at, kind, subject, body, previous }) {
  return Buffer.from(JSON.stringify([format, sequence, at, kind, subject, body, previous]));
}

function hashOf(entry) {
  const text = textOf(entry);
  return entry.format === 1 ? sha256(text) : sha256(zero, text);
}

/** The Merkle tree of RFC 9162 as the roots of its complete subtrees, the largest first. */
class Tree {
  size = 0;
  roots = [];

  append(leaf) {
    let root = leaf;
    for (let rest = this.size; rest % 2 === 1; rest = (rest - 1) / 2) root = sha256(one, this.roots.pop(), root);
    this.roots.push(root);
    this.size += 1;
  }

  root() {
    if (this.roots.length === 0) return sha256().toString("hex");
    return this.roots.reduceRight((right, left) => sha256(one, left, right)).toString("hex");
  }
}

/** What heads kept outside say, by the entry that they are of. With a key, a checkpoint has to be signed by it. */
function headsIn(paths, verifier) {
  const heads = new Map();
  for (const path of paths) {
    const text = readFileSync(path, "utf8");
    const add = (head, checkpoint) => {
      const { sequence, hash, root } = head;
      const isWhole = () =>
        checkpoint?.isSigned(verifier) === true &&
        checkpoint.sequence === sequence &&
        checkpoint.hash === hash &&
        checkpoint.root === root;
      if (verifier !== undefined && !isWhole())
        wrong("head-signature", `the head of entry ${sequence} in ${path} is not as the key signed it`);
      heads.set(sequence, [...(heads.get(sequence) ?? []), { sequence, hash, root }]);
    };
    const before = heads.size;
    for (const line of text.split("\n")) {
      let head;
      try {
        head = JSON.parse(line);
      } catch {
        continue;
      }
      if (typeof head?.sequence !== "number" || head.sequence === 0) continue;
      add(head, typeof head.checkpoint === "string" ? checkpointIn(head.checkpoint) : undefined);
    }
    const checkpoint = heads.size === before ? checkpointIn(text) : undefined;
    if (checkpoint !== undefined) add(checkpoint, checkpoint);
  }
  return heads;
}

/** A checkpoint as a signed note (C2SP), whatever stands before it. */
function checkpointIn(kept) {
  const begin = kept.search(/^crm-sync\//m);
  if (begin === -1) return undefined;
  const [text, signatures = ""] = kept.slice(begin).split("\n\n", 2);
  const [origin, size, root, entry = "", hash = ""] = text.split("\n");
  const isSigned = (verifier) => {
    const [name, id, ...encoded] = verifier.split("+");
    const key = Buffer.from(encoded.join("+"), "base64");
    if (name !== origin || key[0] !== 1 || key.length !== 33) return false;
    const raw = key.subarray(1);
    const own = sha256(Buffer.from(`${name}\n`), one, raw).subarray(0, 4);
    if (own.toString("hex") !== id) return false;
    const publicKey = createPublicKey({
      key: { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") },
      format: "jwk",
    });
    return signatures.split("\n").some((line) => {
      const [mark, signer, signature = ""] = line.split(" ");
      const bytes = Buffer.from(signature, "base64");
      if (mark !== "—" || signer !== name || !bytes.subarray(0, 4).equals(own)) return false;
      return verify(null, Buffer.from(`${text}\n`), publicKey, bytes.subarray(4));
    });
  };
  if (!/^\d+$/.test(size ?? "") || !entry.startsWith("entry ") || !hash.startsWith("hash ")) return undefined;
  const said = {
    sequence: Number(entry.slice(6)),
    hash: hash.slice(5),
    root: Buffer.from(root, "base64").toString("hex"),
  };
  return { ...said, isSigned };
}

async function checkExport(path, heads) {
  const chain = { entries: 0, hash: "" };
  const tree = new Tree();
  const now = () => {
    if (tree.size > 0 || chain.entries === 0) return { size: tree.size, root: tree.root() };
    const alone = new Tree();
    alone.append(chainLeaf(chain));
    return { size: 1, root: alone.root() };
  };
  let promised;
  let entries = 0;
  let previous = "";
  let format = 1;
  let end;
  let unlike;
  let lastFitting = 0;
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number += 1;
    if (line === "") continue;
    let item;
    try {
      item = JSON.parse(line);
    } catch {
      wrong("line-broken", `line ${number} is no JSON`);
    }
    if (end !== undefined) wrong("line-after-end", `line ${number} stands after the end`);
    if (promised === undefined) {
      if (item.export !== form) throw new Unclear(`${path} does not begin as an export of the form "${form}"`);
      promised = item.entries;
      continue;
    }
    if (item.checkpoint !== undefined || item.end !== undefined) {
      const said = item.checkpoint ?? item.end;
      const { size, root } = now();
      if (said.entries !== entries || said.size !== size || said.root !== root)
        wrong(
          "tree-changed",
          `the tree that line ${number} gives after entry ${entries} is not the one of the entries`,
        );
      if (item.end !== undefined) end = said;
      continue;
    }
    const expected = entries + 1;
    if (item.sequence > expected)
      wrong("entry-missing", `entry ${expected} is missing: the next one is ${item.sequence}`);
    if (item.sequence !== expected) wrong("entry-repeated", `entry ${item.sequence} stands after entry ${entries}`);
    if (item.format !== 1 && item.format !== 2)
      wrong("entry-format", `entry ${expected} has the format ${item.format}`);
    if (item.format < format) wrong("entry-format", `entry ${expected} has an earlier format than the one before it`);
    const hash = hashOf(item);
    const isWhole = hash.toString("hex") === item.hash;
    const isLinked = item.previous === previous;
    if (!isWhole && !isLinked) wrong("entry-moved", `neither the hash of entry ${expected} nor what it follows fits`);
    if (!isWhole) wrong("entry-changed", `the hash of entry ${expected} does not fit its content`);
    if (!isLinked) wrong("entry-unlinked", `entry ${expected} does not follow the one before it`);
    entries = expected;
    previous = item.hash;
    format = item.format;
    if (format === 1) {
      chain.entries = entries;
      chain.hash = item.hash;
    } else {
      if (tree.size === 0 && chain.entries > 0) tree.append(chainLeaf(chain));
      tree.append(hash);
    }
    const kept = heads.get(entries);
    if (kept !== undefined) {
      const fits = (head) =>
        head.hash === item.hash && (head.root === undefined || format === 1 || head.root === tree.root());
      if (!kept.every(fits)) unlike ??= entries;
      if (kept.some(fits)) lastFitting = entries;
    }
  }
  if (unlike !== undefined && lastFitting < unlike)
    wrong("record-rewritten", `entry ${unlike} is not the one whose head was kept outside`);
  if (unlike !== undefined)
    wrong("heads-disagree", `entry ${unlike} is not the one of a head that was kept outside, and another head fits`);
  if (end === undefined || entries !== promised)
    wrong("cut-off", `the export says ${promised} entries, and it breaks off after ${entries}`);
  const longest = Math.max(0, ...heads.keys());
  if (longest > entries)
    wrong("cut-off", `it ends at entry ${entries}, and a head of entry ${longest} was kept outside`);
  const { size, root } = now();
  return [
    `good: ${entries} entries, each follows the one before it`,
    `tree: ${size} leaves, root ${root}`,
    heads.size === 0
      ? "no head from outside was given: entries cut off at the end, or everything written anew, cannot be seen"
      : `heads: ${heads.size} that were kept outside fit`,
  ];
}

/** The first leaf, where there are entries of format 1: it stands for all of them. */
function chainLeaf({ entries, hash }) {
  return sha256(zero, Buffer.from(JSON.stringify(["chain", 1, entries, hash])));
}

/** RFC 9162, 2.1.3.2. */
function rootBy(leaf, index, size, path) {
  let at = index;
  let last = size - 1;
  let root = leaf;
  if (index >= size) return undefined;
  for (const text of path) {
    const sibling = Buffer.from(text, "hex");
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      root = sha256(one, sibling, root);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else root = sha256(one, root, sibling);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root.toString("hex") : undefined;
}

/** RFC 9162, 2.1.4.2: the roots of the earlier and the later tree that a path leads to. */
function rootsBy(before, size, earlier, given) {
  const isPower = Number.isInteger(Math.log2(before));
  const path = (isPower ? [earlier, ...given] : given).map((text) => Buffer.from(text, "hex"));
  if (before < 1 || before > size || path.length === 0) return [];
  let at = before - 1;
  let last = size - 1;
  while (at % 2 === 1) {
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  let left = path[0];
  let right = path[0];
  for (const sibling of path.slice(1)) {
    if (last === 0) return [];
    if (at % 2 === 1 || at === last) {
      left = sha256(one, sibling, left);
      right = sha256(one, sibling, right);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else right = sha256(one, right, sibling);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? [left.toString("hex"), right.toString("hex")] : [];
}

function checkProof(proof, heads) {
  const { about, tree, entries, entriesBeforeTheTree } = proof;
  for (const entry of entries) {
    if (entry.subject !== about) wrong("entry-of-another", `entry ${entry.sequence} is not about ${about}`);
    if (entry.format !== 2) wrong("entry-format", `entry ${entry.sequence} has the format ${entry.format}`);
    const leaf = hashOf(entry);
    if (leaf.toString("hex") !== entry.hash)
      wrong("entry-changed", `the hash of entry ${entry.sequence} does not fit its content`);
    const place = tree.chainEntries === 0 ? entry.sequence - 1 : entry.sequence - tree.chainEntries;
    if (entry.leaf !== place) wrong("entry-moved", `entry ${entry.sequence} is said to be leaf ${entry.leaf}`);
    if (rootBy(leaf, entry.leaf, tree.size, entry.path) !== tree.root)
      wrong("entry-not-proven", `entry ${entry.sequence} does not lead to the root ${tree.root}`);
  }
  const { since } = proof;
  if (since !== undefined) {
    const { size, root, path, sequence } = since;
    if (size !== (tree.chainEntries === 0 ? sequence : sequence - tree.chainEntries + 1))
      wrong("entry-moved", `the tree that ends with entry ${sequence} is said to have ${size} leaves`);
    const [earlier, later] = size === tree.size ? [root, root] : rootsBy(size, tree.size, root, path);
    if (earlier !== root || later !== tree.root)
      wrong("record-rewritten", `the record did not grow from the root ${root} of entry ${sequence}`);
    if ((heads.get(sequence) ?? []).some((head) => head.root !== undefined && head.root !== root))
      wrong("record-rewritten", `the root of entry ${sequence} is not the one that was kept outside`);
  }
  const last = tree.chainEntries === 0 ? tree.size : tree.chainEntries + tree.size - 1;
  const kept = (heads.get(last) ?? []).filter((head) => head.root !== undefined);
  if (kept.some((head) => head.root !== tree.root))
    wrong("record-rewritten", `the root is not the one whose head of entry ${last} was kept outside`);
  return [
    `good: ${entries.length} entries about ${about} are in the tree of ${tree.size} leaves with the root ${tree.root}`,
    ...(since === undefined ? [] : [`grown: from the root ${since.root} of entry ${since.sequence}, by entries alone`]),
    ...(entriesBeforeTheTree > 0
      ? [
          `${entriesBeforeTheTree} earlier entries about it are from before the tree: an export of everything proves them`,
        ]
      : []),
    kept.length > 0
      ? `heads: that root was kept outside, as of entry ${last}`
      : `compare the root with a head that was kept outside, of entry ${last}: none of it was given`,
  ];
}

async function main(words) {
  const [path, ...rest] = words;
  const verifier = rest[0] === "--key" ? rest.splice(0, 2)[1] : undefined;
  const [option, ...copies] = rest;
  if (path === undefined || (option !== undefined && (option !== "--heads" || copies.length === 0)))
    throw new Unclear("usage: node verify.mjs audit.ndjson|proof.json [--key VERIFIER] [--heads FILE ...]");
  const heads = headsIn(copies, verifier);
  const begin = await firstLine(path);
  return begin.trim() === "{" || begin.startsWith('{"proof"')
    ? checkProof(proofIn(path), heads)
    : await checkExport(path, heads);
}

async function firstLine(path) {
  for await (const line of createInterface({ input: createReadStream(path) })) return line;
  return "";
}

function proofIn(path) {
  const proof = JSON.parse(readFileSync(path, "utf8"));
  if (proof.proof !== form) throw new Unclear(`${path} is no proof of the form "${form}"`);
  return proof;
}

try {
  for (const line of await main(process.argv.slice(2))) console.log(line);
} catch (error) {
  console.log(error instanceof Wrong ? `BAD ${error.message}` : `cannot be judged: ${error.message}`);
  process.exitCode = error instanceof Wrong ? 1 : 2;
}
