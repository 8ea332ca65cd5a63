import { expect, it } from "vitest";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { operator, showing } from "../../support/showing.ts";
import { company } from "../../support/world/crm.ts";

const standing = async (w: World): Promise<string[]> =>
  (await w.ask("assumptions")).assumptions
    .filter(({ standing: how }: Parsed) => how === "contradicted")
    .map(({ id }: Parsed) => id);

it("the page of assumptions shows a contradiction, and lets an operator alone accept it as it was shown", async () => {
  const w = await world({ records: company(2, 1) });
  await w.run("run", "everything");
  w.sandbox.contradict(["A17", "A29"]);
  w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
  w.staff.push({ id: "S8", customer: "C1" }, { id: "S9", customer: "C1" });
  w.write();
  await w.run("run", "everything");
  const against = await standing(w);
  expect(against).toContain("A17");
  const pages = await showing(w);
  const reader = await showing(w, { ...operator, name: "sam.see", role: "see" });
  expect((await reader.get("/assumptions")).text).not.toContain('name="decision"');
  const path = "/assumptions/A17/accept";
  expect((await reader.post(path, { reason: "x" })).status).toBe(403);
  const shown = async (): Promise<string> => {
    const form = (await pages.get("/assumptions")).text.split("<form").find((part) => part.includes(path)) ?? "";
    return /name="shown" value="([0-9a-f]*)"/u.exec(form)?.[1] ?? "";
  };
  const before = await shown();
  expect((await w.run("assumptions", "accept", "A17", "--reason", "once", "--by", "ben")).exitCode).toBe(0);
  w.orders.push({ id: "O4", customer: "C2", assets: ["O4-A1"] });
  w.write();
  await w.run("run", "everything");
  const why = { reason: "the desk corrected it" };
  expect((await pages.post(path, { reason: "", shown: await shown() })).status).toBe(400);
  for (const stale of [{ shown: before }, {}]) expect((await pages.post(path, { ...why, ...stale })).status).toBe(409);
  expect(await standing(w)).toEqual(against);
  expect((await pages.post(path, { ...why, shown: await shown() })).status).toBe(200);
  expect(await standing(w)).toEqual(against.filter((id) => id !== "A17"));
  for (const other of ["A17", "A99", "__proto__"])
    expect((await pages.post(`/assumptions/${other}/accept`, why)).status, other).toBe(400);
});
