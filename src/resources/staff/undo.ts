import type { UndoReading, RecordReference } from "../../engine/model/resource.ts";
import type { DesiredStaff, Desired } from "../../engine/model/desired.ts";
import {
  recordsIn,
  isNewest,
  newerSince,
  type DoneOperation,
  type Undoes,
  type Undoing,
} from "../../engine/plan/undo.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import type { PrivateMarker } from "../../engine/model/references.ts";
import { type Block, holdersNotRead } from "../../engine/plan/blocks.ts";
import { addedAgain } from "./plan.ts";
import { accountGivenUp } from "./leavers.ts";
import { planEdit } from "./profile-edits.ts";
import { fieldNames, profileOf, shownFields } from "./profile.ts";
import type { ShownField, StaffProfile } from "./state.ts";

function keyIn([record]: readonly RecordReference[]): RecordKey {
  return { namespace: record?.namespace ?? "", id: record?.id ?? "" };
}

function undoAddition(row: DoneOperation<"add-staff">, of: Undoing): Undoes {
  const { given, facts, freed, run, options } = of;
  const meant: DraftOperation<"delete-staff">[] = [];
  const blocks: Block[] = [];
  for (const record of row.operation.records) {
    const link = given.known.staffLinks.get(formatKey(record));
    if (link === undefined || facts.linkedSince.get(formatKey(record)) !== row.updatedAt) continue;
    const needs = of.revokesOf(record);
    const reason = `undo of ${run}, which made this account`;
    const made = accountGivenUp(given, link, { freed, needs, reason }, options);
    if (made === "gone") continue;
    if ("kind" in made) meant.push(made);
    else blocks.push(made);
  }
  const [block] = blocks;
  if (meant.length > 0) return { is: "meant", meant, lacks: block?.reason };
  return block === undefined ? { is: "nothing-left" } : { is: "waits", block };
}

/** Adds the person again, as a new member with a new password. */
function undoDeletion(row: DoneOperation<"delete-staff">, of: Undoing): Undoes {
  const { given, options } = of;
  const staff = keyIn(row.operation.records);
  const key = formatKey(staff);
  if (given.known.staffLinks.has(key)) return { is: "nothing-left" };
  const person = given.staff.find((item) => formatKey(item.key) === key);
  if (person === undefined)
    return { is: "impossible", why: `the ledger holds no person ${key} of this customer any more` };
  const made = addedAgain(given.customer, person, options);
  if (!("kind" in made)) return { is: "waits", block: made };
  return { is: "meant", meant: [{ ...made, reason: `undo of ${of.run}, which deleted this account` }] };
}

/** Only if no newer value was sent since. */
function undoEdit(row: DoneOperation<"edit-staff">, of: Undoing): Undoes {
  const { given, options, run } = of;
  const { before, after, records, target } = row.operation;
  const key = formatKey(keyIn(records));
  const link = given.known.staffLinks.get(key);
  const staff = given.staff.find((item) => formatKey(item.key) === key);
  const member = given.observed.members?.find((item) => item.globalId === target.memberGlobalId && !item.deleted);
  if (given.observed.members === undefined) return { is: "waits", block: holdersNotRead };
  if (link?.memberGlobalId !== target.memberGlobalId || staff === undefined || member === undefined)
    return { is: "impossible", why: `the account ${target.memberGlobalId} is not this person's any more` };
  const { unread: _, ...now } = link.profile;
  const changed = shownFields.filter((field) => before[field] !== after[field]);
  if (changed.every((field) => now[field] === before[field])) return { is: "nothing-left" };
  if (changed.some((field) => now[field] !== after[field]) || !isNewest(row, of)) return newerSince;
  const body = bodyBefore(of, staff, before, changed);
  if (typeof body === "string") return { is: "impossible", why: `the earlier ${fieldNames[body]} is no longer kept` };
  const asBefore = { staff: { ...staff, body }, link, member, wanted: profileOf(body) };
  const { draft, note } = planEdit(given, asBefore, options.settings);
  if (draft !== undefined)
    return {
      is: "meant",
      meant: [{ ...draft, reason: `undo of ${run}, which edited this account` }],
      lacks: note?.reason,
    };
  return note === undefined ? { is: "nothing-left" } : { is: "waits", block: note };
}

/** Returns the field whose earlier value is no longer kept, if any. */
function bodyBefore(
  of: Undoing,
  staff: Desired<DesiredStaff>,
  before: StaffProfile,
  changed: readonly ShownField[],
): DesiredStaff | ShownField {
  const forms = of.facts.staffForms.get(formatKey(staff.key)) ?? [];
  const body: DesiredStaff = { ...staff.body };
  for (const field of changed) {
    if (field !== "name") delete body[field];
    if (field === "departmentId") {
      if (before.departmentId !== null) body.departmentId = before.departmentId;
      continue;
    }
    const marker = markerOf(of, forms, field, before[field]);
    if (marker === "lost") return field;
    if (marker !== undefined) body[field] = marker;
  }
  return body;
}

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

export const undo = { "add-staff": undoAddition, "edit-staff": undoEdit, "delete-staff": undoDeletion };

export const undoFacts: UndoReading<"staffForms" | "linkedSince"> = async ({ state }, _customer, rows) => {
  const staffForms = new Map<string, readonly DesiredStaff[]>();
  const linkedSince = new Map<string, string>();
  for (const [key, staff] of recordsIn(rows, "staff")) {
    staffForms.set(key, await state.staffForms(staff));
    const link = await state.read((open) => open.staff.accountOf(staff));
    if (link !== undefined) linkedSince.set(key, link.since);
  }
  return { staffForms, linkedSince };
};

declare module "../../engine/plan/undo.ts" {
  interface UndoFacts {
    staffForms: ReadonlyMap<string, readonly DesiredStaff[]>;
    linkedSince: ReadonlyMap<string, string>;
  }
}
