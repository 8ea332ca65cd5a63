import { table } from "../database/statements.ts";

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
  /** When somebody was told of it last; null where nobody was. */
  sent_at: string | null;
}

export interface AlertToldTable {
  channel: string;
  key: string;
  /** Since when the state lasts. */
  since: string;
  /** The state as it was told last. */
  body: string;
  told_at: string;
}

/** A channel for alerts, or a dead man's switch. */
export interface DeliveryTable {
  kind: "channel" | "switch";
  name: string;
  /** When it did last what it is for; null where it never did. */
  done_at: string | null;
  /** Why it does not; null where it does. */
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
