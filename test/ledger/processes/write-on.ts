// Writes intents and their conclusions in groups to the ledger named by the first argument, and says each id on stdout
// once its commit was answered, until it is killed.
import { handInResources } from "../../../src/app/resources.ts";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../../src/base/ids.ts";
import { Ledger } from "../../../src/ledger/ledger.ts";
import { operation } from "../../../src/engine/model/operation.ts";

handInResources();

const [path = "", prefix = ""] = process.argv.slice(2);
const ledger = await Ledger.open({
  path,
  clock: systemClock,
  ids: createIds(() => systemClock.now(), systemRandomness),
  random: systemRandomness,
  groupSize: 16,
});
ledger.runs.takeLock();

async function one(number: number): Promise<void> {
  const customer = { namespace: "crm", id: `${prefix}${number}` };
  const id = await ledger.journal.intend({
    operation: operation("update-enterprise", {
      customer,
      subject: `customer:crm/${customer.id}`,
      records: [{ stream: "customers", ...customer }],
      target: {},
      payload: { crmCustomerId: customer.id, branchName: "b" },
      reason: "test",
      before: null,
      after: { name: "n", branchName: "b", address: null },
    }),
    runId: null,
    wireHash: "0".repeat(64),
    nonce: "0".repeat(32),
    context: {},
  });
  writeSync(1, `sending ${id}\n`);
  await ledger.journal.conclude(id, {
    state: "done",
    attempt: { outcome: "done" },
    changes: [{ type: "acknowledged", customer, fields: { name: id, branchName: "b", address: null } }],
    audit: { kind: "update-enterprise", body: {} },
  });
  writeSync(1, `done ${id}\n`);
}

for (let number = 0; ; number += 40) await Promise.all(Array.from({ length: 40 }, (_, index) => one(number + index)));
