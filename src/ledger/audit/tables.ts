import { table } from "../database/table.ts";

export interface AuditTable {
  sequence: number;
  format: number;
  at: string;
  kind: string;
  subject: string;
  body: string;
  previous: string;
  hash: string;
}

export const auditTables = {
  audit: table<AuditTable>(),
};
