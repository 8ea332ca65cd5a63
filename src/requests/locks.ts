import { exitCodes, Problem, usage } from "../base/errors.ts";
import { missingAssumptions } from "../contract/assumption-settings.ts";
import { lockProblem } from "../contract/limits.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { NewRequest, RequestIn } from "../engine/model/requests.ts";
import { explainCommand } from "../report/text.ts";
import { refused, requireReachable, type Asking, type RequestDesk } from "./requests.ts";

export interface LockRequest {
  customer: RecordKey;
  numbers: readonly string[];
  wanted: RequestIn<"lock">["wanted"];
  largeCustomer: boolean;
  withdraw: boolean;
  reason: string;
  by: string;
}

export function askingForLocks(application: RequestDesk, request: LockRequest): Asking {
  const { customer, numbers, wanted, withdraw, by, reason } = request;
  const [first, ...others] = new Set(numbers.map((number) => number.trim()));
  if (first === undefined) throw usage("no lock is named", "add --asset NUMBER, once for each lock");
  const named = (about: string) => ({ of: "lock" as const, about, wanted });
  const names = [named(first), ...others.map(named)] as const;
  const requests = async (): Promise<NewRequest[]> => await requestsFor(application, request, names);
  return { customer, names, withdraw, requests, by, reason };
}

async function requestsFor(
  application: RequestDesk,
  { customer, wanted, largeCustomer, by, reason }: LockRequest,
  names: Asking["names"],
): Promise<NewRequest[]> {
  const ledger = await application.ledger();
  await requireReachable(ledger, customer);
  const [missing] = missingAssumptions(application.config.assumptions, wanted === "locked" ? "E6" : "E7");
  if (missing !== undefined) {
    throw new Problem({
      code: "assumption.missing",
      message: `the setting assumptions.${missing.key} (${missing.row}) has no value. Nothing was requested`,
      cure: `set assumptions.${missing.key} to ${missing.choices.join(" or ")}`,
      exitCode: exitCodes.configuration,
    });
  }
  const types = await ledger.state.readTogether((rows) => rows.order.licenceTypes(customer));
  return names.map(({ about }) => {
    const licenseType = types.get(about);
    if (licenseType === undefined) {
      throw refused(
        "lock.not-of-customer",
        `no placed order of ${formatKey(customer)} has the asset number ${about}. Nothing was requested`,
        `\`${explainCommand("customers", customer)}\` lists the asset numbers of the customer`,
      );
    }
    const problem = lockProblem({ assetNum: about, licenseType, largeCustomer });
    if (problem !== undefined)
      throw refused(
        "lock.wrong-type",
        problem,
        "if it is a large-customer lock, add --large-customer. Nothing was requested",
      );
    return { of: "lock", about, wanted, details: { licenseType, largeCustomer }, by, reason };
  });
}
