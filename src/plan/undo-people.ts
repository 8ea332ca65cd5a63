import { counted } from "../report/text.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { DesiredStaff } from "../operation/desired.ts";
import type { MeantOperation } from "../operation/operation.ts";
import type { PrivateMarker } from "../operation/references.ts";
import type { RecordReference } from "../operation/shape.ts";
import type { Block } from "./block.ts";
import { holdersNotRead, holdersOf } from "./holders.ts";
import { weighRevokes } from "./seat-weight.ts";
import { addedAgain } from "./staff.ts";
import { fieldNames, planProfile, profileOf } from "./staff-profile.ts";
import { accountGivenUp } from "./leavers.ts";
import { isNewest, newerSince } from "./undoing.ts";
import type { DoneOperation, Undoes, Undoing } from "./undoing.ts";

const noClaims: Parameters<typeof weighRevokes>[2] = new Map();

function keyIn([record]: readonly RecordReference[]): RecordKey {
  return { namespace: record?.namespace ?? "", id: record?.id ?? "" };
}

/** What was given is taken away again where it is still with the same member by our doing. */
export function undoGrant(row: DoneOperation<"grant-assets">, of: Undoing): Undoes {
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
  const revoke: MeantOperation<"revoke-assets"> = {
    kind: "revoke-assets",
    customer: given.customer,
    subject: `staff:${formatKey(staff)}`,
    records: [{ stream: "staff", ...staff }],
    target: { memberGlobalId },
    payload: { deleteAssets: numbers, addAssets: [] },
    reason: `${run} is taken back: it gave this person ${counted(numbers.length, "asset")}`,
    before: Object.fromEntries(numbers.map((number) => [number, memberGlobalId])),
    after: null,
  };
  const lacks = held.length > numbers.length ? "assets that were assigned again since stay" : undefined;
  return { is: "meant", meant: weighRevokes([revoke], given.observed, noClaims), lacks };
}

/** What was taken away is given again, where the member is still there and nobody else holds it by now. */
export function undoRevoke(row: DoneOperation<"revoke-assets">, of: Undoing): Undoes {
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
  // What another operation gave since is not what this one took, whether it was taken once more or not.
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
  const grant: MeantOperation<"grant-assets"> = {
    kind: "grant-assets",
    customer: given.customer,
    subject: `staff:${formatKey(staff)}`,
    records: [{ stream: "staff", ...staff }],
    target: { memberGlobalId },
    payload: { deleteAssets: [], addAssets: numbers },
    reason: `${run} is taken back: it took ${counted(numbers.length, "asset")} from this person`,
    before: null,
    after: numbers,
  };
  return { is: "meant", meant: [grant], lacks: why };
}

/** The accounts that an M1 made are deleted, where they are still those accounts and hold nothing else. */
export function undoAddition(row: DoneOperation<"add-staff">, of: Undoing): Undoes {
  const { given, facts, freed, run, options } = of;
  const meant: MeantOperation<"delete-staff">[] = [];
  const blocks: Block[] = [];
  for (const record of row.operation.records) {
    const link = given.known.staffLinks.get(formatKey(record));
    if (link === undefined || facts.linkedSince.get(formatKey(record)) !== row.updatedAt) continue;
    const needs = of.revokesOf(record);
    const reason = `${run} is taken back: it made this account`;
    const made = accountGivenUp(given, link, { freed, needs, reason }, options);
    if (made === "gone") continue;
    if ("kind" in made) meant.push(made);
    else blocks.push(made);
  }
  const [block] = blocks;
  if (meant.length > 0) return { is: "meant", meant, lacks: block?.reason };
  return block === undefined ? { is: "nothing-left" } : { is: "waits", block };
}

/** A person whose account an M4 deleted is added again: as another member, with another password. */
export function undoDeletedAccount(row: DoneOperation<"delete-staff">, of: Undoing): Undoes {
  const { given, options } = of;
  const staff = keyIn(row.operation.records);
  const key = formatKey(staff);
  if (given.known.staffLinks.has(key)) return { is: "nothing-left" };
  const person = given.staff.find((item) => formatKey(item.key) === key);
  if (person === undefined)
    return { is: "impossible", why: `the ledger holds no person ${key} of this customer any more` };
  const made = addedAgain(given.customer, person, options);
  if (!("kind" in made)) return { is: "waits", block: made };
  return { is: "meant", meant: [{ ...made, reason: `${of.run} is taken back: it deleted this account` }] };
}

/** What M2 set is set back to what was acknowledged before, where nothing newer was sent since. */
export function undoProfile(row: DoneOperation<"edit-staff">, of: Undoing): Undoes {
  const { given, facts, options, run } = of;
  const { before, after, records, target } = row.operation;
  const key = formatKey(keyIn(records));
  const link = given.known.staffLinks.get(key);
  const staff = given.staff.find((item) => formatKey(item.key) === key);
  const member = given.observed.members?.find((item) => item.globalId === target.memberGlobalId && !item.deleted);
  if (given.observed.members === undefined) return { is: "waits", block: holdersNotRead };
  if (link?.memberGlobalId !== target.memberGlobalId || staff === undefined || member === undefined)
    return { is: "impossible", why: `the account ${target.memberGlobalId} is not this person's any more` };
  const { unread: _, ...now } = link.profile;
  const changed = profileFields.filter((field) => before[field] !== after[field]);
  if (changed.length === 0)
    return {
      is: "impossible",
      why: "it sent the same values again, and the values that M5 showed before are kept nowhere",
    };
  if (changed.every((field) => now[field] === before[field])) return { is: "nothing-left" };
  if (changed.some((field) => now[field] !== after[field]) || !isNewest(row, of)) return newerSince;
  const body: DesiredStaff = { ...staff.body };
  for (const field of changed) {
    if (field !== "name") delete body[field];
    if (field === "departmentId") {
      if (before.departmentId !== null) body.departmentId = before.departmentId;
      continue;
    }
    const marker = markerOf(of, facts.staffForms.get(key) ?? [], field, before[field]);
    if (marker === "lost") return { is: "impossible", why: `the ${fieldNames[field]} of before is not kept any more` };
    if (marker !== undefined) body[field] = marker;
  }
  const asBefore = { staff: { ...staff, body }, link, member, wanted: profileOf(body) };
  const { meant, note } = planProfile(given, asBefore, options.settings);
  if (meant !== undefined)
    return {
      is: "meant",
      meant: [{ ...meant, reason: `${run} is taken back: it edited this account` }],
      lacks: note?.reason,
    };
  return note === undefined ? { is: "nothing-left" } : { is: "waits", block: note };
}

const profileFields = ["name", "remark", "mobile", "departmentId"] as const;

/** The marker of a field in the newest form that had this value; undefined where it had none. */
function markerOf(
  { facts }: Undoing,
  forms: readonly DesiredStaff[],
  field: "name" | "remark" | "mobile",
  commitment: string | null,
): PrivateMarker | undefined | "lost" {
  if (commitment === null) return undefined;
  const marker = forms.map((form) => form[field]).find((item) => item?.commitment === commitment);
  return marker === undefined || !facts.isKept(marker) ? "lost" : marker;
}
