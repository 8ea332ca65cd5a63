import { expect, test } from "vitest";
import { batch, newBuy } from "./bodies.ts";
import { assetIds, createEnterprise, started, type Caller, type Parsed, type Reply } from "./caller.ts";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { clockAt } from "../support/guarded.ts";
import { HeldClock } from "../support/world/start.ts";

const take = (caller: Caller, options: { signal?: AbortSignal } = {}) =>
  caller.order("POST", "/shellnums", { size: 1 }, options);

type CouldBeSeen = (state: ReturnType<Sandbox["state"]>) => boolean;

/** Calls and gives up as soon as the sandbox has come as far as `reached` says: a clock might give up too early. */
async function giveUp<Answer>(sandbox: Sandbox, reached: CouldBeSeen, call: (signal: AbortSignal) => Promise<Answer>) {
  const patience = new AbortController();
  const answered = call(patience.signal).catch((error: { name?: string; code?: string }) =>
    error.name === "AbortError" ? "no reply" : error.code,
  );
  await expect.poll(() => sandbox.counts().faulted === 1 && reached(sandbox.state()), { interval: 1 }).toBe(true);
  patience.abort();
  return answered;
}

/** Takes one number under a rule; answers the reply or the code of the error, and whether the number was burnt. */
async function meet(rule: Omit<FaultRule, "operation">, givesUp?: CouldBeSeen, options: Partial<SandboxOptions> = {}) {
  const { sandbox, ...caller } = await started(options);
  sandbox.faults.add({ operation: "E9", ...rule });
  const outcome = await (givesUp === undefined
    ? take(caller).catch((error: { code?: string }) => error.code)
    : giveUp(sandbox, givesUp, (signal) => take(caller, { signal })));
  const applied = sandbox.state().shellNumbers === 1;
  expect(sandbox.counts()).toMatchObject({ calls: { E9: 1 }, writingCalls: 1, faulted: 1 });
  expect(sandbox.counts().effects["E9"] ?? 0).toBe(applied ? 1 : 0);
  return { outcome, reply: outcome as Reply, applied, sandbox, caller };
}

const connectionLost = expect.stringMatching(/^(ECONNRESET|UND_ERR_SOCKET)$/);

test.each([
  ["refused", false],
  ["resetBefore", false],
  ["appliedNoReply", true],
] as const)("%s: the connection is lost, applied %s", async (fault, applied) => {
  expect(await meet({ fault })).toMatchObject({ outcome: connectionLost, applied });
});

test("resetMidReply: the head and half the body arrive, the call is applied", async () => {
  expect(await meet({ fault: "resetMidReply" })).toMatchObject({ outcome: connectionLost, applied: true });
});

test.each([false, true])("silence: nothing arrives, applied %s as the rule says", async (applied) => {
  const met = await meet({ fault: "silence", applied }, ({ shellNumbers }) => shellNumbers === (applied ? 1 : 0));
  expect(met).toMatchObject({ outcome: "no reply", applied });
});

test("appliedLate: nothing arrives, and the effect comes later", async () => {
  const clock = new HeldClock();
  const met = await meet({ fault: "appliedLate", delayMs: 300 }, ({ deferred }) => deferred === 1, { clock });
  expect(met).toMatchObject({ outcome: "no reply", applied: false });
  expect(met.sandbox.state().deferred).toBe(1);
  clock.release();
  await expect.poll(() => met.sandbox.state()).toMatchObject({ shellNumbers: 1, deferred: 0 });
  expect(met.sandbox.counts().effects).toEqual({ E9: 1 });
});

test("appliedLate: a call that is refused when its time comes leaves nothing", async () => {
  const clock = new HeldClock();
  const { sandbox, ...caller } = await started({ clock });
  sandbox.faults.add({ operation: "E9", fault: "appliedLate", delayMs: 200 });
  const taken = giveUp(
    sandbox,
    ({ deferred }) => deferred === 1,
    (signal) => caller.order("POST", "/shellnums", { size: 0 }, { signal }),
  );
  expect(await taken).toBe("no reply");
  clock.release();
  await expect.poll(() => sandbox.state()).toMatchObject({ shellNumbers: 0, deferred: 0 });
  expect(sandbox.counts().effects).toEqual({});
});

test("slow: the reply is whole, only later", async () => {
  const clock = new HeldClock();
  const { sandbox, ...caller } = await started({ clock });
  sandbox.faults.add({ operation: "E9", fault: "slow", delayMs: 60 });
  let answered = false;
  const reply = take(caller).finally(() => (answered = true));
  await expect.poll(() => sandbox.counts().faulted).toBe(1);
  expect(answered).toBe(false);
  clock.release();
  expect(await reply).toMatchObject({ code: 0, data: ["8000000001"] });
});

test.each([false, true])("code500: a business error with a text as code, applied %s", async (applied) => {
  const met = await meet({ fault: "code500", applied });
  expect(met).toMatchObject({ reply: { status: 299, code: "500", message: "network error, retry" }, applied });
});

test("status299: the code that the rule names, in the status that it names", async () => {
  const usual = await meet({ fault: "status299", code: "13004" });
  expect(usual).toMatchObject({ reply: { status: 299, code: "13004" }, applied: false });
  const other = await meet({ fault: "status299", code: "500", status: 200, applied: true });
  expect(other).toMatchObject({ reply: { status: 200, code: "500" }, applied: true });
});

test("http502 is a page of HTML; http503 and http429 say when to come back", async () => {
  const page = await meet({ fault: "http502" });
  expect(page).toMatchObject({ reply: { status: 502, headers: { "content-type": "text/html" } }, applied: false });
  expect(page.reply.text).toContain("<html>");
  const seconds = await meet({ fault: "http503" });
  expect(seconds).toMatchObject({ reply: { status: 503, headers: { "retry-after": "1" } }, applied: false });
  const date = "Wed, 21 Oct 2026 07:28:00 GMT";
  const dated = await meet({ fault: "http429", retryAfter: date, applied: true });
  expect(dated).toMatchObject({ reply: { status: 429, headers: { "retry-after": date } }, applied: true });
});

test("wrongJson: HTTP 200 and half a JSON text", async () => {
  const met = await meet({ fault: "wrongJson" });
  expect(met).toMatchObject({ reply: { status: 200, code: undefined }, applied: true });
  expect(met.reply.text).toMatch(/^\{"code":0/);
  expect(() => JSON.parse(met.reply.text)).toThrow(SyntaxError);
});

test("oddCode: a code that no contract lists", async () => {
  expect(await meet({ fault: "oddCode" })).toMatchObject({ reply: { status: 299, code: "99999" }, applied: false });
});

test("wrongShape: code 0 and data of another shape", async () => {
  const met = await meet({ fault: "wrongShape" });
  expect(met).toMatchObject({ reply: { status: 200, code: 0, data: { unexpected: "shape" } }, applied: true });
});

test("expiredToken: 401 from the order service, 60000 or 60005 from the member-center", async () => {
  expect(await meet({ fault: "expiredToken" })).toMatchObject({ reply: { status: 401, code: "401" }, applied: false });
  const { sandbox, member } = await started();
  const path = "/enterprise/asset/x/merchandiseProducts";
  sandbox.faults.add({ operation: "M7", fault: "expiredToken", nth: 1 });
  sandbox.faults.add({ operation: "M7", fault: "expiredToken", nth: 2, code: "60005" });
  expect(await member("GET", path)).toMatchObject({ status: 299, code: "60000" });
  expect(await member("GET", path)).toMatchObject({ status: 299, code: "60005" });
});

test("oneBytePerSecond: the body trickles", async () => {
  const met = await meet({ fault: "oneBytePerSecond", delayMs: 1 });
  expect(met).toMatchObject({ reply: { code: 0, data: ["8000000001"] }, applied: true });
  const stuck = await meet({ fault: "oneBytePerSecond", delayMs: 10_000 }, ({ shellNumbers }) => shellNumbers === 1);
  expect(stuck).toMatchObject({ outcome: "no reply", applied: true });
});

test("hugeBody: as many bytes as the rule says", async () => {
  const met = await meet({ fault: "hugeBody", bytes: 10_000_000 });
  expect(met).toMatchObject({ reply: { status: 200, code: 0 }, applied: true });
  expect(met.reply.text).toHaveLength(10_000_000);
});

test("shortPage: rows are missing while the total says more, or agrees with the rows", async () => {
  const { sandbox, ...caller } = await started();
  const enterprise = await createEnterprise(caller);
  await caller.placeOrders(batch("O1", [newBuy(enterprise)]));
  const list = () => caller.member("GET", `/enterprise/${enterprise.enterpriseGlobalId}/members?pageNum=1&pageSize=10`);
  const rule = sandbox.faults.add({ operation: "*", fault: "shortPage" });
  expect((await list()).data).toMatchObject({ size: 1, total: 2, list: [{ globalId: enterprise.administrator }] });
  expect(await assetIds(caller, enterprise)).toEqual({});
  sandbox.faults.clear(rule);
  sandbox.faults.add({ operation: "M5", fault: "shortPage", shrinkTotal: true });
  expect((await list()).data).toMatchObject({ size: 1, total: 1, list: [{ globalId: enterprise.administrator }] });
  expect(Object.keys(await assetIds(caller, enterprise))).toEqual(["A-1"]);
});

test("partialM1: some entries fail with 60027, the others are there", async () => {
  const { sandbox, ...caller } = await started();
  const { enterpriseGlobalId } = await createEnterprise(caller);
  sandbox.faults.add({ operation: "M1", fault: "partialM1", drop: 2 });
  const userList = ["u1", "u2", "u3"].map((userName) => ({ userName, password: "secret-pass", name: userName }));
  const partial = await caller.member("POST", `/enterprise/${enterpriseGlobalId}/member`, { userList });
  expect(partial).toMatchObject({ status: 299, code: "60027", data: { succeeded: [{ userName: "u1E00001" }] } });
  expect(partial.data.failed.map((row: Parsed) => row.userName)).toEqual(["u2", "u3"]);
  expect(sandbox.state().addedStaff).toBe(1);
});

test.each([
  ["e5MissingSequence", [1]],
  ["e5DuplicateSequence", [1, 2, 1]],
] as const)("%s: the answer's sequences are %j, the orders are placed", async (fault, sequences) => {
  const { sandbox, ...caller } = await started();
  const enterprise = await createEnterprise(caller);
  sandbox.faults.add({ operation: "E5", fault });
  const placed = await caller.placeOrders(batch("O1", [newBuy(enterprise), newBuy(enterprise, { sequence: 2 })]));
  expect(placed.data.map((row: Parsed) => row.sequence)).toEqual(sequences);
  expect(sandbox.state().licenseOrders).toBe(2);
});

async function codes(caller: Caller, count: number): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let index = 0; index < count; index += 1) found.push((await take(caller)).code);
  return found;
}

test("a rule fires at the calls it numbers, and as often as it says", async () => {
  const { sandbox, ...caller } = await started();
  await take(caller);
  const first = sandbox.faults.add({ operation: "E9", fault: "code500", nth: [2, 4] });
  expect(await codes(caller, 5)).toEqual([0, "500", 0, "500", 0]);
  sandbox.faults.clear(first);
  sandbox.faults.add({ operation: "writes", fault: "code500", times: 2 });
  expect(await codes(caller, 3)).toEqual(["500", "500", 0]);
});

test("a rule means one operation, a service, what reads, what writes, or all", async () => {
  const { sandbox, ...caller } = await started();
  const write = async () => (await take(caller)).code;
  const read = async () => (await caller.member("GET", "/enterprise/asset/x/merchandiseProducts")).code;
  const cases: [FaultRule["operation"], unknown, unknown][] = [
    ["*", "500", "500"],
    ["order", "500", "60024"],
    ["member", 0, "500"],
    ["reads", 0, "500"],
    ["writes", "500", "60024"],
    ["E9", "500", "60024"],
    ["M7", 0, "500"],
    ["token", 0, "60024"],
  ];
  for (const [operation, written, seen] of cases) {
    const rule = sandbox.faults.add({ operation, fault: "code500" });
    expect([operation, await write(), await read()]).toEqual([operation, written, seen]);
    sandbox.faults.clear(rule);
  }
});

test("probabilities repeat with the seed", async () => {
  const run = async (seed: number) => {
    const { sandbox, ...caller } = await started({ seed });
    sandbox.faults.add({ operation: "E9", fault: "code500", probability: 0.5 });
    return codes(caller, 40);
  };
  const first = await run(1);
  expect(await run(1)).toEqual(first);
  expect(await run(2)).not.toEqual(first);
  const failed = first.filter((code) => code === "500").length;
  expect(failed).toBeGreaterThan(8);
  expect(failed).toBeLessThan(32);
});

test("a fault of the token call", async () => {
  const { sandbox } = await started();
  const ask = async () => {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: "sandbox-app",
      client_secret: "sandbox-secret",
    });
    return tokenStatus(sandbox, body.toString());
  };
  sandbox.faults.add({ operation: "token", fault: "http503", times: 1 });
  expect(await ask()).toBe(503);
  sandbox.faults.add({ operation: "token", fault: "refused", times: 1 });
  expect(await ask()).toEqual(connectionLost);
  sandbox.faults.add({ operation: "token", fault: "slow", delayMs: 5, times: 1 });
  expect(await ask()).toBe(200);
});

async function tokenStatus(sandbox: Sandbox, body: string): Promise<unknown> {
  const { request } = await import("undici");
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return request(sandbox.tokenUrl, { method: "POST", headers, body }).then(
    async (response) => {
      await response.body.dump();
      return response.statusCode;
    },
    (error: { code?: string }) => error.code,
  );
}

test("a sandbox that takes no connections gives ECONNREFUSED, and takes them again on the same port", async () => {
  const { sandbox, ...caller } = await started();
  await take(caller);
  await sandbox.refuseConnections();
  await expect(take(caller)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await sandbox.acceptConnections();
  expect((await take(caller)).data).toEqual(["8000000002"]);
});

test("a latency lies on both sides of the effect", async () => {
  const clock = clockAt(0);
  const { sandbox, ...caller } = await started({ clock, latencyMs: 200 });
  let answered = false;
  const reply = take(caller).finally(() => (answered = true));
  await expect.poll(() => sandbox.counts().calls).toEqual({ E9: 1 });
  expect([sandbox.state().shellNumbers, answered]).toEqual([0, false]);
  clock.move(200);
  await expect.poll(() => sandbox.state().shellNumbers).toBe(1);
  expect(answered).toBe(false);
  clock.move(200);
  expect((await reply).code).toBe(0);
});
