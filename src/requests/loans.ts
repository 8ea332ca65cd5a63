import { usage } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { NewRequest } from "../engine/model/requests.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import { explainCommand } from "../report/text.ts";
import { loanOf } from "../resources/loan/index.ts";
import { refused, requireReachable, type Asking, type RequestDesk } from "./requests.ts";

export interface LoanRequest {
  customer: RecordKey;
  staff: RecordKey;
  lock: string;
  numbers: readonly string[];
  withdraw: boolean;
  reason: string;
  by: string;
}

export function askingForLoan(application: RequestDesk, request: LoanRequest): Asking {
  const { customer, lock, withdraw, by, reason } = request;
  const requests = async (signal: AbortSignal): Promise<NewRequest[]> => [
    await requestFor(application, request, signal),
  ];
  return { customer, names: [{ of: "loan", about: lock, wanted: "lent" }], withdraw, requests, by, reason };
}

async function requestFor(
  application: RequestDesk,
  { customer, staff, lock, numbers, by, reason }: LoanRequest,
  signal: AbortSignal,
): Promise<NewRequest> {
  if (numbers.length === 0) throw usage("no asset is named", "add --asset NUMBER, once for each asset");
  const { ledger, platform, settings } = await application.runDependencies();
  await requireReachable(ledger, customer);
  const { link, staffLinks } = await ledger.state.known(customer);
  const member = staffLinks.get(formatKey(staff))?.memberGlobalId;
  if (member === undefined || link === undefined) {
    throw refused(
      "loan.no-member",
      `crm-sync knows no account of ${formatKey(staff)} at ${formatKey(customer)}. Nothing was requested`,
      `\`${explainCommand("staff", staff)}\` shows why`,
    );
  }
  const snapshot = new SnapshotReader(platform, settings).of(customer, signal);
  const { enterpriseGlobalId } = link;
  const [members, assets, loans] = await Promise.all([
    snapshot.members(enterpriseGlobalId),
    snapshot.assets(enterpriseGlobalId),
    snapshot.loans(enterpriseGlobalId),
  ]);
  const meant = { staff, memberGlobalId: member, lock, numbers };
  const details = loanOf(meant, { members, assets, loans });
  if ("code" in details) {
    const cure = "compare the numbers in the command with the platform (M6, M8), then try again";
    throw refused(details.code, `${details.reason}. Nothing was requested`, cure);
  }
  return { of: "loan", about: lock, wanted: "lent", details, by, reason };
}
