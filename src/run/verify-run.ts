import pLimit from "p-limit";
import type { JsonObject } from "../base/canonical-json.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes, messageOf } from "../base/errors.ts";
import { Observer } from "../apply/observe.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { RunState } from "../ledger/runs.ts";
import type { RunDependencies } from "./request.ts";
import { endCutOffRuns } from "./cut-off.ts";
import { verifyCustomer } from "./verify.ts";

/** Customers that are taken from the ledger at once. */
const page = 200;

/** What reading everything back came to. */
export interface VerifySummary {
  run: string;
  state: RunState;
  exitCode: ExitCode;
  customers: number;
  failed: number;
  assets: number;
  products: number;
  members: number;
}

/** The verify job: reads back what the platform shows of every linked customer and keeps it. No writing call is made. */
export async function runVerify(
  deps: RunDependencies,
  request: { job: string; trigger: "schedule" | "hand"; signal?: AbortSignal | undefined; header: JsonObject },
): Promise<VerifySummary> {
  const { ledger, logger } = deps;
  await endCutOffRuns(deps);
  const run = await ledger.startRun({
    job: request.job,
    kind: "verify",
    trigger: request.trigger,
    scope: null,
    header: request.header,
  });
  const observer = new Observer(deps.platform, deps.settings);
  const limit = pLimit(deps.concurrency);
  const stopped = (): boolean => request.signal?.aborted === true;
  const summary: VerifySummary = {
    run,
    state: "done",
    exitCode: exitCodes.ok,
    customers: 0,
    failed: 0,
    assets: 0,
    products: 0,
    members: 0,
  };
  let after: RecordKey | undefined;
  for (;;) {
    const customers = await ledger.linkedCustomers(after, page);
    if (customers.length === 0 || stopped()) break;
    after = customers.at(-1);
    await Promise.all(
      customers.map((customer) =>
        limit(async () => {
          if (stopped()) return;
          try {
            const verified = await verifyCustomer(ledger, observer, customer, request.signal);
            summary.assets += verified.assets;
            summary.products += verified.products;
            summary.members += verified.members;
          } catch (error) {
            if (ledger.broken !== undefined) throw error;
            summary.failed += 1;
            await ledger.learn(customer, [{ type: "observation-read", customer, complete: false }]);
            logger.warn({ customer: formatKey(customer), reason: messageOf(error) }, "customer not verified");
          }
          summary.customers += 1;
          deps.progress("verifying", summary.customers, undefined);
        }),
      ),
    );
  }
  if (stopped()) summary.state = "stopped";
  summary.exitCode =
    summary.failed > 0 ? exitCodes.sourceDown : summary.state === "stopped" ? exitCodes.other : exitCodes.ok;
  await ledger.finishRun(run, {
    state: summary.state,
    exitCode: summary.exitCode,
    balance: null,
    summary: {
      customers: summary.customers,
      failed: summary.failed,
      assets: summary.assets,
      products: summary.products,
      members: summary.members,
    },
  });
  return summary;
}
