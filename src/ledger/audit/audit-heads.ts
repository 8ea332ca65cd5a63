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

/**
 * How far a ledger is: how many groups of work it has committed, and the last entry of its audit chain (0 and "" before
 * the first).
 */
export interface LedgerMark extends KeptHead {
  commit: number;
  /** Whose record it is, where the head was kept at a configured place. */
  ledger?: string | null | undefined;
  /** The same as a signed text. */
  checkpoint?: string | undefined;
}

const headLine = z
  .strictObject({
    /** Absent in heads of a configured place. */
    commit: z.int().min(0).default(0),
    sequence: z.int().min(0),
    hash: z.string().regex(/^(?:[0-9a-f]{64})?$/),
    /** Absent before the first entry. */
    root: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
    at: z.string(),
    /** Only where the head was kept at a configured place. */
    size: z.int().min(0).optional(),
    ledger: z.string().nullable().optional(),
    checkpoint: z.string().optional(),
    verifier: z.string().optional(),
  })
  .refine((line) => (line.sequence === 0) === (line.hash === ""));

/**
 * After so many audit entries or groups the file is flushed to the disk, and looked at whether it has become too long.
 */
const flushEvery = 200;
/** From this size on the file is made shorter. */
const longBytes = 512 * 1024;
/** So many of the newest lines are never left out when it is. */
const newestKept = 500;

/**
 * The file beside the ledger that keeps how far the ledger is, one JSON line for each group of commits. A ledger that
 * is behind it is an older copy. Copies of it elsewhere make a cut of the chain visible.
 */
export function headsPath(ledgerPath: string): string {
  return `${ledgerPath}.heads`;
}

/**
 * Writes the file of heads. A line is one write at the end of the file, so that several programs may do it at once, and
 * begins with the end of the line before it, so that one which a crash left half-written takes no other with it.
 */
export class KeptHeads {
  readonly #path: string;
  #file: { descriptor: number; stat: Stats } | undefined;
  #since = 0;
  #lastSequence = 0;

  constructor(ledgerPath: string) {
    this.#path = headsPath(ledgerPath);
  }

  /**
   * Keeps how far a ledger is that has committed this; true where the file was flushed with it. Throws a Problem with
   * exit code 65 where the file cannot be written.
   */
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

  /** Has the lines so far on the disk when it returns. */
  flush(): void {
    if (this.#since === 0 || this.#file === undefined) return;
    const { descriptor } = this.#file;
    this.#tried(() => {
      fsyncSync(descriptor);
      this.#since = 0;
    });
  }

  /**
   * Makes a long file shorter: all of the newest lines stay, and every other one of those before. For the holder of the
   * run lock alone; others may write lines meanwhile.
   */
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
    // A file that was moved away or made shorter by another program meanwhile is not where anybody reads.
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

  /** Not write-file-atomic: a line that another program appends meanwhile is kept, and the folder is flushed too. */
  #shorten(before: Stats): void {
    const short = `${this.#path}.short`;
    rmSync(short, { force: true });
    const old = openSync(this.#path, "r");
    const fresh = openSync(short, "ax", before.mode & 0o777);
    try {
      // The file stays with its owner and group, and as readable as it was.
      fchmodSync(fresh, before.mode & 0o777);
      const { uid, gid } = fstatSync(fresh);
      if (uid !== before.uid || gid !== before.gid) fchownSync(fresh, before.uid, before.gid);
      writeFileSync(fresh, thinned(readFileSync(old, "utf8")));
      fsyncSync(fresh);
      renameSync(short, this.#path);
      // Another program may have written into the old file since it was read; whoever writes from now on sees that it
      // is not the one any more.
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

/**
 * Everything kept so far, oldest first. A line that a crash left half-written is passed over: nothing was sent after
 * it.
 */
export function readMarks(path: string): (LedgerMark & { at: string })[] {
  return existsSync(path) ? marksIn(readFileSync(path, "utf8")) : [];
}

/** The heads in a text; a line that is none is passed over. */
export function marksIn(text: string): (LedgerMark & { at: string })[] {
  return text.split("\n").flatMap((line) => headIn(line) ?? []);
}

/**
 * Heads of a copy of the file, of a file that a configured place is, or of what `audit head` printed. Throws a
 * TypeError for a line that somebody changed: only what a crash cut off is passed over.
 */
export function readCopiedMarks(text: string): (LedgerMark & { at: string })[] {
  return text.split("\n").flatMap((line, index) => {
    if (!line.startsWith("{")) return [];
    const read = headIn(line);
    if (read === undefined && !isCutOff(line)) throw new TypeError(`line ${index + 1} is no head`);
    return read === undefined ? [] : [read];
  });
}

/** The number of the first line of a file of heads that is none and that no crash leaves. */
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

/** Whether a crash may have left a line so: it breaks off before its end, or the disk has zeros in its place. */
function isCutOff(line: string): boolean {
  return line === "" || line.includes("\0") || (line.startsWith("{") && !/(?:\}|"at":"[^"]*"[^,]+)$/u.test(line));
}

/** Heads of the audit chain that were kept so far, oldest first. */
export function readKeptHeads(path: string): KeptHead[] {
  return readMarks(path)
    .filter((mark) => mark.sequence > 0)
    .map(({ sequence, hash, root, commit, at }) => ({ sequence, hash, root, commit, at }));
}

/**
 * How far the ledger was as far as its file of heads says. Two programs that write at once may write their lines in any
 * order.
 */
export function lastMark(path: string): (LedgerMark & { at: string }) | undefined {
  return readMarks(path).reduce<(LedgerMark & { at: string }) | undefined>(
    (last, mark) => (last === undefined || mark.commit >= last.commit ? mark : last),
    undefined,
  );
}

/** A ledger that is gone or empty, where heads were kept, is not begun anew: everything it knew would be done again. */
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

/**
 * Refuses a ledger that lacks what its file of heads says it had, with exit code 65: an older copy that was put back.
 * What it no longer knows would be done twice. The file is read before the ledger is asked, so that what another
 * program commits meanwhile is no contradiction.
 */
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
