import { HandTime, openLedger } from "./world/start.ts";
import type { World } from "./cli.ts";

/** The month before this one: it is over. */
export const lastMonth = new Date(new Date().getFullYear(), new Date().getMonth(), 0).toISOString().slice(0, 7);

/** The ledger of a world begins in the month before this one, with a run in which nothing happened. */
export async function beganLastMonth(w: World): Promise<void> {
  const time = new HandTime();
  time.at = Date.parse(`${lastMonth}-15T12:00:00.000Z`);
  const { ledger } = await openLedger({ path: w.path("ledger.db"), time });
  const header = { program: "test" };
  const of = { job: "customers-and-orders", kind: "sync", trigger: "hand", scope: null, header } as const;
  await ledger.runs.finish(await ledger.runs.start(of), { state: "done", exitCode: 0, balance: {}, summary: {} });
  ledger.close();
}
