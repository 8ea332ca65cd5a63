import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { nameOf } from "../engine/carry-out.ts";
import type { AppliedBy } from "../ledger/journal/run-operations.ts";
import type { RunRequest } from "../engine/run/request.ts";
import { refused } from "./plan-file.ts";
import type { SavedCustomer, SavedOperation, SavedPlan } from "./plan-file.ts";

/** What a person chose of a saved plan: operations by the beginning of their hash, and customers; none: all of it. */
export interface Choice {
  operations: readonly string[];
  customers: readonly RecordKey[];
}

/** As many characters of a hash name an operation. */
const shortest = 8;

/**
 * What a run is to carry out of a saved plan, customer by customer, and what of it was applied before, by which run. A
 * customer of whom only something in doubt is left is looked at too. Throws a Problem where nothing of it is left,
 * where what is named is not in it or was applied, and where something is chosen without what it needs.
 */
export function chosenFrom(
  path: string,
  saved: SavedPlan,
  choice: Choice,
  applied: ReadonlyMap<string, AppliedBy>,
): { expected: NonNullable<RunRequest["expected"]>; before: string[] } {
  const all = [...saved.customers.values()];
  const named = namedBy(path, all, choice);
  for (const operation of named?.alone ?? []) {
    const by = applied.get(operation.hash);
    if (by !== undefined) throw refused(path, appliedText(operation, by));
  }
  const expected = new Map<string, { customer: RecordKey } & ExpectedCustomer>();
  const chosen = new Set<string>();
  for (const item of all) {
    const own = item.operations.filter(
      (operation) => !applied.has(operation.hash) && named?.all.has(operation) !== false,
    );
    if (own.length === 0 && !isInDoubt(item, named?.all, applied)) continue;
    for (const { hash } of own) chosen.add(hash);
    expected.set(formatKey(item.customer), {
      customer: item.customer,
      plan: saved.header.run,
      undo: saved.header.undo,
      facts: item.facts,
      operations: new Map(item.operations.map((operation) => [operation.hash, nameOf(operation)])),
      chosen: new Set(own.map(({ hash }) => hash)),
      applied: item.operations.some(({ hash }) => applied.has(hash)),
    });
  }
  requireNeeded(path, all, chosen, applied);
  const before = all.flatMap(({ operations }) =>
    operations.flatMap((operation) => {
      const by = applied.get(operation.hash);
      return by === undefined ? [] : [appliedText(operation, by)];
    }),
  );
  const [first] = before;
  if (expected.size === 0 && first !== undefined) throw refused(path, `all its operations are outdated: ${first}`);
  return { expected, before };
}

/** Whether the outcome of something that was taken before is not known: the run finds it out, and sends no other. */
function isInDoubt(
  { operations }: SavedCustomer,
  named: ReadonlySet<SavedOperation> | undefined,
  applied: ReadonlyMap<string, AppliedBy>,
): boolean {
  return operations.some((operation) => {
    const state = applied.get(operation.hash)?.state;
    return named?.has(operation) !== false && (state === "sending" || state === "unknown" || state === "parked");
  });
}

/** What became of an operation that an earlier run took of the plan. */
function appliedText(operation: SavedOperation, { run, state }: AppliedBy): string {
  const name = `op ${nameOf(operation)}`;
  if (state === "done") return `${name} was applied by ${run} already`;
  if (state === "sending" || state === "unknown" || state === "parked")
    return `${name} was sent by ${run}, and its outcome is not known yet (${state}): see \`crm-sync settle list\``;
  return `${name} was taken by ${run} already, which did not carry it out (${state}); a new plan has the rest`;
}

type ExpectedCustomer = Omit<
  NonNullable<RunRequest["expected"]> extends ReadonlyMap<string, infer E> ? E : never,
  "customer"
>;

/** The operations that a person named, one by one or with their customer; undefined where nobody named any. */
function namedBy(
  path: string,
  all: readonly SavedCustomer[],
  choice: Choice,
): { alone: ReadonlySet<SavedOperation>; all: ReadonlySet<SavedOperation> } | undefined {
  if (choice.operations.length === 0 && choice.customers.length === 0) return undefined;
  const alone = new Set<SavedOperation>();
  for (const beginning of choice.operations) {
    const fits = all.flatMap(({ operations }) => operations.filter(({ hash }) => hash.startsWith(beginning)));
    const [operation] = fits;
    if (beginning.length < shortest)
      throw refused(path, `${beginning} is too short for an operation: give ${shortest} characters of its hash`);
    if (operation === undefined) throw refused(path, `it has no operation ${beginning}`);
    if (fits.length > 1) throw refused(path, `it has ${fits.length} operations that begin with ${beginning}`);
    alone.add(operation);
  }
  const named = new Set(alone);
  for (const key of choice.customers) {
    const found = all.find(({ customer }) => formatKey(customer) === formatKey(key));
    if (found === undefined) throw refused(path, `it has nothing for the customer ${formatKey(key)}`);
    for (const operation of found.operations) named.add(operation);
  }
  return { alone, all: named };
}

/** Nothing is applied without what has to be done before it. */
function requireNeeded(
  path: string,
  all: readonly SavedCustomer[],
  chosen: ReadonlySet<string>,
  applied: ReadonlyMap<string, AppliedBy>,
): void {
  for (const { operations } of all) {
    for (const operation of operations) {
      if (!chosen.has(operation.hash)) continue;
      const missing = operations.filter(
        ({ hash }) => operation.needs.includes(hash) && !chosen.has(hash) && !applied.has(hash),
      );
      if (missing.length > 0)
        throw refused(path, `op ${nameOf(operation)} needs ${missing.map(nameOf).join(" and ")}, which was not chosen`);
    }
  }
}
