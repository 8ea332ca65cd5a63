import { isJsonObject } from "../../../base/canonical-json.ts";
import type { Json } from "../../../base/canonical-json.ts";

import type { AnswerErrors } from "./answer-settings.ts";
import { valueIn } from "../path-of.ts";

/** What a service says in place of an answer, in its own words, which are not fit to be shown yet. */
interface Complaint {
  words: string | undefined;
  code: string | undefined;
  /** `expired`: the credentials have to be renewed; `retry`: the same may work later; `refused`: it will not. */
  means: "expired" | "retry" | "refused";
}

/** An answer that is a complaint. Whoever asked decides whether it is asked again, and in which words it is told. */
export class AnswerComplaint extends Error {
  readonly complaint: Complaint;

  constructor(complaint: Complaint) {
    super("the answer is a complaint");
    this.complaint = complaint;
  }
}

/** Finds the complaint in an answer; undefined where it is a real one. */
export function complaintIn(document: Json, errors: AnswerErrors | undefined): Complaint | undefined {
  if (errors === "none") return undefined;
  if (errors === undefined) return usualComplaint(document);
  const at = (path: string | undefined): Json | undefined => (path === undefined ? undefined : valueIn(document, path));
  const found = at(errors.at);
  const isWell =
    errors.ok === undefined
      ? isNothing(found)
      : errors.ok.some((value) => value === found || (value === null && found === undefined));
  if (isWell) return undefined;
  const code = textOf(at(errors.code));
  const usual = usualComplaint(document);
  const isIn = (codes: readonly (string | number)[]): boolean => codes.some((one) => String(one) === code);
  return {
    words: textOf(at(errors.message)) ?? textOf(found) ?? usual?.words,
    code: code ?? usual?.code,
    means: isIn(errors.expired) ? "expired" : isIn(errors.retry) ? "retry" : "refused",
  };
}

/** What stands at the top of an answer that failed, as JSON-RPC, GraphQL and most other services write it. */
function usualComplaint(document: Json): Complaint | undefined {
  if (!isJsonObject(document)) return undefined;
  const { error, errors } = document;
  if (isNothing(error) && isNothing(errors)) return undefined;
  return { ...wordsIn(isNothing(error) ? errors : error, document), means: "refused" };
}

/** The words of an answer that its HTTP status calls an error, whatever its form. */
export function wordsOfFailure(document: Json): Pick<Complaint, "words" | "code"> {
  const first = Array.isArray(document) ? document[0] : document;
  return usualComplaint(first ?? null) ?? wordsIn(first, first);
}

/** What an answer of an unexpected shape says at its top in words of its own; undefined where it says nothing. */
export function wordsAside(document: Json): string | undefined {
  if (!isJsonObject(document)) return undefined;
  const { message, error_description: description, detail } = document;
  const isSaid = (value: Json | undefined): value is string => typeof value === "string" && value.trim() !== "";
  return [message, description, detail].find(isSaid);
}

function wordsIn(found: Json | undefined, around: Json | undefined): Pick<Complaint, "words" | "code"> {
  const first = Array.isArray(found) ? found[0] : found;
  const members = [first, isJsonObject(first) ? first["data"] : undefined, around];
  const firstOf = (...names: string[]): string | undefined =>
    members
      .flatMap((member) => (isJsonObject(member) ? names.map((name) => textOf(member[name])) : []))
      .find((text) => text !== undefined && text !== "");
  const extensions = isJsonObject(first) ? first["extensions"] : undefined;
  const code = isJsonObject(extensions) ? textOf(extensions["code"]) : undefined;
  const own = textOf(first);
  return {
    words: own ?? firstOf("message", "error_description", "description", "detail", "title", "msg"),
    code: code ?? firstOf("code", "errorCode", "error_code", "name"),
  };
}

function isNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
