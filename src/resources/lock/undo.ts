import { only, standing, subjectOf } from "../../engine/model/requests.ts";
import type { DoneOperation, Undoes, Undoing } from "../../engine/plan/undo.ts";
import { counted } from "../../report/text.ts";
import { weightOf } from "./request.ts";
import type { LockRequestShapes } from "./request.ts";

/** What an E6 disabled is enabled again. */
function undoLocked(row: DoneOperation<"lock-assets">, of: Undoing): Undoes {
  return switchedBack(row, of, "unlocked");
}

/** What an E7 enabled is disabled again. */
function undoUnlocked(row: DoneOperation<"unlock-assets">, of: Undoing): Undoes {
  return switchedBack(row, of, "locked");
}

/** Lock by lock, where it still is as the call left it. */
function switchedBack(
  row: DoneOperation<"lock-assets" | "unlock-assets">,
  { given, run }: Undoing,
  back: LockRequestShapes["wanted"],
): Undoes {
  const { operation } = row;
  const left = only(given.known.requests, "lock").filter(
    (request) => request.operationId === row.id && standing(request) === "done",
  );
  const [first] = left;
  if (first === undefined) return { is: "nothing-left" };
  const numbers = new Set(left.map(({ about }) => about));
  return {
    is: "meant",
    meant: [
      {
        kind: back === "locked" ? "lock-assets" : "unlock-assets",
        customer: given.customer,
        subject: subjectOf(given.customer, first),
        records: [{ stream: "customers", ...given.customer }],
        target: {},
        payload: { assetNums: [...numbers], operatorIdentity: operation.payload.operatorIdentity },
        reason: `${run} is taken back: it had ${counted(numbers.size, "lock")} ${back === "locked" ? "enabled" : "disabled"}`,
        before: {},
        after: operation.after.filter(({ assetNum }) => numbers.has(assetNum)),
        policy: `locks.${back}`,
        weight: weightOf(left.length, back),
      },
    ],
  };
}

/** What takes back a done operation of each type. */
export const undo = { "lock-assets": undoLocked, "unlock-assets": undoUnlocked };
