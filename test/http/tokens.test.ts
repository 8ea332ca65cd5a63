import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { KnownSecrets } from "../../src/base/known-secrets.ts";
import { type TokenSource, serviceSettingsSchema, tokenSourceSchema } from "../../src/http/http-settings.ts";
import { readTokenSource } from "../../src/http/token-sources.ts";
import { createTokenProvider } from "../../src/http/tokens.ts";
import { createLeapClock, startService, type Reply } from "./scripted-service.ts";
import type { Asked } from "../support/http-server.ts";

const known = new KnownSecrets();

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "tokens-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

const environment = { SECRET: "Canary secret+/&=", ACCOUNT: "Canary-password" };

async function oauthWorld(answer: (seen: Asked, count: number) => Reply, settings: Record<string, unknown> = {}) {
  const endpoint = await startService(answer);
  const clock = createLeapClock();
  const source = tokenSourceSchema.parse({
    oauth2: {
      tokenUrl: `${endpoint.url}/token`,
      grant: "client_credentials",
      clientId: "key",
      clientSecret: "env:SECRET",
      ...settings,
    },
  });
  return {
    endpoint,
    clock,
    source,
    provider: createTokenProvider(readTokenSource(source, { environment, known }), { clock, known }),
  };
}

const granted = (count: number, life = 3600): Reply => ({
  json: { access_token: `t${count}`, token_type: "bearer", expires_in: life },
});

describe("a token of an OAuth2 endpoint", () => {
  test("is asked for with the client's credentials, in the form or in the header", async () => {
    const post = await oauthWorld((_seen, count) => granted(count), { scope: "auth_order" });
    expect(await post.provider.token()).toBe("t1");
    expect(Object.fromEntries(new URLSearchParams(post.endpoint.seen[0]?.body))).toEqual({
      grant_type: "client_credentials",
      client_id: "key",
      client_secret: environment.SECRET,
      scope: "auth_order",
    });
    const basic = await oauthWorld((_seen, count) => granted(count), { clientAuth: "basic" });
    await basic.provider.token();
    expect(basic.endpoint.seen[0]?.headers.authorization).toMatch(/^Basic /);
  });

  test("is not used where the endpoint says that it lacks the scope of the service", async () => {
    const answer = (scope?: string) => ({ json: { access_token: "t", token_type: "bearer", expires_in: 60, scope } });
    for (const [scope, usable] of [
      [undefined, true],
      ["auth_me auth_order", true],
      ["auth_me", false],
    ] as const) {
      const { source, clock } = await oauthWorld(() => answer(scope));
      const token = createTokenProvider(
        readTokenSource(source, { environment, known }),
        { clock, known },
        "auth_order",
      ).token();
      if (usable) expect(await token).toBe("t");
      else await expect(token).rejects.toThrow(/without the scope auth_order.*approved for the application/u);
    }
  });

  test("is asked for with a user's name and password", async () => {
    const { provider, endpoint } = await oauthWorld((_seen, count) => granted(count), {
      grant: "password",
      username: "ann",
      password: "env:ACCOUNT",
    });
    await provider.token();
    expect(Object.fromEntries(new URLSearchParams(endpoint.seen[0]?.body))).toMatchObject({
      grant_type: "password",
      username: "ann",
      password: environment.ACCOUNT,
    });
  });

  test("is renewed once for 64 callers, before it expires", async () => {
    const { provider, endpoint, clock } = await oauthWorld((_seen, count) => granted(count, 1000));
    expect(new Set(await Promise.all(Array.from({ length: 64 }, () => provider.token())))).toEqual(new Set(["t1"]));
    expect(endpoint.seen).toHaveLength(1);
    clock.pass(930_000);
    await provider.token();
    expect(endpoint.seen).toHaveLength(1);
    clock.pass(15_000);
    expect(new Set(await Promise.all(Array.from({ length: 64 }, () => provider.token())))).toEqual(new Set(["t2"]));
    expect(endpoint.seen).toHaveLength(2);
  });

  test("that lives for no time at all still serves those that wait for it", async () => {
    const { provider, endpoint } = await oauthWorld((_seen, count) => granted(count, 0));
    await Promise.all(Array.from({ length: 64 }, () => provider.token()));
    expect(endpoint.seen).toHaveLength(1);
  });

  test("is used until it expires when it cannot be renewed ahead", async () => {
    const { provider, clock } = await oauthWorld((_seen, count) =>
      count === 1 ? granted(1, 1000) : { status: 400, json: { error: "invalid_client" } },
    );
    await provider.token();
    clock.pass(950_000);
    expect(await provider.token()).toBe("t1");
    clock.pass(60_000);
    await expect(provider.token()).rejects.toThrow("invalid_client");
  });

  test("that is refused is renewed once, also when many callers report it", async () => {
    const { provider, endpoint } = await oauthWorld((_seen, count) => granted(count));
    await provider.token();
    for (let count = 0; count < 5; count += 1) provider.reject("t1");
    expect(await provider.token()).toBe("t2");
    provider.reject("t1");
    expect(await provider.token()).toBe("t2");
    expect(endpoint.seen).toHaveLength(2);
  });

  test("is not asked for again at once after a refusal, and the refusal shows no secret", async () => {
    const { provider, endpoint, clock } = await oauthWorld(() => ({
      status: 400,
      json: { error: "invalid_grant", error_description: `wrong: ${environment.SECRET}` },
    }));
    const failures = await Promise.allSettled(Array.from({ length: 8 }, () => provider.token()));
    await expect(provider.token()).rejects.toThrow("invalid_grant");
    expect(endpoint.seen).toHaveLength(1);
    expect(JSON.stringify(failures.map((one) => (one.status === "rejected" ? String(one.reason) : one)))).not.toContain(
      "Canary",
    );
    clock.pass(6_000);
    await expect(provider.token()).rejects.toThrow("invalid_grant");
    expect(endpoint.seen).toHaveLength(2);
  });

  test("is asked for once more when the endpoint stumbles", async () => {
    const { provider, endpoint } = await oauthWorld((_seen, count) =>
      count === 1 ? { status: 503, text: "busy" } : granted(count),
    );
    expect(await provider.token()).toBe("t2");
    expect(endpoint.seen).toHaveLength(2);
  });

  test("is renewed for the others also when one caller gives up", async () => {
    const { provider } = await oauthWorld((_seen, count) => granted(count));
    const stop = new AbortController();
    const impatient = provider.token(stop.signal);
    const patient = provider.token();
    stop.abort(new Error("enough"));
    await expect(impatient).rejects.toThrow("enough");
    expect(await patient).toBe("t1");
  });
});

describe("a token of another place", () => {
  const clock = createLeapClock();
  const provide = (source: TokenSource) =>
    createTokenProvider(readTokenSource(source, { environment: { TOKEN: "0012" }, known }), { clock, known });

  test("comes from the environment as it is", async () => {
    expect(await provide("env:TOKEN").token()).toBe("0012");
    expect(await provide("env:TOKEN").token()).toBe("0012");
    await expect(provide("env:NOT_THERE").token()).rejects.toThrow("NOT_THERE");
  });

  test("comes from a file, which is read again when the token is refused", async () => {
    const path = join(await folder(), "token");
    await writeFile(path, "first\n");
    const provider = provide(`file:${path}`);
    expect(await provider.token()).toBe("first");
    await writeFile(path, "second\n");
    expect(await provider.token()).toBe("first");
    provider.reject("first");
    expect(await provider.token()).toBe("second");
    provider.accepted();
    provider.reject("second");
    await expect(provider.token()).rejects.toThrow("still gives");
    clock.pass(31_000);
    expect(await provider.token()).toBe("second");
  });

  test("comes from a command that gets PATH, HOME and the variables that are named, and no other", async () => {
    const names = `console.log(Object.keys(process.env).filter((name) => !name.startsWith("_")).sort().join("."))`;
    const source = tokenSourceSchema.parse({ command: [process.execPath, "-e", names], environment: ["VAULT"] });
    const environment = { PATH: "/bin", HOME: "/root", VAULT: "v", SEAL_KEY: "s", ORDER_TOKEN: "t" };
    const provider = createTokenProvider(readTokenSource(source, { environment, known }), { clock, known });
    expect(await provider.token()).toBe("HOME.PATH.VAULT");
  });

  test("comes from a command, as text or as JSON", { tags: "long" }, async () => {
    const { execPath } = process;
    expect(
      await provide({ command: [execPath, "-e", "console.log('plain')"], environment: [], timeoutMs: 60_000 }).token(),
    ).toBe("plain");
    const json = `console.log(JSON.stringify({ access_token: "j", expires_in: 60 }))`;
    expect(await provide({ command: [execPath, "-e", json], environment: [], timeoutMs: 60_000 }).token()).toBe("j");
    await expect(
      provide({ command: [execPath, "-e", "process.exit(3)"], environment: [], timeoutMs: 60_000 }).token(),
    ).rejects.toThrow("the command");
  });
});

describe("the settings", () => {
  test("hold no secret themselves and no plain http to other machines", () => {
    expect(tokenSourceSchema.safeParse("Bearer abc").success).toBe(false);
    const service = (baseUrl: string) =>
      serviceSettingsSchema.safeParse({ baseUrl, tokens: { authorization: "env:T" } }).success;
    expect(service("https://platform.example.org")).toBe(true);
    expect(service("http://127.0.0.1:8080")).toBe(true);
    expect(service("http://platform.example.org")).toBe(false);
    expect(service("http://127.0.0.1.example.org")).toBe(false);
    expect(
      tokenSourceSchema.safeParse({
        oauth2: { tokenUrl: "https://u", grant: "password", clientId: "k", clientSecret: "env:S" },
      }).success,
    ).toBe(false);
  });
});
