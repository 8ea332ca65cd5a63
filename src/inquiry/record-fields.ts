import { isJsonObject } from "../base/canonical-json.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { isPrivateMarker } from "../engine/model/references.ts";
import type { FieldFacts } from "../report/explain.ts";

/**
 * The body of a canonical record as a flat list of fields, `instances[P1].nodes`. Elements of a list are named by their
 * id, else by their code behind their parent's id, else by their position. What is private stands as a marker in the
 * ledger already and is only named here.
 */
export function fieldsOf(body: JsonObject): FieldFacts[] {
  const fields: FieldFacts[] = [];
  const visit = (name: string, value: Json): void => {
    if (isPrivateMarker(value)) {
      fields.push({ name, private: true, mark: value.commitment });
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => visit(`${name}[${elementName(item, index)}]`, item));
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value).sort()) visit(name === "" ? key : `${name}.${key}`, value[key] ?? null);
    } else {
      fields.push({ name, value });
    }
  };
  visit("", body);
  return fields;
}

function elementName(item: Json, index: number): string {
  if (!isJsonObject(item)) return String(index);
  const { id, code, parentId } = item;
  if (typeof id === "string") return id;
  if (typeof code !== "string") return String(index);
  return typeof parentId === "string" ? `${parentId}/${code}` : code;
}

/** Names of the fields that are not the same in two versions, in the order of the names. */
export function changedFields(before: readonly FieldFacts[], after: readonly FieldFacts[]): string[] {
  const left = new Map(before.map((field) => [field.name, textOf(field)]));
  const right = new Map(after.map((field) => [field.name, textOf(field)]));
  return [...new Set([...left.keys(), ...right.keys()])].filter((name) => left.get(name) !== right.get(name)).sort();
}

function textOf(field: FieldFacts): string {
  return "private" in field ? `private ${field.mark}` : JSON.stringify(field.value);
}
