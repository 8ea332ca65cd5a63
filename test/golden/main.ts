import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { differences, type Difference } from "./difference.ts";
import { install, Living, startSandbox, type Life, type Platform } from "./life.ts";
import type { Json } from "./operations.ts";
import { accepted, renamed } from "./accepted.ts";
import { written } from "./write.ts";

/**
 * `npm run golden`: lives the lives and compares each with what was recorded of it. `-- --record` records what
 * `accepted.md` lists, and lives that were never recorded. `-- --only NAME` lives one of them.
 */

const recorded = join(import.meta.dirname, "recorded");
const livesAtOnce = 4;
const mostShown = 20;
const words = process.argv.slice(2);
const isRecording = words.includes("--record");
const only = words.includes("--only") ? words[words.indexOf("--only") + 1] : undefined;

async function livesHere(): Promise<Life[]> {
  const lives: Life[] = [];
  for (const name of readdirSync(join(import.meta.dirname, "lives")).toSorted()) {
    const file: { lives: Life[] } = await import(join(import.meta.dirname, "lives", name));
    lives.push(...file.lives);
  }
  return lives.filter(({ name }) => only === undefined || name.includes(only));
}

async function lived(life: Life, folder: string, platform: Platform): Promise<Json> {
  const living = await Living.begin(folder, platform);
  try {
    await life.live(living);
    return await living.whole();
  } finally {
    await living.end();
  }
}

/** Compares one life, and records it where that was asked for. Resolves with whether it is as it was. */
async function compare(life: Life, folder: string, platform: Platform): Promise<boolean> {
  const file = join(recorded, `${life.name}.json`);
  const is = await lived(life, join(folder, life.name), platform);
  if (!existsSync(file)) {
    if (!isRecording) return tell(`${life.name}: was never recorded`);
    writeFileSync(file, `${written(is)}\n`);
    return true;
  }
  const was: Json = renamed(JSON.parse(readFileSync(file, "utf8")));
  const all = differences(was, is);
  const listed = isRecording ? accepted(life.name) : [];
  const wanted = all.filter(({ path }) => listed.some((pattern) => pattern.test(path)));
  const rest = all.filter((one) => !wanted.includes(one));
  if (rest.length === 0 && isRecording) writeFileSync(file, `${written(is)}\n`);
  return rest.length === 0 || tell(inWords(life.name, rest));
}

function inWords(name: string, all: readonly Difference[]): string {
  const shown = all.slice(0, mostShown).map(({ path, was, is }) => {
    const say = (value: Json | undefined): string =>
      value === undefined ? "(missing)" : JSON.stringify(value).slice(0, 300);
    return `  ${path}\n    recorded: ${say(was)}\n    now:      ${say(is)}`;
  });
  const more = all.length > shown.length ? [`  … and ${all.length - shown.length} more`] : [];
  return [`${name}: ${all.length} differences`, ...shown, ...more].join("\n");
}

function tell(what: string): false {
  process.stdout.write(`${what}\n`);
  return false;
}

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "golden-"));
try {
  install(join(folder, "program"));
  const lives = await livesHere();
  const waiting = [...lives];
  let good = 0;
  const lane = async (): Promise<void> => {
    const platform = await startSandbox(folder);
    for (let life = waiting.shift(); life !== undefined; life = waiting.shift()) {
      try {
        if (await compare(life, folder, platform)) good += 1;
      } catch (error) {
        tell(`${life.name}: ${String(error instanceof Error ? error.stack : error)}`);
      }
    }
    platform.child.kill("SIGKILL");
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: livesAtOnce }, lane));
  const seconds = Math.round((performance.now() - start) / 1000);
  process.stdout.write(`golden: ${good} of ${lives.length} lives as recorded (${seconds} s)\n`);
  process.exitCode = good === lives.length ? 0 : 1;
} finally {
  if (process.env["GOLDEN_KEEP"] === "1") process.stdout.write(`${folder}\n`);
  else rmSync(folder, { recursive: true, force: true });
}
