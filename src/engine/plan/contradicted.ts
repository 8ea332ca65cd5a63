import { contradictionOf } from "../assumptions-met.ts";
import type { Contradictions, Resting } from "../assumptions-met.ts";
import type { Operation } from "../operation.ts";
import { typeOf } from "../registry.ts";
import type { Block } from "./block.ts";

/** Every row of A1–A43 that an operation rests on: those of its kind, and those of what is in it. */
export function restsOf(operation: Operation): Resting[] {
  const { assumes } = typeOf(operation).can;
  return [...(assumes?.always ?? []).map((row) => ({ row })), ...(assumes?.by?.(operation) ?? [])];
}

/** Why an operation is not planned or sent: a row that it rests on was contradicted by the services. */
export function contradictedBlock(operation: Operation, contradictions: Contradictions): Block | undefined {
  if (contradictions.size === 0) return undefined;
  const found = contradictionOf(restsOf(operation), contradictions);
  if (found === undefined) return undefined;
  const about = found.about.length === 0 ? "" : ` (${found.about.join(", ")})`;
  return {
    code: "assumption.contradicted",
    reason: `the services contradict the assumption ${found.row}${about} since ${found.since}: ${found.evidence}`,
    again: true,
  };
}
