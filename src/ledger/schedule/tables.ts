import { table } from "../database/statements.ts";

export interface LastFireTimeTable {
  job: string;
  fire_time: string;
  fired_at: string;
}

export interface FiredTimeTable extends LastFireTimeTable {
  /** Null while the run is in progress, failed, or its process died. */
  finished_at: string | null;
}

export interface AlertTable {
  key: string;
  since: string;
  body: string;
  sent_at: string | null;
}

export interface AlertToldTable {
  channel: string;
  key: string;
  since: string;
  body: string;
  told_at: string;
}

export interface DeliveryTable {
  kind: "channel" | "switch";
  name: string;
  done_at: string | null;
  problem: string | null;
  failing_since: string | null;
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
  alert_told: table<AlertToldTable>(),
  delivery: table<DeliveryTable>(),
  open_circuit: table<OpenCircuitTable>(),
};
