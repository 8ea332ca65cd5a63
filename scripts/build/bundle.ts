import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { OutputChunk, RolldownOutput } from "rolldown";

/**
 * Packages that the bundle finds in node_modules: better-sqlite3 is native, tests watch the wire through undici, and a
 * source loads its database driver only if it needs it.
 */
export const external = [/^node:/u, /^better-sqlite3$/u, /^undici$/u, /^pg$/u];

/** Bundles that are kept: a process that was started a moment ago still finds what it loads late. */
const kept = 3;
const longestBuildMs = 600_000;

/** What a bundle is made of; `bin/crm-sync` compares the same. */
export const sources = [
  "src",
  "jobs",
  "migrations",
  "scripts/build",
  "package.json",
  "package-lock.json",
  "node_modules/.package-lock.json",
];

/** A bundle that stands ready. */
export interface Bundle {
  /** The file that is the program. */
  main: string;
  files: number;
  bytes: number;
}

/** The name of the bundle in effect stands in it; it is as old as the sources that the bundle was made of. */
export function stampOf(root: string): string {
  return join(root, "dist/current");
}

/**
 * Bundles the program into `dist/NAME`, where the name is the hash of what is in it, and then, at once, has
 * `dist/current` name it. Two of these at a time do no harm: the last one counts, and both made the same. `alone`: no
 * other bundle stays, though a process may still run one.
 */
export async function build(root: string, { alone = false } = {}): Promise<Bundle> {
  const dist = join(root, "dist");
  mkdirSync(dist, { recursive: true });
  // As deep as where it belongs, so that the maps of its files lead to the sources, and with the rights of this user.
  const made = join(dist, `.new-${randomUUID()}`);
  const current = `${made}.current`;
  try {
    const begun = await newStamp(current);
    const { output } = await bundleInto(root, made);
    const name = hashOf(output);
    flush(made);
    publish(made, join(dist, name));
    writeFileSync(current, `${name}\n`);
    utimesSync(current, begun, begun);
    renameSync(current, stampOf(root));
    removeOld(dist, name, alone ? 1 : kept);
    const chunks = output.filter((file): file is OutputChunk => file.type === "chunk");
    const bytes = chunks.reduce((sum, { code }) => sum + Buffer.byteLength(code), 0);
    return { main: join(dist, name, "main.cjs"), files: chunks.length, bytes };
  } finally {
    for (const path of [made, current]) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Makes the stamp by the clock of the file system, and gives its time in seconds. It returns when that clock has moved
 * on: a source that changes while it is read has a later time than the stamp.
 */
async function newStamp(path: string): Promise<number> {
  writeFileSync(path, "");
  const { mtimeMs } = statSync(path);
  // Times without a fraction come from a file system that knows whole or even seconds only.
  await pause(mtimeMs % 1_000 === 0 ? 2_100 : 20);
  return Math.floor(mtimeMs) / 1_000;
}

async function bundleInto(root: string, folder: string): Promise<RolldownOutput> {
  // Loaded here, because it may be missing: whoever installs without development packages gets a bundle, or starts
  // from source.
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    cwd: root,
    input: { main: "src/main.ts" },
    platform: "node",
    external,
    preserveEntrySignatures: false,
    logLevel: "silent",
  });
  try {
    return await bundle.write({
      dir: folder,
      // An ES module makes Node load all that its own modules could ever need, such as streams with node:fs.
      format: "cjs",
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name].cjs",
      sourcemap: true,
      // What is not there is not read at each start; names stay, so that a stack trace can be read.
      comments: { legal: true, annotation: false, jsdoc: false },
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    });
  } finally {
    await bundle.close();
  }
}

function hashOf(output: RolldownOutput["output"]): string {
  const hash = createHash("sha256");
  for (const file of [...output].toSorted((one, other) => (one.fileName < other.fileName ? -1 : 1)))
    hash.update(`${file.fileName}\n`).update(file.type === "chunk" ? file.code : file.source);
  return hash.digest("hex").slice(0, 12);
}

/** Has the files on the disk before anything names them: after a power cut they would be empty. */
function flush(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = openSync(join(folder, name), "r");
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

/** Puts a finished bundle where it belongs. One that stands there is the same, unless files went or were cut. */
function publish(made: string, target: string): void {
  const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;
  // What stands there besides is compiled code.
  const isWhole = (): boolean =>
    readdirSync(made).every((name) => sizeOf(join(target, name)) === sizeOf(join(made, name)));
  if (isWhole()) return;
  rmSync(target, { recursive: true, force: true });
  try {
    renameSync(made, target);
  } catch (error) {
    if (!isWhole()) throw error;
  }
}

/** Leaves the newest `most` bundles, and what a build that is on may still need. */
function removeOld(dist: string, name: string, most: number): void {
  const others = readdirSync(dist)
    .filter((entry) => entry !== name && entry !== "current")
    .map((entry) => ({ entry, path: join(dist, entry), made: statSync(join(dist, entry)).mtimeMs }))
    .toSorted((one, other) => other.made - one.made);
  const bundles = others.filter(({ entry }) => !entry.startsWith("."));
  const cutOff = others.filter(({ entry, made }) => entry.startsWith(".") && made < Date.now() - longestBuildMs);
  for (const { path } of [...bundles.slice(most - 1), ...cutOff]) rmSync(path, { recursive: true, force: true });
}

/** The bundle in effect. Throws where there is none, or where what it was made of may have changed since. */
export function currentBundle(root: string): string {
  const stamp = stampOf(root);
  const since = statSync(stamp).mtimeMs;
  if (since > Date.now()) throw new Error(`the clock was set back after the bundle was made: \`npm run build\``);
  const changed = sources.flatMap((source) => [
    join(root, source),
    ...(statSync(join(root, source)).isDirectory() ? filesIn(join(root, source)) : []),
  ]);
  const newer = changed.find((path) => statSync(path).ctimeMs > since);
  if (newer !== undefined) throw new Error(`${newer} changed after the bundle was made: \`npm run build\``);
  return join(root, "dist", readFileSync(stamp, "utf8").trim(), "main.cjs");
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
}
