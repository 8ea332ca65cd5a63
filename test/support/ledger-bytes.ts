import Database from "better-sqlite3";
import { sha256 } from "../../src/base/canonical-json.ts";

/** A ledger as bytes: its pages, and the frames of its write-ahead log as SQLite's file format says them. */
const pageSize = 4096;
const logHead = 32;
const frameHead = 24;

export interface Frame {
  /** From 1. */
  number: number;
  page: number;
  /** A transaction ends with it, and the ledger has this many pages then. */
  commits: boolean;
  pages: number;
  start: number;
  end: number;
}

/** The frames of a log that was begun once. */
export function framesOf(log: Buffer): Frame[] {
  const frames: Frame[] = [];
  const salt = log.subarray(16, 24);
  for (let start = logHead; start + frameHead + pageSize <= log.length; start += frameHead + pageSize) {
    if (!log.subarray(start + 8, start + 16).equals(salt)) break;
    const pages = log.readUInt32BE(start + 4);
    frames.push({
      number: frames.length + 1,
      page: log.readUInt32BE(start),
      commits: pages > 0,
      pages,
      start,
      end: start + frameHead + pageSize,
    });
  }
  return frames;
}

/** The ledger as it was when this frame had been committed, as one file without a log. */
export function imageOf(main: Buffer, log: Buffer, frames: readonly Frame[], committed: Frame | undefined): Buffer {
  if (committed === undefined) return withoutLog(Buffer.from(main));
  const image = Buffer.alloc(committed.pages * pageSize);
  main.copy(image, 0, 0, Math.min(main.length, image.length));
  for (const frame of frames.filter((item) => item.number <= committed.number && item.page <= committed.pages))
    log.copy(image, (frame.page - 1) * pageSize, frame.start + frameHead, frame.end);
  return withoutLog(image);
}

/** Marked as a database that uses no log, so that it can be read where it lies. */
function withoutLog(image: Buffer): Buffer {
  image.writeUInt8(1, 18);
  image.writeUInt8(1, 19);
  return image;
}

/** The hash of the rows of each table. */
export type Dump = ReadonlyMap<string, string>;

/** Everything that a database holds. Throws where SQLite cannot read it. */
export function dumpOf(path: string): Dump {
  return reading(path, (database) => {
    const tables = database.prepare<[], string>("select name from sqlite_schema where type = 'table'").pluck().all();
    return new Map(tables.map((name) => [name, contentOf(database, name)]));
  });
}

function contentOf(database: Database.Database, table: string): string {
  const rows = database.prepare(`select * from "${table}"`).raw().safeIntegers().all();
  return sha256(JSON.stringify(rows, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
}

/** Names of tables that do not hold the same. */
export function dumpsDiffer(one: Dump, other: Dump): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => one.get(name) !== other.get(name));
}

function reading<T>(path: string, work: (database: Database.Database) => T): T {
  const database = new Database(path, { readonly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}
