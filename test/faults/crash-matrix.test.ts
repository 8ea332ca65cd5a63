/** @module-tag sized */
import { afterAll, describe, expect, it } from "vitest";
import { endpoints } from "../../src/contract/endpoints.ts";
import { handedIn } from "../../src/engine/model/registry.ts";
import { Cells } from "../support/cells.ts";
import { killPoints, type KillPoint } from "../support/kill-points-names.ts";
import { earlierKill, killAt, openOf } from "../support/killed-at.ts";
import { isFull, isSample, sizes, spread } from "../support/sizes.ts";
import { changeOf, changes, changesByEndpoint, notSentYet, nthCallOf, type Change } from "../support/world/small.ts";

/**
 * Each cell ends the program with SIGKILL at one exact point of one operation, starts the same command again, and looks
 * at everything. The points are reached from outside the program (test/support/kill-points.ts); a point that is not
 * reached fails its cell, because the process then ends by itself.
 */
/** What a kill leaves behind: how the operation stands where it is open, and whether the platform has its effect. */
const leftBehind: Record<KillPoint, { open: string | undefined; effects: 0 | 1 }> = {
  "before the plan row": { open: undefined, effects: 0 },
  "in the intent transaction": { open: undefined, effects: 0 },
  "after the intent": { open: "sending", effects: 0 },
  "half the request written": { open: "sending", effects: 0 },
  "all written, nothing committed there": { open: "sending", effects: 0 },
  "committed there, no reply": { open: "sending", effects: 1 },
  "half the reply read": { open: "sending", effects: 1 },
  "reply parsed": { open: "sending", effects: 1 },
  "in the outcome transaction": { open: "sending", effects: 1 },
  "after the outcome": { open: undefined, effects: 1 },
  "in settling, after a look-up that shows it": { open: "unknown", effects: 1 },
  "in settling, after a look-up that does not": { open: "unknown", effects: 0 },
  "in settling, after a resend": { open: "sending", effects: 1 },
};

/**
 * In a move the grant comes after the revoke, and both are planned before either is sent; what is deleted in the place
 * of something is planned only once that was bought.
 */
function earlierEffects(change: Change, point: KillPoint): number {
  const isPlannedLater = change.kind === "delete-products";
  return point === "before the plan row" && !isPlannedLater ? 0 : nthCallOf(change) - 1;
}

/** What a person decides is not sent again by itself, and what nothing reads is not looked for. */
function isReached(name: string, point: KillPoint): boolean {
  const { asksPerson } = changeOf(name);
  if (asksPerson === "always") return !point.startsWith("in settling");
  return asksPerson === undefined || point !== "in settling, after a resend";
}

type MatrixCell = [change: string, point: KillPoint];

/**
 * Each endpoint at each point, with one of its changes and one of the two look-ups in turn; all of them, and all cells, for a release.
 */
function matrix(): MatrixCell[] {
  const lookUps = killPoints.filter((point) => point.startsWith("in settling, after a look-up"));
  return changesByEndpoint().flatMap(({ names }, row) =>
    killPoints.flatMap((point, column) => {
      if (!isFull && lookUps.includes(point) && point !== lookUps[row % lookUps.length]) return [];
      const able = names.filter((name) => isReached(name, point));
      const chosen = isFull ? able : able.slice(column % able.length).slice(0, 1);
      return chosen.map((name): MatrixCell => [name, point]);
    }),
  );
}

const sample: MatrixCell[] = [
  ["E5 places an order", "committed there, no reply"],
  ["E2 creates an enterprise", "half the request written"],
  ["M1 adds a member of staff", "in the outcome transaction"],
  ["M9 revokes an asset", "after the intent"],
];

const cells = new Cells();
afterAll(() => cells.remove());

describe("a program that is killed with SIGKILL", () => {
  it.each(isSample ? sample : spread(matrix(), sizes.cells))(
    "brings everything to its end, once: %s, killed %s",
    async (name, point) => {
      const change = changeOf(name);
      const { endpoint, kind, judged, repeatable, asksPerson, calls = 1 } = change;
      await cells.within(await cells.before(change), change.environment ?? {}, async (cell) => {
        const had = cell.done(endpoint);
        const killed = { kind, endpoint, nth: nthCallOf(change) };
        const earlier = earlierKill[point];
        if (earlier !== undefined) await killAt(cell, earlier, killed);
        // What is taken away is judged once a run, so a revoke that settling found unsent is sent by the next one.
        await killAt(cell, point, killed, { processes: judged === true && earlier !== undefined ? 2 : 1 });
        const left = leftBehind[point];
        expect((await openOf(cell, kind))?.state).toBe(left.open);
        // Where the platform is slow, what was written before the first kill is carried out after all.
        const again = repeatable === true && left.effects > 0 ? [0, 1] : [0];
        expect(again).toContain(cell.done(endpoint) - had - left.effects - earlierEffects(change, point));

        if (asksPerson !== undefined) {
          const { writingCalls } = cell.sandbox.counts();
          const { exitCode } = await cell.run();
          if (exitCode === 5) expect(cell.sandbox.counts().writingCalls, "it was sent again").toBe(writingCalls);
          await cell.decide(() => cell.done(endpoint) > had);
        }
        await cell.comesToRest();
        expect(await cell.wrong(change.wished)).toEqual([]);
        const more = repeatable === true ? [0, 1, 2] : asksPerson === "always" ? [-1, 0] : [0];
        expect(more).toContain(cell.done(endpoint) - had - calls);
      });
    },
  );
});

describe("the matrix", () => {
  it("has a row for every writing operation that the program sends and for every kind, and names the others", () => {
    const writing = Object.entries(endpoints).flatMap(([id, operation]) => (operation.writes ? [id] : []));
    const sent = Object.values(handedIn().types).map((item) => item.endpoint);
    const rows = Object.values(changes).map((change) => change.endpoint);
    expect([...new Set(rows)].sort()).toEqual([...new Set(sent)].sort());
    expect([...new Set(rows), ...notSentYet].sort()).toEqual(writing.sort());
    expect(new Set(Object.values(changes).map((change) => change.kind))).toEqual(
      new Set(Object.keys(handedIn().types)),
    );
  });
});
