import { isListed } from "../contract/codes.ts";
import { serviceNameOf } from "../contract/endpoints.ts";
import type { OperationFacts } from "./facts.ts";
import { resyncCommand } from "./text.ts";

/** What a run does about an operation whose outcome is unknown. */
const whenUnknown: Record<OperationFacts["whenUnknown"], string> = {
  read: "settles it by reading the platform",
  "send-again": "sends it again with the same values",
  lost: "records that its effect is lost",
  ask: "asks a person: no reading shows the result, and crm-sync does not send the operation twice",
};

/** How a person says what became of an operation that reading cannot settle. */
export function settleCommands({ id, endpoint, outcomeCode: code }: ParkedOperation): string {
  const isKnown = code === null || isListed(code, endpoint);
  const ask = isKnown ? "" : `ask the provider of the ${serviceNameOf(endpoint)} what ${code} means, and `;
  const cause = isKnown ? "" : ". If you answer --not-applied before the cause is removed, the next run sends it again";
  return (
    `${ask}look on the platform. If it was done: crm-sync settle ${id} --applied --reason TEXT. If it was not done: ` +
    `crm-sync settle ${id} --not-applied --reason TEXT${cause}`
  );
}

type ParkedOperation = Pick<OperationFacts, "id" | "endpoint" | "outcomeCode">;

export function nextForOperation(
  row: ParkedOperation & Pick<OperationFacts, "state" | "settleAfter" | "questionId" | "whenUnknown" | "customer">,
): string {
  switch (row.state) {
    case "parked":
      return settleCommands(row);
    case "sending":
    case "unknown":
      return row.settleAfter === null
        ? `nothing: the next run ${whenUnknown[row.whenUnknown]}`
        : `nothing: a run ${whenUnknown[row.whenUnknown]}, not before ${row.settleAfter}`;
    case "held":
      return row.questionId === null
        ? "crm-sync status --all shows the hold"
        : `crm-sync approve ${row.id} --reason TEXT for this operation, or crm-sync approve ${row.questionId} ` +
            "--reason TEXT for all operations of its hold; or reject instead of approve";
    case "planned":
      return "nothing: the next run carries it out or plans again";
    case "rejected":
      return (
        "correct the field that the service names. crm-sync tries again when the record changes, or with " +
        resyncCommand(row.customer)
      );
    case "done":
    case "dropped":
      return "nothing";
  }
}
