import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "csv-stringify/sync";
import type { Json, JsonObject } from "../../../src/base/canonical-json.ts";
import { streams, type Stream } from "../../../src/crm/model.ts";
import { customerRow, orderRow, exportedRows, staffRow, type Crm } from "./crm.ts";

/**
 * How an export is written: in JSON a row holds its lists; `csv` has the lines of orders in files of their own and one
 * asset a person; `joined` has a file for what people hold, too. A table has no column for what tests seldom say.
 */
export type Format = "csv" | "joined" | "ndjson" | "json";

const isTable = (format: Format): boolean => format === "csv" || format === "joined";

const term = { value: "1-0-0" };
const asset = { id: "id", licenseType: "type" };
const product = {
  id: "id",
  parentId: "parent",
  name: "name",
  gmsPid: "pid",
  type: { value: "tool" },
  nodes: "nodes",
  timeUnit: { value: "YEAR" },
  timeUnitQuantity: { value: 1 },
  term,
};
const packages = {
  kind: "package",
  each: "packages",
  fields: { id: "id", parentId: "parent", number: "id", name: "id", term },
};

const amount = { money: "price", currency: "EUR", decimals: 2 };
const assetWhole = {
  ...asset,
  quantity: "quantity",
  assetNumbers: "numbers",
  limitEnd: "limitEnd",
  borrowedUsbKey: "forLending",
  locked: "locked",
  continues: { orderId: "continues.order", instanceId: "continues.instance" },
};
const productWhole = {
  ...product,
  passwords: "passwords",
  limitStart: "limitStart",
  limitEnd: "limitEnd",
  transferredFrom: { orderId: "from.order", instanceId: "from.instance" },
  amount,
  timeUnitQuantity: { path: "years", default: 1 },
  term: { template: "{years}-0-0", default: term.value },
};

const lists = (table: boolean): Json => [
  { kind: "asset", each: "assets", fields: table ? asset : assetWhole },
  ...(table ? [] : [packages]),
  { kind: "product", each: "products", fields: table ? product : productWhole },
];

function holds(format: Format): Json {
  if (format === "csv") return [{ one: { instanceId: "holds" }, when: { path: "holds", present: true } }];
  if (format === "joined") return [{ each: "holds", fields: { instanceId: "asset" } }];
  return [
    { each: "holds", fields: { instanceId: "." } },
    { each: "numbers", fields: { assetNumber: "." } },
  ];
}

const borrowed: Json = [
  {
    each: { path: "borrows", default: [] },
    fields: { lock: "lock", assets: [{ each: "assets", fields: { instanceId: "." } }] },
  },
];

/** How the rows of an export become canonical records. */
export function mappingOf(stream: Stream, format: Format = "ndjson"): JsonObject {
  switch (stream) {
    case "customers":
      return {
        id: "id",
        name: "name",
        customerType: { value: "company" },
        branchCode: { value: "B1" },
        branchName: "branch",
        address: "address",
        adminName: "contact",
        adminAccount: "account",
        adminEmail: "email",
        adminMobile: "mobile",
        purchaserMobile: "mobile",
        ...(isTable(format) ? {} : { creation: "creation", mergedInto: { id: "mergedInto" } }),
      };
    case "orders": {
      const instances = lists(isTable(format));
      const order = { id: "id", customerId: "customer", cancelled: "cancelled", placedAt: "placedAt", instances };
      return isTable(format) ? order : { ...order, amount };
    }
    case "staff":
      return {
        id: "id",
        customerId: "customer",
        userName: "login",
        name: "name",
        mobile: "mobile",
        ...(isTable(format) ? {} : { remark: "note", departmentId: "department", password: "password" }),
        assets: holds(format),
        ...(isTable(format) ? {} : { borrows: borrowed }),
      };
  }
}

/** Files beside the one of the stream, with the column that names its row. */
function details(stream: Stream, format: Format): JsonObject | undefined {
  if (stream === "orders" && isTable(format))
    return { assets: { files: "assets.csv", key: "order" }, products: { files: "products.csv", key: "order" } };
  return stream === "staff" && format === "joined" ? { holds: { files: "holds.csv", key: "person" } } : undefined;
}

/** A source that reads these streams from the files of a folder. */
export function fileSource(directory: string, of: readonly Stream[], format: Format = "ndjson"): JsonObject {
  const described = of.map((stream): [string, JsonObject] => {
    const more = details(stream, format);
    const whole: JsonObject = {
      files: `${stream}.${isTable(format) ? "csv" : format}`,
      key: "id",
      ...(stream === "staff" && format === "json" ? { records: "people" } : {}),
      ...(more === undefined ? {} : { details: more }),
      mapping: mappingOf(stream, format),
    };
    return [stream, whole];
  });
  return { kind: "file", directory, streams: Object.fromEntries(described) };
}

/** A row on each line. */
export function lines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function csv(columns: string, rows: readonly object[]): string {
  return stringify([...rows], { header: true, columns: columns.split(" "), cast: { boolean: String } });
}

function tablesOf(stream: Stream, crm: Crm, format: Format): Record<string, string> {
  switch (stream) {
    case "customers":
      return {
        "customers.csv": csv("id name branch address contact account email mobile", crm.customers.map(customerRow)),
      };
    case "orders": {
      const orders = crm.orders.map(orderRow);
      const linesOf = (list: "assets" | "products"): object[] =>
        orders.flatMap((order) => order[list].map((line) => ({ ...line, order: order.id })));
      return {
        "orders.csv": csv("id customer cancelled placedAt", orders),
        "assets.csv": csv("order id type", linesOf("assets")),
        "products.csv": csv("order id parent name pid nodes", linesOf("products")),
      };
    }
    case "staff": {
      const people = crm.staff.map(staffRow);
      if (format === "csv")
        return {
          "staff.csv": csv(
            "id customer login name mobile holds",
            people.map((row) => ({ ...row, holds: row.holds[0] ?? "" })),
          ),
        };
      const held = people.flatMap(({ id, holds: all }) => all.map((one) => ({ person: id, asset: one })));
      return { "staff.csv": csv("id customer login name mobile", people), "holds.csv": csv("person asset", held) };
    }
  }
}

/** The files of some streams of an export, by name. In `json` people stand under a name, as services give them. */
export function filesOf(format: Format, crm: Crm, of: readonly Stream[] = streams): Record<string, string> {
  const files: Record<string, string> = {};
  for (const stream of of) {
    const rows = exportedRows(stream, crm);
    if (format === "ndjson") files[`${stream}.ndjson`] = lines(rows);
    else if (format === "json")
      files[`${stream}.json`] = JSON.stringify(stream === "staff" ? { people: rows } : rows, null, 1);
    else Object.assign(files, tablesOf(stream, crm, format));
  }
  return files;
}

/** Writes files into a folder, in the place of what stood there. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    rmSync(join(folder, name), { recursive: true, force: true });
    writeFileSync(join(folder, name), content);
  }
}
