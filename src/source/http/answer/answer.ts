import type { Json } from "../../../base/canonical-json.ts";
import type { RecordLimits } from "../../json.ts";
import { csvSettingsSchema } from "../../file/file-source-settings.ts";
import type { CsvSettings } from "../../file/file-source-settings.ts";
import { pathOf } from "../path-of.ts";
import type { AnswerErrors } from "./answer-settings.ts";
import { AnswerComplaint, complaintIn } from "./complaint.ts";
import { readJson } from "./json.ts";
import { unreadable } from "./page.ts";
import type { Named, Page, Received } from "./page.ts";
import type { CsvMemory } from "./rows.ts";

/** How the answers of a list are written. */
interface AnswerForm {
  answer: "json" | "xml" | "csv" | "ndjson";
  records?: string | undefined;
  encoding?: string | undefined;
  csv?: CsvSettings | undefined;
  xml?: { lists: string[]; emptyBeside: boolean } | undefined;
  errors?: AnswerErrors | undefined;
  countHeader?: string | undefined;
  single?: boolean | undefined;
  limits: RecordLimits;
}

interface AnswerReading {
  form: AnswerForm;
  /** Columns without which a CSV answer is not read, since somebody reads them. */
  columns: readonly string[];
  memory: CsvMemory;
  /** Only what changed was asked for. */
  changesOnly: boolean;
}

/** What `Accept` asks for. */
export const acceptOf: Readonly<Record<AnswerForm["answer"], string>> = {
  json: "application/json",
  xml: "application/xml, text/xml;q=0.9",
  csv: "text/csv",
  ndjson: "application/x-ndjson, application/json;q=0.5",
};

/**
 * Reads an answer. Throws a Problem (`source.not-json`: it may come whole when it is asked for again;
 * `source.wrong-shape`), or an AnswerComplaint where the service says that it failed.
 */
export async function readAnswer(received: Received, reading: AnswerReading, named: Named): Promise<Page> {
  if (received.nothing !== undefined) return nothingIn(received.nothing, reading, named);
  const page = await pageOf(received, reading, named);
  const { countHeader } = reading.form;
  const told = countHeader === undefined ? undefined : received.headers[countHeader.toLowerCase()];
  if (told === undefined || Number(told) === page.items.length) return page;
  const what = `${page.items.length} records, but the header ${countHeader} says ${Number(told)}`;
  throw unreadable(named, what, "source.not-json");
}

function nothingIn(status: number, { changesOnly }: AnswerReading, named: Named): Page {
  if (status !== 304 || changesOnly) return { items: [], document: null, isNothing: true };
  throw unreadable(named, "HTTP 304 (nothing changed), although crm-sync requested everything");
}

async function pageOf(received: Received, { form, columns, memory }: AnswerReading, named: Named): Promise<Page> {
  const { answer, errors, limits } = form;
  const records = pathOf(form.records ?? ".");
  if (answer === "json") {
    const json = readJson(received, limits.maxBytes, named);
    refuse(json.document, errors);
    return form.single === true ? json.one(records, limits) : json.page(records, limits);
  }
  if (answer === "xml") {
    const [{ parseXml, xmlPage }, { textOf }] = await Promise.all([import("./xml.ts"), import("./text.ts")]);
    const { lists, emptyBeside } = form.xml ?? { lists: [], emptyBeside: false };
    const depth = limits.maxDepth + records.steps.length + 1;
    const document = parseXml(await textOf(received, form, named), lists, depth, named);
    refuse(document, errors);
    return xmlPage(document, records, { limits, emptyBeside }, named);
  }
  const { csvPage, jsonInstead, ndjsonPage } = await import("./rows.ts");
  const instead = answer === "csv" || errors !== undefined ? jsonInstead(received, named) : undefined;
  if (instead !== undefined) refuse(instead, errors);
  if (answer === "ndjson") return ndjsonPage(received, form, named);
  return csvPage(received, form.csv ?? csvSettingsSchema.parse({}), { form, columns, memory }, named);
}

function refuse(document: Json, errors: AnswerErrors | undefined): void {
  const complaint = complaintIn(document, errors);
  if (complaint !== undefined) throw new AnswerComplaint(complaint);
}
