import type { ExitCode } from "../../base/errors.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example, withdrawing, withReason } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { parseKey } from "../keys.ts";
import { requireReason } from "../../requests/reason.ts";
import type { LockRequest } from "../../requests/locks.ts";

interface LockWords {
  asset: string[];
  reason?: string | undefined;
  by?: string | undefined;
  largeCustomer?: boolean | undefined;
  withdraw?: boolean | undefined;
  dryRun?: boolean | undefined;
}

export const register: Register = (program, carryOut) => {
  for (const [name, wanted, text] of [
    ["lock", "locked", "disable physical locks of a customer (E6)"],
    ["unlock", "unlocked", "enable physical locks of a customer again (E7)"],
  ] as const) {
    program
      .command(name)
      .description(text)
      .argument("<customer>", "the customer whose locks they are")
      .requiredOption("--asset <number...>", "the asset number of a lock; more than one may be given")
      .option(...withReason)
      .option(...byWhom)
      .option("--large-customer", "these are large-customer locks, which no field shows")
      .option("--dry-run", "show what would be sent, and write and send nothing")
      .option(...withdrawing)
      .addHelpText(
        "after",
        `${example(`crm-sync ${name} ALFKI --asset 8000000001 8000000002 --reason "reported stolen"`)}
The request is written down first and sent at once. If it cannot be sent now, it waits for the next run: during
another run (exit 75), while the outcome of another operation of the customer is open (exit 5), and if the platform
says that it failed (status 3). Status 2 and 4 wait for a person. If one number is not the customer's, or another
customer has an open request for it, all are refused.`,
      )
      .action((customer, options) => carryOut((invocation) => lockCommand(invocation, wanted, customer, options)));
  }
};

/** `lock CUSTOMER` and `unlock CUSTOMER`. */
export async function lockCommand(
  invocation: Invocation,
  wanted: LockRequest["wanted"],
  customer: string,
  words: LockWords,
): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const request: LockRequest = {
      customer: parseKey(customer, application.config.namespace),
      numbers: words.asset.map((number) => number.trim()),
      wanted,
      largeCustomer: words.largeCustomer === true,
      withdraw: words.withdraw === true,
      reason: requireReason(words.reason),
      by: deciderOf(words.by),
    };
    const { askingForLocks } = await import("../../requests/locks.ts");
    const { carryOutRequest } = await import("../manual-request.ts");
    const asking = askingForLocks(application, request);
    return await carryOutRequest(invocation, application, asking, words.dryRun === true);
  });
}
