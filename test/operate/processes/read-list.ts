// Reads the list of customers behind the address of the second argument into the ledger named by the first, as one run.
import { fetch } from "undici";
import { z } from "zod";
import { systemClock } from "../../../src/base/clock.ts";
import { Problem } from "../../../src/base/errors.ts";
import { pagedSource } from "../../support/paged-source.ts";
import { readCustomers } from "../../engine/read-customers.ts";

const [path = "", origin = ""] = process.argv.slice(2);
const rows = z.array(z.record(z.string(), z.json()));
const source = pagedSource({
  ask: async ({ after }) => {
    const answer = await fetch(`${origin}/customers?after=${after}`).catch(() => undefined);
    if (answer?.ok !== true) return new Problem({ code: "source.down", message: "no answer", cure: "wait" });
    return { rows: rows.parse(await answer.json()), date: Date.parse(answer.headers.get("date") ?? "") };
  },
  by: "key",
  branch: () => "branch",
  monotonic: () => systemClock.monotonic(),
  overlapMs: 1_000,
  fullReadEveryMs: undefined,
});
await readCustomers(path, source);
