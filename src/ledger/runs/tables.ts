import { table } from "../database/statements.ts";

export type RunState = "running" | "done" | "stopped" | "failed" | "interrupted";

export interface RunTable {
  id: string;
  job: string;
  kind: string;
  trigger: string;
  scope: string | null;
  started_at: string;
  finished_at: string | null;
  state: RunState;
  exit_code: number | null;
  balance: string | null;
  summary: string | null;
  header: string;
}

export const runTables = {
  run: table<RunTable>(),
};
