import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { startService } from "./http-service.ts";
import type { Asked } from "../support/http-server.ts";
import { customerMapping, openSource, readAll } from "./support.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import type { Source, SourceDeps } from "../../src/source/source.ts";

function sourceWith(origin: string, auth: object, deps: Partial<SourceDeps> = {}): Source {
  const streams = {
    customers: {
      url: `${origin}/customers`,
      mapping: customerMapping,
      paging: { kind: "page", lastPage: "short", size: 1, moving: "trust" },
    },
  };
  return openSource({ kind: "http", auth, streams, retryBaseMs: 1, retryMaxMs: 1 }, ".", {
    secrets: (ref) => ref.replace("env:", "value-of-"),
    ...deps,
  });
}

const list = { body: [] };

describe("credentials", () => {
  it.each([
    [{ kind: "none" }, (asked: Asked) => asked.headers.authorization === undefined],
    [{ kind: "bearer", token: "env:TOKEN" }, (asked: Asked) => asked.headers.authorization === "Bearer value-of-TOKEN"],
    [
      { kind: "basic", user: "jürgen", password: "env:PASSWORD" },
      (asked: Asked) =>
        asked.headers.authorization === `Basic ${Buffer.from("jürgen:value-of-PASSWORD").toString("base64")}`,
    ],
    [
      { kind: "apiKey", header: "X-Api-Key", key: "env:KEY" },
      (asked: Asked) => asked.headers["x-api-key"] === "value-of-KEY",
    ],
  ])("of the settings %o are shown with each request", async (auth, isShown) => {
    const service = await startService(() => list);
    const { outcome } = await readAll(sourceWith(service.origin, auth), "customers");
    expect(outcome.complete).toBe(true);
    expect(service.asked.map(isShown)).toEqual([true]);
  });

  it("are read again once when the service does not accept them, as after a change of the secret", async () => {
    let secret = "old";
    const service = await startService(({ headers }) => {
      if (headers.authorization === "Bearer new") return list;
      secret = "new";
      return { status: 401 };
    });
    const source = sourceWith(service.origin, { kind: "bearer", token: "env:T" }, { secrets: () => secret });
    expect((await readAll(source, "customers")).outcome.complete).toBe(true);
    expect(service.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer old", "Bearer new"]);
  });

  it("that stay wrong are a problem after one more attempt, which names no secret", async () => {
    const service = await startService(() => ({ status: 401, body: { error: "value-of-KEY is wrong" } }));
    const { outcome } = await readAll(
      sourceWith(service.origin, { kind: "apiKey", header: "X-Api-Key", key: "env:KEY" }),
      "customers",
    );
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.wrong-password", exitCode: 7 } });
    const { problem } = outcome;
    expect(`${problem?.message} ${problem?.cure} ${problem?.place}`).not.toContain("value-of-KEY");
    expect(service.asked).toHaveLength(2);
  });

  it("whose secret is not there are a problem before any request", async () => {
    const service = await startService(() => list);
    const secrets = (): string => {
      throw new Error("not set");
    };
    const { outcome } = await readAll(
      sourceWith(service.origin, { kind: "bearer", token: "env:MISSING" }, { secrets }),
      "customers",
    );
    expect(outcome.problem?.message).toBe("The secret env:MISSING of the source crm is missing.");
    expect(service.asked).toHaveLength(0);
  });
});

describe("a token service", () => {
  const auth = (origin: string, more: object = {}): object => ({
    kind: "oauth2",
    tokenUrl: `${origin}/token`,
    clientId: "crm-sync",
    clientSecret: "env:SECRET",
    scope: "read",
    ...more,
  });

  it.each([
    ["", { expires_in: 3600 }],
    [", also where nobody says how long it lives", {}],
  ])("gives a token by client_credentials, which serves all pages%s", async (_, life) => {
    const service = await startService(({ path, query }) =>
      path === "/token"
        ? { body: { access_token: "t1", token_type: "Bearer", ...life } }
        : { body: query["page"] === "3" ? [] : [{ id: query["page"] }] },
    );
    const { outcome, raws } = await readAll(sourceWith(service.origin, auth(service.origin)), "customers");
    expect(outcome.complete).toBe(true);
    expect(raws).toHaveLength(2);
    expect(service.asked.map(({ path }) => path)).toEqual(["/token", "/customers", "/customers", "/customers"]);
    expect(service.asked[0]).toMatchObject({ method: "POST", body: "scope=read&grant_type=client_credentials" });
    expect(service.asked[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from("crm-sync:value-of-SECRET").toString("base64")}`,
    );
    expect(service.asked.slice(1).every(({ headers }) => headers.authorization === "Bearer t1")).toBe(true);
  });

  it("gives a token to a client in the body", async () => {
    const service = await startService(({ path }) =>
      path === "/token" ? { body: { access_token: "t1", token_type: "Bearer" } } : list,
    );
    const more = { clientAuth: "body", parameters: { audience: "crm" } };
    expect((await readAll(sourceWith(service.origin, auth(service.origin, more)), "customers")).outcome.complete).toBe(
      true,
    );
    expect(Object.fromEntries(new URLSearchParams(service.asked[0]?.body))).toEqual({
      audience: "crm",
      scope: "read",
      grant_type: "client_credentials",
      client_id: "crm-sync",
      client_secret: "value-of-SECRET",
    });
  });

  it("is asked for a new token before the old one ends, by the monotonic clock", async () => {
    let monotonic = 0;
    const clock = { ...systemClock, monotonic: () => monotonic };
    let tokens = 0;
    const service = await startService(({ path }) => {
      if (path === "/token")
        return { body: { access_token: `t${(tokens += 1)}`, token_type: "Bearer", expires_in: 100 } };
      monotonic += 50_000;
      return list;
    });
    const source = sourceWith(service.origin, auth(service.origin), { clock });
    for (let reading = 0; reading < 3; reading += 1) await readAll(source, "customers");
    expect(service.asked.filter(({ path }) => path !== "/token").map(({ headers }) => headers.authorization)).toEqual([
      "Bearer t1",
      "Bearer t1",
      "Bearer t2",
    ]);
  });

  it("is asked for a new token when the service does not accept the old one", async () => {
    let tokens = 0;
    const service = await startService(({ path, headers }) => {
      if (path === "/token") return { body: { access_token: `t${(tokens += 1)}`, token_type: "Bearer" } };
      return headers.authorization === "Bearer t2" ? list : { status: 401 };
    });
    expect((await readAll(sourceWith(service.origin, auth(service.origin)), "customers")).outcome.complete).toBe(true);
    expect(tokens).toBe(2);
  });

  it("that refuses is a problem with its code and without its text", async () => {
    const service = await startService(() => ({
      status: 400,
      body: { error: "invalid_grant", error_description: "value-of-SECRET?" },
    }));
    const { outcome } = await readAll(sourceWith(service.origin, auth(service.origin)), "customers");
    expect(outcome.problem).toMatchObject({ code: "source.wrong-password", place: `${service.origin}/token` });
    expect(outcome.problem?.message).toContain("(invalid_grant)");
    expect(outcome.problem?.message).not.toContain("value-of-SECRET");
  });

  it("that stumbles is asked once more; one that stays down is a problem, and is not asked by each stream", async () => {
    let works = false;
    const service = await startService(({ path }, number) => {
      if (path !== "/token") return list;
      return works && number > 1 ? { body: { access_token: "t1", token_type: "Bearer" } } : { status: 503 };
    });
    const down = sourceWith(service.origin, auth(service.origin));
    for (let reading = 0; reading < 3; reading += 1)
      expect((await readAll(down, "customers")).outcome.problem).toMatchObject({
        code: "source.down",
        message: "The token service of the source crm gave no usable answer.",
      });
    expect(service.asked.map(({ path }) => path)).toEqual(["/token", "/token"]);
    works = true;
    expect((await readAll(sourceWith(service.origin, auth(service.origin)), "customers")).outcome.complete).toBe(true);
  });

  it("whose new token is refused too, or is the refused one, is a problem that names no token", async () => {
    for (const next of [(count: number) => `canary${count}`, () => "canary"]) {
      let tokens = 0;
      const service = await startService(({ path }) =>
        path === "/token" ? { body: { access_token: next((tokens += 1)), token_type: "Bearer" } } : { status: 401 },
      );
      const source = sourceWith(service.origin, auth(service.origin));
      for (let reading = 0; reading < 2; reading += 1) {
        const { problem } = (await readAll(source, "customers")).outcome;
        expect(problem).toMatchObject({ code: "source.wrong-password" });
        expect(`${problem?.message} ${problem?.cure}`).not.toContain("canary");
      }
      expect(tokens).toBe(2);
    }
  });

  it("leave for this machine over plain http, for another one only where the source says so: each place is named", () => {
    const issues = (fields: object): unknown[] =>
      sourceSettingsSchema
        .safeParse({ kind: "http", streams: { customers: { url: "/c", mapping: customerMapping } }, ...fields })
        .error?.issues.map((issue) => [issue.path.join("."), issue.message.includes("must be https")]) ?? [];
    const bearer = { kind: "bearer", token: "env:T" };
    const [other, here, safe] = ["http://crm.example", "http://127.0.0.1:8080", "https://crm.example"];
    const streamAt = (url: string): object => ({
      streams: { customers: { url: `${url}/c`, mapping: customerMapping } },
    });
    expect(issues({ baseUrl: other, auth: bearer })).toEqual([["baseUrl", true]]);
    expect(issues({ auth: bearer, ...streamAt(other) })).toEqual([["streams.customers.url", true]]);
    expect(issues({ baseUrl: safe, auth: auth(other) })).toEqual([["auth.tokenUrl", true]]);
    expect(issues({ baseUrl: other, auth: { kind: "basic", user: "u", password: "env:P" } })).toHaveLength(1);
    for (const fine of [
      { baseUrl: here, auth: bearer },
      { baseUrl: other },
      { baseUrl: other, auth: auth(other), allowPlainHttp: true },
    ])
      expect(issues(fine)).toEqual([]);
  });

  it("over plain http on another machine is refused by the settings, as are secrets written into them", () => {
    const settings = (auth: object): unknown => ({
      kind: "http",
      auth,
      streams: { customers: { url: "https://crm.example/c", mapping: customerMapping } },
    });
    expect(sourceSettingsSchema.safeParse(settings(auth("http://crm.example"))).error?.issues[0]?.message).toContain(
      "must be https",
    );
    expect(
      sourceSettingsSchema.safeParse(settings({ kind: "bearer", token: "abc" })).error?.issues[0]?.message,
    ).toContain("must be env:NAME");
    const withUser = {
      kind: "http",
      streams: { customers: { url: "https://u:p@crm.example/c", mapping: customerMapping } },
    };
    expect(sourceSettingsSchema.safeParse(withUser).error?.issues[0]?.path).toEqual(["streams", "customers", "url"]);
  });
});
