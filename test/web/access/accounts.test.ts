import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { hashLineOf } from "../../../src/app/account-password.ts";
import { auditEntries } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { Browser, clockAt, guarded } from "../../support/guarded.ts";

it("somebody with a password signs in with their own right, and whoever guesses waits", { tags: "long" }, async () => {
  const w = await world();
  const anna = "four words of anna";
  writeFileSync(w.path("anna"), await hashLineOf(anna));
  await w.run("status");
  const clock = clockAt(Date.parse("2026-05-01T10:00:00Z"));
  const access = { accounts: { "anna.lee": { role: "report", password: "file:anna" } } };
  const pages = await guarded(w, { access }, { clock });
  const browser = new Browser(pages);
  const answer = await browser.fill("/login", { name: "anna.lee", password: anna, to: "//evil.example" });
  expect([answer.status, answer.headers.location]).toEqual([303, "/"]);
  expect([(await browser.get("/report")).status, (await browser.get("/decide")).status]).toEqual([200, 403]);
  const guesses = [];
  for (let tries = 0; tries < 7; tries += 1)
    guesses.push((await new Browser(pages).signIn("anna.lee", `guess ${tries}`)).status);
  expect(guesses).toEqual([403, 403, 403, 403, 403, 429, 429]);
  expect((await new Browser(pages).signIn("anna.lee", anna)).status).toBe(429);
  expect((await auditEntries(w)).filter(({ kind }) => kind === "sign-in-refused")).toHaveLength(1);
  clock.move(60_000);
  expect((await new Browser(pages).signIn("anna.lee", anna)).status).toBe(303);
});
