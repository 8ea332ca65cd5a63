import { isDeepStrictEqual } from "node:util";
import { exitCodes, messageOf, Problem, Problems } from "../base/errors.ts";
import type { Application } from "./application.ts";
import { settingFindings } from "./check.ts";

/** What became of the configuration that was written meanwhile. Names keys, never values. */
export type Reloaded =
  | { kind: "taken-over"; changed: string[]; application: Application }
  | { kind: "refused"; problems: Problem[] };

/** What everything that is open rests on: the ledger, and where questions are answered. */
const fixedKeys = ["ledger", "serve.host", "serve.port", "serve.pages", "serve.tls"] as const;
/** How deep a key is named: what stands below is the mapping of a stream or a table of it. */
const mostSteps = 4;

/**
 * Reads the configuration again and takes it over where nothing is wrong with it, as a whole or not at all: its keys,
 * its jobs, its sources, its settings as `check` sees them, and that it is about the same ledger and the same services.
 * Not while a run is on. Never rejects.
 */
export async function reload(current: Application): Promise<Reloaded> {
  let next: Application | undefined;
  try {
    next = await current.reopened();
    const changed = changedKeys(current.config, next.config);
    const problems = [...fixed(changed), ...newlyBad(current, next)];
    if (problems.length > 0) throw new Problems(problems);
    next.jobs();
    next.sources();
    await next.requirePlatform();
    await current.handOverTo(next);
    return { kind: "taken-over", changed, application: next };
  } catch (thrown) {
    await next?.close();
    return { kind: "refused", problems: problemsOf(thrown) };
  }
}

function problemsOf(thrown: unknown): Problem[] {
  if (thrown instanceof Problems) return [...thrown.problems];
  if (thrown instanceof Problem) return [thrown];
  return [
    new Problem({
      code: "config.unreadable",
      message: `the configuration could not be read again: ${messageOf(thrown)}`,
      cure: "see what `crm-sync check` says of it",
      exitCode: exitCodes.configuration,
      cause: thrown,
    }),
  ];
}

function fixed(changed: readonly string[]): Problem[] {
  const touched = changed.filter((key) => fixedKeys.some((fixedKey) => `${key}.`.startsWith(`${fixedKey}.`)));
  return touched.map(
    (key) =>
      new Problem({
        code: "config.needs-restart",
        message: `\`${key}\` cannot be changed while the program runs`,
        cure: "start it again to have the whole configuration taken over, or set this key back",
        place: key,
        exitCode: exitCodes.configuration,
      }),
  );
}

/** What `check` calls bad, and did not before: a setting that was there may not get lost unseen. */
function newlyBad(current: Application, next: Application): Problem[] {
  const before = new Set(settingFindings(current).map(({ what }) => what));
  return settingFindings(next).flatMap(({ what, detail, cure }) =>
    before.has(what)
      ? []
      : [
          new Problem({
            code: "config.setting",
            message: `${what} ${detail}`,
            cure: cure ?? "see what `crm-sync check` says of it",
            place: what,
            exitCode: exitCodes.configuration,
          }),
        ],
  );
}

/** Keys whose values differ, the deepest that are named. */
export function changedKeys(before: unknown, now: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(before, now)) return [];
  if (path.length === mostSteps || !isRecord(before) || !isRecord(now)) return [path.join(".")];
  const keys = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...keys].sort().flatMap((key) => changedKeys(before[key], now[key], [...path, key]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
