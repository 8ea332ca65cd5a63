import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { MoreBeyond } from "../http/more-beyond.ts";

/** How to come to the next page of a list, as far as one answer shows it, and what is a guess of it. */
interface PagingGuess {
  settings: JsonObject;
  doubts: string[];
}

const namesPage = /^(?:page|currentpage|pagenumber|pageno|pageindex)$/u;
const namesOffset = /^(?:offset|skip|start|startat)$/u;
const namesSize = /^(?:perpage|pagesize|size|limit|take|maxresults)$/u;

/** `more` is what the answer says of records beyond the `records` that it holds. */
export function pagingGuess(document: Json, more: readonly MoreBeyond[], records: number): PagingGuess {
  const total = more.find(({ what }) => what === "total");
  const settings: JsonObject = total === undefined ? {} : { total: total.place };
  if (more.length === 0) {
    const doubt = `whether the ${records} records of this answer are all; it names no next page`;
    return { settings, doubts: [doubt] };
  }
  const next = more.find(({ what, value }) => what === "next" && value !== "true");
  if (next !== undefined && /^(?:https?:\/)?\//u.test(next.value))
    return { settings: { ...settings, paging: { kind: "nextLink", next: next.place } }, doubts: [] };
  if (next !== undefined) {
    const paging = { kind: "cursor", parameter: "cursor", next: next.place };
    return { settings: { ...settings, paging }, doubts: ["the name of the parameter that carries the cursor"] };
  }
  const [paging] = membersOf(document, 0).flatMap((members) => byNumbers(members));
  if (paging !== undefined)
    return {
      settings: { ...settings, paging },
      doubts: ["that the service takes the values of its answers as parameters"],
    };
  const places = more.map(({ place }) => place).join(", ");
  return { settings, doubts: [`how to come to the next page: ${places} speaks of more; set \`paging\``] };
}

/** How deep an answer is looked through, outside of its lists. */
const deepest = 3;

function membersOf(value: Json, depth: number): JsonObject[] {
  if (!isJsonObject(value) || depth > deepest) return [];
  const below = Object.values(value).flatMap((member) => (member === undefined ? [] : membersOf(member, depth + 1)));
  return [value, ...below];
}

function byNumbers(members: JsonObject): JsonObject[] {
  const numbers = Object.entries(members).flatMap(([name, value]) => {
    const plain = name.toLowerCase().replaceAll(/[^a-z]/gu, "");
    const isNumber = (typeof value === "number" || typeof value === "string") && /^\d{1,9}$/u.test(String(value));
    return isNumber ? [{ name, plain, value: Number(value) }] : [];
  });
  const size = numbers.find(({ plain, value }) => namesSize.test(plain) && value > 0);
  const sized: JsonObject = size === undefined ? {} : { sizeParameter: size.name, size: size.value };
  const page = numbers.find(({ plain, value }) => namesPage.test(plain) && value < 2);
  if (page !== undefined) return [{ kind: "page", parameter: page.name, first: page.value, ...sized }];
  const offset = numbers.find(({ plain, value }) => namesOffset.test(plain) && value === 0);
  return offset === undefined || size === undefined ? [] : [{ kind: "offset", parameter: offset.name, ...sized }];
}
