import { streams } from "../../../src/crm/model.ts";
import { guardNames, type Acceptance } from "../../../src/ingest/belief/guards.ts";

/** A person who believes whatever these sources say. */
export function believesAll(...sources: readonly string[]): Acceptance[] {
  return sources.flatMap((source) =>
    streams.flatMap((stream) => guardNames.map((guard) => ({ guard, source, stream, most: 1_000_000 }))),
  );
}
