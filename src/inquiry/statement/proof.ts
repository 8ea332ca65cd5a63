import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { type ReadOnlyLedger, asked } from "../read-only-ledger.ts";

/** A cache of the last used values with a maximum weight. The last value always stays. */
export class Recent<Value> {
  readonly #most: number;
  readonly #known = new Map<string, { value: Value; weight: number }>();
  #weight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string, make: () => { value: Value; weight: number }): Value {
    const known = this.#known.get(name);
    const one = known ?? make();
    if (known === undefined) this.#weight += one.weight;
    // The map's order is the order of use.
    this.#known.delete(name);
    this.#known.set(name, one);
    for (const [other, { weight }] of this.#known) {
      if (this.#weight <= this.#most || other === name) break;
      this.#known.delete(other);
      this.#weight -= weight;
    }
    return one.value;
  }
}

interface Proof {
  run: string | null;
  auditSequence: number | null;
}

interface Proven {
  /** The last audit entry that marks an operation as done. */
  done: ReadonlyMap<string, number>;
  /** The first audit entry of the readings of a moment. */
  readings: ReadonlyMap<string, number>;
}

const operationOf = asked<{ operation: string }, { run: string | null; subject: string }>(
  "select o.run_id as run, o.subject from operation o where o.id = @operation",
);

const operationsOf = asked<{ subject: string }, { operation: string; done: number }>(
  `select json_extract(a.body, '$.operation') as operation, max(a.sequence) as done from audit a
  where a.subject = @subject and json_extract(a.body, '$.operation') is not null
    and json_extract(a.body, '$.state') = 'done' group by 1`,
);

const readingsOf = asked<{ subject: string }, { at: string; first: number }>(
  `select a.at, min(a.sequence) as first from audit a
  where a.subject = @subject and a.kind in ('learned', 'examined') group by 1`,
);

const mostRemembered = 20_000;

interface Event {
  operationId: string | null;
  customer: RecordKey;
  at: string;
}

/** The run and the audit entry of an event: of its operation, or of the reading that learned of it. */
export function proofs(ledger: ReadOnlyLedger): (event: Event) => Proof {
  const recent = new Recent<Proven>(mostRemembered);
  const provenOf = (subject: string): Proven =>
    recent.get(subject, () => {
      const operations = operationsOf(ledger, { subject });
      const readings = readingsOf(ledger, { subject });
      const value = {
        done: new Map(operations.map(({ operation, done }) => [operation, done])),
        readings: new Map(readings.map(({ at, first }) => [at, first])),
      };
      return { value, weight: 1 + operations.length + readings.length };
    });
  return ({ operationId, customer, at }) => {
    if (operationId === null) {
      const { readings } = provenOf(`customer:${formatKey(customer)}`);
      return { run: null, auditSequence: readings.get(at) ?? null };
    }
    const [operation] = operationOf(ledger, { operation: operationId });
    if (operation === undefined) return { run: null, auditSequence: null };
    const { run, subject } = operation;
    return { run, auditSequence: provenOf(subject).done.get(operationId) ?? null };
  };
}
