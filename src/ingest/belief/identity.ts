import { type JsonObject, type Json, canonicalJson, isJsonObject } from "../../base/canonical-json.ts";
import type { Stream } from "../../crm/model.ts";
import { isWithheld } from "../../ledger/records/staged-records.ts";
import { comparedName } from "../../crm/name-keys.ts";

/** Accounts are left out: many are made from the id. */
const otherParts: Record<"customers" | "staff", readonly string[]> = {
  customers: ["address", "adminName", "adminAccount", "adminEmail", "adminMobile"],
  staff: ["mobile"],
};

function textOf(record: JsonObject, field: string): string | undefined {
  const value = record[field];
  return typeof value === "string" ? value : undefined;
}

/** Customer: name in any spelling. Person: name and mobile, or name and customer. Order: everything except ids. */
export function identityOf(stream: Stream, record: JsonObject): string | undefined {
  if (stream === "orders") return contentOf(record);
  const written = textOf(record, "name");
  const name = written === undefined ? null : comparedName(written);
  if (name === null) return undefined;
  if (stream === "customers") return name;
  const mobile = textOf(record, "mobile");
  return canonicalJson(mobile === undefined ? [name, record["customerId"] ?? null] : [name, mobile]);
}

/** Whether all identifying fields changed at once. A name alone proves nothing, unless the question is already open. */
export function namesAnother(stream: Stream, before: JsonObject, now: JsonObject, isOpen = false): boolean {
  if (stream === "orders") return false;
  const changed = (field: string): boolean | undefined => {
    const [was, is] = [textOf(before, field), textOf(now, field)];
    return was === undefined || is === undefined ? undefined : was !== is;
  };
  const others = otherParts[stream].map(changed).filter((one) => one !== undefined);
  return changed("name") === true && (isOpen || others.length > 0) && others.every(Boolean);
}

function contentOf(record: JsonObject): string {
  const { id: _id, namespace: _namespace, channelOrderId: _number, instances, ...rest } = record;
  const lines = instancesOf(instances).map((line) => contentOfLine(line));
  return canonicalJson({ ...rest, instances: lines.toSorted() });
}

function contentOfLine(line: JsonObject): string {
  const { id: _id, parentId: _parent, passwords: _passwords, ...rest } = line;
  return canonicalJson(rest);
}

function instancesOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : [];
}

export function linesOf(record: JsonObject): Map<string, JsonObject> {
  return new Map(
    instancesOf(record["instances"]).flatMap((line) => (typeof line["id"] === "string" ? [[line["id"], line]] : [])),
  );
}

interface LineChanges {
  lost: string[];
  gained: string[];
  /** Lines with a new id and the contents of a lost line. */
  renumbered: number;
}

export function lineChanges(before: JsonObject, now: JsonObject): LineChanges {
  const [was, is] = [linesOf(before), linesOf(now)];
  const lost = [...was.keys()].filter((id) => !is.has(id));
  const gained = [...is.keys()].filter((id) => !was.has(id));
  const contents = lost.map((id) => contentOfLine(was.get(id) ?? {}));
  let renumbered = 0;
  for (const id of gained) {
    const at = contents.indexOf(contentOfLine(is.get(id) ?? {}));
    if (at === -1) continue;
    contents.splice(at, 1);
    renumbered += 1;
  }
  return { lost, gained, renumbered };
}

/** How many lines of an order or assets of a person are missing. */
export function losses(stream: Stream, before: JsonObject, now: JsonObject): number {
  if (stream === "orders") return lineChanges(before, now).lost.length;
  const left = instancesOf(now["assets"]).map((asset) => canonicalJson(asset));
  return instancesOf(before["assets"]).filter((asset) => {
    const at = left.indexOf(canonicalJson(asset));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  }).length;
}

export function changedFields(before: JsonObject, now: JsonObject): string[] {
  const fields = new Set<string>();
  for (const field of new Set([...Object.keys(before), ...Object.keys(now)]))
    if (field !== "instances" && differs(before[field], now[field])) fields.add(field);
  const [was, is] = [linesOf(before), linesOf(now)];
  if (was.size !== is.size || [...was.keys()].some((id) => !is.has(id))) fields.add("instances");
  for (const [id, line] of is) {
    const earlier = was.get(id) ?? line;
    for (const field of new Set([...Object.keys(earlier), ...Object.keys(line)]))
      if (differs(earlier[field], line[field])) fields.add(`instances.${field}`);
  }
  return [...fields];
}

function differs(before: Json | undefined, now: Json | undefined): boolean {
  if (isWithheld(before) || isWithheld(now)) return false;
  return canonicalJson(before ?? null) !== canonicalJson(now ?? null);
}
