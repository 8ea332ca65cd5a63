/** @module-tag sized */
import { afterAll, describe, expect, it } from "vitest";
import { meaningOf, type CodeEffect } from "../../src/contract/codes.ts";
import { endpoints } from "../../src/contract/endpoints.ts";
import { Cells } from "../support/cells.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { isFull, isSample } from "../support/sizes.ts";
import { changeOf, changesByEndpoint, type Change } from "../support/world/small.ts";

/**
 * Every code of the two contracts is answered to every writing operation that may answer it, in HTTP 299: the run
 * balances, nothing is sent twice by the same run, what the table of codes says happens, and the next runs end right.
 */

/** After these a write may have been done all the same. */
const uncertain: readonly CodeEffect[] = ["unknown", "refresh-token", "settle", "partial"];

type Written = [change: string, code: string, effect: CodeEffect, applied: boolean];

function written(): Written[] {
  return changesByEndpoint().flatMap(({ endpoint, names }) => {
    const single = names.filter((name) => (changeOf(name).calls ?? 1) === 1);
    return single.slice(0, isFull ? undefined : 1).flatMap((name) =>
      endpoints[endpoint].codes.flatMap((code) => {
        const { effect } = meaningOf(code, endpoint);
        const both = uncertain.includes(effect) ? [false, true] : [false];
        return both.map((applied): Written => [name, code, effect, applied]);
      }),
    );
  });
}

/** A code of each service. */
function sample(all: Written[]): Written[] {
  const ofService = (letter: string) => all.find(([name, , effect]) => name.startsWith(letter) && effect === "unknown");
  return [ofService("E5"), ofService("M1")].filter((cell) => cell !== undefined);
}

const cells = new Cells();
afterAll(() => cells.remove());

describe("a write that is answered with a code", () => {
  it.each(isSample ? sample(written()) : written())(
    "ends as the contract says: %s, %s (%s, done: %s)",
    async (name, code, effect, applied) => {
      const change = changeOf(name);
      const { endpoint, kind, asksPerson } = change;
      await cells.within(await cells.before(change), change.environment ?? {}, async (cell) => {
        const { sandbox } = cell;
        const had = cell.done(endpoint);
        sandbox.faults.add({ operation: endpoint, fault: "status299", code, applied, times: 1 });
        const isPool = kind === "take-asset-numbers";
        // Nothing is settled within the run that meets the code, so that what it sends it sends once.
        const first = runResultOf(await cell.run({ environment: { CRM_SYNC__settle__maxWaitMs: "0" } }));
        expect(first.balance.adds).toBe(true);
        expect(sandbox.counts().faulted).toBe(1);
        // An E9 whose numbers are lost is repeated with others: nobody waits for those.
        expect(cell.calls(endpoint), "sent in this run").toBe(isPool && effect === "unknown" ? 2 : 1);
        sandbox.faults.clear();
        // What would be said of an earlier success too is looked for at once: where nothing shows, it is a rejection.
        if (effect === "rejected" || (effect === "settle" && !applied)) {
          expect(first.exit).toBe(3);
          expect(await cell.ask("settle", "list")).toEqual([]);
          expect(runResultOf(await cell.run()).balance.adds).toBe(true);
          expect(cell.calls(endpoint) - 1, "sent again by itself").toBe(isPool ? 1 : 0);
          return;
        }
        if (!isPool) await expectInDoubt(cell, change, { exit: first.exit, code, effect, applied });
        if (asksPerson !== undefined) await cell.decide(() => applied);
        await cell.run();
        // "Already done" of what goes on standing contradicts that the service says so of nothing else.
        if (effect === "already-done" && endpoint === "M4")
          await cell.carryOut("assumptions", "accept", "A36", "--reason", "the services' owner has looked into it");
        await cell.comesToRest();
        expect(await cell.wrong(change.wished)).toEqual([]);
        const wished = asksPerson === "always" && !applied ? had : had + 1;
        if (change.repeatable !== true) expect(cell.done(endpoint)).toBe(wished);
        goodRunOf(await cell.run());
      });
    },
  );
});

/** What is there is read at once where there is something to read and a token to read it with; else it is open. */
async function expectInDoubt(
  cell: Parameters<Parameters<Cells["open"]>[2]>[0],
  { endpoint, asksPerson }: Change,
  { exit, code, effect, applied }: { exit: number; code: string; effect: CodeEffect; applied: boolean },
): Promise<void> {
  const isRead = !endpoints[endpoint].setsState && asksPerson !== "always";
  const settled = applied && effect !== "refresh-token" && isRead;
  expect(exit).toBe(settled ? 0 : 5);
  // A part that is not named is no part: the answer is odd, and its code is not believed.
  const kept = effect === "partial" ? null : code;
  const state = asksPerson === "always" ? "parked" : "unknown";
  expect(await cell.ask("settle", "list")).toMatchObject(settled ? [] : [{ state, attempts: [{ code: kept }] }]);
}

describe("the codes", () => {
  it("that leave it open whether a write was done are these; all others refuse it", () => {
    const open = written().flatMap(([name, code, effect]) =>
      effect === "rejected" ? [] : [`${changeOf(name).endpoint} ${code}`],
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
});
