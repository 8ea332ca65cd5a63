import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  type Stats,
} from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { messageOf } from "../../base/errors.ts";
import { flushFile } from "../../base/private-files.ts";
import { olderCopyCure } from "../../report/next-steps.ts";
import type { KeptHead } from "./audit-log.ts";
import { refused } from "../database/damage.ts";

/** The state of a ledger: groups of work committed, and the last audit entry (0 and "" before the first). */
export interface LedgerMark extends KeptHead {
  commit: number;
  ledger?: string | null | undefined;
  checkpoint?: string | undefined;
}

const headLine = z
  .strictObject({
    /** Missing in heads from a configured place. */
    commit: z.int().min(0).default(0),
    sequence: z.int().min(0),
    hash: z.string().regex(/^(?:[0-9a-f]{64})?$/),
    root: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
    at: z.string(),
    /** Only in heads from a configured place. */
    size: z.int().min(0).optional(),
    ledger: z.string().nullable().optional(),
    checkpoint: z.string().optional(),
    verifier: z.string().optional(),
  })
  .refine((line) => (line.sequence === 0) === (line.hash === ""));

/** The file is flushed, and its size checked, after this many audit entries or groups. */
const flushEvery = 200;
const longBytes = 512 * 1024;
const newestKept = 500;

/** One JSON line for each group of commits. It reveals an older copy of the ledger, and cuts of the audit log. */
export function headsPath(ledgerPath: string): string {
  return `${ledgerPath}.heads`;
}

/** Programs may append at the same time. A line starts with a newline, so a half-written one spoils no other. */
export class KeptHeads {
  readonly #path: string;
  #file: { descriptor: number; stat: Stats } | undefined;
  #since = 0;
  #lastSequence = 0;

  constructor(ledgerPath: string) {
    this.#path = headsPath(ledgerPath);
  }

  keep(mark: LedgerMark, at: string): boolean {
    this.#tried(() => {
      const { commit, sequence, hash, root } = mark;
      this.#append(`\n${JSON.stringify({ commit, sequence, hash, root, at })}`);
      this.#since += Math.max(1, this.#lastSequence === 0 ? 1 : sequence - this.#lastSequence);
      this.#lastSequence = sequence;
    });
    if (this.#since < flushEvery) return false;
    this.flush();
    return true;
  }

  flush(): void {
    if (this.#since === 0 || this.#file === undefined) return;
    const { descriptor } = this.#file;
    this.#tried(() => {
      fsyncSync(descriptor);
      this.#since = 0;
    });
  }

  /** Drops every second older line. Only for the holder of the run lock; others may append meanwhile. */
  shorten(): void {
    this.#tried(() => {
      const found = statSync(this.#path, { throwIfNoEntry: false });
      if (found !== undefined && found.size > longBytes) this.#shorten(found);
    });
  }

  close(): void {
    if (this.#file === undefined) return;
    try {
      this.flush();
    } finally {
      closeSync(this.#file.descriptor);
      this.#file = undefined;
    }
  }

  #append(line: string): void {
    // Another program may have moved or shortened the file meanwhile. Then nobody reads the one that is open.
    for (let tries = 0; tries < 5; tries += 1) {
      const { descriptor, stat } = (this.#file ??= this.#open());
      const written = writeSync(descriptor, line);
      if (written < Buffer.byteLength(line)) throw new Error("the line was written in part only");
      const now = statSync(this.#path, { throwIfNoEntry: false });
      if (now?.ino === stat.ino && now.dev === stat.dev) return;
      closeSync(descriptor);
      this.#file = undefined;
    }
    throw new Error("the file is replaced again and again");
  }

  #open(): { descriptor: number; stat: Stats } {
    const descriptor = openSync(this.#path, "a", 0o600);
    const stat = fstatSync(descriptor);
    if (stat.size === 0) flushFile(dirname(this.#path));
    return { descriptor, stat };
  }

  #shorten(before: Stats): void {
    const short = `${this.#path}.short`;
    rmSync(short, { force: true });
    const old = openSync(this.#path, "r");
    const fresh = openSync(short, "ax", before.mode & 0o777);
    try {
      // The mode of `openSync` is subject to the umask. Owner and group stay too.
      fchmodSync(fresh, before.mode & 0o777);
      const { uid, gid } = fstatSync(fresh);
      if (uid !== before.uid || gid !== before.gid) fchownSync(fresh, before.uid, before.gid);
      writeFileSync(fresh, thinned(readFileSync(old, "utf8")));
      fsyncSync(fresh);
      renameSync(short, this.#path);
      // Copy lines that another program appended to the old file meanwhile. Later writers notice the replacement.
      const late = readFileSync(old, "utf8");
      if (late !== "") writeFileSync(fresh, late);
      fsyncSync(fresh);
      flushFile(dirname(this.#path));
    } finally {
      closeSync(fresh);
      closeSync(old);
    }
  }

  #tried(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw refused(
        "ledger.head-not-kept",
        this.#path,
        `the head of the audit log cannot be written to ${this.#path}: ${messageOf(error)}. All changes so far are ` +
          "in the ledger; nothing more is sent",
        "check the disk and that this user may write there, then start again: the next run continues from here",
        error,
      );
    }
  }
}

function thinned(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "");
  const older = Math.max(0, lines.length - newestKept);
  return lines.filter((_line, index) => index >= older || index % 2 === 0).join("\n");
}

/** All kept heads, oldest first. Skips a line that a crash left half-written: nothing was sent after it. */
export function readMarks(path: string): (LedgerMark & { at: string })[] {
  return existsSync(path) ? marksIn(readFileSync(path, "utf8")) : [];
}

export function marksIn(text: string): (LedgerMark & { at: string })[] {
  return text.split("\n").flatMap((line) => headIn(line) ?? []);
}

/** Heads from a copy or from `audit head`. Skips lines cut off by a crash; throws a TypeError for a changed line. */
export function readCopiedMarks(text: string): (LedgerMark & { at: string })[] {
  return text.split("\n").flatMap((line, index) => {
    if (!line.startsWith("{")) return [];
    const read = headIn(line);
    if (read === undefined && !isCutOff(line)) throw new TypeError(`line ${index + 1} is no head`);
    return read === undefined ? [] : [read];
  });
}

/** The number of the first line that is no head and that no crash explains. */
export function spoiledLine(path: string): number | undefined {
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, "utf8").split("\n");
  const index = lines.findIndex((line) => headIn(line) === undefined && !isCutOff(line));
  return index < 0 ? undefined : index + 1;
}

function headIn(line: string): (LedgerMark & { at: string }) | undefined {
  try {
    return headLine.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** Whether a crash explains this line: it is cut off, or contains zeros. */
function isCutOff(line: string): boolean {
  return line === "" || line.includes("\0") || (line.startsWith("{") && !/(?:\}|"at":"[^"]*"[^,]+)$/u.test(line));
}

export function readKeptHeads(path: string): KeptHead[] {
  return readMarks(path)
    .filter((mark) => mark.sequence > 0)
    .map(({ sequence, hash, root, commit, at }) => ({ sequence, hash, root, commit, at }));
}

/** The newest head by commit count: programs that write at the same time may append in any order. */
export function lastMark(path: string): (LedgerMark & { at: string }) | undefined {
  return readMarks(path).reduce<(LedgerMark & { at: string }) | undefined>(
    (last, mark) => (last === undefined || mark.commit >= last.commit ? mark : last),
    undefined,
  );
}

/** Refuses to start a new ledger if heads exist for a missing or empty one. All its work would be done again. */
export function refuseLostLedger(ledgerPath: string): void {
  const heads = headsPath(ledgerPath);
  const last = lastMark(heads);
  if (last === undefined) return;
  throw refused(
    "ledger.lost",
    ledgerPath,
    `the ledger ${ledgerPath} is missing or empty, but ${heads} says that it had ${last.sequence} audit entries ` +
      `on ${last.at}`,
    `restore the ledger from a backup. To begin with a new ledger on purpose, first move ${heads} away`,
  );
}

/** Throws a Problem (65) for a restored older copy. Reads the file first: another program may commit meanwhile. */
export function refuseOlderLedger(
  ledgerPath: string,
  ledger: { commits: () => number; hashAt: (sequence: number) => string | undefined },
): void {
  const heads = headsPath(ledgerPath);
  const last = lastMark(heads);
  if (last === undefined) return;
  const chained = last.sequence === 0 || ledger.hashAt(last.sequence) === last.hash;
  const commits = ledger.commits();
  if (chained && commits >= last.commit) return;
  throw refused(
    "ledger.behind",
    ledgerPath,
    `the ledger ${ledgerPath} is an older copy, or not the ledger that was used last: ${heads} says that on ` +
      `${last.at} it had ` +
      (chained
        ? `${last.commit} groups of changes, and it has ${commits}`
        : `the audit entry ${last.sequence}, and it has another entry or no entry there`) +
      ". Nothing was sent, because the missing changes, also orders, would be made a second time",
    olderCopyCure,
  );
}
