import { describe, expect, test } from "vitest";
import { z } from "zod";

import { ReadFailure } from "../../src/http/call.ts";
import { type Transport, TransportFailure } from "../../src/http/transport.ts";
import { createLeapClock, refusal, startClient, startService, success, type Reply } from "./scripted-service.ts";

const listCall = {
  endpoint: "M6",
  target: { enterpriseGlobalId: "e1" },
  schema: z.array(z.looseObject({ assetNum: z.string() })),
} as const;
const rows = [{ assetNum: "8000000001" }];

async function failureOf(promise: Promise<unknown>): Promise<ReadFailure> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof ReadFailure) return thrown;
  throw new Error("the read did not fail as it should", { cause: thrown });
}

describe("a read is tried again", () => {
  const passing: Record<string, Reply> = {
    "after code 500": refusal("500"),
    "after HTML": { status: 502, text: "<html></html>" },
    "after a closed connection": (response) => response.socket?.destroy(),
    "after HTTP 429": { status: 429, json: {} },
    "after an answer that does not fit": success({ not: "a list" }),
    "after truncated JSON": { text: '{"code":0' },
  };
  for (const [name, reply] of Object.entries(passing)) {
    test(`${name}, with a new nonce each time`, async () => {
      const service = await startService((_seen, count) => (count === 1 ? reply : success(rows)));
      const client = startClient("member-center", service.url);
      expect(await client.read(listCall)).toEqual(rows);
      const nonces = service.seen.map((seen) => seen.query["g_nonce"] ?? "");
      expect(nonces).toHaveLength(2);
      expect(new Set(nonces).size).toBe(2);
      for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/);
    });
  }

  test("not for ever: after all attempts it fails and says why", async () => {
    const service = await startService(() => refusal("500", "network error, retry"));
    const client = startClient("member-center", service.url, { readAttempts: 3 });
    expect(await failureOf(client.read(listCall))).toMatchObject({
      endpoint: "M6",
      kind: "code",
      serviceCode: "500",
      status: 299,
    });
    expect(service.seen).toHaveLength(3);
  });

  test("not when it was refused for good: 60017 means cannot see, never has none", async () => {
    const service = await startService(() => refusal("60017"));
    const failure = await failureOf(startClient("member-center", service.url).read(listCall));
    expect(failure).toMatchObject({ kind: "code", serviceCode: "60017" });
    expect(failure.cure).toContain("user token");
    expect(service.seen).toHaveLength(1);
  });

  test("not when the code is unlisted, and never when it is asked to stop", async () => {
    const service = await startService(() => refusal("12345"));
    const client = startClient("member-center", service.url);
    expect(await failureOf(client.read(listCall))).toMatchObject({ kind: "code", serviceCode: "12345" });
    expect(service.seen).toHaveLength(1);
    expect(await failureOf(client.read({ ...listCall, signal: AbortSignal.abort() }))).toMatchObject({
      kind: "aborted",
    });
    expect(service.seen).toHaveLength(1);
  });

  test("and is given up in the middle of an answer when it is asked to stop", async () => {
    const stop = new AbortController();
    const service = await startService(() => (response) => {
      response.writeHead(200).write("{");
      stop.abort();
    });
    const client = startClient("member-center", service.url);
    expect(await failureOf(client.read({ ...listCall, signal: stop.signal }))).toMatchObject({ kind: "aborted" });
    expect(service.seen).toHaveLength(1);
  });
});

describe("a refused token", () => {
  test("is renewed once and the read made once more, for 64 callers together", async () => {
    let tokens = 0;
    const endpoint = await startService(() => {
      tokens += 1;
      return { json: { access_token: `t${tokens}`, token_type: "bearer", expires_in: 3600 } };
    });
    const service = await startService((seen) =>
      seen.headers.authorization === "Bearer t1" ? refusal("60000") : success(rows),
    );
    const oauth2 = { tokenUrl: endpoint.url, grant: "client_credentials", clientId: "k", clientSecret: "env:S" };
    const client = startClient(
      "member-center",
      service.url,
      { tokens: { authorization: { oauth2 }, userToken: { fixed: "u" } }, callsAtOnce: 64 },
      { environment: { S: "s" } },
    );
    const answers = await Promise.all(Array.from({ length: 64 }, () => client.read(listCall)));
    expect(answers).toHaveLength(64);
    expect(tokens).toBe(2);
  });

  test("is renewed again when it is refused later, after it was good for a while", async () => {
    const endpoint = await startService((_seen, count) => ({
      json: { access_token: `t${count}`, token_type: "bearer" },
    }));
    const oauth2 = { tokenUrl: endpoint.url, grant: "client_credentials", clientId: "k", clientSecret: "env:S" };
    let good = "Bearer t1";
    const service = await startService((seen) =>
      seen.headers.authorization === good ? success(rows) : refusal("60000"),
    );
    const client = startClient(
      "member-center",
      service.url,
      { tokens: { authorization: { oauth2 }, userToken: { fixed: "u" } } },
      { environment: { S: "s" } },
    );
    for (const next of ["t1", "t2", "t3", "t4"]) {
      good = `Bearer ${next}`;
      expect(await client.read(listCall)).toEqual(rows);
    }
  });

  test("that stays refused ends the read after one repetition", async () => {
    const endpoint = await startService((_seen, count) => ({
      json: { access_token: `t${count}`, token_type: "bearer" },
    }));
    const oauth2 = {
      tokenUrl: endpoint.url,
      grant: "password",
      clientId: "k",
      clientSecret: "env:S",
      username: "u",
      password: "env:P",
    };
    for (const reply of [refusal("60005"), { status: 401, json: {} }] satisfies Reply[]) {
      const service = await startService(() => reply);
      const client = startClient(
        "member-center",
        service.url,
        { tokens: { authorization: { fixed: "a" }, userToken: { oauth2 } } },
        { environment: { S: "s", P: "p" } },
      );
      expect(await failureOf(client.read(listCall))).toMatchObject({ kind: "token" });
      expect(service.seen).toHaveLength(2);
      expect(await failureOf(client.read(listCall))).toMatchObject({ kind: "token" });
      expect(service.seen).toHaveLength(2);
    }
  });

  test("of a kind that cannot be renewed is not sent a second time", async () => {
    const service = await startService(() => refusal("60005"));
    const failure = await failureOf(startClient("member-center", service.url).read(listCall));
    expect(failure).toMatchObject({ kind: "token" });
    expect(service.seen).toHaveLength(1);
  });

  test("is looked up by enterprise", async () => {
    const service = await startService(() => success(rows));
    const tokens = {
      authorization: { fixed: "a" },
      clientToken: { fixed: "c" },
      userToken: { fixed: "u" },
      userTokens: { e1: { fixed: "u1" } },
    };
    const client = startClient("member-center", service.url, { tokens });
    await client.read({ ...listCall, enterprise: "e1" });
    await client.read({ ...listCall, enterprise: "e2" });
    expect(
      service.seen.map((seen) => [seen.headers.authorization, seen.headers["clienttoken"], seen.headers["usertoken"]]),
    ).toEqual([
      ["Bearer a", "c", "u1"],
      ["Bearer a", "c", "u"],
    ]);
  });
});

describe("a service in trouble", () => {
  const down = (): Transport & { calls: number } => {
    const transport = {
      calls: 0,
      send: async () => {
        transport.calls += 1;
        throw new TransportFailure({ written: false, reason: "ECONNREFUSED" });
      },
      close: async () => undefined,
    };
    return transport;
  };

  test("gets at most 1.2 requests per first attempt while it is down", async () => {
    for (const breakerFailures of [1, 1000]) {
      const transport = down();
      const clock = createLeapClock();
      const client = startClient("member-center", "http://127.0.0.1:1", { breakerFailures }, { transport, clock });
      for (let count = 0; count < 100; count += 1) await failureOf(client.read(listCall));
      expect(transport.calls).toBeLessThanOrEqual(120);
      if (breakerFailures === 1000) expect(transport.calls).toBeGreaterThan(100);
    }
  });

  test("has its circuit opened by failures in a row, is tried by one call while the others wait for it, and is used again when that succeeds", async () => {
    let healthy = false;
    let calls = 0;
    let inFlight = 0;
    let mostAtProbe = 0;
    const transport: Transport = {
      send: async () => {
        calls += 1;
        inFlight += 1;
        if (client.state().circuit.state === "half-open") mostAtProbe = Math.max(mostAtProbe, inFlight);
        await new Promise((resolve) => setImmediate(resolve));
        inFlight -= 1;
        if (!healthy) throw new TransportFailure({ written: true, reason: "ECONNRESET" });
        return { status: 200, retryAfter: undefined, text: '{"code":0,"message":"success","data":[]}' };
      },
      close: async () => undefined,
    };
    const clock = createLeapClock();
    const settings = { breakerFailures: 3, breakerOpenMs: 1_000, readAttempts: 1, callsAtOnce: 8 };
    const client = startClient("member-center", "http://127.0.0.1:1", settings, { transport, clock });
    for (let count = 0; count < 3; count += 1) await failureOf(client.read(listCall));
    expect(client.state().circuit).toMatchObject({ state: "open", reason: "ECONNRESET", probeInMs: 1_000 });
    expect(await failureOf(client.read(listCall))).toMatchObject({ kind: "circuit-open" });
    const write = { ...listCall, endpoint: "M9", target: { memberGlobalId: "m" }, nonce: "n", body: {} } as const;
    expect(await client.write(write)).toMatchObject({ kind: "not-sent" });
    expect(calls).toBe(3);

    clock.pass(1_000);
    await failureOf(client.read(listCall));
    expect(client.state().circuit).toMatchObject({ state: "open", probeInMs: 2_000 });
    healthy = true;
    clock.pass(2_000);
    const together = await Promise.allSettled(Array.from({ length: 8 }, () => client.read(listCall)));
    expect(together.filter((one) => one.status === "fulfilled")).toHaveLength(8);
    expect(mostAtProbe).toBe(1);
    expect(calls).toBe(12);
    expect(client.state().circuit).toEqual({ state: "closed" });
  });

  test("is not waited for by the others when the call that tried it ended in a defect", async () => {
    let healthy = false;
    const service = await startService(() => (healthy ? success(rows) : { status: 502, text: "<html></html>" }));
    const clock = createLeapClock();
    const settings = { breakerFailures: 1, breakerOpenMs: 1_000, readAttempts: 1 };
    const client = startClient("member-center", service.url, settings, { clock });
    await failureOf(client.read(listCall));
    healthy = true;
    clock.pass(1_000);
    const check = (): never => {
      throw new Error("a defect");
    };
    await expect(client.read({ ...listCall, check })).rejects.toThrow("a defect");
    expect(await client.read(listCall)).toEqual(rows);
  });

  test("has its circuit opened when three customers meet a code that the contract does not list", async () => {
    const service = await startService(() => refusal("88888"));
    const client = startClient("member-center", service.url);
    for (const customer of ["crm/A", "crm/A", "crm/A", "crm/B"])
      await failureOf(client.read({ ...listCall, customer }));
    expect(client.state().circuit.state).toBe("closed");
    await failureOf(client.read({ ...listCall, customer: "crm/C" }));
    expect(client.state().circuit).toMatchObject({ state: "open", reason: expect.stringContaining("88888") });
    expect(await failureOf(client.read(listCall))).toMatchObject({ kind: "circuit-open" });
  });

  test("is called less when it says 500 or 429, waits for Retry-After, and is called more again when it recovers", async () => {
    let reply: { status: number; retryAfter?: string; text: string } = { status: 429, retryAfter: "7", text: "{}" };
    const transport: Transport = {
      send: async () => ({ retryAfter: undefined, ...reply }),
      close: async () => undefined,
    };
    const clock = createLeapClock();
    const client = startClient(
      "member-center",
      "http://127.0.0.1:1",
      { callsPerSecond: 10, readAttempts: 1 },
      { transport, clock },
    );
    await failureOf(client.read(listCall));
    expect(client.state().pace).toEqual({ callsPerSecond: 5, pausedMs: 7_000 });
    reply = { status: 200, text: '{"code":0,"data":[]}' };
    await client.read(listCall);
    expect(clock.slept).toContain(7_000);
    for (let count = 0; count < 20; count += 1) await client.read(listCall);
    expect(client.state().pace.callsPerSecond).toBe(10);

    const later = new Date(clock.now() + 30_000).toUTCString();
    reply = { status: 503, retryAfter: later, text: "{}" };
    await failureOf(client.read(listCall));
    expect(client.state().pace.pausedMs).toBeGreaterThan(28_000);
    reply = { status: 200, text: '{"code":"500","message":"network error, retry","cause":""}' };
    await failureOf(client.read(listCall));
    expect(client.state().pace.callsPerSecond).toBeLessThan(5);
  });

  test("that asks to wait for an hour gets no call, and the caller an answer at once", async () => {
    const service = await startService(() => ({ status: 503, json: {}, headers: { "retry-after": "3600" } }));
    const client = startClient("member-center", service.url, { readAttempts: 1 });
    await failureOf(client.read(listCall));
    expect(await failureOf(client.read(listCall))).toMatchObject({ kind: "no-turn" });
    expect(service.seen).toHaveLength(1);
  });
});

/** A client of at most 20 calls a second, and when its calls left. */
function startPaced() {
  const times: number[] = [];
  const clock = createLeapClock();
  const transport: Transport = {
    send: async () => {
      times.push(clock.monotonic());
      return { status: 200, retryAfter: undefined, text: '{"code":0,"data":[]}' };
    },
    close: async () => undefined,
  };
  const client = startClient("member-center", "http://127.0.0.1:1", { callsPerSecond: 20 }, { transport, clock });
  return { client, clock, times };
}

describe("the pace", () => {
  test("never lets more calls through than configured, in any second", async () => {
    const { client, times } = startPaced();
    for (let count = 0; count < 200; count += 1) await client.read(listCall);
    for (const start of times)
      expect(times.filter((time) => time >= start && time < start + 1_000).length).toBeLessThanOrEqual(20);
  });

  test("spaces calls that come together after a rest as it does all others", async () => {
    const { client, clock, times } = startPaced();
    await client.read(listCall);
    clock.pass(10_000);
    times.length = 0;
    for (let count = 0; count < 30; count += 1) await client.read(listCall);
    expect(times.filter((time) => time < 11_000).length).toBeLessThanOrEqual(20);
  });

  test("lets no more calls out at once than configured, reads and writes together", async () => {
    let inside = 0;
    let most = 0;
    const transport: Transport = {
      send: async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        return { status: 200, retryAfter: undefined, text: '{"code":0,"data":[]}' };
      },
      close: async () => undefined,
    };
    const client = startClient("member-center", "http://127.0.0.1:1", { callsAtOnce: 3 }, { transport });
    const write = { ...listCall, endpoint: "M9", target: { memberGlobalId: "m" }, nonce: "n", body: {} } as const;
    await Promise.all(Array.from({ length: 10 }, () => [client.read(listCall), client.write(write)]).flat());
    expect(most).toBe(3);
  });
});

test("an answer's unknown fields are kept and reported once", async () => {
  const service = await startService(() => success([{ assetNum: "8", colour: "red" }]));
  const client = startClient("member-center", service.url);
  expect(await client.read(listCall)).toEqual([{ assetNum: "8", colour: "red" }]);
  await client.read(listCall);
  const reports = client.log.lines.filter((line) => line.includes("[].colour"));
  expect(reports).toHaveLength(1);
});
