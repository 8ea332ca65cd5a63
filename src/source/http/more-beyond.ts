import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import { formatRawPath } from "../mapping/raw-path.ts";

/** What an answer says of records beyond those that it holds. */
export interface MoreBeyond {
  place: string;
  /** An address or a cursor that it names, or a number of records that is larger than what it holds. */
  what: "next" | "total";
  value: string;
}

const namesNext =
  /^(?:(?:odata)?next(?:page|link|cursor|url|recordsurl|pagetoken)?|(?:end)?cursor|after|continuationtoken|scrollid)$/u;
const namesMore = /^(?:hasmore|hasnext|hasnextpage|moreitems|moreitemsincollection|morerecords)$/u;
const namesTotal = /^(?:total|count|found)(?:count|size|records|items|elements|results)?$/u;

/** How deep an answer is looked through. */
const deepest = 4;

/**
 * What an answer says of records beyond those that it holds, outside of its lists and of what stands at `recordsAt`: a
 * member whose name speaks of a next page, or of a total that is larger. It is a guess by names, for people to look at;
 * nothing is found where the answer says that it is the last one.
 */
export function moreBeyond(document: Json, records: number, recordsAt?: readonly (string | number)[]): MoreBeyond[] {
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
    if (namesMore.test(name)) {
      if (text === "false") isLast = true;
      else if (text === "true") found.push({ place, what: "next", value: text });
    } else if (namesTotal.test(name)) {
      if (/^\d{1,15}$/u.test(text) && Number(text) > records) found.push({ place, what: "total", value: text });
    } else if (namesNext.test(name) && typeof value === "string" && value !== "")
      found.push({ place, what: "next", value });
  };
  look(document, []);
  return isLast ? [] : found;
}
