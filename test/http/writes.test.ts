import { createServer, type AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { describe, expect, test } from "vitest";

import { noDataSchema } from "../../src/contract/answer-fields.ts";
import { staffAddedSchema } from "../../src/contract/member-center.ts";
import { refusal, startClient, startService, success, type Reply } from "./scripted-service.ts";

const nonce = "0123456789abcdef0123456789abcdef";
const createCall = {
  endpoint: "E2",
  target: {},
  schema: z.looseObject({ enterpriseGlobalId: z.string() }),
  nonce,
} as const;
const grantCall = { endpoint: "M9", target: { memberGlobalId: "m1" }, schema: noDataSchema, nonce } as const;
const deleteCall = {
  endpoint: "M4",
  target: { enterpriseGlobalId: "e", memberGlobalId: "m" },
  schema: noDataSchema,
  nonce,
} as const;
const body = { crmCustomerId: "ALFKI", customerName: "Canary Person", branchName: "B", address: "12 Canary Street" };

async function createWith(reply: Reply, settings: Record<string, unknown> = {}) {
  const service = await startService(() => reply);
  const client = startClient("order-service", service.url, settings);
  return { outcome: await client.write({ ...createCall, body }), service, client };
}

describe("a write that succeeded", () => {
  test("is HTTP 200, code 0 and data that fits", async () => {
    const { outcome, service } = await createWith(success({ enterpriseGlobalId: "e1", extra: 1 }));
    expect(outcome).toEqual({
      kind: "done",
      data: { enterpriseGlobalId: "e1", extra: 1 },
      status: 200,
      raw: { code: 0, message: "success", data: { enterpriseGlobalId: "e1", extra: 1 } },
    });
    expect(service.seen).toHaveLength(1);
  });

  test("sends exactly the bytes that the caller prepared", async () => {
    const service = await startService(() => success({ enterpriseGlobalId: "e1" }));
    const client = startClient("order-service", service.url);
    const bodyText = `{ "customerName" : "Ä \\u00e4" }`;
    await client.write({ ...createCall, body, bodyText });
    expect(service.seen[0]?.body).toBe(bodyText);
    expect(service.seen[0]?.headers["content-length"]).toBe(String(Buffer.byteLength(bodyText)));
  });

  test(
    "uses the nonce that was written down, and waits for what has to be on disk before it leaves",
    { tags: "long" },
    async () => {
      const service = await startService(() => success({ enterpriseGlobalId: "e1" }));
      const client = startClient("order-service", service.url);
      let seenWhenSending = -1;
      const beforeSending = async (): Promise<void> => {
        for (let turns = 0; turns < 100 && service.seen.length === 0; turns += 1) await turn();
        seenWhenSending = service.seen.length;
      };
      await client.write({ ...createCall, body, beforeSending });
      expect(seenWhenSending).toBe(0);
      expect(service.seen[0]?.query["g_nonce"]).toBe(nonce);
    },
  );
});

describe("a write with an unclear answer is unknown and never sent again", () => {
  const odd: Record<string, Reply> = {
    "HTTP 299 with code 0": { status: 299, json: { code: 0, message: "success", data: { enterpriseGlobalId: "e1" } } },
    "HTTP 202 with code 0": { status: 202, json: { code: 0, message: "success", data: { enterpriseGlobalId: "e1" } } },
    "code as the text 0": { json: { code: "0", message: "success", data: { enterpriseGlobalId: "e1" } } },
    "error code as a number": { json: { code: 13004, message: "m", cause: "c" } },
    "no code": { json: { message: "success" } },
    "no data": { json: { code: 0, message: "success" } },
    "data of another shape": success({ enterprise: "e1" }),
    "a list": { json: [] },
    "truncated JSON": { text: '{"code":0,"mess' },
    "an empty body": { text: "" },
    "HTML with 502": { status: 502, text: "<html><h1>Bad Gateway</h1></html>" },
    "a documented code with HTTP 500": { status: 500, json: { code: "13004", message: "m", cause: "c" } },
    "a documented code with HTTP 202": { status: 202, json: { code: "13004", message: "m", cause: "c" } },
    "a redirect": { status: 302, text: "", headers: { location: "/elsewhere" } },
    "too many calls": { status: 429, json: {}, headers: { "retry-after": "0" } },
    "an unlisted code": refusal("77777"),
    "code 500": refusal("500"),
    "not UTF-8": (response) => {
      const [start, end] = ['{"code":0,"data":{"enterpriseGlobalId":"', '"}}'].map((text) => Buffer.from(text));
      response.writeHead(200).end(Buffer.concat([start ?? Buffer.of(), Buffer.of(0xff), end ?? Buffer.of()]));
    },
    compressed: { json: { code: 0, data: { enterpriseGlobalId: "e1" } }, headers: { "content-encoding": "br" } },
    "a connection closed without an answer": (response) => response.socket?.destroy(),
    "a connection closed inside the answer": (response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"code":0,', () => response.socket?.destroy());
    },
    silence: () => undefined,
    "one byte and then nothing": (response) => void response.writeHead(200).write("{"),
  };
  for (const [name, reply] of Object.entries(odd)) {
    test(name, async () => {
      const { outcome, service } = await createWith(reply, {
        headersTimeoutMs: 300,
        bodyTimeoutMs: 300,
        callTimeoutMs: 600,
      });
      expect(outcome.kind).toBe("unknown");
      expect(service.seen).toHaveLength(1);
    });
  }

  test("HTTP 401 and a refused token: the next call has a new one", async () => {
    for (const reply of [{ status: 401, json: {} }, refusal("60000")] satisfies Reply[]) {
      const service = await startService((_seen, count) => (count === 1 ? reply : success(null)));
      let tokens = 0;
      const tokenEndpoint = await startService(() => {
        tokens += 1;
        return { json: { access_token: `fresh-${tokens}`, token_type: "bearer", expires_in: 3600 } };
      });
      const client = startClient(
        "member-center",
        service.url,
        {
          tokens: {
            authorization: {
              oauth2: {
                tokenUrl: `${tokenEndpoint.url}/t`,
                grant: "client_credentials",
                clientId: "k",
                clientSecret: "env:S",
              },
            },
            userToken: { fixed: "u" },
          },
        },
        { environment: { S: "s" } },
      );
      const call = () => client.write({ ...grantCall, body: { deleteAssets: [], addAssets: ["8"] } });
      expect((await call()).kind).toBe("unknown");
      expect(service.seen).toHaveLength(1);
      expect((await call()).kind).toBe("done");
      expect(service.seen.map((seen) => seen.headers.authorization)).toEqual(["Bearer fresh-1", "Bearer fresh-2"]);
      expect(service.seen[1]?.headers["clienttoken"]).toBe("fresh-2");
    }
  });

  test("a socket that dies while the request is written", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.resetAndDestroy());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const client = startClient("order-service", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(await client.write({ ...createCall, body })).toMatchObject({ kind: "unknown" });
    server.close();
  });
});

describe("a write that was refused", () => {
  test("names its code and keeps its words, in HTTP 200 and 299 alike", async () => {
    for (const status of [200, 299]) {
      const { outcome } = await createWith({
        status,
        json: { code: "13004", message: "length between {0} and {1}", cause: "c" },
      });
      expect(outcome).toMatchObject({
        kind: "rejected",
        code: "13004",
        status,
        raw: { message: "length between {0} and {1}", cause: "c" },
      });
    }
  });

  test("may mean that it is done already (60002 on M4), or has to be settled by reading (60028 on M9)", async () => {
    const service = await startService((seen) => refusal(seen.method === "DELETE" ? "60002" : "60028"));
    const client = startClient("member-center", service.url);
    expect(await client.write(deleteCall)).toMatchObject({ kind: "already", code: "60002" });
    expect(await client.write({ ...grantCall, body: { deleteAssets: [], addAssets: ["8"] } })).toMatchObject({
      kind: "unknown",
      code: "60028",
    });
  });

  test("raises an alert when the service's security check refuses us (70001)", async () => {
    const service = await startService(() => refusal("70001"));
    const client = startClient("member-center", service.url);
    expect(await client.write({ ...grantCall, body: { deleteAssets: [], addAssets: [] } })).toMatchObject({
      kind: "rejected",
      code: "70001",
    });
    expect(client.log.lines.some((line) => line.includes('"level":50') && line.includes("70001"))).toBe(true);
  });
});

describe("a partial success (60027)", () => {
  const call = { endpoint: "M1", target: { enterpriseGlobalId: "e" }, schema: staffAddedSchema, nonce } as const;
  const request = { userList: [{ userName: "ann", password: "Canary-pw-1", name: "Canary Ann" }] };

  test("keeps who was added and who was not", async () => {
    const data = {
      succeeded: [{ globalId: "g1", userName: "annX" }],
      failed: [{ userName: "bob", message: "account exists" }],
    };
    const service = await startService(() => refusal("60027", "some", data));
    const outcome = await startClient("member-center", service.url).write({ ...call, body: request });
    expect(outcome).toMatchObject({
      kind: "partial",
      code: "60027",
      data: { succeeded: [{ globalId: "g1" }], failed: [{ userName: "bob", message: "account exists" }] },
    });
  });

  test("is unknown when it does not say who", async () => {
    const service = await startService(() => refusal("60027"));
    expect(await startClient("member-center", service.url).write({ ...call, body: request })).toMatchObject({
      kind: "unknown",
    });
  });
});

describe("a write that was not sent", () => {
  test("because nobody listens", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const outcome = await startClient("order-service", `http://127.0.0.1:${port}`).write({ ...createCall, body });
    expect(outcome).toEqual({ kind: "not-sent", reason: "ECONNREFUSED" });
  });

  test("because the name does not exist, or the server does not speak TLS", async () => {
    const service = await startService(() => success(null));
    const unresolved = startClient("order-service", "https://service.invalid", { connectTimeoutMs: 2_000 });
    expect(await unresolved.write({ ...createCall, body })).toMatchObject({ kind: "not-sent" });
    const plain = startClient("order-service", service.url.replace("http:", "https:"));
    expect(await plain.write({ ...createCall, body })).toMatchObject({ kind: "not-sent" });
    expect(service.seen).toHaveLength(0);
  });

  test("because there is no token, and says where it should have come from", async () => {
    const service = await startService(() => success(null));
    const client = startClient("order-service", service.url, { tokens: { authorization: "env:NOWHERE" } });
    expect(await client.write({ ...createCall, body })).toMatchObject({
      kind: "not-sent",
      reason: expect.stringContaining("NOWHERE"),
    });
    expect(service.seen).toHaveLength(0);
  });

  test("because it was stopped before its turn came; once sent, it runs to its end", async () => {
    const stop = new AbortController();
    const service = await startService(() => (response) => {
      stop.abort();
      setImmediate(() => response.end('{"code":0,"message":"success","data":{"enterpriseGlobalId":"e1"}}'));
    });
    const client = startClient("order-service", service.url);
    expect(await client.write({ ...createCall, body, signal: stop.signal })).toMatchObject({ kind: "done" });
    expect(await client.write({ ...createCall, body, signal: stop.signal })).toMatchObject({ kind: "not-sent" });
    expect(service.seen).toHaveLength(1);
  });

  test("because it was stopped while others had all the slots; the slot goes to the next one", async () => {
    const stop = new AbortController();
    const inside = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const service = await startService(() => (response) => {
      inside.resolve();
      void answered.promise.then(() =>
        response.end('{"code":0,"message":"success","data":{"enterpriseGlobalId":"e1"}}'),
      );
    });
    const client = startClient("order-service", service.url, { callsAtOnce: 1 });
    const first = client.write({ ...createCall, body });
    await inside.promise;
    const stopped = client.write({ ...createCall, body, signal: stop.signal });
    const read = client.read({ ...createCall, endpoint: "E3", signal: stop.signal });
    const after = client.write({ ...createCall, body });
    stop.abort();
    expect(await stopped).toEqual({ kind: "not-sent", reason: "stopped before it was sent" });
    await expect(read).rejects.toMatchObject({ kind: "aborted" });
    answered.resolve();
    expect([(await first).kind, (await after).kind]).toEqual(["done", "done"]);
    expect([service.seen.length, client.state().callsInFlight, client.state().callsWaiting]).toEqual([2, 0, 0]);
  });

  test("because a header cannot hold the token", async () => {
    const service = await startService(() => success(null));
    const client = startClient("order-service", service.url, { tokens: { authorization: { fixed: "a b\r\nX: y" } } });
    const outcome = await client.write({ ...createCall, body });
    expect(outcome.kind).toBe("not-sent");
    expect(JSON.stringify(outcome)).not.toContain("X: y");
  });
});

describe("the permit of a write", () => {
  /** Writes that note when their intent is asked for and when their outcome is recorded. */
  function intents() {
    let [open, most, asked] = [0, 0, 0];
    const of = () => {
      const recorded = Promise.withResolvers<void>();
      const beforeSending = async (): Promise<void> => {
        asked += 1;
        open += 1;
        most = Math.max(most, open);
        await turn();
      };
      const done = (): void => {
        open -= 1;
        recorded.resolve();
      };
      return { beforeSending, recorded: recorded.promise, done };
    };
    return { most: () => most, asked: () => asked, of };
  }

  test("comes before the intent, and is kept until the outcome is recorded: no more intents are open than calls are allowed", async () => {
    const service = await startService(() => (response) => {
      setImmediate(() => response.end('{"code":0,"message":"success","data":{"enterpriseGlobalId":"e1"}}'));
    });
    const client = startClient("order-service", service.url, { callsAtOnce: 3 });
    const counted = intents();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const { done, ...permit } = counted.of();
        const outcome = await client.write({ ...createCall, body, ...permit });
        await turn();
        done();
        return outcome.kind;
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set(["done"]));
    expect([counted.most(), counted.asked(), service.seen.length]).toEqual([3, 12, 12]);
  });

  test("is refused without an intent: a stop, a circuit that opened while it waited, and no token", async () => {
    const stop = new AbortController();
    let answers = 0;
    const service = await startService(() => (response) => {
      answers += 1;
      response.writeHead(502).end("down");
    });
    const counted = intents();
    const { done, ...first } = counted.of();
    const client = startClient("order-service", service.url, { callsAtOnce: 1, breakerFailures: 1 });
    const failing = client.write({ ...createCall, body, ...first }).finally(done);
    const waiting = client.write({ ...createCall, body, ...counted.of() });
    expect((await failing).kind).toBe("unknown");
    expect(await waiting).toEqual({ kind: "not-sent", reason: expect.stringContaining("HTTP 502") });
    const stopped = startClient("order-service", service.url, { callsAtOnce: 1 });
    const { done: doneLater, ...second } = counted.of();
    const held = stopped.write({ ...createCall, body, ...second }).finally(() => setImmediate(doneLater));
    const queued = stopped.write({ ...createCall, body, ...counted.of(), signal: stop.signal });
    stop.abort();
    expect((await held).kind).toBe("unknown");
    expect((await queued).kind).toBe("not-sent");
    const tokenless = startClient("order-service", service.url, { tokens: { authorization: "env:NOWHERE" } });
    expect((await tokenless.write({ ...createCall, body, ...counted.of() })).kind).toBe("not-sent");
    expect([counted.asked(), answers, service.seen.length]).toEqual([2, 2, 2]);
  });

  test("is worth nothing when the run is stopped, or the intent is refused, while the intent is committed; it is given back", async () => {
    const stop = new AbortController();
    const service = await startService(() => success({ enterpriseGlobalId: "e1" }));
    const client = startClient("order-service", service.url, { callsAtOnce: 1 });
    const stopping = async (): Promise<void> => {
      await turn();
      stop.abort();
    };
    const outcome = await client.write({ ...createCall, body, beforeSending: stopping, signal: stop.signal });
    expect(outcome).toEqual({ kind: "not-sent", reason: "stopped before it was sent" });
    const refusing = async (): Promise<void> => {
      await turn();
      throw new Error("another run has taken the ledger over");
    };
    await expect(client.write({ ...createCall, body, beforeSending: refusing })).rejects.toThrow(
      "taken the ledger over",
    );
    expect(service.seen).toHaveLength(0);
    expect((await client.write({ ...createCall, body })).kind).toBe("done");
  });
});

describe("what is kept of an answer", () => {
  test("holds no personal data and no token, wherever the service wrote them", async () => {
    const { outcome, client } = await createWith(
      refusal("13004", "Canary Person of 12 Canary Street is not allowed, ask canary@example.org; token app-token-1", {
        customerName: "Canary Person",
        note: "for Canary Person",
        nested: [{ passwordMobile: "13800000000", address: null }],
      }),
    );
    expect(outcome).toMatchObject({
      kind: "rejected",
      raw: {
        data: {
          customerName: "[redacted]",
          note: "for [redacted]",
          nested: [{ passwordMobile: "[redacted]", address: null }],
        },
      },
    });
    const everything = JSON.stringify(outcome) + client.log.lines.join("");
    for (const canary of ["Canary", "canary@", "13800000000", "app-token-1"]) expect(everything).not.toContain(canary);
  });

  test("has no name of a script without spaces, wherever it stands in a sentence; a short name of letters is no part of a word", async () => {
    const service = await startService(() =>
      refusal("13004", "用户张三的手机号已存在，请联系张三；田中さんは無効; Li is a user, Lithium is not, 欧阳娜", {
        note: "张三已存在",
      }),
    );
    const named = { ...body, customerName: "张三", adminName: "田中", branchName: "欧", name: "Li" };
    const client = startClient("order-service", service.url);
    const outcome = await client.write({ ...createCall, body: named });
    expect(outcome).toMatchObject({
      raw: {
        message:
          "用户[redacted]的手机号已存在，请联系[redacted]；[redacted]さんは無効; [redacted] is a user, Lithium is not, 欧阳娜",
        data: { note: "[redacted]已存在" },
      },
    });
  });

  test("is the excerpt and hash of what is not JSON, without values of the request", async () => {
    const { outcome } = await createWith({
      status: 502,
      text: "<html><h1>Bad Gateway</h1> for Canary Person, call +86 138 0000 0000</html>",
    });
    expect(outcome).toMatchObject({
      kind: "unknown",
      status: 502,
      raw: { unreadable: true, excerpt: expect.stringContaining("Bad Gateway") },
    });
    expect(JSON.stringify(outcome)).not.toMatch(/Canary|0000 0000/);
  });

  test("is cut to size", async () => {
    const { outcome } = await createWith(
      refusal(
        "13004",
        "m",
        Array.from({ length: 20_000 }, (_, index) => index),
      ),
    );
    expect(JSON.stringify(outcome).length).toBeLessThan(40_000);
    expect(outcome).toMatchObject({ raw: { cut: true } });
  });
});

describe("hostile answers", () => {
  test("above the cap are cut off, whether they announce their length or not", async () => {
    const chunk = "x".repeat(64 * 1024);
    let written = 0;
    const endless: Reply = (response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length;
      };
      response.on("drain", more);
      more();
    };
    const settings = { answerLimitBytes: 1024 * 1024 };
    expect((await createWith(endless, settings)).outcome).toMatchObject({
      kind: "unknown",
      reason: "the answer is too large",
    });
    expect(written).toBeLessThan(64 * 1024 * 1024);
    const announced: Reply = (response) =>
      void response.writeHead(200, { "content-length": String(100 * 1024 * 1024) }).write("{");
    expect((await createWith(announced, settings)).outcome).toMatchObject({
      kind: "unknown",
      reason: "the answer is too large",
    });
  });

  test.each([101, 300, 10_000, 100_000])(
    "that are nested %i deep are unreadable, and said to be so",
    { tags: "long" },
    async (levels) => {
      const deep = "[".repeat(levels) + "]".repeat(levels);
      for (const data of [
        deep,
        `{"enterpriseGlobalId":"e","deep":${deep}}`,
        `{"deep":${deep},"id":12345678901234567890}`,
      ]) {
        const { outcome } = await createWith({ text: `{"code":0,"message":"success","data":${data}}` });
        expect(outcome).toMatchObject({
          kind: "unknown",
          reason: "HTTP 200 with a body nested deeper than 100 levels",
        });
      }
    },
  );
});
