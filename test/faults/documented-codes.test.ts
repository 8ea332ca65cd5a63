/** @module-tag sized */
import { cpSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { documentedCodes, meaningOf } from "../../src/contract/codes.ts";
import type { CodeEffect } from "../../src/contract/codes.ts";
import { endpointIds, endpoints } from "../../src/contract/endpoints.ts";
import type { EndpointId } from "../../src/contract/endpoints.ts";
import { Cells } from "../support/cells.ts";
import type { Cell } from "../support/cells.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { Beginnings } from "../support/world/beginnings.ts";
import { decideAsPerson } from "../support/world/decided.ts";
import { sampled } from "../support/sizes.ts";
import { changes, notSentYet, writeWorld } from "../support/world/small.ts";
import type { Change } from "../support/world/small.ts";

/**
 * Every code of the two contracts is answered to every operation that may answer it, in HTTP 299: the run balances,
 * nothing is sent twice by the same run, what the table of codes says happens, and the next runs end right.
 */
const cells = new Cells();
const beginnings = new Beginnings(cells.place("changes"));

/** Nothing is settled within the run that meets the code, so that what it sends it sends once. */
const unsettled = { CRM_SYNC__settle__maxWaitMs: "0" };
/** After these a write may have been done all the same. */
const uncertain: readonly CodeEffect[] = ["unknown", "refresh-token", "settle", "partial"];

interface Written {
  code: string;
  effect: CodeEffect;
  change: Change;
  applied: boolean;
}

function written(): [string, Written][] {
  const single = Object.entries(changes).filter(([, change]) => (change.calls ?? 1) === 1);
  return single.flatMap(([name, change]) =>
    endpoints[change.endpoint].codes.flatMap((code): [string, Written][] => {
      const { effect } = meaningOf(code, change.endpoint);
      const both = uncertain.includes(effect) ? [false, true] : [false];
      return both.map((applied) => [
        `${name}: ${code} (${effect})${applied ? ", although it was done" : ""}`,
        { code, effect, change, applied },
      ]);
    }),
  );
}

const readers: { read: EndpointId; settling: string }[] = [
  { read: "E3", settling: "E2 creates an enterprise" },
  { read: "E8", settling: "E5 places an order" },
  { read: "M5", settling: "M1 adds a member of staff" },
  { read: "M6", settling: "E5 places an order" },
  { read: "M7", settling: "E5 places an order" },
  { read: "M8", settling: "M10 lends a lock" },
];

beforeAll(async () => {
  const base = await beginnings.base();
  for (const settling of new Set(readers.map((reader) => reader.settling))) {
    const folder = cells.place(settling);
    cpSync(base, folder, { recursive: true });
    const change = changeOf(settling);
    writeWorld(folder, change.world);
    await cells.open(folder, {}, async (cell) => {
      cell.sandbox.faults.add({ operation: change.endpoint, fault: "appliedNoReply", times: 1 });
      const { exit } = runResultOf(await cell.run({ environment: circuitOpens }));
      if (exit !== 5) throw new Error(`${settling}: it is not in doubt, exit ${exit}`);
    });
  }
});
afterAll(() => cells.remove());

/** The circuit opens after the reply that was lost, so that nothing is settled. */
const circuitOpens = { CRM_SYNC__orderService__breakerFailures: "1", CRM_SYNC__memberCenter__breakerFailures: "1" };

function changeOf(name: string): Change {
  const change = changes[name];
  if (change === undefined) throw new Error(`there is no change "${name}"`);
  return change;
}

const attemptRow = z.object({ state: z.string(), code: z.string().nullable() });

/** The last attempt of the change's kind of operation. */
function lastAttempt(cell: Cell, kind: string): z.infer<typeof attemptRow> | undefined {
  const ledger = new LedgerView(cell.ledger);
  try {
    return ledger
      .rows(
        attemptRow,
        `select o.state, a.code from attempt a join operation o on o.id = a.operation_id where o.kind = ?
         order by a.started_at desc, o.id desc, a.number desc limit 1`,
        kind,
      )
      .at(0);
  } finally {
    ledger.close();
  }
}

describe("a write that is answered with a code", () => {
  it.each(sampled(written(), 8))("%s", { tags: "long" }, async (_title, { code, effect, change, applied }) => {
    const { endpoint, kind } = change;
    const environment = change.environment ?? {};
    await cells.within(
      await beginnings.of(change),
      environment,
      async (cell) => {
        const { sandbox } = cell;
        const effects = (sandbox.counts().effects[endpoint] ?? 0) + 1;
        sandbox.faults.add({ operation: endpoint, fault: "status299", code, applied, times: 1 });
        const isPool = kind === "take-asset-numbers";
        const first = runResultOf(await cell.run({ environment: unsettled }));
        expect(first.balance.adds).toBe(true);
        expect(sandbox.counts().faulted).toBe(1);
        // An E9 whose numbers are lost is repeated with others: nobody waits for those.
        expect(cell.calls(endpoint), "sent in this run").toBe(isPool && effect === "unknown" ? 2 : 1);
        sandbox.faults.clear();
        // What would be said of an earlier success too is looked for at once: where nothing shows, it is a rejection.
        if (effect === "rejected" || (effect === "settle" && !applied)) {
          expect(first.exit).toBe(isPool ? 7 : 3);
          expect(lastAttempt(cell, kind)).toEqual({ state: "rejected", code });
          const again = runResultOf(await cell.run());
          expect(again.balance.adds).toBe(true);
          expect(cell.calls(endpoint) - 1, "sent again by itself").toBe(isPool ? 1 : 0);
          return;
        }
        if (!isPool) {
          // What is there is read at once where there is something to read and a token to read it with.
          const isRead = !endpoints[endpoint].setsState && change.asksPerson !== "always";
          const settled = applied && effect !== "refresh-token" && isRead;
          expect(first.exit).toBe(settled ? 0 : 5);
          // A part that is not named is no part: the answer is odd, and its code is not believed.
          const kept = effect === "partial" ? null : code;
          expect(lastAttempt(cell, kind)).toEqual({
            state: settled ? "done" : change.asksPerson === "always" ? "parked" : "unknown",
            code: kept,
          });
        }
        if (change.asksPerson !== undefined) {
          const of = { ledger: cell.ledger, kind, wasDone: () => applied };
          await decideAsPerson(of, (...words) => cell.carryOut(...words));
        }
        await cell.run();
        // "Already done" of what goes on standing contradicts that the service says so of nothing else.
        if (effect === "already-done" && change.endpoint === "M4")
          await cell.carryOut("assumptions", "accept", "A36", "--reason", "the services' owner has looked into it");
        await cell.run();
        goodRunOf(await cell.run());
        expect(await cell.wrong(change.wished)).toEqual([]);
        const done = change.asksPerson === "always" && !applied ? effects - 1 : effects;
        if (change.repeatable !== true) expect(sandbox.counts().effects[endpoint] ?? 0).toBe(done);
        const before = sandbox.counts().writingCalls;
        goodRunOf(await cell.run());
        expect(sandbox.counts().writingCalls).toBe(before);
      },
      (folder) => writeWorld(folder, change.world),
    );
  });
});

const answered = readers.flatMap(({ read, settling }) =>
  endpoints[read].codes.map((code): [string, { read: EndpointId; settling: string; code: string }] => [
    `${read} with ${code} while "${settling}" is settled`,
    { read, settling, code },
  ]),
);

describe("a read that is answered with a code", () => {
  it.each(sampled(answered, 3))(
    "%s: nothing is concluded from it",
    { tags: "long" },
    async (_title, { read, settling, code }) => {
      const change = changeOf(settling);
      await cells.within(cells.place(settling), change.environment ?? {}, async (cell) => {
        const { sandbox } = cell;
        sandbox.faults.add({ operation: read, fault: "status299", code });
        const first = runResultOf(await cell.run());
        expect(first).toMatchObject({ exit: 5, writingCalls: 0, balance: { adds: true } });
        expect(sandbox.counts().writingCalls).toBe(0);
        const { effect } = meaningOf(code, read);
        // One that is about the service's own trouble is repeated; one that refuses is not, and a fixed token has no
        // other to be tried.
        if (effect === "unknown") expect(cell.calls(read)).toBeGreaterThan(1);
        else expect(cell.calls(read)).toBe(1);
        sandbox.faults.clear();
        goodRunOf(await cell.run());
        expect(await cell.wrong(change.wished)).toEqual([]);
      });
    },
  );
});

describe("the codes", () => {
  it("that leave it open whether a write was done are these; all others refuse it", () => {
    const open = written().flatMap(([, { code, effect, change }]) =>
      effect === "rejected" ? [] : [`${change.endpoint} ${code}`],
    );
    const member = ["500", "60000", "60005"];
    expect([...new Set(open)].sort()).toEqual(
      [
        ...["E1", "E2", "E4", "E5", "E6", "E7", "E9"].map((id) => `${id} 500`),
        ...[...member, "60027", "80001"].map((code) => `M1 ${code}`),
        "M4 60002",
        ...["M2", "M3", "M4"].flatMap((id) => [...member, "80001"].map((code) => `${id} ${code}`)),
        ...[...member, "60024", "60026", "60028"].map((code) => `M9 ${code}`),
        ...[...member, "33007", "33009", "33018"].map((code) => `M10 ${code}`),
      ].sort(),
    );
  });

  it("are all answered by some operation, those of operations that are not used yet left out", () => {
    const met = new Set([...written().map(([, { code }]) => code), ...answered.map(([, { code }]) => code)]);
    const others = documentedCodes.filter((code) => !met.has(code));
    const unused = endpointIds.filter((id) => notSentYet.includes(id)).flatMap((id) => endpoints[id].codes);
    expect(others.filter((code) => !unused.includes(code))).toEqual([]);
  });
});
