import type { UndoReading, RecordReference } from "../../engine/model/resource.ts";
import { type DoneOperation, type LastGiven, type Undoes, type Undoing, newerSince } from "../../engine/plan/undo.ts";
import type { RecordKey } from "../../crm/model.ts";
import { holdersNotRead, holdersOf } from "../../engine/plan/blocks.ts";
import { counted } from "../../report/text.ts";
import { grantOf, revokeOf, withWeights } from "./plan.ts";

function keyIn([record]: readonly RecordReference[]): RecordKey {
  return { namespace: record?.namespace ?? "", id: record?.id ?? "" };
}

const assignedSince = "assets that were assigned again since stay";

function undoGrant(row: DoneOperation<"grant-assets">, of: Undoing): Undoes {
  const { given, run, facts } = of;
  const { context, operation, id } = row;
  const staff = keyIn(operation.records);
  const memberGlobalId = context?.memberGlobalId ?? "";
  const holders = holdersOf(given.observed.assets);
  if (holders === undefined) return { is: "waits", block: holdersNotRead };
  const ours = new Map(given.known.assignments.map((item) => [item.assetNumber, item.memberGlobalId]));
  const held = (context?.addAssets ?? []).filter(
    (number) => ours.get(number) === memberGlobalId && holders.get(number) === memberGlobalId,
  );
  const numbers = held.filter((number) => facts.lastGiven.get(number)?.givenBy === id);
  if (numbers.length === 0) return held.length === 0 ? { is: "nothing-left" } : newerSince;
  const reason = `undo of ${run}, which gave this person ${counted(numbers.length, "asset")}`;
  const revoke = revokeOf(given.customer, staff, { memberGlobalId, numbers, reason });
  const lacks = held.length > numbers.length ? assignedSince : undefined;
  return { is: "meant", meant: withWeights([revoke], given.observed), lacks };
}

function undoRevoke(row: DoneOperation<"revoke-assets">, of: Undoing): Undoes {
  const { given, freed, run, facts } = of;
  const { context, operation, id } = row;
  const staff = keyIn(operation.records);
  const memberGlobalId = context?.memberGlobalId ?? "";
  const holders = holdersOf(given.observed.assets);
  const { members } = given.observed;
  if (holders === undefined || members === undefined) return { is: "waits", block: holdersNotRead };
  if (!members.some((member) => member.globalId === memberGlobalId && !member.deleted))
    return { is: "impossible", why: `the account that held them, ${memberGlobalId}, is gone` };
  const lost = (context?.deleteAssets ?? []).filter((number) => holders.get(number) !== memberGlobalId);
  if (lost.length === 0) return { is: "nothing-left" };
  // A number that another operation gave since was not removed by this one.
  const own = new Set(of.rows.map((one) => one.id));
  const isNewer = (number: string): boolean => {
    const last = facts.lastGiven.get(number);
    if (last === undefined || last.takenBy === id || own.has(last.givenBy ?? "")) return false;
    return !last.isHeld || holders.get(number) === null;
  };
  const wanted = lost.filter((number) => !isNewer(number));
  if (wanted.length === 0) return newerSince;
  const isFree = (number: string): boolean => holders.get(number) === null || freed.has(number);
  const numbers = wanted.filter(isFree);
  const [taken] = wanted.filter((number) => !isFree(number));
  const why =
    taken === undefined
      ? undefined
      : holders.get(taken) === undefined
        ? `the asset ${taken} is not shown any more`
        : `the asset ${taken} is held by another member, ${holders.get(taken) ?? ""}, by now`;
  if (numbers.length === 0) return { is: "impossible", why: why ?? "none of its assets is free" };
  const reason = `undo of ${run}, which removed ${counted(numbers.length, "asset")} from this person`;
  const grant = grantOf(given.customer, staff, { memberGlobalId, assets: numbers, after: numbers, reason });
  const lacks = [why, wanted.length < lost.length ? assignedSince : undefined].filter((text) => text !== undefined);
  return { is: "meant", meant: [grant], lacks: lacks.length === 0 ? undefined : lacks.join("; ") };
}

export const undo = { "grant-assets": undoGrant, "revoke-assets": undoRevoke };

export const undoFacts: UndoReading<"lastGiven"> = async ({ state }, _customer, rows) => {
  const lastGiven = new Map<string, LastGiven>();
  for (const number of rows.flatMap(numbersIn)) {
    const last = await state.read((open) => open.assignment.lastChange(number));
    if (last !== undefined) lastGiven.set(number, last);
  }
  return { lastGiven };
};

function numbersIn({ context }: DoneOperation): readonly string[] {
  return context !== undefined && "addAssets" in context ? [...context.addAssets, ...context.deleteAssets] : [];
}

declare module "../../engine/plan/undo.ts" {
  interface UndoFacts {
    lastGiven: ReadonlyMap<string, LastGiven>;
  }
}
