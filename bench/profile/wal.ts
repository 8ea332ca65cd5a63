import { closeSync, existsSync, openSync, readSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import type { Database as Connection } from "better-sqlite3";
import { profileFolder } from "./folder.ts";

/**
 * Loaded into the profiled program: has SQLite keep the whole write-ahead log and, before the ledger is closed, counts
 * its frames and how many of them end a commit. Leaves them as `wal-N.json`.
 */

const require = createRequire(process.argv[1] ?? import.meta.filename);
const { prototype } = require("better-sqlite3") as { prototype: Record<string, (...words: unknown[]) => unknown> };
const pragma = prototype["pragma"] ?? (() => {});
const close = prototype["close"] ?? (() => {});
const frameHead = 24;
let most = { frames: 0, commits: 0, pageSize: 0 };

prototype["pragma"] = function (this: Connection, ...words): unknown {
  const [source, options] = words;
  const text = String(source);
  if (/^wal_autocheckpoint\b/u.test(text)) return pragma.call(this, "wal_autocheckpoint = 0", options);
  if (/^wal_checkpoint\b/u.test(text)) return pragma.call(this, "wal_checkpoint(noop)", options);
  const answer = pragma.call(this, ...words);
  if (/^journal_mode\b/u.test(text)) pragma.call(this, "wal_autocheckpoint = 0");
  return answer;
};

prototype["close"] = function (this: Connection): unknown {
  const path = `${this.name}-wal`;
  if (this.open && this.name.endsWith("ledger.db") && existsSync(path)) {
    const counted = framesOf(path);
    if (counted.frames > most.frames) most = counted;
  }
  return close.call(this);
};

/** Each frame has a head of 24 bytes; the second number is the size of the database where the frame ends a commit. */
function framesOf(path: string): typeof most {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(frameHead);
    readSync(file, head, 0, frameHead, 0);
    const pageSize = head.readUInt32BE(8);
    const { size } = statSync(path);
    const counted = { frames: 0, commits: 0, pageSize };
    for (let at = 32; at + frameHead + pageSize <= size; at += frameHead + pageSize) {
      readSync(file, head, 0, frameHead, at);
      counted.frames += 1;
      if (head.readUInt32BE(4) > 0) counted.commits += 1;
    }
    return counted;
  } finally {
    closeSync(file);
  }
}

process.on("exit", () => {
  writeFileSync(join(process.env[profileFolder] ?? ".", `wal-${threadId}.json`), JSON.stringify(most));
});
