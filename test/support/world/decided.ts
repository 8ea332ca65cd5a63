import { setTimeout as pause } from "node:timers/promises";
import { exitCodes } from "../../../src/base/errors.ts";
import type { Ended } from "../program.ts";
import { rowsOf } from "./start.ts";

/**
 * A person who looks on the platform decides what became of an operation that nothing else finds out about: as soon as
 * that may be said, `wasDone` is what is true. Nothing where no such operation is open.
 */
export async function decideAsPerson(
  of: { ledger: string; kind: string; wasDone: () => boolean },
  run: (...words: string[]) => Promise<Ended>,
): Promise<void> {
  const [open] = rowsOf<{ id: string }>(
    of.ledger,
    "select id from operation where kind = ? and state in ('sending', 'unknown', 'parked')",
    of.kind,
  );
  if (open === undefined) return;
  for (let tries = 0; tries < 400; tries += 1) {
    const verdict = of.wasDone() ? "--applied" : "--not-applied";
    const ended = await run("settle", open.id, verdict, "--reason", "looked on the platform");
    if (ended.exitCode === exitCodes.ok) return;
    if (!ended.stderr.includes("may still land")) throw new Error(`${verdict}: ${ended.stdout}${ended.stderr}`);
    await pause(100);
  }
  throw new Error(`${open.id} can never be decided`);
}
