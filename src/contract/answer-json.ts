import { hasRepeatedMember, isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
const parseJson: (text: string, reviver?: Reviver) => Json = JSON.parse;

const integer = /^-?\d+$/;

/** No answer that a contract shows comes near it: forty packages inside each other do not reach it. */
const mostLevels = 100;

/** Why a text that is JSON is no answer, as what the answer has. */
export class UnfitAnswer extends Error {}

/**
 * Parses the text of an answer. Integers beyond 2^53 become text with every digit kept, so that no 64-bit id passes
 * through a number. Throws a SyntaxError for what is not JSON, and an UnfitAnswer for what is nested deeper than
 * everything that goes through an answer afterwards can follow, and for a member that stands twice: one of the two,
 * such as its `code`, would be believed, and nobody knows which is true.
 */
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

/**
 * Whether a value has more levels than an answer may have; those below are not gone through. On the way its members are
 * counted, and it is found out whether it holds an integer that a number cannot hold for certain.
 */
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

/** The envelope of an answer. A success holds the NUMBER 0, an error its code as a STRING. */
type Envelope =
  | { kind: "success"; data: Json }
  | { kind: "error"; code: string; message: string; cause: string; data: Json }
  | { kind: "odd"; reason: string };

/** Reads the envelope, without judging the HTTP status or the data. Absent data is null. */
export function readEnvelope(answer: Json): Envelope {
  if (!isJsonObject(answer)) return { kind: "odd", reason: "the body is not an object" };
  const { code, data = null, message, cause } = answer;
  if (code === 0) return { kind: "success", data };
  if (typeof code === "string" && code !== "" && code !== "0") {
    return {
      kind: "error",
      code,
      message: typeof message === "string" ? message : "",
      cause: typeof cause === "string" ? cause : "",
      data,
    };
  }
  return {
    kind: "odd",
    reason: code === undefined ? "the body holds no code" : "the code is neither the number 0 nor an error text",
  };
}

/** The message of a service for people: numbers that it left unfilled ({0}, {1}) are said to be missing. */
export function readableMessage(message: string): string {
  return message.replaceAll(/\{\d+\}/g, "(a number that the service did not name)").trim();
}

/**
 * What the service itself said of a failure, for people: its message and, where it says more, its cause. Empty where it
 * said nothing.
 */
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

/**
 * Fields that are a Long in a request (M1, M2, E5): digits beyond 2^53 stand as text in a payload, and as a JSON number
 * on the wire.
 */
const isLong = (name: string): boolean => name === "departmentId" || name === "limitTimeDuration";

/** Digits as a JSON number, whatever their size (ECMAScript: JSON.rawJSON). */
const rawNumber: (digits: string) => object = Reflect.get(JSON, "rawJSON");

/** The bytes of a request's body: JSON in which a Long is a number with every digit. */
export function wireText(body: JsonObject): string {
  return JSON.stringify(body, (key: string, value: Json | undefined) =>
    typeof value === "string" && isLong(key) && /^-?\d+$/.test(value) ? rawNumber(value) : value,
  );
}
