import { hasRepeatedMember, isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
const parseJson: (text: string, reviver?: Reviver) => Json = JSON.parse;

const integer = /^-?\d+$/;

const mostLevels = 100;

export class UnfitAnswer extends Error {}

/** Integers beyond 2^53 become text, so that no id loses digits. A repeated member is unfit: which one is true? */
export function parseAnswer(text: string): Json {
  const plain = parseJson(text);
  const found = { longInteger: false, members: 0 };
  if (isDeep(plain, found, mostLevels)) throw new UnfitAnswer(`a body nested deeper than ${mostLevels} levels`);
  if (hasRepeatedMember(text, found.members)) throw new UnfitAnswer("a body in which a member stands twice");
  if (!found.longInteger) return plain;
  return parseJson(text, (_key, value, context) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    return context?.source !== undefined && integer.test(context.source) ? context.source : value;
  });
}

/** Whether there are too many levels. On the way it counts members and notes integers beyond 2^53. */
function isDeep(value: Json | undefined, found: { longInteger: boolean; members: number }, levels: number): boolean {
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) found.longInteger = true;
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (isDeep(value[index], found, levels - 1)) return true;
    return false;
  }
  for (const name in value) {
    found.members += 1;
    if (isDeep(value[name], found, levels - 1)) return true;
  }
  return false;
}

/** A success has the NUMBER 0, an error its code as a STRING. */
type Envelope =
  | { kind: "success"; data: Json }
  | { kind: "error"; code: string; data: Json }
  | { kind: "odd"; reason: string };

/** Does not judge the HTTP status or the data. Missing data becomes null. */
export function readEnvelope(answer: Json): Envelope {
  if (!isJsonObject(answer)) return { kind: "odd", reason: "the body is not an object" };
  const { code, data = null } = answer;
  if (code === 0) return { kind: "success", data };
  if (typeof code === "string" && code !== "" && code !== "0") return { kind: "error", code, data };
  return {
    kind: "odd",
    reason: code === undefined ? "the body holds no code" : "the code is neither the number 0 nor an error text",
  };
}

/** Replaces placeholders that the service left unfilled ({0}, {1}). */
export function readableMessage(message: string): string {
  return message.replaceAll(/\{\d+\}/g, "(a number that the service did not name)").trim();
}

export function serviceWords(answer: Json): string {
  if (!isJsonObject(answer)) return "";
  const said = [answer["message"], answer["cause"]].map((text) =>
    typeof text === "string" ? shortened(readableMessage(text)) : "",
  );
  const [message = "", cause = ""] = said;
  if (cause === "" || cause === message) return message;
  return message === "" ? cause : `${message}; cause: ${cause}`;
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** A Long in a request (M1, M2, E5): digits beyond 2^53 are text in a payload, and a JSON number on the wire. */
const isLong = (name: string): boolean => name === "departmentId" || name === "limitTimeDuration";

/** Digits of any length as a JSON number (ECMAScript: JSON.rawJSON). */
const rawNumber: (digits: string) => object = Reflect.get(JSON, "rawJSON");

export function wireText(body: JsonObject): string {
  return JSON.stringify(body, (key: string, value: Json | undefined) =>
    typeof value === "string" && isLong(key) && /^-?\d+$/.test(value) ? rawNumber(value) : value,
  );
}
