import { readdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { world } from "../support/cli.ts";
import { operator, showing, type Showing, type Shown } from "../support/showing.ts";

const orders = "/reports/2026-11/statement?kind=orders";

/** Pages whose statements are made by a program that goes on until the test says so; `begun`: how many were begun. */
async function pagesThatWait(): Promise<{ pages: Showing; begun: () => number; finish: () => void }> {
  const w = await world();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const mark = w.path("begun-");
  writeFileSync(
    w.path("reader.mjs"),
    `import { existsSync, writeFileSync } from "node:fs";
    writeFileSync(${JSON.stringify(mark)} + process.pid, "");
    setInterval(() => { if (existsSync(${JSON.stringify(w.path("finish"))})) { console.log("a,b"); process.exit(0); } }, 20);`,
  );
  const pages = await showing(w, operator, () => [process.execPath, w.path("reader.mjs")]);
  return {
    pages,
    begun: () => readdirSync(w.folder).filter((name) => name.startsWith("begun-")).length,
    finish: () => writeFileSync(w.path("finish"), ""),
  };
}

describe("what takes long", () => {
  it("is made for two people at once, however many pages one of them opens", async () => {
    const { pages, begun, finish } = await pagesThatWait();
    const [anna, ben] = [pages.as("anna"), pages.as("ben")];
    const ofAnna: Promise<Shown>[] = [];
    for (let tab = 1; tab <= 3; tab += 1) {
      ofAnna.push(anna.get(orders));
      await expect.poll(() => pages.dashboard.longReads.count).toBe(tab);
    }
    const fourth = await anna.get(orders);
    expect([fourth.status, fourth.headers["retry-after"]]).toEqual([429, "60"]);
    expect(fourth.text).toContain("Try again when one of them has ended.");
    await expect.poll(begun).toBe(1);
    const ofBen = ben.get(orders);
    await expect.poll(begun).toBe(2);
    finish();
    for (const answer of [...ofAnna, ofBen]) expect((await answer).status).toBe(200);
    await expect.poll(() => pages.dashboard.longReads.count).toBe(0);
    expect(begun()).toBe(4);
  });

  it("waits in a queue with an end, and leaves it with whoever asked", async () => {
    const { pages, begun, finish } = await pagesThatWait();
    const { longReads } = pages.dashboard;
    const gone = new AbortController();
    const asked = Array.from({ length: 22 }, (_, at) =>
      longReads.text({ what: "it", words: [], by: { ...operator, subject: `person ${at}` }, signal: gone.signal }).then(
        ({ stdout }) => stdout,
        () => "gone",
      ),
    );
    await expect.poll(() => longReads.count).toBe(22);
    const beyond = await pages.as("one more").get(orders);
    expect([beyond.status, beyond.headers["retry-after"]]).toEqual([503, "60"]);
    expect(beyond.text).toContain("20 other requests are waiting");
    await expect.poll(begun).toBe(2);
    gone.abort();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["gone"]));
    await expect.poll(() => longReads.count).toBe(0);
    finish();
    expect((await pages.as("one more").get(orders)).status).toBe(200);
  });

  it("frees the place of whoever goes away while others are in progress", async () => {
    const { pages, begun, finish } = await pagesThatWait();
    const { longReads } = pages.dashboard;
    const inProgress = ["anna", "ben"].map((name) => pages.as(name).get(orders));
    await expect.poll(begun).toBe(2);
    for (let reload = 1; reload <= 30; reload += 1) {
      const gone = new AbortController();
      const asked = longReads.text({
        what: "it",
        words: [],
        by: { ...operator, subject: `person ${reload % 7}` },
        signal: gone.signal,
      });
      expect(longReads.count).toBe(3);
      gone.abort();
      await expect(asked).rejects.toThrow("nobody waits for the result any more");
      expect(longReads.count).toBe(2);
    }
    const ofCarl = pages.as("carl").get(orders);
    await expect.poll(() => longReads.count).toBe(3);
    finish();
    for (const answer of [...inProgress, ofCarl]) expect((await answer).status).toBe(200);
    expect(begun()).toBe(3);
    await expect.poll(() => longReads.count).toBe(0);
  });
});
