import { SaxesParser } from "saxes";
import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { Problem } from "../../base/errors.ts";
import type { RecordLimits } from "../json.ts";
import { valueAt } from "../mapping/path.ts";
import type { Path } from "../mapping/path.ts";
import { htmlProblem, measured, unreadable } from "./answer.ts";
import type { Named, Page } from "./answer.ts";

interface Element {
  name: string;
  members: JsonObject;
  text: string;
}

/** Elements of any document that are read; a small one can hold very many. */
const mostElements = 5_000_000;

/**
 * An XML text as JSON: an element is an object of its attributes (`@name`), its elements and its text (`#text`), or
 * its text alone; elements of the same name are a list. Entities are the five of XML, and a document type is refused.
 * Throws a Problem for what is nested deeper than `maxDepth` or is no XML.
 */
export function parseXml(text: string, lists: readonly string[], maxDepth: number, named: Named): Json {
  const web = htmlProblem(text, named);
  if (web !== undefined) throw web;
  const parser = new SaxesParser();
  const root: Element = { name: "", members: {}, text: "" };
  const open: Element[] = [root];
  let elements = 0;
  parser.on("error", () => {
    throw unreadable(named, "text that is not XML, or was cut off", "source.not-json");
  });
  parser.on("doctype", () => {
    throw unreadable(named, "XML that declares a document type, which is refused");
  });
  parser.on("opentag", ({ name, attributes }) => {
    elements += 1;
    if (open.length > maxDepth) throw unreadable(named, `XML nested deeper than ${maxDepth}`);
    if (elements > mostElements) throw unreadable(named, `XML of more than ${mostElements} elements`);
    const members: JsonObject = {};
    for (const [attribute, value] of Object.entries(attributes)) define(members, `@${attribute}`, value);
    open.push({ name, members, text: "" });
  });
  const take = (part: string): void => {
    const element = open.at(-1);
    if (element !== undefined) element.text += part;
  };
  parser.on("text", take);
  parser.on("cdata", take);
  parser.on("closetag", () => {
    const element = open.pop();
    const around = open.at(-1);
    if (element !== undefined && around !== undefined) addMember(around.members, element, lists);
  });
  try {
    parser.write(text.replace(/^\uFEFF/u, "")).close();
  } catch (thrown) {
    if (thrown instanceof Problem) throw thrown;
    throw unreadable(named, "text that is not XML, or was cut off", "source.not-json");
  }
  return root.members;
}

function addMember(members: JsonObject, element: Element, lists: readonly string[]): void {
  const value = valueOf(element);
  const known = Object.hasOwn(members, element.name) ? members[element.name] : undefined;
  if (Array.isArray(known)) known.push(value);
  else if (known !== undefined) define(members, element.name, [known, value]);
  else define(members, element.name, lists.includes(element.name) ? [value] : value);
}

function valueOf({ members, text }: Element): Json {
  if (Object.keys(members).length === 0) return text;
  if (text.trim() !== "") define(members, "#text", text.trim());
  return members;
}

function define(members: JsonObject, name: string, value: Json): void {
  Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * The records of an XML document. One that stands alone is a list of one. An element that is there and empty is an
 * empty list; one with other elements is so only where `emptyBeside` says it, since the records may have another name.
 */
export function xmlPage(
  document: Json,
  path: Path,
  { limits, emptyBeside }: { limits: RecordLimits; emptyBeside: boolean },
  named: Named,
): Page {
  const at = (steps: Path["steps"]): Json | undefined =>
    valueAt({ item: document, parent: undefined }, { up: 0, steps });
  const found = at(path.steps);
  if (found === undefined && !isEmptyElement(at(path.steps.slice(0, -1)), emptyBeside))
    throw unreadable(named, `XML without a list at ${path.steps.join(".") || "its top"}`);
  const records = found === undefined ? [] : Array.isArray(found) ? found : [found];
  return { document, items: measured(records, path, limits, named.place) };
}

function isEmptyElement(value: Json | undefined, besideOthers: boolean): boolean {
  if (typeof value === "string") return value.trim() === "";
  return isJsonObject(value) && (besideOthers || Object.keys(value).every((name) => name.startsWith("@")));
}
