import { explainCommand } from "../../report/text.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Operation } from "../../engine/model/operation.ts";
import { nameOf, requestKindOf, standing, subjectOf } from "../../engine/model/requests.ts";
import type { ManualRequest, RequestName } from "../../engine/model/requests.ts";
import type { RequestChange } from "../../engine/model/state-parts.ts";
import { isSameKey } from "../../engine/model/state-part.ts";

type OpenOne = { id: string; operation: Pick<Operation, "endpoint" | "subject"> };

/**
 * What taking back what was asked for changes. Throws a Problem where a call of it may have left, or where it was
 * carried out: then it is undone by asking for the opposite.
 */
export function withdrawals(
  customer: RecordKey,
  names: readonly RequestName[],
  { asked, open }: { asked: readonly ManualRequest[]; open: readonly OpenOne[] },
): RequestChange[] {
  return names.map((name) => {
    const { of, about, wanted } = name;
    const subject = subjectOf(customer, name);
    const inDoubt = open.find(({ operation }) => operation.subject === subject);
    if (inDoubt !== undefined) {
      throw refused(
        "request.in-doubt",
        `the outcome of ${inDoubt.operation.endpoint} on ${subject} (${inDoubt.id}) is not known yet. Nothing was ` +
          "withdrawn",
        "run the job, which finds the outcome. If it needs a person: `crm-sync settle list`",
      );
    }
    const request = asked.find((item) => item.of === of && item.about === about && item.wanted === wanted);
    if (request === undefined || standing(request) === "done") {
      throw refused(
        "request.nothing-to-withdraw",
        `there is no open request for the ${nameOf(name)}. Nothing was changed`,
        `\`${explainCommand("customers", customer)}\` shows its state; to undo a request that is done, request ` +
          "the opposite",
      );
    }
    return { type: "request-withdrawn", customer, of, about };
  });
}

/**
 * Throws a Problem where another customer asked for the same and that is not done, as when an order moved between them:
 * its call may still be sent, and would undo what is asked for now.
 */
export function requireFree(
  customer: RecordKey,
  name: RequestName,
  earlier: { customer: RecordKey; request: ManualRequest } | undefined,
): void {
  if (earlier === undefined || isSameKey(earlier.customer, customer) || standing(earlier.request) === "done") return;
  const { request } = earlier;
  const whose = formatKey(earlier.customer);
  throw refused(
    "request.of-another-customer",
    `${whose} already has an open request for the ${nameOf(name)}. No new request was made`,
    "wait until that request is done, or withdraw it with `crm-sync " +
      `${requestKindOf(request).commands[request.wanted]} ${whose} … --withdraw\``,
  );
}

function refused(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}
