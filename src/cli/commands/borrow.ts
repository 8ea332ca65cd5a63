import type { ExitCode } from "../../base/errors.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example, withdrawing, withReason } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { parseKey } from "../keys.ts";
import { requireReason } from "../../requests/reason.ts";
import type { LoanRequest } from "../../requests/loans.ts";

interface LoanWords {
  staff: string;
  lock: string;
  asset?: string[] | undefined;
  reason?: string | undefined;
  by?: string | undefined;
  withdraw?: boolean | undefined;
  dryRun?: boolean | undefined;
}

export const register: Register = (program, carryOut) => {
  program
    .command("borrow")
    .description("lend a lock to a member of staff, with assets of this person in it (M10)")
    .argument("<customer>", "the customer whose lock it is")
    .requiredOption("--staff <id>", "the member of staff, as the CRM names this person")
    .requiredOption("--lock <number>", "the number of the lock that is lent")
    .option("--asset <number...>", "the number of an asset that goes into the lock; more than one may be given")
    .option(...withReason)
    .option(...byWhom)
    .option("--dry-run", "show what would be sent; the platform is read, and nothing is written or sent")
    .option(...withdrawing)
    .addHelpText(
      "after",
      `${example('crm-sync borrow ALFKI --staff 4711 --lock 8000000009 --asset 8000000001 --reason "travels"')}
No operation returns a lent lock, and nothing undoes this. So the platform is read first: a lock that M8 does not show
or shows as lent, and an asset that this person does not hold or that is lent already, refuse all of it. The request
is written down and sent at once. During another run (exit 75), or while the outcome of another operation of the
customer is open (exit 5), it waits, and the next run sends it. A call without an answer is proven by M8 and M6 of
every asset before anything else is sent.`,
    )
    .action((customer, options) => carryOut((invocation) => borrowCommand(invocation, customer, options)));
};

/** `borrow CUSTOMER`. */
async function borrowCommand(invocation: Invocation, customer: string, words: LoanWords): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const { namespace } = application.config;
    const request: LoanRequest = {
      customer: parseKey(customer, namespace),
      staff: parseKey(words.staff, namespace),
      lock: words.lock.trim(),
      numbers: (words.asset ?? []).map((number) => number.trim()),
      withdraw: words.withdraw === true,
      reason: requireReason(words.reason),
      by: deciderOf(words.by),
    };
    const { askingForLoan } = await import("../../requests/loans.ts");
    const { carryOutRequest } = await import("../manual-request.ts");
    const asking = askingForLoan(application, request);
    return await carryOutRequest(invocation, application, asking, words.dryRun === true);
  });
}
