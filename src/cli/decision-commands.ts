import type { ExitCode } from "../base/errors.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import { ok, withLedger, withWorkplace } from "./command.ts";
import type { Invocation } from "./command.ts";
import { parseKey, usage } from "./keys.ts";

function requireReason(reason: string | undefined): string {
  const text = reason?.trim() ?? "";
  if (text !== "") return text;
  throw usage("a decision needs a reason; it is kept in the audit record", "add --reason TEXT");
}

/** `approve ID` and `reject ID`: a person's decision on what a limit holds. */
export async function holdCommand(
  invocation: Invocation,
  verdict: "approved" | "rejected",
  id: string,
  reason: string | undefined,
): Promise<ExitCode> {
  return await withLedger(invocation, async (workplace) => {
    const why = requireReason(reason);
    const ledger = await workplace.existingLedger();
    const hold = await ledger.decideHold(id, verdict, why);
    const customer = formatKey(hold.customer);
    if (workplace.json) workplace.output.json({ hold: id, customer, state: verdict });
    else if (verdict === "approved") {
      workplace.output.line(
        `hold ${id} of customer ${customer} is approved; the next run carries out exactly this set of revokes`,
      );
    } else workplace.output.line(`hold ${id} of customer ${customer} is rejected; nothing of it is taken away`);
    return ok;
  });
}

/** `settle ID --applied|--not-applied`: a person's decision on an operation that reading cannot settle. */
export async function settleCommand(
  invocation: Invocation,
  id: string,
  verdict: { applied: boolean; notApplied: boolean },
  reason: string | undefined,
): Promise<ExitCode> {
  return await withWorkplace(invocation, async (workplace) => {
    if (verdict.applied === verdict.notApplied)
      throw usage("settle needs one verdict", "add --applied or --not-applied");
    const why = requireReason(reason);
    workplace.requireLedger();
    const { decide } = await import("../apply/decide.ts");
    const { Observer } = await import("../apply/observe.ts");
    const dependencies = await workplace.runDependencies();
    const observer = new Observer(dependencies.platform, dependencies.settings);
    const decided = await decide(dependencies, observer, id, verdict.applied ? "applied" : "not-applied", why);
    if (workplace.json)
      workplace.output.json({
        operation: id,
        state: decided.state,
        subject: decided.subject,
        endpoint: decided.endpoint,
        showed: decided.showed,
      });
    else {
      workplace.output.line(decided.summary);
    }
    return ok;
  });
}

/** `staff password ID`: hands the generated initial password out, once. */
export async function staffPasswordCommand(invocation: Invocation, id: string): Promise<ExitCode> {
  return await withLedger(invocation, async (workplace) => {
    const key = formatKey(parseKey(id, workplace.config.namespace));
    const ledger = await workplace.existingLedger();
    const ref = `initial-password/${key}`;
    const sealed = await ledger.latestSealed(ref);
    const password = sealed.values?.["password"];
    const linked = await ledger.isStaffLinked(parseKey(id, workplace.config.namespace));
    if (!linked || typeof password !== "string") {
      throw new Problem({
        code: "staff.no-password",
        message: !linked
          ? `staff member ${key} was not added by crm-sync yet, so there is no password to hand out`
          : sealed.version > 0
            ? `the initial password of staff member ${key} was handed out already and is not kept`
            : `there is no generated password for staff member ${key}`,
        cure: !linked
          ? "`crm-sync explain staff ID` says what it waits for"
          : "have the person reset the password on the platform",
        exitCode: exitCodes.usage,
      });
    }
    // Audited first, printed next, wiped last: a pipe that breaks loses nothing, and no showing is without its entry.
    await ledger.audit({ kind: "password-handed-out", subject: `staff:${key}`, body: { version: sealed.version } });
    if (workplace.json) workplace.output.json({ staff: key, password });
    else workplace.output.line(password);
    await workplace.output.written();
    await ledger.wipeSealed(ref, sealed.version);
    workplace.output.note(`the initial password of ${key}; it is shown this once and is not kept`);
    return ok;
  });
}
