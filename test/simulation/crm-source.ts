import { hashOf } from "../../src/base/canonical-json.ts";
import type { Json, JsonObject } from "../../src/base/canonical-json.ts";
import { failed, ok, Problem } from "../../src/base/errors.ts";
import { recordSchemas, streams } from "../../src/crm/model.ts";
import type { CanonicalRecord, Stream } from "../../src/crm/model.ts";
import type { SourceItem } from "../../src/source/reader.ts";
import type { MapRecord } from "../../src/source/mapping/compile.ts";
import type { Source } from "../../src/source/source.ts";
import type { Company } from "./company.ts";

/** How the next readings go: whole, cut off in the middle, or empty as after a failed export. */
export type ReadingMood = "whole" | "cut" | "empty";

/** The CRM as a source in memory. `mood` says how a stream is read. */
export function companySource(company: Company, mood: (stream: Stream) => ReadingMood): Source {
  return {
    name: "crm",
    streams,
    check: () => Promise.resolve(undefined),
    wholeEveryMs: () => undefined,
    close: () => Promise.resolve(),
    mapping: (stream) => Promise.resolve({ map: mapOf(stream), secretPaths: [], fingerprint: hashOf([stream]) }),
    async *read(stream) {
      const how = mood(stream);
      const all = company.records(stream).map((row): SourceItem => ({
        raw: {
          place: `${stream}/${row.id}`,
          key: row.id,
          value: { ...asJson(row.value), ...(row.broken ? { name: null, customerId: row.id, instances: 0 } : {}) },
        },
      }));
      const items = how === "whole" ? all : how === "empty" ? [] : all.slice(0, Math.floor(all.length / 2));
      if (items.length > 0) yield items;
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

function asJson(value: object): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]): [string, Json | undefined] => [key, member]));
}

function mapOf(stream: Stream): MapRecord {
  return (raw) => {
    const parsed = parse(stream, raw);
    if (parsed !== undefined) return ok(parsed);
    return failed({
      ...(typeof raw["id"] === "string" ? { id: raw["id"] } : {}),
      field: "name",
      code: "missing",
      message: "the record is broken",
      expected: "a whole record",
    });
  };
}

function parse(stream: Stream, raw: JsonObject): CanonicalRecord | undefined {
  if (stream === "customers") {
    const { data } = recordSchemas.customers.safeParse(raw);
    return data === undefined ? undefined : { stream, record: data };
  }
  if (stream === "orders") {
    const { data } = recordSchemas.orders.safeParse(raw);
    return data === undefined ? undefined : { stream, record: data };
  }
  const { data } = recordSchemas.staff.safeParse(raw);
  return data === undefined ? undefined : { stream, record: data };
}
