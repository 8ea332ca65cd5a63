import type { JsonObject } from "../../src/base/canonical-json.ts";
import {
  fileSource,
  filesOf as filesIn,
  mappingOf,
  writeFiles,
  type Format as FileFormat,
} from "../support/world/crm-files.ts";
import { exportedRows, type Crm, type GivenStaff } from "../support/world/crm.ts";

/**
 * Four customers with an order of five assets each, and twenty people of whom everybody holds one asset: as many as the
 * limits of one run would let go, so that nothing but the doubt about a source keeps them.
 */

/** How an export is written; `http` is files for all but the people. */
export const formats = ["csv", "joined", "ndjson", "json", "http"] as const;
export type Format = FileFormat | "http";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

function person(customer: number, number: number): GivenStaff {
  const id = `S${customer}-${number}`;
  const holds = [`A${customer}-${number}`];
  return { id, customer: `C${customer}`, login: `zoe${customer}x${number}`, name: `Zoë Müller ${id}`, holds };
}

export function wholeExport(): Crm {
  const customers = numbers(4);
  return {
    customers: customers.map((n) => ({ id: `C${n}`, name: `Müller & Söhne ${n}`, address: `Große Straße ${n}` })),
    orders: customers.map((n) => ({ id: `O${n}`, customer: `C${n}`, assets: numbers(5).map((a) => `A${n}-${a}`) })),
    staff: customers.flatMap((n) => numbers(5).map((a) => person(n, a))),
  };
}

/** The export after a day's work: the second customer moved, and somebody new stands first in the list of people. */
export function laterExport(): Crm {
  const whole = wholeExport();
  return {
    ...whole,
    customers: whole.customers.map((row) => (row.id === "C2" ? { ...row, branch: "South" } : row)),
    staff: [{ ...person(1, 9), holds: [] }, ...whole.staff],
  };
}

/** The rows of the people's list as a service gives them. */
export function peopleOf(crm: Crm): object[] {
  return exportedRows("staff", crm);
}

/** The files of an export, by name. */
export function filesOf(format: Format, crm: Crm): Record<string, string> {
  return format === "http" ? filesIn("ndjson", crm, ["customers", "orders"]) : filesIn(format, crm);
}

/** How the people's list is asked for over HTTP. */
export type HttpShape = "pages" | "total" | "whole";

function sourcesOf(format: Format, http: { origin: string; shape: HttpShape } | undefined): JsonObject {
  if (format !== "http") return { crm: fileSource(".", ["customers", "orders", "staff"], format) };
  const paging = { kind: "page", parameter: "page", sizeParameter: "size", size: 5 };
  const shape = http?.shape ?? "whole";
  return {
    crm: fileSource(".", ["customers", "orders"]),
    hr: {
      kind: "http",
      baseUrl: http?.origin ?? "http://127.0.0.1:1",
      retries: 2,
      retryBaseMs: 1,
      retryMaxMs: 2,
      streams: {
        staff: {
          url: "staff",
          key: "id",
          records: "people",
          ...(shape === "whole" ? {} : { paging }),
          ...(shape === "total" ? { total: "total" } : {}),
          mapping: mappingOf("staff"),
        },
      },
    },
  };
}

/** Writes the configuration and an export into a folder. The configuration is JSON, which is YAML too. */
export function writeExport(
  folder: string,
  format: Format,
  crm: Crm,
  http?: { origin: string; shape: HttpShape },
): void {
  const configuration = {
    ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
    jobs: { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } },
    sources: sourcesOf(format, http),
  };
  writeFiles(folder, { "crm-sync.yaml": JSON.stringify(configuration, null, 1), ...filesOf(format, crm) });
}
