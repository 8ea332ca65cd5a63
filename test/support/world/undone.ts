import { ran } from "../asking.ts";
import type { Parsed, World } from "../cli.ts";

/** Nothing of what removes something waits for a person. */
export function removeFreely(w: World): void {
  for (const name of ["orders.ended", "orders.cancelled", "orders.moved", "orders.replaced", "staff.left"])
    w.environment[`CRM_SYNC__policies__${name.replace(".", "__")}`] = "apply";
  w.environment["CRM_SYNC__policies__locks__locked"] = "apply";
  w.environment["CRM_SYNC__limits__removals__enterprise__floor"] = "100";
  for (const span of ["run", "day", "week"]) w.environment[`CRM_SYNC__limits__removals__${span}__share`] = "1";
}

/** Writes the CRM and runs; the id of that run. Throws unless everything was done. */
export async function runOf(w: World): Promise<string> {
  w.write();
  const { exitCode, said } = await ran(w);
  if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}: ${JSON.stringify(said)}`);
  return said.run;
}

/**
 * Plans what takes a run back, into a file. The steps as `how endpoint subject`, sorted; how many operations are left.
 */
export async function undo(w: World, run: string): Promise<{ steps: string[]; left: number; file: string }> {
  const file = w.path(`undo-${run}.ndjson`);
  const { steps, operations: left } = await w.ask("undo", run, "--out", file);
  const text = (step: Parsed): string => `${step.how} ${step.endpoint} ${step.subject}`;
  return { steps: steps.map(text).toSorted(), left, file };
}

/** Takes a run back: what the undo says, and what applying it sends. */
export async function takesBack(
  w: World,
  run: string,
  ...words: string[]
): Promise<{ steps: string[]; exitCode: number | null; calls: Record<string, number> }> {
  const { steps, file } = await undo(w, run);
  const { exitCode, calls } = await w.does("apply", file, ...words);
  return { steps, exitCode, calls };
}
