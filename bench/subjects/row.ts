import { createReadStream } from "node:fs";
import { parse } from "csv-parse";

/** A row of the export as the floor and the script read it. */
export interface CustomerRow {
  number: string;
  company: string;
  branch: string;
  city: string;
  street: string;
}

/** The rows of the export, one after the other. */
export function customerRows(csv: string): AsyncIterable<CustomerRow> {
  return createReadStream(csv).pipe(parse({ columns: true }));
}

/** Path and query of E3. */
export function lookUpPath(nonce: string, id: string): string {
  return (
    `/order/api/order/v1/enterprise/user/query?g_nonce=${nonce}` +
    `&channelCode=crm&channelCustomerId=${id}&defaultCustomer=N`
  );
}

/** Path and query of E2. */
export function createPath(nonce: string): string {
  return `/order/api/order/v1/enterprise/user/create?g_nonce=${nonce}`;
}

/** Body of E2. */
export function createBody(row: CustomerRow): string {
  return JSON.stringify({
    crmCustomerId: row.number,
    customerName: row.company,
    branchName: row.branch,
    address: `${row.street}, ${row.city}`,
  });
}

export const requestHeaders = {
  authorization: "Bearer bench-app-token",
  "content-type": "application/json",
  accept: "application/json",
};

/** What E3 and E2 answer, as far as the floor and the script look at it. */
export interface LookUpAnswer {
  code: number | string;
  data: { customerId: string; enterpriseGlobalId: string }[] | null;
}
export interface CreateAnswer {
  code: number | string;
  data: { enterpriseGlobalId: string };
}
