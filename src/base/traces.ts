/** What a span is of: a run, an attempt at a customer, a call to a service (shown by its endpoint). */
export type SpanName = "run" | "customer" | "call";

/**
 * Everything that a span may say. Each is a word of a closed set, a number, the id of a run or the key of a record:
 * nothing that a record holds, no address, no text of an answer.
 */
export interface SpanFacts {
  run?: string;
  job?: string;
  /** Kind of run: sync, requests, verify, plan, rebuild, report, backup. */
  kind?: string;
  trigger?: string;
  /** State in which a run ended. */
  state?: string;
  exit?: number;
  /** Key of a customer, as the ledger writes it. */
  customer?: string;
  service?: string;
  /** E5, M9 … */
  endpoint?: string;
  /** How an attempt at a customer or a call ended. */
  outcome?: string;
  /** HTTP status. */
  status?: number;
  /** Business code of a service, where the contract has it. */
  code?: string;
}

/** What a piece of work came to; `failed`: it did not do what it was for. */
export type SpanEnd = SpanFacts & { failed?: boolean };

/** Keeps spans of the work that it carries out. It never fails and never delays that work. */
export interface Traces {
  /** Carries work out as a span, under the span that it is called in. What it throws ends the span and is thrown. */
  carryOut<T>(name: SpanName, facts: SpanFacts, work: () => Promise<T>, ended: (result: T) => SpanEnd): Promise<T>;
}

/** Carries work out, as a span where somebody keeps spans. */
export function traced<T>(
  traces: Traces | undefined,
  name: SpanName,
  facts: SpanFacts,
  work: () => Promise<T>,
  ended: (result: T) => SpanEnd,
): Promise<T> {
  return traces === undefined ? work() : traces.carryOut(name, facts, work, ended);
}
