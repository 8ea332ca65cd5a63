import { isUtf8 } from "node:buffer";
import { hasRepeatedMember, isJsonObject, type Json } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import { shownWords } from "../../http/redaction.ts";
import { JsonListScanner } from "../file/json.ts";
import { measureJson, parseExact, parseInexact, type RecordLimits } from "../json.ts";
import { pathOf, valueAt, type Path } from "../mapping/path.ts";
import { sourceProblem, type SourceProblemCode } from "../problems.ts";
import type { FileItem } from "../reader.ts";
import { valueIn } from "./placement.ts";
import type { AnswerErrors } from "./request-settings.ts";

interface AnswerForm {
  records?: string | undefined;
  errors?: AnswerErrors | undefined;
  limits: RecordLimits;
}

interface AnswerReading {
  form: AnswerForm;
  changesOnly: boolean;
}

/** Throws a Problem (`source.not-json`: a retry may help), or an AnswerComplaint if the service reports a failure. */
export function readAnswer(received: Received, reading: AnswerReading, named: Named): Page {
  if (received.nothing !== undefined) return nothingIn(received.nothing, reading, named);
  const { records = ".", errors, limits } = reading.form;
  const json = readJson(received, limits.maxBytes, named);
  const complaint = complaintIn(json.document, errors);
  if (complaint !== undefined) throw new AnswerComplaint(complaint);
  return json.page(pathOf(records), limits);
}

function nothingIn(status: number, { changesOnly }: AnswerReading, named: Named): Page {
  if (status !== 304 || changesOnly) return { items: [], document: null, isNothing: true };
  throw unreadable(named, "HTTP 304 (nothing changed), although crm-sync requested everything");
}

/** A failure that a service reports, in its own words. Redact them before showing. */
interface Complaint {
  words: string | undefined;
  code: string | undefined;
  /** `expired`: renew the credentials. `retry`: may work later. `refused`: will not work. */
  means: "expired" | "retry" | "refused";
}

export class AnswerComplaint extends Error {
  readonly complaint: Complaint;

  constructor(complaint: Complaint) {
    super("the answer is a complaint");
    this.complaint = complaint;
  }
}

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
  const code = textOfValue(at(errors.code));
  const usual = usualComplaint(document);
  const isIn = (codes: readonly (string | number)[]): boolean => codes.some((one) => String(one) === code);
  return {
    words: textOfValue(at(errors.message)) ?? textOfValue(found) ?? usual?.words,
    code: code ?? usual?.code,
    means: isIn(errors.expired) ? "expired" : isIn(errors.retry) ? "retry" : "refused",
  };
}

/** A failure as JSON-RPC, GraphQL and most other services report it. */
function usualComplaint(document: Json): Complaint | undefined {
  if (!isJsonObject(document)) return undefined;
  const { error, errors } = document;
  if (isNothing(error) && isNothing(errors)) return undefined;
  return { ...wordsIn(isNothing(error) ? errors : error, document), means: "refused" };
}

export function wordsOfFailure(document: Json): Pick<Complaint, "words" | "code"> {
  const first = Array.isArray(document) ? document[0] : document;
  return usualComplaint(first ?? null) ?? wordsIn(first, first);
}

function wordsAside(document: Json): string | undefined {
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
      .flatMap((member) => (isJsonObject(member) ? names.map((name) => textOfValue(member[name])) : []))
      .find((text) => text !== undefined && text !== "");
  const extensions = isJsonObject(first) ? first["extensions"] : undefined;
  const code = isJsonObject(extensions) ? textOfValue(extensions["code"]) : undefined;
  const own = textOfValue(first);
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

function textOfValue(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

interface JsonAnswer {
  document: Json;
  /** Throws a Problem (`source.wrong-shape`) if there is no list. */
  page(records: Path, limits: RecordLimits): Page;
}

/** Throws a Problem (`source.not-json`). */
export function readJson({ bytes }: Received, maxBytes: number, named: Named): JsonAnswer {
  if (!isUtf8(bytes)) throw unreadable(named, "bytes that are not UTF-8", "source.not-json");
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  let document: Json;
  let suspect = text.length > maxBytes;
  try {
    document = parseExact(text);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) {
      throw htmlProblem(text, named) ?? unreadable(named, "text that is not JSON, or was cut off", "source.not-json");
    }
    suspect = true;
    document = parseInexact(text);
  }
  const isSound = (path: Path, { maxDepth }: RecordLimits): boolean => {
    const above = path.steps.length + 1;
    const whole = measureJson(document, { maxDepth: maxDepth + above, maxMembers: Number.MAX_SAFE_INTEGER });
    return !suspect && whole.ok && !hasRepeatedMember(text, whole.value);
  };
  const said = (): string => {
    const words = shownWords(wordsAside(document) ?? "", named.known, 200).replace(/[.\s]+$/u, "");
    return words === "" ? "" : `; it says ${JSON.stringify(words)}`;
  };
  return {
    document,
    page(path, limits) {
      const records = valueAt({ item: document, parent: undefined }, path);
      if (!Array.isArray(records))
        throw unreadable(named, `JSON without a list at ${path.steps.join(".") || "its top"}${said()}`);
      // A bad record does not spoil the page: each record is then parsed from its own bytes.
      if (!isSound(path, limits)) return { document, items: scan(text, path, limits, named) };
      return { document, items: measured(records, path, limits, named.place) };
    },
  };
}

function measured(records: readonly Json[], path: Path, limits: RecordLimits, place: string): FileItem[] {
  return records.map((value, index): FileItem => {
    const at = [place, ...path.steps, index].join("/");
    const size = measureJson(value, limits);
    if (size.ok) return { row: { place: at, value } };
    return { bad: { place: at, code: size.error.code, message: `the record is unusable: ${size.error.message}` } };
  });
}

function scan(text: string, path: Path, limits: RecordLimits, named: Named): FileItem[] {
  const scanner = new JsonListScanner("the answer", named.place, path.steps, limits);
  const problem = scanner.write(Buffer.from(text, "utf8")) ?? scanner.end();
  if (problem !== undefined) throw unreadable(named, "JSON that cannot be split into records");
  return scanner.take();
}

export interface Page {
  items: FileItem[];
  document: Json;
  /** The HTTP status means "no content", so there are no totals or cursors. */
  isNothing?: boolean;
}

export interface Received {
  bytes: Buffer;
  /** Header names are in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The HTTP status, if it means "no content". */
  nothing?: number;
}

export interface Named {
  place: string;
  who: string;
  known: KnownSecrets;
}

function unreadable(
  { place, who }: Pick<Named, "place" | "who">,
  what: string,
  code: SourceProblemCode = "source.wrong-shape",
): Problem {
  return sourceProblem(
    code,
    place,
    `The ${who} answers with ${what}.`,
    "Correct `url` and `records`; open the address to see its answer.",
  );
}

/** A web page instead of data: sign-in, proxy, outage. Undefined if the text is not HTML. */
function htmlProblem(text: string, named: Named): Problem | undefined {
  if (!/^\s*(?:<!--[^>]*-->\s*)?<(?:!doctype\s+html|html|head|body)\b/iu.test(text.slice(0, 1_000))) return undefined;
  const title = /<title[^>]*>([^<]{1,500})/iu.exec(text.slice(0, 65_536))?.[1] ?? "";
  const words = shownWords(title, named.known, 120);
  return sourceProblem(
    "source.not-json",
    named.place,
    `The ${named.who} answers with a web page${words === "" ? "" : ` titled ${JSON.stringify(words)}`} and no data.`,
    "Open the address: it may be a sign-in page, a proxy or an outage. Correct `url` and `auth`, or wait.",
  );
}
