import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** The compiled code of one file. */
export interface CompiledCode {
  /** Of which form of the file it is: V8 compares no more than its length. */
  form: string;
  code: Buffer;
}

/**
 * What is in a store, by the path of the file; nothing where it is damaged. It holds everything twice, because V8 runs
 * damaged code as it is: what differs in one place is not used.
 */
export function readCode(store: string): Map<string, CompiledCode> {
  try {
    const twice = readFileSync(store);
    // A copy, so that a long run does not hold both.
    const once = Buffer.from(twice.subarray(0, twice.length / 2));
    if (!once.equals(twice.subarray(once.length))) return new Map();
    let end = 4 + once.readUInt32LE(0);
    const lines = once.toString("utf8", 4, end).split("\n");
    return new Map(
      lines.map((line) => {
        const [size, form = "", path = ""] = line.split("\t");
        const begin = end;
        end += Number(size);
        return [path, { form, code: once.subarray(begin, end) }];
      }),
    );
  } catch {
    // It is not there, or not to be read.
    return new Map();
  }
}

/** Puts a store there whole, or not at all where nothing can be written. */
export function writeCode(store: string, files: ReadonlyMap<string, CompiledCode>): void {
  const made = `${store}.${process.pid}`;
  try {
    const lines = [...files].map(([path, { form, code }]) => `${code.length}\t${form}\t${path}`);
    const head = Buffer.from(lines.join("\n"), "utf8");
    const length = Buffer.alloc(4);
    length.writeUInt32LE(head.length);
    const once = [length, head, ...[...files.values()].map(({ code }) => code)];
    // A folder that a later build has taken away stays away.
    if (!existsSync(dirname(store))) mkdirSync(dirname(store));
    writeFileSync(made, Buffer.concat([...once, ...once]));
    flush(made);
    renameSync(made, store);
  } catch {
    // The next start compiles again.
    remove(made);
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its folder is none, or not to be looked into.
  }
}

function flush(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
