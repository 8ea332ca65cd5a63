import type { JsonObject } from "../../src/base/canonical-json.ts";
import type { Stream } from "../../src/crm/model.ts";
import type { MappingSpec } from "../../src/source/mapping/compile.ts";

/** A whole record of each stream, for the reference; its test maps it and compares. */
export const recordExamples: Readonly<Record<Stream, { mapping: MappingSpec; record: JsonObject; gives: JsonObject }>> =
  {
    customers: {
      mapping: {
        id: "customerNumber",
        name: { trim: "companyName" },
        customerType: { map: "type", values: { P: "personal", C: "company" }, default: "company" },
        branchCode: { lookup: { table: "regions", key: "country" } },
        branchName: { value: "Head office" },
        address: { concat: ["street", "city"], separator: ", " },
      },
      record: {
        customerNumber: 4711,
        companyName: "Northwind ",
        type: "C",
        country: "DE",
        street: "Main Street 1",
        city: "Bonn",
      },
      gives: {
        namespace: "crm",
        id: "4711",
        name: "Northwind",
        customerType: "company",
        branchCode: "EMEA",
        branchName: "Head office",
        address: "Main Street 1, Bonn",
      },
    },
    orders: {
      mapping: {
        id: "orderID",
        customerId: "customerNumber",
        placedAt: { date: "orderDate", format: "yyyy-MM-dd", zone: "Europe/Berlin" },
        cancelled: { boolean: "status", true: ["CANCELLED"], false: ["OPEN", "DONE"] },
        instances: [
          {
            each: "lines",
            kind: "asset",
            fields: {
              id: { template: "{^.orderID}-{number}" },
              licenseType: { value: "softkey" },
              quantity: { number: "quantity" },
            },
          },
          {
            each: "lines",
            kind: "product",
            when: { path: "product", present: true },
            fields: {
              id: { template: "{^.orderID}-{number}-P" },
              parentId: { template: "{^.orderID}-{number}" },
              name: "product",
              gmsPid: "product",
              type: { value: "standard" },
              nodes: { value: 1 },
              timeUnit: { value: "YEAR" },
              timeUnitQuantity: { value: 1 },
              term: { value: "1-0-0" },
            },
          },
        ],
      },
      record: {
        orderID: 10248,
        customerNumber: "4711",
        orderDate: "2026-07-01",
        status: "OPEN",
        lines: [{ number: 1, quantity: "2", product: "CAD" }],
      },
      gives: {
        namespace: "crm",
        id: "10248",
        customerId: "4711",
        placedAt: "2026-06-30T22:00:00.000Z",
        cancelled: false,
        instances: [
          {
            kind: "asset",
            id: "10248-1",
            licenseType: "softkey",
            assetNumbers: [],
            quantity: 2,
            extensions: [],
          },
          {
            kind: "product",
            id: "10248-1-P",
            parentId: "10248-1",
            name: "CAD",
            gmsPid: "CAD",
            type: "standard",
            nodes: 1,
            trial: false,
            timeUnit: "YEAR",
            timeUnitQuantity: 1,
            term: "1-0-0",
            features: [],
          },
        ],
      },
    },
    staff: {
      mapping: {
        id: "employeeNumber",
        customerId: "customerNumber",
        userName: { lower: "account" },
        name: { concat: ["firstName", "lastName"], separator: " " },
        mobile: { phone: { first: ["mobile", "phone"] }, country: "DE" },
        password: "initialPassword",
        assets: { each: "licences", fields: { assetNumber: "." } },
      },
      record: {
        employeeNumber: "7",
        customerNumber: "4711",
        account: "AnnLee",
        firstName: "Ann",
        lastName: "Lee",
        phone: "030 12345678",
        initialPassword: "a secret",
        licences: ["8000000001"],
      },
      gives: {
        namespace: "crm",
        id: "7",
        customerId: "4711",
        userName: "annlee",
        name: "Ann Lee",
        mobile: "+493012345678",
        password: "a secret",
        assets: [{ assetNumber: "8000000001" }],
      },
    },
  };
