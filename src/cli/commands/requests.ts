import { deciderOf, decisionOf, parseKey, type DecisionWords } from "../words.ts";
import type { ExitCode } from "../../base/errors.ts";
import { withApplication, ok, withLedger, type Invocation } from "../command.ts";
import { byWhom, example, withdrawing, withReason, type Register } from "../command-line.ts";
import type { LockRequest } from "../../requests/locks.ts";
import type { LoanRequest } from "../../requests/loans.ts";
import { formatKey } from "../../crm/keys.ts";
import type { PasswordReset } from "../../requests/staff-password.ts";

interface RequestWords extends DecisionWords {
  withdraw?: boolean | undefined;
  dryRun?: boolean | undefined;
}

interface LockWords extends RequestWords {
  asset: string[];
  largeCustomer?: boolean | undefined;
}

export const addLock: Register = (program, carryOut) => {
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

async function lockCommand(
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
      ...decisionOf(words),
    };
    const { askingForLocks } = await import("../../requests/locks.ts");
    const { carryOutRequest } = await import("../manual-request.ts");
    const asking = askingForLocks(application, request);
    return await carryOutRequest(invocation, application, asking, words.dryRun === true);
  });
}

interface LoanWords extends RequestWords {
  staff: string;
  lock: string;
  asset?: string[] | undefined;
}

export const addBorrow: Register = (program, carryOut) => {
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

async function borrowCommand(invocation: Invocation, customer: string, words: LoanWords): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const { namespace } = application.config;
    const request: LoanRequest = {
      customer: parseKey(customer, namespace),
      staff: parseKey(words.staff, namespace),
      lock: words.lock.trim(),
      numbers: (words.asset ?? []).map((number) => number.trim()),
      withdraw: words.withdraw === true,
      ...decisionOf(words),
    };
    const { askingForLoan } = await import("../../requests/loans.ts");
    const { carryOutRequest } = await import("../manual-request.ts");
    const asking = askingForLoan(application, request);
    return await carryOutRequest(invocation, application, asking, words.dryRun === true);
  });
}

export const addStaff: Register = (program, carryOut) => {
  const staff = program.command("staff").description("staff members");
  staff
    .command("password")
    .description("hand a generated password out, once: the one that was set last, else the initial one")
    .argument("<id>", "ID, or NAMESPACE/ID")
    .option("--by <name>", "who asks; kept in the audit log (default: the user of the operating system)")
    .addHelpText("after", example("crm-sync staff password 4711"))
    .action((id, options) => carryOut((invocation) => staffPasswordCommand(invocation, id, options)));
  staff
    .command("reset-password <id>")
    .description("set a new password for a member of staff (M3)")
    .option(...withReason)
    .option(...byWhom)
    .option("--from-crm", "set the password that the CRM gives, in place of a generated one")
    .option("--dry-run", "show what would be sent; M5 is read, and nothing is written or sent")
    .option(...withdrawing)
    .addHelpText(
      "after",
      `${example('crm-sync staff reset-password 4711 --reason "lost the letter"')}
The new password is sealed before it is sent, and \`crm-sync staff password ID\` hands it out, once. It is sent once: a
call without an answer waits for a person (exit 5, \`crm-sync settle\`) and is never repeated by itself. While another
run is on (exit 75), and while the outcome of another operation of the customer is open (exit 5), it stays asked for.`,
    )
    .action((id, options) => carryOut((invocation) => resetCommand(invocation, id, options)));
};

async function staffPasswordCommand(
  invocation: Invocation,
  id: string,
  words: { by?: string | undefined },
): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const by = deciderOf(words.by);
    const staff = parseKey(id, application.config.namespace);
    const key = formatKey(staff);
    const { handOutPassword } = await import("../../requests/staff-password.ts");
    const kind = await handOutPassword(application, staff, by, async (password) => {
      if (options.json) output.json({ staff: key, password });
      else output.line(password);
      await output.written();
    });
    output.note(`the ${kind} password of ${key}; it is shown this once and is not kept`);
    return ok;
  });
}

async function resetCommand(
  invocation: Invocation,
  id: string,
  words: RequestWords & { fromCrm?: boolean | undefined },
): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const reset: PasswordReset = {
      staff: parseKey(id, application.config.namespace),
      fromCrm: words.fromCrm === true,
      withdraw: words.withdraw === true,
      ...decisionOf(words),
    };
    const { askingForReset, customerOfStaff } = await import("../../requests/staff-password.ts");
    const { carryOutRequest } = await import("../manual-request.ts");
    const customer = await customerOfStaff(application, reset.staff);
    const asking = askingForReset(application, customer, reset);
    return await carryOutRequest(invocation, application, asking, words.dryRun === true);
  });
}
