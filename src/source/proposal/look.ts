import { isUtf8 } from "node:buffer";
import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { utf16Of } from "../file/bytes.ts";
import { namedDelimiter } from "../file/csv.ts";
import type { MoreBeyond } from "../http/list-problems.ts";
import { formatRawPath } from "../mapping/path.ts";

/** The encoding of a text by its beginning. One of single bytes, or of a language, is a guess. */
export function encodingOf(beginning: Buffer): string {
  // A character may be cut at the end of what was read.
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(beginning.subarray(0, beginning.length - cut)));
  return utf16Of(beginning) ?? (isText ? "utf-8" : legacyEncodingOf(beginning));
}

/** So many of all bytes beyond ASCII are beside another one in a text without Latin letters. */
const mostlyBeside = 0.8;

/**
 * The likeliest encoding of a text that is no UTF-8: Chinese, Japanese or Cyrillic where bytes beyond ASCII come in rows,
 * and otherwise that of western Europe, in which accented letters stand among others.
 */
function legacyEncodingOf(bytes: Buffer): string {
  const runs = [...bytes.toString("latin1").matchAll(/[\x80-\xff][\x40-\xff]*/gu)].map(([run]) =>
    Buffer.from(run, "latin1"),
  );
  const [beyond, beside] = runs.reduce(
    ([all, long], run) => {
      const count = run.filter((byte) => byte >= 0x80).length;
      return [all + count, count > 2 ? long + count : long];
    },
    [0, 0],
  );
  if (beside < beyond * mostlyBeside) return "windows-1252";
  const firsts = runs.flatMap((run) => [...run].filter((byte, index) => index % 2 === 0 && byte >= 0x80));
  const share = (isSo: (byte: number) => boolean): number => firsts.filter(isSo).length / firsts.length;
  if (share((byte) => byte >= 0x82 && byte <= 0x83) > 0.2 && isIn("shift_jis", bytes)) return "shift_jis";
  // The commonest signs of Chinese are in these rows of GB 2312; small letters of Cyrillic are behind them.
  const isChinese = share((byte) => byte >= 0xb0 && byte <= 0xd7) > 0.5 && isIn("gb18030", bytes);
  return isChinese ? "gb18030" : "windows-1251";
}

/** Whether all bytes are characters of an encoding, but for those of one that is cut at the end. */
function isIn(encoding: string, bytes: Buffer): boolean {
  return [0, 1, 2, 3].some((cut) => {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, bytes.length - cut)) !== "";
    } catch {
      return false;
    }
  });
}

/** What stands between the fields of a CSV file, by its beginning: as its first line names it, or else as its header has it. */
export function delimiterOf(beginning: Buffer): string {
  const text = new TextDecoder(encodingOf(beginning)).decode(beginning);
  const [header = ""] = text.split(/\r?\n/u);
  const counts = [",", ";", "\t", "|"].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  const [best] = counts.sort((one, other) => other.count - one.count);
  return namedDelimiter(text)?.delimiter[0] ?? best?.delimiter ?? ",";
}

const deepestList = 4;

/** The place of the longest list of objects in a document; undefined where there is none. */
export function listIn(document: Json): { path: string | undefined; rows: JsonObject[] } | undefined {
  let best: { path: string | undefined; rows: JsonObject[] } | undefined;
  const look = (value: Json, steps: readonly string[]): void => {
    if (Array.isArray(value)) {
      const rows = value.filter((item): item is JsonObject => isJsonObject(item));
      const path = steps.length === 0 ? undefined : formatRawPath(steps);
      if (rows.length > (best?.rows.length ?? 0)) best = { path, rows };
      return;
    }
    if (!isJsonObject(value) || steps.length >= deepestList) return;
    for (const [name, member] of Object.entries(value)) if (member !== undefined) look(member, [...steps, name]);
  };
  look(document, []);
  return best;
}

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
