import { canonicalJson, isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { Stream } from "../../crm/model.ts";
import { comparedName } from "../../crm/name-keys.ts";
import { isWithheld } from "../../ledger/records/known-records.ts";

/** What tells one company or person from another, besides the name. Accounts are left out: many are made from the id. */
const otherParts: Record<"customers" | "staff", readonly string[]> = {
  customers: ["address", "adminName", "adminAccount", "adminEmail", "adminMobile"],
  staff: ["mobile"],
};

function textOf(record: JsonObject, field: string): string | undefined {
  const value = record[field];
  return typeof value === "string" ? value : undefined;
}

/**
 * What stands for a record whatever its id is: the name of a customer however it is written, name and mobile of a
 * person (with the customer, where there is no mobile), everything that an order says but ids. Undefined where it cannot be told.
 */
export function identityOf(stream: Stream, record: JsonObject): string | undefined {
  if (stream === "orders") return contentOf(record);
  const written = textOf(record, "name");
  const name = written === undefined ? null : comparedName(written);
  if (name === null) return undefined;
  if (stream === "customers") return name;
  const mobile = textOf(record, "mobile");
  return canonicalJson(mobile === undefined ? [name, record["customerId"] ?? null] : [name, mobile]);
}

/** Whether a record changed all at once that tells a company or a person from another; of names alone none can say. */
export function namesAnother(stream: Stream, before: JsonObject, now: JsonObject): boolean {
  if (stream === "orders") return false;
  const changed = (field: string): boolean | undefined => {
    const [was, is] = [textOf(before, field), textOf(now, field)];
    return was === undefined || is === undefined ? undefined : was !== is;
  };
  const others = otherParts[stream].map(changed).filter((one) => one !== undefined);
  return changed("name") === true && others.length > 0 && others.every(Boolean);
}

/** What an order says, but ids: two orders of the same content are equal here. */
function contentOf(record: JsonObject): string {
  const { id: _id, namespace: _namespace, channelOrderId: _number, instances, ...rest } = record;
  const lines = instancesOf(instances).map((line) => contentOfLine(line));
  return canonicalJson({ ...rest, instances: lines.toSorted() });
}

function contentOfLine(line: JsonObject): string {
  const { id: _id, parentId: _parent, passwords: _passwords, ...rest } = line;
  return canonicalJson(rest);
}

export function instancesOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : [];
}

/** The lines of an order by their ids; features and extensions have none. */
export function linesOf(record: JsonObject): Map<string, JsonObject> {
  return new Map(
    instancesOf(record["instances"]).flatMap((line) => (typeof line["id"] === "string" ? [[line["id"], line]] : [])),
  );
}

/** What became of the lines of an order that changed. */
export interface LineChanges {
  /** Ids of lines that it lacks now, and of those that it has now alone. */
  lost: string[];
  gained: string[];
  /** How many lines have a new id and the content of one that it lacks now. */
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

/** The fields in which a record differs from what it was; those of lines as `instances.quantity`. */
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
