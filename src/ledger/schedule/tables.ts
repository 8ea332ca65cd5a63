import { table } from "../database/table.ts";

export interface LastFireTimeTable {
  job: string;
  fire_time: string;
  fired_at: string;
}

export interface FiredTimeTable extends LastFireTimeTable {
  /** When its run came to its end; null while it is on, or where its process died or its run failed. */
  finished_at: string | null;
}

export interface AlertTable {
  key: string;
  since: string;
  body: string;
  sent_at: string | null;
}

export interface OpenCircuitTable {
  service: string;
  since: string;
  reason: string;
  probe_at: string;
}

export const scheduleTables = {
  last_fire_time: table<LastFireTimeTable>(),
  fired_time: table<FiredTimeTable>(),
  alert: table<AlertTable>(),
  open_circuit: table<OpenCircuitTable>(),
};
