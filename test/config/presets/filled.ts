import { isJsonObject, type Json, type JsonObject } from "../../../src/base/canonical-json.ts";
import { readPreset } from "../../../src/setup/init-from.ts";
import { over, products, settingsOf } from "./replay.ts";

/** What a person may write where a preset asks for it, by the last key. */
const written: Readonly<Record<string, Json>> = {
  baseUrl: "https://crm.example.com",
  tokenUrl: "https://crm.example.com/token",
  url: "https://crm.example.com/login",
  products,
  branchCode: { value: "B1" },
  branchName: { value: "North" },
  zone: "Europe/Berlin",
};

function fillIn(path: readonly string[], source: JsonObject): void {
  const [first = "", ...rest] = path;
  const inner = source[first];
  if (rest.length === 0) source[first] = written[first] ?? "other";
  else {
    const next = isJsonObject(inner) ? inner : {};
    source[first] = next;
    fillIn(rest, next);
  }
}

/** The source of a preset, with what the preset leaves to a person. */
export function filledPreset(name: string): JsonObject {
  const own: JsonObject = {};
  for (const path of Object.keys(readPreset(name).fill)) fillIn(path.split("."), own);
  return over(settingsOf(name), own);
}
