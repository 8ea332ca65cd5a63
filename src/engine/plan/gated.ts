import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Operation } from "../operation.ts";
import { policyOf } from "../policy.ts";
import type { Policies } from "../policy.ts";
import { freedBy, needsApproval, removedBy } from "../registry.ts";
import { isTaking, removesOf } from "../taking.ts";
import { turnedBefore } from "./drift.ts";
import type { LoadedCustomer } from "./input.ts";
import type { Taking } from "./limits.ts";

/** So often in a row a record may come back to a form that it had shortly before until a person is asked. */
const mostFlips = 5;

type Judged = Pick<LoadedCustomer, "desiredCustomer" | "orders" | "staff" | "rebuilt" | "drift">;

/** What the gate of a run has to see of a plan before anything of it is carried out. */
export class Gated {
  readonly #policies: Policies;
  /** What a person is told of records that the CRM turns to and fro, by stream and key. */
  readonly #flips: ReadonlyMap<string, string>;
  readonly #rebuilt: boolean;
  readonly #drift: Judged["drift"];

  constructor(policies: Policies, records: Judged) {
    this.#policies = policies;
    this.#flips = flipsOf(records);
    this.#rebuilt = records.rebuilt === true;
    this.#drift = records.drift;
  }

  #has(operation: Operation): boolean {
    if (isTaking(operation) || needsApproval(operation)) return true;
    if (this.#flipsOf(operation) !== undefined || (this.#rebuilt && makes(operation))) return true;
    if (operation.policy === undefined) return false;
    const word = policyOf(this.#policies, operation.policy);
    return word === "ask" || word === "apply-after-approvals";
  }

  /** Of what the CRM asks for, what asks counts; what a person asks for waits for no other person. */
  #flipsOf({ records, stage, policy }: Operation): string | undefined {
    if (policy === "drift.different") return turnedText(records, this.#drift);
    if (this.#flips.size === 0 || (stage === "requests" && policy === undefined)) return undefined;
    for (const record of records) {
      if (stage === "requests" && record.stream === "customers") continue;
      const told = this.#flips.get(nameOf(record.stream, record));
      if (told !== undefined) return told;
    }
    return undefined;
  }

  /** Those of a customer's operations that a limit or a policy may hold, as these judge them. */
  takings(operations: readonly Operation[]): Taking[] {
    return operations.filter((operation) => this.#has(operation)).map((operation) => this.#taking(operation));
  }

  #taking(operation: Operation): Taking {
    const thing = removedBy(operation);
    const { customer, hash, kind, subject, policy, weight, reason, records } = operation;
    return {
      customer,
      hash,
      kind,
      subject,
      policy,
      thing,
      removes: removesOf(operation, thing, freedBy(operation)),
      weight,
      reason,
      alone: needsApproval(operation),
      flips: this.#flipsOf(operation),
      records,
      rebuilt: this.#rebuilt && makes(operation),
    };
  }
}

/** What makes enterprises and accounts, and what buys. */
const making: ReadonlySet<Operation["endpoint"]> = new Set(["E1", "E2", "E5", "M1"]);

/** Whether an operation makes something that nothing takes back, so that it is held after a rebuild. */
export function makes({ endpoint, takesAway }: Pick<Operation, "endpoint" | "takesAway">): boolean {
  return making.has(endpoint) && takesAway === 0;
}

function flipsOf({ desiredCustomer, orders, staff }: Judged): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  const look = (stream: Stream, word: string, record: { key: RecordKey; flips?: number | undefined }): void => {
    const { key, flips = 0 } = record;
    if (flips < mostFlips) return;
    told.set(nameOf(stream, key), `the CRM changed ${word} ${formatKey(key)} back and forth ${flips} times in a row`);
  };
  if (desiredCustomer !== undefined) look("customers", "customer", desiredCustomer);
  for (const order of orders) look("orders", "order", order);
  for (const person of staff) look("staff", "person", person);
  return told;
}

/** What the platform has had otherwise too often, each time after it was as it was sent. */
function turnedText(records: Operation["records"], drift: Judged["drift"]): string | undefined {
  for (const { namespace, id } of records) {
    const times = turnedBefore(drift, { namespace, id });
    if (times >= mostFlips)
      return `somebody on the platform changed person ${formatKey({ namespace, id })} back ${times} times`;
  }
  return undefined;
}

function nameOf(stream: Stream, key: RecordKey): string {
  return `${stream} ${formatKey(key)}`;
}
