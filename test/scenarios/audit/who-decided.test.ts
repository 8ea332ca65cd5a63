import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { ask, tokenIn } from "../../support/guarded.ts";
import { reverseProxy } from "../../support/reverse-proxy.ts";
import { servePages, type ServedPages } from "../../support/served-pages.ts";
import { company } from "../../support/world/crm.ts";

const proxy = reverseProxy();
const { issuer } = proxy.settings;

/** A world with a removal for each of these people that waits for a person, and a proxy that people sign in at. */
async function waitingFor(...people: string[]): Promise<{ w: World; holds: string[] }> {
  const w = await world({ records: company(4, 2) });
  writeFileSync(w.path(proxy.settings.keys), proxy.publicPem);
  const access = { proxy: { ...proxy.settings, role: "decide" } };
  w.extra = `policies: { assignments: { revoked: ask } }\nserve: ${JSON.stringify({ access })}\n`;
  w.write();
  await w.run("run", "everything");
  for (const person of w.staff) if (people.includes(person.id)) person.holds = [];
  w.write();
  await w.run("run", "everything");
  const { holds } = await w.ask("status");
  return { w, holds: holds.map(({ id }: { id: string }) => id) };
}

const placeOf = ({ url, host }: ServedPages) => ({ port: Number(new URL(url).port), host });

/** Approves a hold on its page, as whom the proxy names. */
async function approves(pages: ServedPages, hold: string, claims: Record<string, string>): Promise<void> {
  const at = placeOf(pages);
  const headers = proxy.as(claims);
  const { text } = await ask(at, `/hold/${hold}`, { headers });
  const shown = /name="shown" value="([0-9a-f]*)"/u.exec(text)?.[1] ?? "";
  const fields = { csrf: tokenIn(text), decision: "approve", reason: "asked the customer", shown };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams(fields).toString();
  const answer = await ask(at, `/hold/${hold}`, { method: "POST", headers: { ...headers, ...form }, body });
  expect(answer.status, answer.text).toBe(303);
}

it("nobody is called what the program calls the CRM, so that no decision of a person looks like its own", async () => {
  const { w, holds } = await waitingFor("S1-1");
  const pages = await servePages(w.place, "whoever");
  await approves(pages, holds[0] ?? "", { email: "the CRM", sub: "id-1" });
  const told = (await auditEntries(w)).find(({ kind }) => kind === "hold-approved");
  expect(JSON.parse(told.body)).toMatchObject({ by: "id-1", who: { subject: "id-1" } });
  const impostor = { headers: proxy.as({ sub: "the CRM" }) };
  expect((await ask(placeOf(pages), "/today", impostor)).status).toBe(403);
});

it("two people of one name are two people in every decision, on the pages and on the command line", async () => {
  const { w, holds } = await waitingFor("S1-1", "S2-1", "S3-1");
  const [first = "", second = "", third = ""] = holds;
  const pages = await servePages(w.place, "whoever");
  const anna = (sub: string) => ({ email: "anna.lee", sub });
  await Promise.all([approves(pages, first, anna("id-1")), approves(pages, second, anna("id-2"))]);

  await w.run("approve", third, "--by", "anna.lee", "--reason", "asked the customer");

  const told = (await auditEntries(w))
    .filter(({ kind }) => kind === "hold-approved")
    .map(({ body }) => JSON.parse(body))
    .map(({ hold, by, who }) => ({ hold, by, who }));
  const known = (way: string, of: string, subject: string) => ({ way, issuer: of, subject });
  expect(new Set(told)).toEqual(
    new Set([
      { hold: first, by: "anna.lee", who: known("proxy", issuer, "id-1") },
      { hold: second, by: "anna.lee", who: known("proxy", issuer, "id-2") },
      { hold: third, by: "anna.lee", who: known("command", "this machine", userInfo().username) },
    ]),
  );
  const kept = w.rows<{ by: string; who: string }>("select by, who from decision order by id");
  expect(new Set(kept.map(({ by, who }) => ({ by, who: JSON.parse(who) })))).toEqual(
    new Set(told.map(({ by, who }) => ({ by, who }))),
  );
});
