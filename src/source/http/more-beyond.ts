import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import { formatRawPath } from "../mapping/path.ts";

/** What an answer says of records beyond those that it holds. */
export interface MoreBeyond {
  place: string;
  /**
   * An address or a cursor that it names, a number of a page or record to go on at, or a number of records that is
   * larger than what was read.
   */
  what: "next" | "position" | "total";
  value: string;
}

/** What is known of a list that has come to its end, and by which rule. */
interface ListEnd {
  /** Where its records stand. */
  recordsAt?: readonly (string | number)[] | undefined;
  /** Places that were heeded in deciding that it has ended. */
  heeded?: readonly string[];
  /** Values that the answer may repeat from the request, and texts that stand for no cursor. */
  idle?: ReadonlySet<string>;
  /** The service said where it was asked to that no more pages follow: a cursor is then where the last record is. */
  saysLast?: boolean;
}

const namesNext =
  /^(?:(?:odata)?next(?:page|link|cursor|url|recordsurl|pagetoken)?|(?:end)?cursor|after|continuationtoken|scrollid)$/u;
const namesPosition = /^next(?:page|cursor|start|offset)?$/u;
const namesMore = /^(?:hasmore|hasnext|hasnextpage|moreitems|moreitemsincollection|morerecords)$/u;
const namesTotal = /^(?:total|count|found)(?:count|size|records|items|elements|results)?$/u;
const isAddress = /^(?:https?:\/)?[/?]/u;
const isNoCursor = /^(?:null|none|false|0|-1)$/iu;

/** How deep an answer is looked through. */
const deepest = 4;

/**
 * What an answer says of records beyond those that were read, outside of its lists and of what stands at `recordsAt`: a
 * member whose name speaks of a next page, or of a total that is larger. It is a guess by names, for people to look at;
 * nothing is found where the answer says that it is the last one.
 */
export function moreBeyond(document: Json, records: number, end: ListEnd = {}): MoreBeyond[] {
  const { recordsAt, heeded = [], idle = new Set<string>(), saysLast = false } = end;
  const at = recordsAt === undefined ? undefined : JSON.stringify(recordsAt);
  const found: MoreBeyond[] = [];
  let isLast = false;
  const look = (value: Json, steps: readonly string[]): void => {
    if (Array.isArray(value) || (at !== undefined && JSON.stringify(steps) === at)) return;
    if (isJsonObject(value)) {
      if (steps.length >= deepest) return;
      for (const [name, member] of Object.entries(value)) if (member !== undefined) look(member, [...steps, name]);
      return;
    }
    const name = (steps.at(-1) ?? "").toLowerCase().replaceAll(/[^a-z]/gu, "");
    const place = formatRawPath(steps);
    const text = String(value);
    if (namesMore.test(name) && text === "false") isLast = true;
    if (heeded.includes(place)) return;
    if (namesMore.test(name)) {
      if (text === "true") found.push({ place, what: "next", value: text });
    } else if (namesTotal.test(name)) {
      // What is called count may be the number of records that were asked for.
      const isAsked = name === "count" && idle.has(text);
      if (/^\d{1,15}$/u.test(text) && Number(text) > records && !isAsked)
        found.push({ place, what: "total", value: text });
    } else if (typeof value === "string" && namesNext.test(name)) {
      if (text === "" || isNoCursor.test(text) || idle.has(text) || (saysLast && !isAddress.test(text))) return;
      found.push({ place, what: "next", value });
    } else if (typeof value === "number" && namesPosition.test(name)) {
      if (value > 0 && !idle.has(text) && !saysLast) found.push({ place, what: "position", value: text });
    }
  };
  look(document, []);
  return isLast ? [] : found;
}
