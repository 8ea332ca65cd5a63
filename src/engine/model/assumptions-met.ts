import type { AssumptionId } from "../../contract/assumptions/row.ts";
import { assumptionIds } from "../../contract/assumptions/row.ts";

/** A call or a reading contradicted a row of A1–A43. It has only ids, numbers and words of the contracts. */
export interface AssumptionMet {
  row: AssumptionId;
  evidence: string;
  /** The contradicted part of the row, such as a licence type; undefined: the whole row. */
  about?: string | undefined;
}

/** A row that the services contradicted. It holds until a person accepts it. */
export interface Contradiction {
  evidence: string;
  /** The contradicted parts; empty: the whole row. */
  about: readonly string[];
  /** ISO instant. */
  since: string;
}

/** By row. */
export type Contradictions = ReadonlyMap<AssumptionId, Contradiction>;

/** A row that an operation depends on. */
export interface Resting {
  row: AssumptionId;
  /** The part of the row that the operation depends on. */
  about?: string;
  /** A 13004 that names one of these fields contradicts the row. */
  fields?: readonly string[];
  /** Codes that contradict it. */
  codes?: readonly string[];
  /** A contradiction is reported and blocks nothing. */
  isOnlyTold?: true;
}

/** The contradiction that stops an operation, if there is one. */
export function contradictionOf(
  rests: readonly Resting[],
  contradictions: Contradictions,
): (Contradiction & { row: AssumptionId }) | undefined {
  if (contradictions.size === 0) return undefined;
  for (const { row, about, isOnlyTold } of rests) {
    const found = contradictions.get(row);
    if (found === undefined || isOnlyTold === true) continue;
    if (about === undefined || found.about.length === 0 || found.about.includes(about)) return { row, ...found };
  }
  return undefined;
}

/** The assumptions that a rejection contradicts: by its code, or by a 13004 that names one of the row's fields. */
export function metByRefusal(
  rests: readonly Resting[],
  { endpoint, code, words }: { endpoint: string; code: string; words: string },
): AssumptionMet[] {
  return rests.flatMap(({ row, about, fields = [], codes = [] }): AssumptionMet[] => {
    const names = (name: string): boolean => new RegExp(`\\b${name}\\b(?!\\[|\\.\\w)`, "u").test(words);
    const field = code === "13004" ? fields.find(names) : undefined;
    if (field === undefined && !codes.includes(code)) return [];
    const evidence = `${endpoint} was refused with ${code}${field === undefined ? "" : ` naming ${field}`}`;
    return [{ row, about, evidence }];
  });
}

export function isAssumptionId(text: string): text is AssumptionId {
  return assumptionIds.some((id) => id === text);
}
