#!/usr/bin/env node
// Checks what `crm-sync audit export` and `crm-sync audit prove` write, by the format in format.md beside this file.
// It needs Node 20 or newer and nothing else, and shares no code with crm-sync.
//
//   node verify.mjs audit.ndjson [--key VERIFIER] ... [--heads ledger.db.heads checkpoint.txt ...]
//   node verify.mjs proof.json   [--key VERIFIER] ... [--heads ledger.db.heads checkpoint.txt ...]
//
// Ends with 0 where everything fits, with 1 where something does not, with 2 where it cannot be judged, and with 3 where
// everything fits that is there, and the record itself says that entries are lost.
import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";

const form = "crm-sync audit record 2";

const usage = `usage: node verify.mjs FILE [--key VERIFIER] ... [--heads FILE ...]

  FILE            what \`crm-sync audit export\` or \`crm-sync audit prove\` wrote
  --key VERIFIER  the key that signed the heads, as \`crm-sync audit head\` prints it; once for each key
  --heads FILE    heads that were kept outside: a copy of ledger.db.heads, or a checkpoint; it takes all that follows

Ends with 0 where everything fits, with 1 where something does not, with 2 where it cannot be judged, and with 3 where
everything fits that is there, and the record itself says that entries are lost.`;

class Wrong extends Error {}
class Unclear extends Error {}

const wrong = (code, message) => {
  throw new Wrong(`${code}: ${message}`);
};

const sha256 = (...parts) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const zero = Buffer.from([0]);
const one = Buffer.from([1]);

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const isHash = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isPath = (value) => Array.isArray(value) && value.every(isHash);
const isText = (value) => typeof value === "string";

/** An entry with its members in their order, or undefined where one is missing or is something else. */
function entryOf(item) {
  const { format, sequence, at, kind, subject, body, previous, salt, hash } = item;
  const texts = [at, kind, subject, body, previous, salt];
  if (!isCount(format) || !isCount(sequence) || !texts.every(isText) || !isHash(hash)) return undefined;
  return { format, sequence, at, kind, subject, body, previous, salt, hash };
}

function hashOf({ format, sequence, at, kind, subject, body, previous, salt }) {
  return sha256(zero, Buffer.from(JSON.stringify([format, sequence, at, kind, subject, body, previous, salt])));
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
  if (before === size) return given.length === 0 ? [earlier, earlier] : [];
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

const timeOf = (text) => (isText(text) && /^[\dTZ:.-]+$/.test(text) ? text : undefined);

/**
 * What entries of the kind `gap` say: which entries are lost since a backup was restored. Heads of those fit nothing. They
 * are told from heads of what was written later by the count of commits, or else by when they were kept.
 */
class Gaps {
  all = [];

  take({ kind, body, sequence }) {
    if (kind !== "gap") return;
    const { at, by, from, until } = jsonOf(body) ?? {};
    const isPlace = (place) => isCount(place?.commits) && isCount(place?.sequence);
    const isWhole =
      isText(at) && isText(by) && isPlace(from) && (until === null || (isPlace(until) && isText(until.at)));
    if (!isWhole) throw new Unclear(`entry ${sequence} says that entries are lost, and not which`);
    this.all.push({ entry: sequence, at, by, from, until });
  }

  get lost() {
    return this.all.filter(({ from, until }) => until === null || until.sequence > from.sequence);
  }

  explain({ sequence, commit, at }) {
    return this.all.some(({ at: begun, from, until }) => {
      if (sequence <= from.sequence) return false;
      const isEarlier = at !== undefined && at <= begun;
      if (until === null) return isEarlier;
      return commit > 0 ? commit <= until.commits : sequence <= until.sequence && isEarlier;
    });
  }

  lines() {
    return this.lost.map(({ entry, by, from, until }) => {
      const which =
        until === null ? `entries from ${from.sequence + 1} on` : `entries ${from.sequence + 1} to ${until.sequence}`;
      const time = `${timeOf(from.at) ?? "the beginning"} to ${timeOf(until?.at) ?? "a time that nobody knows"}`;
      return `LOST: ${which} are lost, as entry ${entry} says (${time}): a backup was restored, and ${JSON.stringify(by)} had it rebuilt`;
    });
  }
}

/** What was kept outside: by entry its hashes and roots, the newest entry, and whether signatures went unchecked. */
class Heads {
  of = new Map();
  isUnchecked = false;

  get count() {
    return this.of.size;
  }

  add({ sequence, hash, root, size, commit, at }) {
    this.of.set(sequence, [...(this.of.get(sequence) ?? []), { sequence, hash, root, size, commit, at }]);
  }

  /** The newest entry of which a head was kept that is not lost. */
  newest(gaps) {
    const left = [...this.of].filter(([, kept]) => kept.some((head) => !gaps.explain(head)));
    return left.reduce((most, [sequence]) => Math.max(most, sequence), 0);
  }

  /** The heads of an entry that fit, and those that do not. */
  judged(sequence, fits) {
    const kept = this.of.get(sequence) ?? [];
    return { good: kept.filter(fits), bad: kept.filter((head) => !fits(head)) };
  }
}

/** Every file has to hold a head. With keys, each head has to be signed by one of them. */
function headsIn(paths, verifiers) {
  const heads = new Heads();
  for (const path of paths) {
    const text = readFileSync(path, "utf8").replaceAll("\r\n", "\n");
    const found = [...linesOf(text, path), ...checkpointsIn(text, path).map((head) => ({ head, checkpoint: head }))];
    if (!found.some(({ head }) => head.sequence > 0)) throw new Unclear(`no head stands in ${path}`);
    for (const { head, checkpoint } of found) {
      const isWhole = () =>
        verifiers.some((verifier) => checkpoint?.isSigned(verifier) === true) &&
        ["sequence", "hash", "root"].every((name) => checkpoint[name] === head[name]) &&
        (head.size === undefined || checkpoint.size === head.size);
      if (verifiers.length > 0 && !isWhole())
        wrong("head-signature", `the head of entry ${head.sequence} in ${path} is not as the key signed it`);
      heads.isUnchecked ||= verifiers.length === 0 && checkpoint !== undefined;
      if (head.sequence > 0) heads.add(head);
    }
  }
  return heads;
}

/** Heads as lines of JSON. A line that breaks off was cut off by a crash; any other one that is no head is refused. */
function linesOf(text, path) {
  const found = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.startsWith("{")) continue;
    let head;
    try {
      head = JSON.parse(line);
    } catch {
      if (line.includes("\0") || !/(?:\}|"at":"[^"]*"[^,]+)$/u.test(line)) continue;
      throw new Unclear(`line ${index + 1} of ${path} is no head`);
    }
    const { sequence, hash, root, size, checkpoint, commit, at } = head;
    const isHead = isCount(sequence) && (sequence === 0 ? hash === "" : isHash(hash));
    if (!isHead || !(root === undefined || isHash(root)) || !(size === undefined || isCount(size)))
      throw new Unclear(`line ${index + 1} of ${path} is no head`);
    const signed = typeof checkpoint === "string" ? checkpointsIn(checkpoint, path)[0] : undefined;
    // Where something is signed, nothing counts that is not.
    const kept = {
      commit: signed === undefined && isCount(commit) ? commit : 0,
      at: signed?.at ?? (isText(at) ? at : undefined),
    };
    found.push({ head: { sequence, hash, root, size, ...kept }, checkpoint: signed });
  }
  return found;
}

/** Checkpoints as signed notes (C2SP), whatever stands before each; one that somebody changed is refused. */
function checkpointsIn(text, path) {
  return text.split(/^(?=crm-sync\/)/m).flatMap((note) => {
    const [said, signatures = ""] = note.split("\n\n", 2);
    const [origin, size, root = "", entry = "", hash = "", ...rest] = said.split("\n");
    const bytes = Buffer.from(root, "base64");
    const isIt =
      origin.startsWith("crm-sync/") &&
      /^\d{1,15}$/.test(size ?? "") &&
      bytes.length === 32 &&
      /^entry \d{1,15}$/.test(entry) &&
      isHash(hash.slice(5)) &&
      hash.startsWith("hash ");
    if (!isIt && /^crm-sync\/[^\s+]+$/.test(origin))
      throw new Unclear(`a checkpoint of ${origin} in ${path} cannot be read: somebody changed it, or it breaks off`);
    if (!isIt) return [];
    return [
      {
        sequence: Number(entry.slice(6)),
        hash: hash.slice(5),
        root: bytes.toString("hex"),
        size: Number(size),
        commit: 0,
        at: rest.find((one) => one.startsWith("time "))?.slice(5),
        isSigned: (verifier) => isSigned(verifier, origin, `${said}\n`, signatures),
        rest,
      },
    ];
  });
}

function isSigned(verifier, origin, said, signatures) {
  const [name, id, ...encoded] = verifier.split("+");
  const key = Buffer.from(encoded.join("+"), "base64");
  if (name !== origin || key[0] !== 1 || key.length !== 33) return false;
  const raw = key.subarray(1);
  const own = sha256(Buffer.from(`${name}\n`), one, raw).subarray(0, 4);
  if (own.toString("hex") !== id) return false;
  const jwk = { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") };
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  return signatures.split("\n").some((line) => {
    const [mark, signer, signature = ""] = line.split(" ");
    const bytes = Buffer.from(signature, "base64");
    if (mark !== "—" || signer !== name || !bytes.subarray(0, 4).equals(own)) return false;
    return verify(null, Buffer.from(said), publicKey, bytes.subarray(4));
  });
}

/** An export, from its lines in their order. */
class Export {
  tree = new Tree();
  entries = 0;
  previous = "";
  promised;
  end;
  checked = 0;
  gaps = new Gaps();
  /** Heads that fit no entry, until the record says whether those were lost. */
  unfit = [];
  lastFitting = 0;

  constructor(heads) {
    this.heads = heads;
  }

  /** The tree so far. */
  now() {
    return { size: this.tree.size, root: this.tree.root() };
  }

  /** The first that is wrong is named: a head that does not fit is of an entry before this one. */
  wrong(code, message) {
    this.requireHeads();
    wrong(code, message);
  }

  requireHeads() {
    const unlike = this.unfit.find((head) => !this.gaps.explain(head))?.sequence;
    if (unlike === undefined) return;
    const entry = `entry ${unlike} is not the one whose head was kept outside`;
    if (this.lastFitting < unlike) wrong("record-rewritten", `${entry}: the record was written anew`);
    wrong("heads-disagree", `${entry}, and another head fits`);
  }

  take(line, number) {
    if (line === undefined) this.wrong("line-broken", `line ${number} is no UTF-8`);
    const item = jsonOf(line);
    if (item === undefined) this.wrong("line-broken", `line ${number} is no JSON object`);
    if (this.end !== undefined) this.wrong("line-after-end", `line ${number} stands after the end`);
    const whole = (written) => {
      if (written === undefined || JSON.stringify(written) !== line)
        this.wrong("line-broken", `line ${number} is not written as the format says, or holds something else beside`);
    };
    if (this.promised === undefined) {
      if (item.export !== form) throw new Unclear(`it does not begin as an export of the form "${form}"`);
      whole(isCount(item.entries) ? { export: form, entries: item.entries } : undefined);
      this.promised = item.entries;
    } else if (item.checkpoint !== undefined || item.end !== undefined) this.#checkpoint(item, number, whole);
    else {
      if (this.#isDue) this.wrong("line-broken", `line ${number} stands where a checkpoint of the tree has to stand`);
      this.#entry(item, whole);
    }
  }

  /** After every 1,000th entry but the last, a checkpoint follows; it stands nowhere else. */
  get #isDue() {
    return this.entries > 0 && this.entries % 1000 === 0 && this.checked < this.entries;
  }

  #checkpoint(item, number, whole) {
    const name = item.end === undefined ? "checkpoint" : "end";
    const { entries, size, root } = item[name] ?? {};
    whole({ [name]: { entries, size, root } });
    if (name === "checkpoint" && !this.#isDue)
      this.wrong("line-broken", `line ${number} is a checkpoint, and none stands there`);
    const now = this.now();
    if (entries !== this.entries || size !== now.size || root !== now.root)
      this.wrong("tree-changed", `the tree that line ${number} gives after entry ${this.entries} is another`);
    this.checked = this.entries;
    if (name === "end") this.end = true;
  }

  #entry(item, whole) {
    const expected = this.entries + 1;
    const { sequence, format } = item;
    if (!isCount(sequence)) whole(undefined);
    if (sequence > expected) this.wrong("entry-missing", `entry ${expected} is missing: the next one is ${sequence}`);
    if (sequence !== expected) this.wrong("entry-repeated", `entry ${sequence} stands after entry ${this.entries}`);
    if (format !== 2) this.wrong("entry-format", `entry ${expected} has the format ${format}`);
    const entry = entryOf(item);
    whole(entry);
    const hash = hashOf(entry);
    const isWhole = hash.toString("hex") === entry.hash;
    const isLinked = entry.previous === this.previous;
    if (!isWhole && !isLinked)
      this.wrong("entry-moved", `neither the hash of entry ${expected} nor what it follows fits`);
    if (!isWhole) this.wrong("entry-changed", `the hash of entry ${expected} does not fit its content`);
    if (!isLinked) this.wrong("entry-unlinked", `entry ${expected} does not follow the one before it`);
    this.entries = expected;
    this.previous = entry.hash;
    this.tree.append(hash);
    this.gaps.take(entry);
    if (!this.heads.of.has(expected)) return;
    const { good, bad } = this.heads.judged(expected, isOf(entry.hash, this.now()));
    this.unfit.push(...bad);
    if (good.length > 0) this.lastFitting = expected;
  }

  lines() {
    const { entries, promised, heads, gaps } = this;
    this.requireHeads();
    if (promised === undefined) throw new Unclear("there is nothing in it");
    if (this.end === undefined || entries !== promised)
      wrong("cut-off", `it says that it has ${promised} entries, and it breaks off after ${entries}`);
    const newest = heads.newest(gaps);
    if (newest > entries)
      wrong("cut-off", `it ends at entry ${entries}, and a head of entry ${newest} was kept outside`);
    const { size, root } = this.now();
    const lost = gaps.lines();
    if (lost.length > 0) process.exitCode = 3;
    const ofLost = [...heads.of.keys()].filter((sequence) =>
      heads.of.get(sequence).every((head) => this.isOfLost(head)),
    );
    return [
      ...lost,
      `${lost.length > 0 ? "of what is left" : "good"}: ${entries} entries, each follows the one before it`,
      `tree: ${size} leaves, root ${root}`,
      heads.count === 0
        ? "no head from outside was given: entries cut off at the end, or everything written anew, cannot be seen"
        : `heads: ${heads.count - ofLost.length} that were kept outside fit`,
      ...(ofLost.length > 0 ? [`heads: ${ofLost.length} that were kept outside are of entries that are lost`] : []),
      ...unchecked(heads),
    ];
  }

  /** Whether a head is of no entry that is there. */
  isOfLost(head) {
    return (head.sequence > this.entries || this.unfit.includes(head)) && this.gaps.explain(head);
  }
}

const isOf = (hash, now) => (head) =>
  (hash === undefined || head.hash === hash) &&
  (head.root === undefined || head.root === now.root) &&
  (head.size === undefined || head.size === now.size);

const unchecked = ({ isUnchecked }) => (isUnchecked ? ["signatures: not checked, no --key was given"] : []);

/** A proof with its members in their order, or undefined where one is missing or is something else. */
function proofOf({ about, tree, since, entries }) {
  const { size, root } = tree ?? {};
  if (!isText(about) || !isCount(size) || !isHash(root)) return undefined;
  const isSince = (one) => isCount(one.sequence) && isCount(one.size) && isHash(one.root) && isPath(one.path);
  if (since !== undefined && !isSince(since)) return undefined;
  if (!Array.isArray(entries)) return undefined;
  const written = entries.map((item) => {
    const entry = entryOf(item);
    return entry === undefined || !isCount(item.leaf) || !isPath(item.path)
      ? undefined
      : { ...entry, leaf: item.leaf, path: item.path };
  });
  if (written.includes(undefined)) return undefined;
  return {
    proof: form,
    about,
    tree: { size, root },
    ...(since === undefined
      ? {}
      : { since: { sequence: since.sequence, size: since.size, root: since.root, path: since.path } }),
    entries: written,
  };
}

function checkProof(bytes, heads) {
  const text = textOf(bytes);
  if (text === undefined) wrong("line-broken", "it is no UTF-8");
  if (!text.endsWith("\n}\n")) wrong("cut-off", "it breaks off before its end");
  const given = jsonOf(text);
  if (given === undefined) wrong("line-broken", "it is no JSON object");
  if (given.proof !== form) throw new Unclear(`it is no proof of the form "${form}"`);
  const proof = proofOf(given);
  if (proof === undefined || `${JSON.stringify(proof, undefined, 2)}\n` !== text)
    wrong("line-broken", "it is not written as the format says, or holds something else beside");
  const { about, tree, entries, since } = proof;
  if (entries.length === 0) throw new Unclear("it proves no entry");
  let last = 0;
  for (const entry of entries) {
    const { sequence } = entry;
    if (sequence <= last) wrong("entry-repeated", `entry ${sequence} stands after entry ${last}`);
    last = sequence;
    if (entry.subject !== about) wrong("entry-of-another", `entry ${sequence} is not about ${about}`);
    if (entry.format !== 2) wrong("entry-format", `entry ${sequence} has the format ${entry.format}`);
    const leaf = hashOf(entry);
    if (leaf.toString("hex") !== entry.hash) wrong("entry-changed", `the hash of entry ${sequence} does not fit it`);
    if (entry.leaf !== sequence - 1) wrong("entry-moved", `entry ${sequence} is no leaf ${entry.leaf}`);
    if (rootBy(leaf, entry.leaf, tree.size, entry.path) !== tree.root)
      wrong("entry-not-proven", `entry ${sequence} does not lead to the root ${tree.root}`);
  }
  requireKept(heads, tree.size, tree);
  if (since !== undefined) {
    if (since.size !== since.sequence)
      wrong("entry-moved", `the tree that ends with entry ${since.sequence} has no ${since.size} leaves`);
    const roots = rootsBy(since.size, tree.size, since.root, since.path);
    if (roots[0] !== since.root || roots[1] !== tree.root)
      wrong("record-rewritten", `the record did not grow from the root ${since.root} of entry ${since.sequence}`);
    requireKept(heads, since.sequence, since);
  }
  return [
    `good: ${entries.length} entries about ${about} are in the tree of ${tree.size} leaves with the root ${tree.root}`,
    ...(since === undefined ? [] : [`grown: from the root ${since.root} of entry ${since.sequence}, by entries alone`]),
    heads.count > 0
      ? `heads: that root was kept outside, as of entry ${tree.size}`
      : `compare the root with a head that was kept outside, of entry ${tree.size}: none was given`,
    ...unchecked(heads),
  ];
}

/** Where heads are given, one of them has to be of this tree. */
function requireKept(heads, sequence, tree) {
  if (heads.count === 0) return;
  const { good, bad } = heads.judged(sequence, isOf(undefined, tree));
  if (bad.length > 0) wrong("record-rewritten", `the root of entry ${sequence} is not the one that was kept outside`);
  if (!good.some((head) => head.root !== undefined))
    throw new Unclear(`no head with the root of entry ${sequence} was given`);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text that bytes are, or undefined where they are no UTF-8. */
function textOf(bytes) {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The object or array that a text is as JSON, or undefined. */
function jsonOf(text) {
  try {
    const value = JSON.parse(text);
    return value === null || typeof value !== "object" ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The lines of a file, of which each ends with a line feed and with nothing else; undefined for one that is no text. */
async function* linesIn(path) {
  const parts = [];
  for await (const chunk of createReadStream(path)) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield textOf(Buffer.concat([...parts.splice(0), chunk.subarray(from, end)]));
      from = end + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (parts.length > 0) wrong("cut-off", "its last line does not end: it was cut off there");
}

async function main(words) {
  const [path, ...rest] = words;
  const verifiers = [];
  while (rest[0] === "--key") verifiers.push(rest.splice(0, 2)[1] ?? "");
  const [option, ...copies] = rest;
  if (path === undefined || (option !== undefined && (option !== "--heads" || copies.length === 0)))
    throw new Unclear(`the arguments are not as they have to be\n${usage}`);
  const heads = headsIn(copies, verifiers);
  const checked = new Export(heads);
  let number = 0;
  for await (const line of linesIn(path)) {
    number += 1;
    if (number === 1 && line === "{") return checkProof(readFileSync(path), heads);
    checked.take(line, number);
  }
  return checked.lines();
}

try {
  const words = process.argv.slice(2);
  if (words.length === 0) process.exitCode = 2;
  const isAsked = words.length === 0 || words.includes("--help");
  for (const line of isAsked ? [usage] : await main(words)) console.log(line);
} catch (error) {
  console.log(error instanceof Wrong ? `BAD ${error.message}` : `cannot be judged: ${error.message}`);
  process.exitCode = error instanceof Wrong ? 1 : 2;
}
