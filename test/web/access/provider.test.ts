import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { world } from "../../support/cli.ts";
import { Browser, clockAt, guarded, type Answer, type Guarded } from "../../support/guarded.ts";
import { openidProvider, strangeKey, type Provider } from "../../support/openid-provider.ts";

const host = "crm.example.com";
const publicUrl = `https://${host}`;
const roles = { "crm-operators": "decide", support: "see" };

async function pagesBehind(provider: Provider, clock?: ReturnType<typeof clockAt>): Promise<Guarded> {
  const w = await world();
  w.environment = { ...w.environment, OIDC_SECRET: "secret of the client" };
  await w.run("status");
  const oidc = { issuer: provider.issuer, clientId: "crm-sync", clientSecret: "env:OIDC_SECRET", roles };
  const pages = await guarded(w, { publicUrl, access: { oidc } }, clock === undefined ? {} : { clock });
  return { ...pages, host };
}

/** Begins to sign in, and comes back from the provider. */
async function comesBack(browser: Browser, provider: Provider, to = "/see"): Promise<Answer> {
  const begun = await browser.get(`/login/oidc?to=${encodeURIComponent(to)}`);
  expect(begun.status, begun.text).toBe(303);
  return await browser.get(provider.visit(begun.headers.location ?? ""), { "sec-fetch-site": "cross-site" });
}

describe("an OpenID provider", () => {
  it("signs two people in, each with the right of their own groups", async () => {
    const provider = await openidProvider("crm-sync");
    const pages = await pagesBehind(provider);
    const anna = new Browser(pages);
    const answer = await comesBack(anna, provider, "/decide");
    expect([answer.status, answer.headers.location]).toEqual([303, "/decide"]);
    expect(answer.headers["set-cookie"]).toContainEqual(
      expect.stringMatching(/^__Host-crm-sync=[0-9a-f]{64}; Path=\/; HttpOnly; Secure; SameSite=Lax$/u),
    );
    expect(JSON.parse((await anna.get("/decide")).text).person).toMatchObject({
      name: "anna.lee",
      role: "decide",
      way: "oidc",
      issuer: provider.issuer,
      subject: "id-1",
    });
    provider.person = { sub: "id-2", preferred_username: "sam", groups: ["support", "others"] };
    const sam = new Browser(pages);
    await comesBack(sam, provider);
    expect([(await sam.get("/see")).status, (await sam.get("/decide")).status]).toEqual([200, 403]);
    expect(provider.tokenRequests[0]?.get("code_verifier")).toMatch(/^[\w-]{43,}$/u);
  });

  it("is offered at the address that it sends people back to, whatever name the page was asked under", async () => {
    const provider = await openidProvider("crm-sync");
    const pages = await pagesBehind(provider);
    for (const host of [pages.host, `${pages.access.own()?.name}:${pages.port}`]) {
      const { text } = await new Browser({ port: pages.port, host }).get("/login?to=%2Fsee");
      expect(text).toContain(`href="${publicUrl}/login/oidc?to=%2Fsee"`);
    }
  });

  it("gives no page to somebody who is in no group that has a right", async () => {
    const provider = await openidProvider("crm-sync");
    const pages = await pagesBehind(provider);
    for (const groups of [["others"], undefined, ["constructor", "__proto__"]]) {
      provider.person = { sub: "id-3", preferred_username: "zoe", groups };
      const browser = new Browser(pages);
      const answer = await comesBack(browser, provider);
      expect([answer.status, answer.text.includes("zoe")], String(groups)).toEqual([403, true]);
      expect((await browser.get("/see")).status).toBe(303);
    }
  });

  it("signs nobody in with an ID token that is not good", async () => {
    const provider = await openidProvider("crm-sync");
    const pages = await pagesBehind(provider);
    const lies: Record<string, Provider["lie"]> = {
      "another nonce": { claims: { nonce: "another" } },
      "no nonce": { claims: { nonce: undefined } },
      "another audience": { claims: { aud: "another-client" } },
      "several audiences and another party": { claims: { aud: ["crm-sync", "x"], azp: "x" } },
      "another issuer": { claims: { iss: "http://127.0.0.1:1" } },
      "a time that is over": { claims: { exp: 1_700_000_000 } },
      "no subject": { claims: { sub: undefined } },
      "an empty subject": { claims: { sub: "" } },
      "the signature of another key": { key: strangeKey() },
      "a key that the provider does not have": { header: { kid: "two" } },
      "no algorithm": { header: { alg: "none" } },
      "the algorithm of a shared secret": { header: { alg: "HS256" } },
      "no ID token": { body: '{"access_token":"at","token_type":"bearer"}' },
    };
    for (const [what, lie] of Object.entries(lies)) {
      provider.lie = lie;
      const browser = new Browser(pages);
      expect((await comesBack(browser, provider)).status, what).toBe(403);
      expect((await browser.get("/see")).status, what).toBe(303);
    }
  });

  it(
    "is no way in by a state that was used, is another browser's, is too old or was never begun",
    { tags: "long" },
    async () => {
      // What checks ID tokens has the time of the machine.
      const clock = clockAt(systemClock.now());
      const provider = await openidProvider("crm-sync");
      const pages = await pagesBehind(provider, clock);
      const browser = new Browser(pages);
      const begin = async (): Promise<string> =>
        provider.visit((await browser.get("/login/oidc")).headers.location ?? "");
      const used = await begin();
      expect((await browser.get(used)).status).toBe(303);
      expect((await browser.get(used)).status).toBe(403);
      const stolen = await begin();
      const thief = new Browser(pages);
      await thief.get("/login");
      expect((await thief.get(stolen)).status).toBe(403);
      const late = await begin();
      clock.move(600_001);
      expect((await browser.get(late)).status).toBe(403);
      const twice = await begin();
      expect((await browser.get(`${twice}&state=${"0".repeat(64)}`)).status).toBe(403);
      for (const query of ["", "?code=x", "?state=x&code=y", "?error=access_denied&state=x"])
        expect.soft((await browser.get(`/login/oidc/callback${query}`)).status, query).toBe(403);
    },
  );

  it("says its refusals without a word of its own, and one that is not reached is no failure", async () => {
    const provider = await openidProvider("crm-sync");
    const pages = await pagesBehind(provider);
    const browser = new Browser(pages);
    const { location = "" } = (await browser.get("/login/oidc")).headers;
    const state = new URL(location).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ state, error: "access_denied", error_description: "<b>Zqcanary</b>" });
    const answer = await browser.get(`/login/oidc/callback?${query.toString()}`);
    expect([answer.status, answer.text.includes("Zqcanary")]).toEqual([403, false]);
    const gone = await guarded(await world(), {
      publicUrl,
      access: { oidc: { issuer: "http://127.0.0.1:1", clientId: "crm-sync", roles } },
    });
    expect((await new Browser({ ...gone, host }).get("/login/oidc")).status).toBe(502);
  });

  it("ends the sessions of its people where a new start has another one", async () => {
    const provider = await openidProvider("crm-sync");
    const pages = await pagesBehind(provider);
    const browser = new Browser(pages);
    await comesBack(browser, provider);
    expect((await browser.get("/see")).status).toBe(200);
    const oidc = { issuer: provider.issuer, clientId: "crm-sync", roles: { support: "see" } };
    await pages.startsAgain({ publicUrl, access: { oidc } });
    expect((await browser.get("/see")).status).toBe(303);
  });
});
