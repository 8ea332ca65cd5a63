import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Wished } from "./full-check.ts";

const project = join(import.meta.dirname, "../..");

/** Where Northwind's files are looked for. */
export const northwindDirectory =
  process.env["NORTHWIND_DIR"] ?? resolve(import.meta.dirname, "../../../shared/data/northwind");
export const northwindIsThere = existsSync(join(northwindDirectory, "customers.csv"));
export const northwindIsMissing = `Northwind is not synchronised here, because its data is not at ${northwindDirectory}; set NORTHWIND_DIR`;
export const northwindConfig = join(project, "config/northwind.yaml");
export const northwindSource = { CRM_SYNC__sources__northwind__directory: northwindDirectory };

/** What Northwind's files come to, counted in them. */
export const northwindWished: Wished = {
  enterprises: 91,
  orders: 830,
  products: 2155,
  addedStaff: 0,
  assignments: 0,
};

/** Names, addresses and contacts of some of its customers, and what every e-mail address ends in. */
export const northwindPersonal = [
  "Alfreds Futterkiste",
  "Maria Anders",
  "Obere Str. 57",
  "Hanari Carnes",
  "Mario Pontes",
  "Rua do Paço, 67",
  "59 rue de l'Abbaye",
  "Paul Henriot",
  "B's Beverages",
  "Victoria Ashworth",
  "Fauntleroy Circus",
  "@northwind.example.com",
  "+10000000000",
];

/** A folder for one test; `remove` drops it. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "crm-sync-scenario-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
