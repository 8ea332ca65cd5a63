import { type AssumptionId, assumptions } from "../../contract/assumptions.ts";
import { formatKey } from "../../crm/keys.ts";
import type { ObservedAsset, ObservedMember } from "../../platform/snapshot.ts";
import type { Observed } from "../plan/input.ts";
import type { CustomerPlan } from "../plan/plan.ts";

export interface AssumptionMet {
  row: AssumptionId;
  evidence: string;
  /** The contradicted part of the row, such as a licence type. Undefined: the whole row. */
  about?: string | undefined;
}

/** Holds until a person accepts it. */
export interface Contradiction {
  evidence: string;
  about: readonly string[];
  since: string;
}

export type Contradictions = ReadonlyMap<AssumptionId, Contradiction>;

export interface Resting {
  row: AssumptionId;
  about?: string;
  fields?: readonly string[];
  codes?: readonly string[];
  /** A contradiction blocks nothing. The run only reports it. */
  isOnlyTold?: true;
}

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
  return assumptions.some(({ id }) => id === text);
}

/** `together`: no call of ours came between M5 and M6. */
export function metByReading({ ambiguous, members, assets }: Observed, together: boolean): AssumptionMet[] {
  const met: AssumptionMet[] = [];
  if (ambiguous?.includes("assumptions.nullEnterprises") === true)
    met.push({ row: "A13", evidence: "E3 answered null or without data" });
  if (members === undefined || assets === undefined) return met;
  met.push(...heldTwice(assets), ...(together ? holdersAgree(members, assets) : []));
  return met;
}

function heldTwice(assets: readonly ObservedAsset[]): AssumptionMet[] {
  const holders = new Map<string, string>();
  const twice = new Set<string>();
  for (const { assetNum, holder } of assets) {
    if (holder === null) continue;
    if ((holders.get(assetNum) ?? holder) !== holder) twice.add(assetNum);
    holders.set(assetNum, holder);
  }
  return [...twice].map((about) => ({
    row: "A35",
    about,
    evidence: "an asset number was shown with two holders",
  }));
}

/** Assets that only E8 shows are left out when M5 and M6 are compared. */
const ofStaff: ObservedAsset["from"] = "M6";

function holdersAgree(members: readonly ObservedMember[], assets: readonly ObservedAsset[]): AssumptionMet[] {
  const live = members.filter((member) => !member.deleted);
  const ids = new Set(live.map((member) => member.globalId));
  const inM5 = live.flatMap((member) => member.assetNums.map((number) => `${number} ${member.globalId}`));
  const inM6 = assets.flatMap(({ assetNum, holder, from }) =>
    from === ofStaff && holder !== null && ids.has(holder) ? [`${assetNum} ${holder}`] : [],
  );
  if (inM5.length === 0 && inM6.length === 0) return [];
  const agree = new Set(inM5).symmetricDifference(new Set(inM6)).size === 0;
  return agree ? [] : [{ row: "A34", evidence: "M5 and M6 disagree about who holds what" }];
}

const contradictingBlocks: Readonly<Record<string, Pick<AssumptionMet, "row" | "evidence">>> = {
  "staff.ambiguous": { row: "A28", evidence: "two members of staff fit one account name" },
  "staff.shown-otherwise": { row: "A41", evidence: "M5 shows otherwise what an accepted M2 had said" },
};

export function metByBlocks({ customer, records }: Pick<CustomerPlan, "customer" | "records">): AssumptionMet[] {
  const codes = new Set(records.map(({ code }) => code ?? ""));
  return [...codes].flatMap((code) => {
    const found = contradictingBlocks[code];
    return found === undefined ? [] : [{ ...found, about: formatKey(customer) }];
  });
}
