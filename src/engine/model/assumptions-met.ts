import type { AssumptionId } from "../../contract/assumptions/row.ts";
import { assumptionIds } from "../../contract/assumptions/ids.ts";

/** That a call or a reading contradicted a row of A1–A43. Ids, numbers and words of the contracts only. */
export interface AssumptionMet {
  row: AssumptionId;
  evidence: string;
  /** The part of the row that it is about, such as a licence type; absent: all of it. */
  about?: string | undefined;
}

/** A row that the services contradicted, until a person accepts it. */
export interface Contradiction {
  evidence: string;
  /** The parts that were contradicted; empty: the whole row. */
  about: readonly string[];
  /** ISO instant. */
  since: string;
}

/** By row. */
export type Contradictions = ReadonlyMap<AssumptionId, Contradiction>;

/** A row that an operation rests on. */
export interface Resting {
  row: AssumptionId;
  /** The part of the row that it rests on. */
  about?: string;
  /** Fields of which one is named by a 13004 that contradicts it. */
  fields?: readonly string[];
  /** Codes that contradict it. */
  codes?: readonly string[];
  /** A contradiction is told and stops nothing. */
  isOnlyTold?: true;
}

/** The contradiction that an operation must not be sent over, if there is one. */
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

/**
 * What a refusal shows of them: a code that speaks of a row, or a 13004 that names one of its fields, not something
 * inside it. `words` are the service's own and are not kept.
 */
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
