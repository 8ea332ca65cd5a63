import { hashOf, type Json, type JsonObject } from "../../src/base/canonical-json.ts";
import { Problem } from "../../src/base/errors.ts";
import { streams, type Stream } from "../../src/crm/model.ts";
import type { SourceItem } from "../../src/source/reader.ts";
import { compileStream } from "../../src/source/mapping/compile.ts";
import type { Source } from "../../src/source/source.ts";
import type { Company } from "./company.ts";
import { mappingOf } from "../support/world/crm-files.ts";
import { Truth } from "./truth.ts";

const maps = {
  customers: compileStream("customers", mappingOf("customers")).map,
  orders: compileStream("orders", mappingOf("orders")).map,
  staff: compileStream("staff", mappingOf("staff")).map,
};

/**
 * How a reading goes: whole, cut off in the middle, without most of its rows or all of them as after a failed export,
 * or not at all.
 */
export const readingMoods = ["whole", "cut", "shrunk", "empty", "down"] as const;
export type ReadingMood = (typeof readingMoods)[number];

/** What a source in memory is beside what it reads: its rows are those of an export, and mapped as they are. */
export function mappedSource({ name, streams: own }: Pick<Source, "name" | "streams">): Omit<Source, "read"> {
  return {
    name,
    streams: own,
    check: () => Promise.resolve(undefined),
    fullReadEveryMs: () => undefined,
    endReading: () => Promise.resolve(),
    close: () => Promise.resolve(),
    mapping: (stream) =>
      Promise.resolve({
        map: maps[stream],
        gives: () => ({}),
        secretPaths: [],
        ways: () => [],
        nullTexts: [],
        tableEntries: {},
        fingerprint: hashOf([stream]),
        question: stream,
      }),
  };
}

/**
 * Streams of the CRM as a source in memory. `mood` says how each of them is read; `truth` is told what each reading
 * said.
 */
export function companySource(
  company: Company,
  truth: Truth,
  options: { name: string; streams: readonly Stream[]; mood: (stream: Stream) => ReadingMood },
): Source {
  const { mood } = options;
  return {
    ...mappedSource(options),
    async *read(stream) {
      const all = company.records(stream).map((row): SourceItem => {
        const { customer, ...rest } = asJson(row.value);
        const value = { ...rest, ...(customer === undefined || row.nameless ? {} : { customer }) };
        const raw = row.broken ? { ...value, name: null, assets: 0 } : value;
        return { raw: { place: `${stream}/${row.id}`, key: row.id, value: raw } };
      });
      const how = truth.begin(stream, mood(stream), all.length);
      if (how === "down")
        throw new Problem({ code: "source.down", message: "the source does not answer", cure: "look at it" });
      const items = all.slice(
        0,
        { whole: all.length, cut: Math.floor(all.length / 2), shrunk: all.length - 3, empty: 0 }[how],
      );
      truth.gives(stream, items.length);
      if (items.length > 0) yield items;
      if (how === "whole") truth.readWhole(stream);
      if (how !== "cut") return { complete: true, full: true, rows: items.length };
      return {
        complete: false,
        full: true,
        rows: items.length,
        problem: new Problem({ code: "source.half-read", message: "the source broke off", cure: "read it again" }),
      };
    },
  };
}

/** The CRM as one source that is always read whole. */
export function wholeSource(company: Company): Source {
  const truth = new Truth(company, { reads: 1, ms: 0, shrink: 1 }, () => 0);
  return companySource(company, truth, { name: "crm", streams, mood: () => "whole" });
}

function asJson(value: object): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]): [string, Json | undefined] => [key, member]));
}
