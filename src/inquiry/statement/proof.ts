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
  done: ReadonlyMap<string, number>;
  newest: ReadonlyMap<string, number>;
  readings: ReadonlyMap<string, number>;
}

const operationOf = asked<{ operation: string }, { run: string | null; subject: string }>(
  "select o.run_id as run, o.subject from operation o where o.id = @operation",
);

const operationsOf = asked<{ subject: string }, { operation: string; done: number | null; newest: number }>(
  `select json_extract(a.body, '$.operation') as operation, max(a.sequence) as newest,
    max(iif(json_extract(a.body, '$.state') = 'done', a.sequence, null)) as done
  from audit a where a.subject = @subject and json_extract(a.body, '$.operation') is not null group by 1`,
);

const readingsOf = asked<{ subject: string }, { at: string; first: number }>(
  `select a.at, min(a.sequence) as first from audit a
  where a.subject = @subject and a.kind in ('learned', 'examined') group by 1`,
);

const mostRemembered = 20_000;
const remembered = new WeakMap<ReadOnlyLedger, Recent<Proven>>();

/** Empties the cache: the audit log has grown since the last statement. */
export function forgetProofs(ledger: ReadOnlyLedger): void {
  remembered.delete(ledger);
}

function provenOf(ledger: ReadOnlyLedger, subject: string): Proven {
  let recent = remembered.get(ledger);
  if (recent === undefined) remembered.set(ledger, (recent = new Recent(mostRemembered)));
  return recent.get(subject, () => {
    const operations = operationsOf(ledger, { subject });
    const readings = readingsOf(ledger, { subject });
    const value = {
      done: new Map(operations.flatMap(({ operation, done }) => (done === null ? [] : [[operation, done]]))),
      newest: new Map(operations.map(({ operation, newest }) => [operation, newest])),
      readings: new Map(readings.map(({ at, first }) => [at, first])),
    };
    return { value, weight: 1 + operations.length + readings.length };
  });
}

interface Event {
  operationId: string | null;
  customer: RecordKey;
  at: string;
}

export function proofOf(ledger: ReadOnlyLedger, { operationId, customer, at }: Event): Proof {
  if (operationId === null) return { run: null, auditSequence: readingAt(ledger, customer, at) };
  const [operation] = operationOf(ledger, { operation: operationId });
  if (operation === undefined) return { run: null, auditSequence: null };
  const { run, subject } = operation;
  return { run, auditSequence: provenOf(ledger, subject).done.get(operationId) ?? null };
}

export function newestEntryOf(ledger: ReadOnlyLedger, operationId: string): number | null {
  const [operation] = operationOf(ledger, { operation: operationId });
  return operation === undefined ? null : (provenOf(ledger, operation.subject).newest.get(operationId) ?? null);
}

export function readingAt(ledger: ReadOnlyLedger, { namespace, id }: RecordKey, at: string): number | null {
  return provenOf(ledger, `customer:${namespace}/${id}`).readings.get(at) ?? null;
}
