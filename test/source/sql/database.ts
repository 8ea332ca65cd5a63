import { customerMapping, directoryWith, openSource } from "../support.ts";
import type { Source, SourceDeps } from "../../../src/source/source.ts";

/** A database for one test, whatever speaks SQL there. */
export interface TestDatabase {
  connection: Record<string, unknown>;
  secret: string;
  /** Types of this database for what every one of them knows. */
  types: { big: string; moment: string; local: string; json: string; double: string };
  run: (...statements: string[]) => Promise<void>;
  /** How many connections of others are open to it. */
  connections: () => Promise<number>;
}

/** A source of this database with these streams of customers and orders. */
export function sourceOf(
  { connection, secret }: Pick<TestDatabase, "connection" | "secret">,
  streams: Record<string, Record<string, unknown>>,
  more: Record<string, unknown> = {},
  deps: Partial<SourceDeps> & { files?: Record<string, string> } = {},
): Source {
  const { files = {}, ...given } = deps;
  const mapped = Object.entries(streams).map(([name, stream]) => [name, { mapping: mappings[name], ...stream }]);
  const settings = { kind: "sql", connection, ...more, streams: Object.fromEntries(mapped) };
  return openSource(settings, directoryWith(files), { secrets: () => secret, ...given });
}

const constant = (value: string): object => ({ value });
const mappings: Readonly<Record<string, object>> = {
  customers: { ...customerMapping, name: constant("Somebody") },
  orders: { id: "id", customerId: "customer", instances: [] },
};
